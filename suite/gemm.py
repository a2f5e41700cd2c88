"""What the matrix products c[m, n] = a[m, k] b[k, n] share: reference, work, error bounds, traffic models, shapes.

Dims are (m, n, k).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_roofline.contract import Argument, Bound, Buffer, Computed, Memory, Pipeline, Role, Traffic, Work
from pytest_roofline.dtypes import DType, Element
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import matrices
from suite.bounds import finite_magnitude, gamma, stored, summation

if TYPE_CHECKING:
    import torch
    from hypothesis.strategies import SearchStrategy

Model = Callable[[Shape, DType], tuple[Traffic, ...]]

TENSOR_PIPELINES = {
    "f16": Pipeline.FP16_TENSOR,
    "bf16": Pipeline.BF16_TENSOR,
    "tf32": Pipeline.TF32_TENSOR,
    "fp8": Pipeline.FP8_TENSOR,
    "i8": Pipeline.INT8_TENSOR,
}
TRUNCATED_F32 = 2.0**-23
"""Relative error of an f32 addition on a tensor core, which truncates (Fasi, Higham, Mikaitis and Pranesh, Numerical
behavior of NVIDIA tensor cores, 2021, section 3): twice the unit roundoff."""
TRUNCATED_FP8 = 2.0**-13
"""The same for 8-bit floating-point operands on Hopper, whose sums retain about 14 bits (DeepSeek-V3 technical report,
2024, section 3.3.2)."""
TRUNCATED_TF32 = 2.0**-10
"""Relative error of an f32 operand whose low 13 bits a tensor core drops, as mma and wgmma may (PTX ISA, tf32).

