"""Products with a long k: what a worst-case bound of random numbers forgives, whole numbers show."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline.checking.check import WrongResultError, check  # noqa: E402
from pytest_roofline.contract import Computed  # noqa: E402
from pytest_roofline.dtypes import DType  # noqa: E402
from pytest_roofline.ids import CaseId  # noqa: E402
from suite import gemm  # noqa: E402
from suite.operations import matmul, matmul_ragged, matmul_tensor  # noqa: E402

OPERATIONS = {o.name: o for o in (matmul.OPERATION, matmul_tensor.OPERATION, matmul_ragged.OPERATION)}
# The depths of timed shapes: of each format the longest, on few rows and columns.
CASES = [
    "matmul/torch/mm/f32/32x48x8192",
    "matmul_tensor/torch/mm/bf16_f32/32x48x8192.t",
    "matmul_tensor/torch/mm/f16_f32/32x48x8192.t",
    "matmul_tensor/torch/mm/tf32_f32/32x48x8192.t",
    "matmul_tensor/torch/mm/fp8_f32/32x48x8192.t",
    "matmul_tensor/torch/mm/i8_i32/32x48x8192.t",
    "matmul_ragged/torch/mm/f16_f32/32x48x131072",
    "matmul_ragged/torch/mm/f32/32x48x131072",
]
BLOCK = 64  # of k, that a kernel takes at a time


def multiply(a, b, c):
    """As the operation says, summed in float64."""
    c.copy_(a.double() @ b.double())


def zeros(a, b, c):
    c.zero_()


def lost_block(a, b, c):
    multiply(a[:, BLOCK:], b[BLOCK:], c)


def lost_tail(a, b, c):
    multiply(a[:, :-1], b[:-1], c)


def block_twice(a, b, c):
    multiply(torch.cat((a, a[:, :BLOCK]), 1), torch.cat((b, b[:BLOCK])), c)


def swapped_tiles(a, b, c):
    multiply(a, b, c)
    c.copy_(torch.cat((c[:, 16:32], c[:, :16], c[:, 32:]), 1))


def lost_block_of_one_tile(a, b, c):
    multiply(a, b, c)
    lost_block(a[:16], b[:, :16], c[:16, :16])


def run(text, launcher, values="random"):
    """Check a function as the kernel of a case, and not as a peer."""
    return check(own(text), launcher, "cpu", values, 0)


def own(text):
    """The case with its kernel one of the suite's own, which nothing interprets."""
    parsed = CaseId.parse(text)
    case = OPERATIONS[parsed.operation].case(parsed)
    return replace(case, kernel=replace(case.kernel, peer=False))


@pytest.mark.parametrize("text", CASES)
def test_a_right_product_passes(text):
    """With random values, and so with whole numbers; with those it is exact but for the rounding to 16 bits."""
    assert run(text, multiply) <= 1
    assert run(text, multiply, "whole" if "i8" not in text else "random") <= 1


@pytest.mark.parametrize(
    "launcher",
    [zeros, lost_block, lost_tail, block_twice, swapped_tiles, lost_block_of_one_tile],
    ids=lambda launcher: launcher.__name__,
)
@pytest.mark.parametrize("text", CASES)
def test_a_product_that_has_lost_something_is_refused(text, launcher):
    """All of it, a block of k, its last element, a block taken twice, two tiles in each other's place."""
    with pytest.raises(WrongResultError, match="elements wrong"):
        run(text, launcher)


@pytest.mark.parametrize("text", ["matmul_ragged/torch/mm/f16_f32/32x48x131072", CASES[4]])
def test_random_values_alone_would_have_passed_zeros(text):
    """Why the check is made twice."""
    case = own(text)
    operation = replace(case.operation, tolerance=replace(case.operation.tolerance, whole=False))
    assert check(replace(case, operation=operation), zeros, "cpu", "random", 0) < 1


def test_a_peer_may_add_parts_of_k_up_in_16_bits():
    """As torch lets cuBLAS do: within the bound of random values, and not exact for whole numbers."""

    def in_parts(a, b, c):
        k = a.shape[1] // 2
        c.copy_((a[:, :k].double() @ b[:k].double()).to(c.dtype))
        c += (a[:, k:].double() @ b[k:].double()).to(c.dtype)

    text = "matmul_tensor/torch/mm/bf16_f32/64x96x8192.t"
    parsed = CaseId.parse(text)
    assert check(matmul_tensor.OPERATION.case(parsed), in_parts, "cpu", "random", 0) < 1
    with pytest.raises(WrongResultError, match="with whole numbers"):
        run(text, in_parts)


def bound_of(a, b, text, operation=matmul_tensor.OPERATION):
    """Exact product and its bound."""
    inputs = {"a": a.double(), "b": b.double()}
    dims = (a.shape[0], b.shape[1], a.shape[1])
    outputs = operation.reference(**inputs)
    return outputs["c"], operation.tolerance.bound(Computed(inputs, outputs, DType.parse(text), dims, 1))["c"]


@pytest.mark.parametrize("text", ["bf16_f32", "f16_f32", "tf32_f32", "fp8_f32"])
def test_whole_numbers_have_no_bound_but_the_rounding_of_c(text):
    """None where c's format holds the sum."""
    a, b = torch.randint(-2, 3, (8, 2048)), torch.randint(-2, 3, (2048, 8))
    a[0, :], b[:, 0] = 1, 1
    exact, bound = bound_of(a, b, text)
    unit = gemm.result(DType.parse(text)).unit_roundoff
    held = exact.abs() <= 1 / unit
    assert (bound.absolute[held] == 0).all()
    assert (bound.absolute[~held] <= 1.01 * unit * exact[~held].abs()).all()


@pytest.mark.parametrize(
    ("text", "a", "b"),
    [
        ("fp8_f32", torch.full((1, 16384), 1.0), torch.full((16384, 1), 1.0)),  # beyond the 14 bits of sums
        ("tf32_f32", torch.full((1, 8), 4097.0), torch.full((8, 1), 1.0)),  # beyond the 11 of operands
        ("tf32_f32", torch.full((1, 8), 0.5), torch.full((8, 1), 1.0)),  # no whole numbers
        ("bf16_f32", torch.full((1, 8), 4096.0), torch.full((8, 1), 2048.0)),  # beyond the 23 of sums
        ("bf16_f32", torch.tensor([[1.0, float("nan")]]), torch.full((2, 1), 1.0)),
    ],
)
def test_other_numbers_keep_their_bound(text, a, b):
    """What sums do not keep apart may be rounded."""
    _, bound = bound_of(a, b, text)
    assert (bound.absolute > 0).all()


def test_a_rounded_result_is_charged_for_what_is_rounded():
    """Not for the magnitudes of its products, against which it may be small."""
    a, b = torch.randn(32, 4096), torch.randn(4096, 32)
    exact, bound = bound_of(a, b, "bf16_f32")
    sums = (a.abs().double() @ b.abs().double()) * 1.3 * 4096 * 2.0**-23
    assert (bound.absolute <= 1.01 * (sums + 2.0**-8 * exact.abs())).all()
    assert (exact.abs() > bound.absolute).double().mean() > 0.9


def test_a_result_may_overflow_only_where_it_comes_near():
    """Sums in f32 do not overflow at the largest f16: their result does."""
    a, b = torch.full((1, 64), 200.0), torch.full((64, 1), 200.0)
    b[1::2] = -200
    _, bound = bound_of(a, b, "f16_f32")
    assert not bound.may_overflow.any()
    _, bound = bound_of(a, b.abs(), "f16_f32")
    assert bound.may_overflow.all()
