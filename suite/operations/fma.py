"""c = a * b + c: three vectors read and one written per fused multiply-add."""

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
from suite.bounds import finite_magnitude, gamma

if TYPE_CHECKING:
    import torch

DTYPES = ("f32",)


def reference(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"c": a * b + c}


def work(shape: Shape, dtype: DType) -> Work:
    vector = shape.size * dtype.operand.itemsize
    return Work({Pipeline.FP32: 2 * shape.size}, Traffic(read=3 * vector, write=vector))


def bound(computed: Computed) -> dict[str, Bound]:
    item, inputs = computed.dtype.operand, computed.inputs
    product = finite_magnitude(inputs["a"] * inputs["b"])
    relative = gamma(2, item.unit_roundoff)
    absolute = relative * (product + finite_magnitude(inputs["c"])) + item.unit_roundoff * item.tiny
    return {"c": Bound(absolute, may_overflow=product * (1 + relative) >= item.largest)}


def triton(variant: str, block: int) -> Kernel:
    options = {"block": block, "num_warps": 8}
    return Kernel("triton", variant, "kernels_triton.fma:fma", DTYPES, options=options, tile=(block,))


def cuda(unroll: int) -> Kernel:
    launcher = "kernels_cuda.fma:unrolled"
    return Kernel("cuda", f"unrolled_{unroll}", launcher, DTYPES, options={"unroll": unroll}, tile=(1024 * unroll,))


OPERATION = Operation(
    name="fma",
    summary="c = a * b + c",
    arguments=(
        Argument("a", Role.IN, lambda dims: dims),
        Argument("b", Role.IN, lambda dims: dims),
        Argument("c", Role.INOUT, lambda dims: dims),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "gamma_2 (|a b| + |c|), two roundings where a compiler or library does not fuse (Higham, 3.1), and half the "
        "smallest subnormal for a product that underflows",
    ),
    shapes=Shapes(
        drawn=lambda tile: vectors(*tile),
        sweep=("134217728",),
        representative=("16777216",),
        counted=("4096", "1000", "1024.o1", "1021.o3", "7", "0"),
        full=("1024", "65536", "1048576", "4194304", "16777259.o1"),
    ),
    kernels=(
        # One element a thread, 16 bytes a thread, and 2, 4 and 8 times that. A block or program has 256 threads, except
        # where Triton's launchers take the best number themselves (vectorised, evict_last): that is 128 for the large
        # timed vectors (kernels_triton/_blocks.py), and a program then computes half as much.
        triton("scalar", 256),
        Kernel("triton", "vectorised", "kernels_triton.fma:vectorised", DTYPES, tile=(1024,)),
        Kernel("triton", "evict_last", "kernels_triton.fma:evict_last", DTYPES, tile=(1024,), best=True),
        triton("unrolled_2", 2048),
        triton("unrolled_4", 4096),
        triton("unrolled_8", 8192),
        Kernel("cuda", "scalar", "kernels_cuda.fma:scalar", DTYPES, tile=(256,)),
        Kernel("cuda", "vectorised", "kernels_cuda.fma:vectorised", DTYPES, tile=(1024,)),
        Kernel("cuda", "evict_last", "kernels_cuda.fma:evict_last", DTYPES, tile=(1024,), best=True),
        cuda(2),
        cuda(4),
        cuda(8),
        Kernel("torch", "addcmul", "suite.peers.fma:torch_addcmul", DTYPES, peer=True),
    ),
    depth=lambda dims: 2,
)
