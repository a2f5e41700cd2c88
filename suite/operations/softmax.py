"""y = softmax of each row of x: a reduction, an exponential and a division that one pass over memory can hold."""

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
    Work,
)
from pytest_roofline.dtypes import DType, element
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import matrices
from suite import rowwise
from suite.bounds import finite_magnitude, gamma, stored

if TYPE_CHECKING:
    import torch

F32 = element("f32")
# Units u of f32 beside those of the sum: two exponentials of at most 2 units in the last place (ex2.approx), and a
# division of at most 2 (div.full; PTX ISA), 4 u each, a product, and one to spare for the order of the last two.
EXTRA = 14


def reference(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x.softmax(dim=1)}


def work(shape: Shape, dtype: DType) -> Work:
    """A subtraction, an exponential, an addition and a product per element; a comparison counts nothing."""
    operations = {Pipeline.FP32: 3 * shape.size, Pipeline.SPECIAL: shape.size}
    return Work(operations, rowwise.compulsory(shape, dtype, 0))


def bound(computed: Computed) -> dict[str, Bound]:
    """y_i = e^(-d_i) / sum_j e^(-d_j) with d = max - x. An absolute error of 3 u d_i in the exponent, from the
    subtraction, the constant log2(e) and the product with it, is a relative one of y_i; in the sum each term weighs
    with its y_j. Telescoping, that holds for a running maximum, too."""
    x, y = computed.inputs["x"], computed.outputs["y"]
    if not y.numel():
        return {"y": Bound(finite_magnitude(y))}
    weight = finite_magnitude(y)
    distance = finite_magnitude(x.amax(dim=1, keepdim=True) - x)
    exponents = 3 * F32.unit_roundoff * (distance + (weight * distance).sum(dim=1, keepdim=True))
    relative = exponents.expm1() + gamma(computed.depth + EXTRA, F32.unit_roundoff)
    # e^(-d) below the smallest normal number may become zero.
    return {"y": stored(weight, (weight * relative).nan_to_num(nan=0.0) + 2 * F32.tiny, computed.dtype.operand)}


def not_shared(shape: Shape, dtype: DType) -> str | None:
    """What a cluster of eight blocks cannot share: it keeps 64 KiB a block, and moves 16 bytes at a time."""
    size, columns = dtype.operand.itemsize, shape.dims[1]
    if not shape.size:
        return None
    if any(elements * size % 16 for elements in (columns, shape.offset, shape.pitch or columns)):
        return "it takes rows of aligned 16-byte words"
    return "it takes rows of up to 512 KiB" if columns * size > 8 << 16 else None


def shares(shape: Shape, dtype: DType) -> tuple[Buffer, ...]:
    """Where the Triton programs that share a row meet: a word for each 4096 elements of a row, and a counter."""
    rows, columns = shape.dims
    return (Buffer("shares", (rows << max(-(-columns // 4096) - 1, 0).bit_length()) + 1, "i64"),)


def not_split(shape: Shape) -> str | None:
    """What 64 programs of 4096 elements cannot share."""
    return "it takes rows of up to 262144 elements" if shape.size and shape.dims[1] > 1 << 18 else None


OPERATION = Operation(
    name="softmax",
    summary="y = softmax of each row of x",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims, pitched=True),
        Argument("y", Role.OUT, lambda dims: dims, pitched=True),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "relative 3 u (d_i + sum_j y_j d_j) + gamma_(h+14), first order as in Blanchard, Higham and Higham, "
        "'Accurately computing the log-sum-exp and softmax functions' (2021), with the errors of CUDA's fast functions",
    ),
    shapes=Shapes(
        drawn=lambda tile: matrices(tile, lambda shape: shape.dims[1]),
        # Rows that fill a few warps' registers, short rows, and rows that no multiprocessor can hold.
        sweep=("8192x8192", "131072x512", "512x131072"),
        representative=("8192x8192",),
        counted=rowwise.COUNTED,
        full=(*rowwise.FULL, "16x16384"),  # the last is that of published A100 figures
    ),
    kernels=(
        *rowwise.ladder(
            "softmax",
            "softmax",
            scratch=("maxima", "sums"),
            options={},
            looped={"block": 4096, "num_warps": 8},
            unfused_reads=3,
            triton_workspace=shares,
        ),
        Kernel(
            "cuda",
            "fused_cluster",
            "kernels_cuda.softmax:fused_cluster",
            rowwise.DTYPES,
            timed_dtypes=("f32",),
            tile=rowwise.TILE,
            rejects=not_shared,
            depth=rowwise.cluster_depth,
            capability="sm_90a",
            timed=("1024x65536",),
        ),
        Kernel(
            "triton",
            "fused_split",
            "kernels_triton.softmax:fused_split",
            rowwise.DTYPES,
            timed_dtypes=("f32",),
            tile=rowwise.TILE,
            workspace=shares,
            rejects=lambda shape, dtype: not_split(shape),
            depth=rowwise.triton_depth,
            capability="sm_80",
            timed=("1024x65536",),
        ),
    ),
    depth=lambda dims: dims[1],
    absent={
        ("triton", "fused_cluster"): "a row of num_ctas blocks would have to be reduced across them; Triton does not",
        ("cuda", "fused_split"): "blocks of a cluster meet in each other's shared memory: fused_cluster",
    },
)
