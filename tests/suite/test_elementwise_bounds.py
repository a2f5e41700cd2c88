"""Error bounds of the elementwise operations hold for f32 arithmetic as it is specified, and for little else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from pytest_roofline.checking.compare import compare  # noqa: E402
from pytest_roofline.contract import Computed  # noqa: E402
from pytest_roofline.dtypes import DType, element  # noqa: E402
from suite.operations import divergent_select, exp_chain, fma, sin_chain  # noqa: E402

F32, ITEM = DType.parse("f32"), element("f32")
SEEDS = st.integers(0, 2**32 - 1)
CHAINS = st.integers(1, 20)


def vector(seed: int, n: int = 64, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(n) * scale).astype(np.float32)


def wide(x: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x, np.float64))


def accepted(operation, inputs: dict, got: np.ndarray, depth: int, dims: tuple[int, ...], **scalars) -> bool:
    """Whether the operation's rule takes ``got`` for its one output."""
    exact = operation.reference(**inputs, **scalars)
    [(name, bound)] = operation.bound(Computed(inputs, exact, F32, dims, depth)).items()
    result = torch.from_numpy(np.asarray(got, np.float32))
    unwritten = torch.zeros(result.shape, dtype=torch.bool)
    return compare(name, result, exact[name], bound, ITEM, unwritten).problem is None


def chain(x: np.ndarray, steps: int, step) -> np.ndarray:
    for _ in range(steps):
        x = step(x)
    return x


def sine(x: np.ndarray, steps: int, got: np.ndarray, roundings: int) -> bool:
    return accepted(sin_chain, {"x": wide(x)}, got, roundings * steps, (len(x), steps), steps=steps)


def exponential(x: np.ndarray, steps: int, got: np.ndarray, roundings: int) -> bool:
    return accepted(exp_chain, {"x": wide(x)}, got, roundings * steps, (len(x), steps), steps=steps)


@given(seed=SEEDS, steps=CHAINS, scale=st.sampled_from([1e-30, 1.0, 1e6]))
def test_a_chain_of_rounded_sines_is_within_the_precise_bound(seed, steps, scale):
    """Each step half a unit in the last place off, for arguments of any size."""
    x = vector(seed, scale=scale)
    assert sine(x, steps, chain(x, steps, lambda v: np.sin(v.astype(np.float64)).astype(np.float32)), sin_chain.PRECISE)


@given(seed=SEEDS, steps=CHAINS)
def test_the_precise_bound_refuses_the_intrinsic(seed, steps):
    """An absolute error of 2^-20.5 on a small argument is no library function's."""
    x = vector(seed, scale=1e-3)
    assert not sine(x, steps, chain(x, steps, np.sin) + np.float32(2**-20.5), sin_chain.PRECISE)


@given(seed=SEEDS, steps=CHAINS)
def test_the_fast_bound_admits_the_error_of_every_step(seed, steps):
    """The intrinsic is off by up to 2^-20.5, and no step amplifies what came before."""

    def step(v):
        return (np.sin(v.astype(np.float64)) + 2**-20.5).astype(np.float32)

    x = vector(seed)
    got = chain(x, steps, step)
    assert sine(x, steps, got, sin_chain.FAST)
    assert not sine(x, steps, got + np.float32(steps * 2**-19), sin_chain.FAST)


def test_the_intrinsic_owes_less_to_large_arguments():
    """2^-14.7 up to 100 pi, and beyond only a number."""
    x = np.array([1.0, 100.0, 1e5], np.float32)
    right = np.sin(x.astype(np.float64))
    for errors, admitted in (
        ((0, 2**-15, 1.5), True),
        ((2**-15, 0, 0), False),
        ((0, 2**-14, 0), False),
        ((0, 0, np.nan), False),
    ):
        assert sine(x, 1, right + np.array(errors), sin_chain.FAST) == admitted


