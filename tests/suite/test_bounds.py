"""The operations' error bounds hold for any order of evaluation, and a result that misses one element exceeds them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from pytest_roofline.contract import Computed  # noqa: E402
from pytest_roofline.dtypes import DType, element  # noqa: E402
from suite.bounds import exact, finite_magnitude, gamma, summation  # noqa: E402
from suite.operations import matmul, sum, transpose, vector_add  # noqa: E402

F32 = DType.parse("f32")
SEEDS = st.integers(0, 2**32 - 1)


def vector(seed: int, n: int, spread: float = 0.0) -> np.ndarray:
    """Normal f32 values, their magnitudes spread over ``spread`` decades."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(n) * 10 ** rng.uniform(-spread, spread, n)).astype(np.float32)


def one_by_one(x: np.ndarray) -> np.float32:
    """Left to right: depth n."""
    return np.cumsum(x, dtype=np.float32)[-1]


def tree(x: np.ndarray) -> np.float32:
    """Neighbours in pairs: depth log2 n."""
    while len(x) > 1:
        x = np.append(x, np.float32(0)) if len(x) % 2 else x
        x = x[::2] + x[1::2]
    return x[0]


def strided(x: np.ndarray) -> np.float32:
    """Eight chains, then a tree: depth n / 8 + 3."""
    rows = np.append(x, np.zeros(-len(x) % 8, np.float32)).reshape(-1, 8)
    return tree(np.cumsum(rows, axis=0, dtype=np.float32)[-1])


