"""A kernel that does nothing: what remains is the launch. Timed from the call until the device is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Kernel,
    Operation,
    Protocol,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite.bounds import exact
from suite.onchip import small

if TYPE_CHECKING:
    import torch


def reference(token: torch.Tensor, blocks: int) -> dict[str, torch.Tensor]:
    return {"token": token}


def work(shape: Shape, dtype: DType) -> Work:
    return Work({}, Traffic(0, 0))


OPERATION = Operation(
    name="empty_launch",
    summary="nothing, launched",
    # What a kernel that does nothing must leave alone.
    arguments=(Argument("token", Role.INOUT, lambda dims: (1,), shifted=False),),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "nothing changes"),
    shapes=Shapes(
        drawn=lambda tile: small((1, 40)),
        sweep=("1",),
        representative=("1",),
        counted=("1", "7", "0"),
        full=("1056", "1048576"),  # 1056: eight blocks for each SM of an H200
    ),
    kernels=(
        Kernel("triton", "stream", "kernels_triton.empty_launch:stream", ("i32",), tile=(1,), best=True),
        Kernel("triton", "graph", "kernels_triton.empty_launch:graph", ("i32",), tile=(1,)),
        Kernel("cuda", "stream", "kernels_cuda.empty_launch:stream", ("i32",), tile=(1,), best=True),
        Kernel("cuda", "graph", "kernels_cuda.empty_launch:graph", ("i32",), tile=(1,)),
    ),
    protocol=Protocol.HOST_CLOCK,
    scalars=lambda dims: {"blocks": dims[0]},
)