A NaN loses them as well: the value classes have the quiet one, whose payload stays (see operations/matmul_tensor.py).
"""


def result(dtype: DType) -> Element:
    """The format of c: 16-bit operands give results like themselves, all others results like their accumulator."""
    return dtype.operand if dtype.operand.itemsize == 2 else dtype.accumulator


def arguments() -> tuple[Argument, ...]:
    """a, b and c of a product. A shape with ``.t`` stores b by columns."""

    def accumulates(dtype: DType) -> bool:
        return result(dtype) == dtype.accumulator

    return (
        Argument("a", Role.IN, lambda dims: (dims[0], dims[2]), pitched=True),
        Argument("b", Role.IN, lambda dims: (dims[2], dims[1]), pitched=True, transposable=True),
        Argument("c", Role.OUT, lambda dims: (dims[0], dims[1]), pitched=True, accumulator=accumulates),
    )


def reference(a: torch.Tensor, b: torch.Tensor) -> dict[str, torch.Tensor]:
    """a b in float64. Integers go through it, exactly: sums of 8-bit products stay below 2^53 for k < 2^39."""
    return {"c": (a.double() @ b.double()).to(a.dtype)}


def work(shape: Shape, dtype: DType, pipeline: Pipeline) -> Work:
    """An FMA per product, each operand read once and c written once."""
    m, n, k = shape.dims
    read, write = dtype.operand.itemsize * (m * k + k * n), result(dtype).itemsize * m * n
    return Work({pipeline: 2 * m * n * k}, Traffic(read, write))


def tensor_work(shape: Shape, dtype: DType) -> Work:
    """:func:`work` on the tensor cores."""
    return work(shape, dtype, TENSOR_PIPELINES[dtype.operand.name])


def depth(dims: tuple[int, ...]) -> int:
    """One rounding for the product and one for each of up to k additions, in whatever order."""
    return dims[2] + 1


def magnitude(computed: Computed) -> torch.Tensor:
    """|a| |b|: what the rounding errors of a product are relative to, elementwise."""
    return finite_magnitude(computed.inputs["a"]) @ finite_magnitude(computed.inputs["b"])


def exact_sums(computed: Computed, size: torch.Tensor, most: float) -> torch.Tensor:
    """Where no order of the products rounds: of whole numbers that the operands' format holds, as long as their
    magnitudes add up to at most ``most``, up to which sums keep whole numbers apart."""
    held = 2.0**computed.dtype.operand.precision
    whole = all(bool(((x == x.round()) & (x.abs() <= held)).all()) for x in computed.inputs.values())
    return size <= most if whole else size < 0


def bound(computed: Computed) -> Bound:
    """Error of products and sums that are rounded to the accumulator's format, fused or not, in any order; none of
    small whole numbers."""
    size, item = magnitude(computed), computed.dtype.accumulator
    found = summation(size, computed.dims[2], computed.depth, item)
    exact = exact_sums(computed, size, 1 / item.unit_roundoff)
    return replace(found, absolute=found.absolute.masked_fill(exact, 0.0))


BOUND_SOURCE = (
    "gamma_(k+1) |a| |b| elementwise for any order of the k products, fused or not (Higham, 3.5), plus underflow; sums "
    "of small whole numbers exact"
)


def tensor_bound(computed: Computed) -> Bound:
    """Error of a product on the tensor cores: none in integers and in sums of small whole numbers, else relative errors
    per operand, where it is cut, and per addition; and a rounding to 16 bits where c has them.

    A step of t products aligns t + 1 terms to the largest and truncates each, so that the k products cost at most
    k + ceil(k / 4) errors of an addition times |a| |b| where t is at least 4, as on every device of sm_80 and up;
    ``computed.depth`` adds what the kernel sums up outside.
    """
    k, dtype = computed.dims[2], computed.dtype
    item, stored_as = dtype.accumulator, result(dtype)
    if not item.is_float:
        return Bound(0 * computed.outputs["c"])
    size = magnitude(computed)
    addition = TRUNCATED_FP8 if dtype.operand.name == "fp8" else TRUNCATED_F32
    operand = TRUNCATED_TF32 if dtype.operand.name == "tf32" else 0.0
    # (1 + u)^n - 1 <= exp(n u) - 1, which has a value for every n where gamma_n has none (Higham, problem 3.1).
    sums = math.expm1((k + -(-k // 4) + computed.depth) * addition)
    relative = sums + 2 * operand + operand**2 + gamma(k + 1, 2.0**-53)
    exact = exact_sums(computed, size, 1 / addition)
    error = (size * relative + (2 * k + computed.depth) * item.tiny).masked_fill(exact, 0.0)
    overflows = size * (1 + relative) >= item.largest
    if stored_as == item:
        return Bound(error, overflows)
    value = finite_magnitude(computed.outputs["c"])
    overflows |= value + error >= stored_as.largest
    kept = exact & (value <= 1 / stored_as.unit_roundoff)  # whole numbers that c's format holds
    rounded = stored(value, error, stored_as, overflows)
    return replace(rounded, absolute=rounded.absolute.masked_fill(kept, 0.0))


def panel_loads(rows: int, columns: int) -> Model:
    """A block that computes a tile of rows x columns results reads a row panel of a and a column panel of b from L2.

    Intensity in f32: rows columns / (2 (rows + columns)) FLOP/byte, 8 for 32 x 32 and 32 for 128 x 128.
    """

    def model(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
        m, n, k = shape.dims
        elements = -(-n // columns) * m * k + -(-m // rows) * k * n
        return (Traffic(dtype.operand.itemsize * elements, result(dtype).itemsize * m * n, Memory.L2),)

    return model


def least_panel_loads(*tiles: tuple[int, int]) -> Model:
    """:func:`panel_loads` of a kernel that chooses its tile: of those that read least for the shape.

    Parts of k read the same panels. The sums that they leave to be added up come on top, as many as the device takes.
    """
    models = [panel_loads(*tile) for tile in tiles]

    def model(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
        return min((panels(shape, dtype) for panels in models), key=lambda found: found[0].total)

    return model


def fragment_loads(rows: int, columns: int, *tile: int) -> Model:
    """A warp that computes rows x columns results takes rows + columns operands per step out of the level-1 cache or
    shared memory, which are the same memory: a word that several lanes want crosses once. A ``tile`` adds
    :func:`panel_loads`.

    Intensity in f32: rows columns / (2 (rows + columns)) FLOP/byte, 0.48 for 1 x 32, 3.6 for 8 x 64, 16 for 64 x 64.
    """

    def model(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
        m, n, k = shape.dims
        elements = -(-n // columns) * m * k + -(-m // rows) * k * n
        fragments = Traffic(dtype.operand.itemsize * elements, 0, Memory.SHARED)
        return (fragments, *(panel_loads(*tile)(shape, dtype) if tile else ()))

    return model


def drawn(tile: tuple[int, ...], most: tuple[int | None, ...] | None = None) -> SearchStrategy[Shape]:
    """Shapes around the multiples of a tile of (m, n, k), with k of 0, 1 and 7, thin ones, shifted bases, pitched rows
    and b stored by columns. ``most`` bounds each extent; by default a second wide tile is begun, not filled."""
    limits = tuple(min(2 * t + t // 2 + 1, max(t + 9, 81)) for t in tile) if most is None else most
    return matrices(tile, lambda shape: max(shape.dims[1:]), most=limits, transposable=True)


COUNTED = ("64x64x64", "33x65x7", "32x32x33.o1", "31x40x50.p56", "48x32x64.t", "1x70x32", "5x5x0")
"""Small shapes with every class of alignment and tail: for the counters and for each correctness run."""


def packed(shape: Shape, dtype: DType, *, b_along_k: bool | None = None) -> Buffer:
    """Room for copies of the operands that do not lie in rows of 16 bytes' multiples, or b not as it is wanted.

    A copied row takes a multiple of 16 elements.
    """
    m, n, k = shape.dims
    size = dtype.operand.itemsize

    def lies_well(row: int) -> bool:
        return (shape.pitch or row) * size % 16 == 0 and shape.offset * size % 16 == 0

    wide_m, wide_n, wide_k = (-(-extent // 16) * 16 for extent in (m, n, k))
    a = 0 if lies_well(k) else wide_m * wide_k
    b_stays = lies_well(k if shape.transposed else n) and b_along_k in (None, shape.transposed)
    return Buffer("packed", a + (0 if b_stays else max(k * wide_n, n * wide_k)), dtype.operand.name)
