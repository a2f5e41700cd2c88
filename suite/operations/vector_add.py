"""y = x + y: the plainest stream, two vectors read and one written per addition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Bound,
    Computed,
    Floor,
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


def reference(x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x + y}


def work(shape: Shape, dtype: DType) -> Work:
    pipeline = Pipeline.FP16 if dtype.operand.name == "f16" else Pipeline.FP32
    vector = shape.size * dtype.operand.itemsize
    return Work({pipeline: shape.size}, Traffic(read=2 * vector, write=vector))


def bound(computed: Computed) -> dict[str, Bound]:
    roundoff = computed.dtype.operand.unit_roundoff
    return {"y": Bound(finite_magnitude(computed.outputs["y"]) * roundoff, signed_zero=True)}


STREAM = (
    Floor("h200", 0.85, "4.31 TB/s of 4.8 were measured at 1e8 f32 elements; f16 moves half the bytes", 100_000_000),
    Floor("h200", 0.65, "0.86 was measured at 16 Mi aligned f32 elements, 0.70 at misaligned f16 ones", 1 << 24),
)


OPERATION = Operation(
    name="vector_add",
    summary="y = x + y",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims),
        Argument("y", Role.INOUT, lambda dims: dims),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "one correctly rounded addition, |error| <= u |x + y|; sums in the subnormal range are exact (Higham, 2.2)",
    ),
    shapes=Shapes(
        drawn=lambda tile: vectors(*tile),
        # The sizes of the overhead, L2 and device memory regimes, and one that is a multiple of nothing, misaligned.
        sweep=("1024", "65536", "1048576", "4194304", "16777216", "100000000", "16777259.o1"),
        representative=("16777216",),
        counted=("1024", "1000", "1024.o1", "1021.o3", "7", "0"),
        full=("100000000.o1", "268435456"),
    ),
    kernels=(
        Kernel(
            "triton",
            "block_1024",
            "kernels_triton.vector_add:vector_add",
            ("f32", "f16"),
            options={"block": 1024, "num_warps": 4},
            tile=(1024,),
        ),
        Kernel(
            "triton",
            "block_512",
            "kernels_triton.vector_add:vector_add",
            ("f32", "f16"),
            options={"block": 512, "num_warps": 4},
            tile=(512,),
            floors=STREAM,
            best=True,
        ),
        Kernel("cuda", "scalar", "kernels_cuda.vector_add:scalar", ("f32", "f16"), tile=(256,)),
        Kernel(
            "cuda",
            "vectorised",
            "kernels_cuda.vector_add:vectorised",
            ("f32", "f16"),
            tile=(1024,),
            floors=STREAM,
            best=True,
        ),
        Kernel("torch", "add", "suite.peers.vector_add:torch_add", ("f32",), peer=True),
        Kernel("cupy", "add", "suite.peers.vector_add:cupy_add", ("f32",), peer=True),
    ),
    absent={
        ("cuda", "block_1024"): "the block of a CUDA kernel is its thread count; scalar and vectorised are its rungs",
        ("cuda", "block_512"): "the block of a CUDA kernel is its thread count; scalar and vectorised are its rungs",
        ("triton", "scalar"): "Triton chooses elements per thread from the block and the alignment it can prove",
        ("triton", "vectorised"): "Triton emits 128-bit accesses itself where pointers and length are multiples of 16",
    },
)
