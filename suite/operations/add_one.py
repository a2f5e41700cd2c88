"""y = x + 1: one vector read and one written per addition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Bound,
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
    return {"y": x + 1}


def work(shape: Shape, dtype: DType) -> Work:
    vector = shape.size * dtype.operand.itemsize
    return Work({PIPELINES[str(dtype)]: shape.size}, Traffic(read=vector, write=vector))


def bound(computed: Computed) -> dict[str, Bound]:
    y = computed.outputs["y"]
    # The reference itself rounds where x is below an ulp of 1 in float64.
    return {"y": Bound(finite_magnitude(y) * (computed.dtype.operand.unit_roundoff + 2.0**-52), signed_zero=True)}


OPERATION = Operation(
    name="add_one",
    summary="y = x + 1",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims),
        Argument("y", Role.OUT, lambda dims: dims),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(bound, "one correctly rounded addition, |error| <= u |x + 1| (Higham, 2.2)"),
    shapes=Shapes(
        drawn=lambda tile: vectors(*tile),
        sweep=("134217728",),
        representative=("16777216",),
        counted=("4096", "1000", "1024.o1", "1021.o3", "7", "0"),
        full=("1024", "65536", "1048576", "4194304", "16777259.o1"),
    ),
    kernels=(
        Kernel(
            "triton",
            "scalar",
            "kernels_triton.add_one:add_one",
            DTYPES,
            options={"block": 256, "num_warps": 8},
            tile=(256,),
            timed_dtypes=RUNG,
        ),
        Kernel("triton", "vectorised", "kernels_triton.add_one:vectorised", DTYPES, tile=(1024,), timed_dtypes=RUNG),
        Kernel(
            "triton",
            "evict_last",
            "kernels_triton.add_one:evict_last",
            DTYPES,
            tile=(1024,),
            best=True,
            timed_dtypes=("f32", "f16"),  # bf16 moves as much as f16, and add_relu has it
        ),
        Kernel("cuda", "scalar", "kernels_cuda.add_one:scalar", DTYPES, tile=(256,), timed_dtypes=RUNG),
        Kernel("cuda", "vectorised", "kernels_cuda.add_one:vectorised", DTYPES, tile=(1024,), timed_dtypes=RUNG),
        Kernel(
            "cuda",
            "evict_last",
            "kernels_cuda.add_one:evict_last",
            DTYPES,
            tile=(1024,),
            best=True,
            timed_dtypes=("f32", "f16"),  # bf16 moves as much as f16, and add_relu has it
        ),
        Kernel("torch", "add", "suite.peers.add_one:torch_add", ("f32",), peer=True),
        Kernel("torch", "compiled", "suite.peers.add_one:torch_compiled", ("f32",), peer=True),
        Kernel("cupy", "fused", "suite.peers.add_one:cupy_fused", ("f32",), peer=True),
    ),
)
