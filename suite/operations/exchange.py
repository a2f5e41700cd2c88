"""Host to device and device to host: one after the other, and at once, since the link has lanes for each direction.

Timed between two events around one call, its submission included; the copy before it has left caches warm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Kernel,
    Memory,
    Operation,
    Protocol,
    Role,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite.bounds import exact
from suite.onchip import NO_COPY_ENGINE, SIZES

if TYPE_CHECKING:
    import torch


def reference(up: torch.Tensor, down: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"up_target": up, "down_target": down}


def work(shape: Shape, dtype: DType) -> Work:
    return Work({}, Traffic(read=shape.size, write=shape.size, level=Memory.HOST))


OPERATION = Operation(
    name="exchange",
    summary="host to device and device to host",
    arguments=(
        Argument("up", Role.IN, lambda dims: dims, host=True, shifted=False),
        Argument("down", Role.IN, lambda dims: dims, shifted=False),
        Argument("up_target", Role.OUT, lambda dims: dims, shifted=False),
        Argument("down_target", Role.OUT, lambda dims: dims, host=True, shifted=False),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "a copy is exact"),
    shapes=SIZES,
    kernels=(
        Kernel("triton", "zero_copy", "kernels_triton.exchange:zero_copy", ("i8",), tile=(4096,), best=True),
        Kernel("cuda", "in_turn", "kernels_cuda.exchange:in_turn", ("i8",), tile=(16,)),
        Kernel("cuda", "overlapped", "kernels_cuda.exchange:overlapped", ("i8",), tile=(16,), best=True),
        Kernel("cuda", "zero_copy", "kernels_cuda.exchange:zero_copy", ("i8",), tile=(256,)),
    ),
    protocol=Protocol.TRANSFER,
    absent={("triton", "in_turn"): NO_COPY_ENGINE, ("triton", "overlapped"): NO_COPY_ENGINE},
)
