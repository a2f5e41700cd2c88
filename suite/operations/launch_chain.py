"""token += 1, ``length`` times, by a kernel each: the work is nothing, the launches are everything.

As a stream the host launches every kernel; as a graph it launches once. Timed from the call until the device is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Kernel,
    Operation,
    Pipeline,
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


def reference(token: torch.Tensor, length: int) -> dict[str, torch.Tensor]:
    return {"token": token + length}


def work(shape: Shape, dtype: DType) -> Work:
    size = dtype.operand.itemsize if shape.size else 0
    return Work({Pipeline.INT32: shape.size}, Traffic(size, size))


OPERATION = Operation(
    name="launch_chain",
    summary="a chain of kernels that add one",
    arguments=(Argument("token", Role.INOUT, lambda dims: (1,), shifted=False),),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "integers are exact"),
    shapes=Shapes(
        drawn=lambda tile: small((1, 8)),
        sweep=("256",),
        representative=("256",),
        counted=("1", "5", "0"),
        full=("1", "16"),
    ),
    kernels=(
        Kernel("triton", "stream", "kernels_triton.launch_chain:stream", ("i32",), tile=(1,)),
        Kernel("triton", "graph", "kernels_triton.launch_chain:graph", ("i32",), tile=(1,), best=True),
        Kernel("cuda", "stream", "kernels_cuda.launch_chain:stream", ("i32",), tile=(1,)),
        Kernel("cuda", "graph", "kernels_cuda.launch_chain:graph", ("i32",), tile=(1,), best=True),
        Kernel("torch", "stream", "suite.peers.launch_chain:torch_stream", ("i32",), peer=True),
        Kernel("torch", "graph", "suite.peers.launch_chain:torch_graph", ("i32",), peer=True),
    ),
    protocol=Protocol.HOST_CLOCK,
    scalars=lambda dims: {"length": dims[0]},
)
