"""y = max(x + 1, 0): what fusing a pair of elementwise kernels buys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Bound,
    Buffer,
    Computed,
    Kernel,
    Operation,
    Pipeline,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import vectors
from suite.bounds import finite_magnitude

if TYPE_CHECKING:
    import torch

DTYPES = ("f32", "f16", "bf16")
RUNG = ("f32",)  # what a rung buys is told by one dtype; the others are checked and counted
PIPELINES = {"f32": Pipeline.FP32, "f16": Pipeline.FP16, "bf16": Pipeline.BF16}


def reference(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": (x + 1).relu()}


def work(shape: Shape, dtype: DType) -> Work:
    vector = shape.size * dtype.operand.itemsize
    return Work({PIPELINES[str(dtype)]: 2 * shape.size}, Traffic(read=vector, write=vector))


def pair(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
    """Both kernels read a vector and write one."""
    vector = shape.size * dtype.operand.itemsize
    return (Traffic(2 * vector, 2 * vector),)


def sums(shape: Shape, dtype: DType) -> tuple[Buffer, ...]:
    return (Buffer("sums", shape.size, dtype.operand.name),)


def bound(computed: Computed) -> dict[str, Bound]:
    y = computed.outputs["y"]
    # The reference itself rounds where x is below an ulp of 1 in float64.
    return {"y": Bound(finite_magnitude(y) * (computed.dtype.operand.unit_roundoff + 2.0**-52), signed_zero=True)}


OPERATION = Operation(
    name="add_relu",
    summary="y = max(x + 1, 0)",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims),
        Argument("y", Role.OUT, lambda dims: dims),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(bound, "one correctly rounded addition, |error| <= u |x + 1| (Higham, 2.2); relu is exact"),
    shapes=Shapes(
        drawn=lambda tile: vectors(*tile),
        sweep=("134217728",),
        representative=("16777216",),
        counted=("4096", "1000", "1024.o1", "1021.o3", "7", "0"),
        full=("1024", "65536", "1048576", "4194304", "16777259.o1"),
    ),
    kernels=(
        # Between an unfused and a fused kernel of one width, the traffic and a launch change. From scalar to wide, CUDA
        # C++ changes L2's policy for long vectors, too; Triton's launchers set it in both, and change the threads.
        Kernel(
            "triton",
            "unfused_scalar",
            "kernels_triton.add_relu:unfused_scalar",
            DTYPES,
            options={"block": 256, "num_warps": 8},
            workspace=sums,
            model=pair,
            tile=(256,),
            timed_dtypes=RUNG,
        ),
        Kernel(
            "triton",
            "unfused",
            "kernels_triton.add_relu:unfused",
            DTYPES,
            workspace=sums,
            model=pair,
            tile=(1024,),
            timed_dtypes=RUNG,
        ),
        Kernel(
            "triton",
            "fused_scalar",
            "kernels_triton.add_relu:add_relu",
            DTYPES,
            options={"block": 256, "num_warps": 8},
            tile=(256,),
            timed_dtypes=RUNG,
        ),
        Kernel("triton", "fused", "kernels_triton.add_relu:fused", DTYPES, tile=(1024,), best=True),
        Kernel(
            "cuda",
            "unfused_scalar",
            "kernels_cuda.add_relu:unfused_scalar",
            DTYPES,
            workspace=sums,
            model=pair,
            tile=(256,),
            timed_dtypes=RUNG,
        ),
        Kernel(
            "cuda",
            "unfused",
            "kernels_cuda.add_relu:unfused",
            DTYPES,
            workspace=sums,
            model=pair,
            tile=(1024,),
            timed_dtypes=RUNG,
        ),
        Kernel("cuda", "fused_scalar", "kernels_cuda.add_relu:fused_scalar", DTYPES, tile=(256,), timed_dtypes=RUNG),
        Kernel("cuda", "fused", "kernels_cuda.add_relu:fused", DTYPES, tile=(1024,), best=True),
        Kernel("torch", "eager", "suite.peers.add_relu:torch_eager", ("f32",), peer=True),
        Kernel("torch", "compiled", "suite.peers.add_relu:torch_compiled", ("f32",), peer=True),
        Kernel("cupy", "fused", "suite.peers.add_relu:cupy_fused", ("f32",), peer=True),
    ),
)