ORDERS = {
    "one_by_one": (one_by_one, lambda n: n),
    "backwards": (lambda x: one_by_one(x[::-1]), lambda n: n),
    "sorted": (lambda x: one_by_one(np.sort(x)), lambda n: n),
    "tree": (tree, lambda n: (n - 1).bit_length()),
    "strided": (strided, lambda n: -(-n // 8) + 3),
}


def sum_bound(x: np.ndarray, depth: int):
    inputs = {"x": torch.from_numpy(x.astype(np.float64))}
    return sum.bound(Computed(inputs, sum.reference(**inputs), F32, (len(x),), depth))["total"]


@pytest.mark.parametrize("order", ORDERS)
@given(seed=SEEDS, n=st.integers(1, 1500), spread=st.sampled_from([0.0, 3.0]))
def test_sums_in_any_order_stay_within_the_bound(order, seed, n, spread):
    """A sum of the declared depth is as exact as the bound says, whatever its order."""
    add, depth = ORDERS[order]
    x = vector(seed, n, spread)
    bound = sum_bound(x, max(1, depth(n)))
    assert abs(float(add(x)) - math.fsum(x.astype(np.float64))) <= float(bound.absolute[0])


@given(seed=SEEDS, n=st.integers(1, 1500), depth=st.integers(1, 60))
def test_a_dropped_element_exceeds_the_bound_of_a_sum(seed, n, depth):
    """A tail or head that is lost shows, for elements of ordinary size."""
    x = np.random.default_rng(seed).uniform(1, 2, n).astype(np.float32)
    bound = sum_bound(x, depth)
    assert abs(math.fsum(x[:-1]) - math.fsum(x)) > float(bound.absolute[0])


@given(seed=SEEDS, n=st.integers(1, 300))
def test_flushed_subnormals_are_within_the_bound_of_a_sum(seed, n):
    """An atomic addition that flushes subnormal operands and results to zero is no error of the kernel."""
    tiny = element("f32").tiny
    x = vector(seed, n) * np.float32(tiny / 2)

    def flushed(value: np.float32) -> np.float32:
        return value if abs(value) >= tiny else np.float32(0)

    total = np.float32(0)
    for value in x:
        total = flushed(total + flushed(value))
    assert abs(float(total) - math.fsum(x.astype(np.float64))) <= float(sum_bound(x, n).absolute[0])


def test_partial_sums_may_overflow_where_magnitudes_do():
    """largest + largest - largest is finite, but not from left to right."""
    largest = np.float32(element("f32").largest)
    assert bool(sum_bound(np.array([largest, largest, -largest]), 3).may_overflow[0])
    assert not bool(sum_bound(np.array([largest / 4, largest / 4], np.float32), 2).may_overflow[0])


@pytest.mark.parametrize("special", [math.inf, -math.inf, math.nan])
def test_special_values_leave_bounds_finite(special):
    """An infinite bound would accept anything in place of an infinity."""
    x = torch.tensor([1.0, special], dtype=torch.float64)
    assert finite_magnitude(x).tolist() == [1.0, 0.0]
    assert torch.isfinite(summation(finite_magnitude(x).sum(), 2, 2, element("f32")).absolute)
    outputs = {"y": x}
    assert torch.isfinite(vector_add.bound(Computed({}, outputs, F32, (2,), 1))["y"].absolute).all()


def test_integer_sums_are_exact():
    """Not even one unit is forgiven."""
    inputs = {"x": torch.arange(5)}
    bound = sum.bound(Computed(inputs, sum.reference(**inputs), DType.parse("i32_i64"), (5,), 5))["total"]
    assert bound.absolute.tolist() == [0.0]


def test_a_chain_without_a_bound_is_refused():
    """Beyond 2^24 f32 additions in one chain nothing is known."""
    assert gamma(3, 2.0**-24) == pytest.approx(3 * 2.0**-24, rel=1e-6)
    with pytest.raises(ValueError, match="have no error bound"):
        gamma(1 << 24, 2.0**-24)


@given(seed=SEEDS, name=st.sampled_from(["f32", "f16"]), spread=st.sampled_from([0.0, 4.0]))
def test_one_rounded_addition_is_within_the_bound_and_two_units_are_not(seed, name, spread):
    """The correctly rounded sum passes; the second number next to it does not."""
    dtype = DType.parse(name)
    kind = np.dtype(np.float32 if name == "f32" else np.float16)
    x, y = (vector(s, 64, spread).astype(kind) for s in (seed, seed + 1))
    exact = torch.from_numpy(x.astype(np.float64)) + torch.from_numpy(y.astype(np.float64))
    bound = vector_add.bound(Computed({}, {"y": exact}, dtype, (64,), 1))["y"]
    limit = bound.absolute.numpy()
    right = x + y
    wrong = np.nextafter(np.nextafter(right, kind.type(np.inf)), kind.type(np.inf))
    assert (np.abs(right.astype(np.float64) - exact.numpy()) <= limit).all()
    assert (np.abs(wrong.astype(np.float64) - exact.numpy()) > limit).all()
    assert bound.signed_zero


def test_transpose_is_exact_to_the_sign_of_zero():
    """Nothing is computed, so nothing is forgiven."""
    inputs = {"x": torch.tensor([[0.0, -0.0, 3.0]], dtype=torch.float64)}
    outputs = transpose.reference(**inputs)
    bound = transpose.exact(Computed(inputs, outputs, F32, (1, 3), 0))["y"]
    assert bound.absolute.eq(0).all()
    assert bound.signed_zero
    assert torch.signbit(outputs["y"]).tolist() == [[False], [True], [False]]


def product(a: np.ndarray, b: np.ndarray, tile: int) -> np.ndarray:
    """f32 product that adds tiles of ``tile`` terms to a running sum."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for first in range(0, a.shape[1], tile):
        part = np.zeros_like(total)
        for i in range(first, min(first + tile, a.shape[1])):
            part += a[:, i : i + 1] * b[i : i + 1]
        total += part
    return total


def matmul_limits(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exact product and its error bound."""
    inputs = {name: torch.from_numpy(t.astype(np.float64)) for name, t in (("a", a), ("b", b))}
    outputs, dims = matmul.OPERATION.reference(**inputs), (a.shape[0], b.shape[1], a.shape[1])
    computed = Computed(inputs, outputs, F32, dims, matmul.OPERATION.depth(dims))
    bound = matmul.OPERATION.tolerance.bound(computed)["c"]
    return outputs["c"].numpy(), bound.absolute.numpy()


@given(seed=SEEDS, k=st.integers(0, 70), tile=st.sampled_from([1, 3, 16, 32, 100]), spread=st.sampled_from([0.0, 3.0]))
def test_products_in_any_tiling_stay_within_the_bound(seed, k, tile, spread):
    """Rounded products, added in tiles of any depth, are as exact as the bound says; k = 0 gives zeros."""
    a, b = vector(seed, 5 * k, spread).reshape(5, k), vector(seed + 1, k * 4, spread).reshape(k, 4)
    exact, limit = matmul_limits(a, b)
    assert (np.abs(product(a, b, tile) - exact) <= limit).all()


@given(seed=SEEDS, k=st.integers(1, 70))
def test_a_dropped_term_exceeds_the_bound_of_a_product(seed, k):
    """A lost K tail shows in every element, for terms of ordinary size."""
    rng = np.random.default_rng(seed)
    a, b = (rng.uniform(1, 2, shape).astype(np.float32) for shape in ((5, k), (k, 4)))
    exact, limit = matmul_limits(a, b)
    assert (np.abs(product(a[:, :-1], b[:-1], 32) - exact) > limit).all()


@pytest.mark.parametrize(("dtype", "signed"), [(torch.float64, True), (torch.int64, False)])
def test_what_is_only_moved_has_no_error(dtype, signed):
    """Every output is exact, infinities and NaN included; a float keeps the sign of its zero."""
    values = torch.tensor([1.0, float("inf"), float("nan")] if signed else [1, -7, 2**60], dtype=dtype)
    found = exact(Computed({}, {"y": values, "z": values}, F32, (3,), 1))
    assert set(found) == {"y", "z"}
    for bound in found.values():
        assert (bound.absolute == 0).all()
        assert bound.signed_zero is signed