@given(seed=SEEDS, steps=st.integers(1, 6))
def test_a_sine_too_few_exceeds_both_bounds(seed, steps):
    """A loop that ends early shows."""
    x = vector(seed)
    got = chain(x, steps - 1, np.sin)
    assert not sine(x, steps, got, sin_chain.PRECISE)
    assert not sine(x, steps, got, sin_chain.FAST)


@given(seed=SEEDS, steps=CHAINS, scale=st.sampled_from([1e-30, 1.0, 50.0, 1e6]))
def test_a_chain_of_rounded_exponentials_is_within_the_precise_bound(seed, steps, scale):
    """Also where an intermediate result overflows or vanishes."""

    def step(v):
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(-v.astype(np.float64)).astype(np.float32)

    x = vector(seed, scale=scale)
    with np.errstate(over="ignore"):
        assert exponential(x, steps, chain(x, steps, step), exp_chain.PRECISE)


@given(seed=SEEDS, steps=CHAINS, scale=st.sampled_from([1.0, 50.0]))
def test_an_exponential_of_a_rounded_product_is_within_the_fast_bound(seed, steps, scale):
    """exp(x) as exp2 of x log2(e), the product rounded once: how the intrinsic does it."""

    def step(v):
        product = -v * np.float32(np.log2(np.e))
        with np.errstate(over="ignore", under="ignore"):
            return np.exp2(product.astype(np.float64)).astype(np.float32)

    x = vector(seed, scale=scale)
    with np.errstate(over="ignore"):
        assert exponential(x, steps, chain(x, steps, step), exp_chain.FAST)


@given(seed=SEEDS, steps=st.integers(1, 6))
def test_an_exponential_too_few_exceeds_both_bounds(seed, steps):
    """A loop that ends early shows."""
    x = vector(seed)
    got = chain(x, steps - 1, lambda v: np.exp(-v))
    assert not exponential(x, steps, got, exp_chain.PRECISE)
    assert not exponential(x, steps, got, exp_chain.FAST)


@given(seed=SEEDS, scale=st.sampled_from([1e-25, 1.0, 1e15]))
def test_a_multiply_add_may_be_fused_or_not(seed, scale):
    """One rounding or two, also where the product is subnormal; a lost summand is neither."""
    a, b, c = vector(seed, scale=scale), vector(seed + 1, scale=scale), vector(seed + 2, scale=max(scale**2, 1e-40))
    inputs = {"a": wide(a), "b": wide(b), "c": wide(c)}
    fused = (wide(a) * wide(b) + wide(c)).numpy().astype(np.float32)
    for got in (fused, a * b + c):
        assert accepted(fma, inputs, got, 2, (64,))
    assert not accepted(fma, inputs, a * b, 2, (64,))


def test_a_product_may_overflow_where_the_sum_does_not():
    """4e38 - 3e38 is finite, and infinite without fusing; 2e38 - 3e38 never is."""
    for factor, admitted in ((4, True), (2, False)):
        inputs = {
            name: wide(np.array([value], np.float32)) for name, value in (("a", 1e38), ("b", factor), ("c", -3e38))
        }
        assert accepted(fma, inputs, np.array([np.inf], np.float32), 2, (1,)) == admitted


@given(seed=SEEDS, scale=st.sampled_from([1e-30, 1.0, 1e30]))
def test_each_element_gets_the_side_that_its_selector_says(seed, scale):
    """Both sides rounded in every operation pass; the other side does not."""
    c, x = vector(seed, 8), vector(seed + 1, 32, scale).reshape(8, 4)

    def side(factor, summand):
        return chain(x, divergent_select.STEPS, lambda v: v * np.float32(factor) + np.float32(summand))

    inputs = {"c": wide(c), "x": wide(x)}
    one, other = side(*divergent_select.CHOSEN), side(*divergent_select.OTHERWISE)
    choice, depth = c[:, None] > 0, 2 * divergent_select.STEPS
    assert accepted(divergent_select, inputs, np.where(choice, one, other), depth, (8, 4))
    assert not accepted(divergent_select, inputs, np.where(choice, other, one), depth, (8, 4))
