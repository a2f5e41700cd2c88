"""layernorm of rows whose mean is large, or whose elements are all the same, and a bound that knows the difference."""

from __future__ import annotations

import functools

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import layernorm as cuda_layernorm  # noqa: E402
from pytest_roofline.contract import Computed  # noqa: E402
from pytest_roofline.counting.cuda_cpu import CompilerMissing  # noqa: E402
from pytest_roofline.dtypes import DType  # noqa: E402
from suite import rowwise  # noqa: E402
from suite.operations import layernorm  # noqa: E402

COLUMNS = 1025  # several words of every thread in one chain each, the last word partial; two blocks of a Triton program
KERNELS = [f"{language} {variant}" for language in ("cuda", "triton") for variant in ("unfused", "fused", "looped")]
ALL = pytest.mark.parametrize("name", KERNELS)
DEPTHS = {
    "cuda unfused": rowwise.unfused_depth,
    "cuda fused": rowwise.fused_depth,
    "cuda looped": rowwise.looped_depth,
}


def normalise(name: str, x: torch.Tensor, device: str) -> torch.Tensor:
    """What a kernel makes of ``x`` with weights 1 and 0."""
    pytest.importorskip("triton")
    from kernels_triton import layernorm as triton_layernorm

    scratch = {key: torch.full((len(x),), float("nan"), device=device) for key in ("means", "variances")}
    launchers = {
        "cuda unfused": functools.partial(cuda_layernorm.unfused, **scratch),
        "cuda fused": cuda_layernorm.fused,
        "cuda looped": cuda_layernorm.fused_looped,
        "triton unfused": functools.partial(triton_layernorm.unfused, block=1024, **scratch),
        "triton fused": triton_layernorm.fused,
        "triton looped": functools.partial(triton_layernorm.fused_looped, block=1024, num_warps=4),
    }
    x = x.to(device)
    y = torch.full_like(x, float("nan"))
    weight, bias = (torch.full(x.shape[1:], value, dtype=x.dtype, device=device) for value in (1, 0))
    try:
        launchers[name](x, weight, bias, y, eps=layernorm.EPS)
    except CompilerMissing as reason:
        pytest.skip(str(reason))
    return y.cpu().double()


def limits(x: torch.Tensor, depth: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The exact result and its bound."""
    ones = torch.ones(x.shape[1]).double()
    inputs = {"x": x.double(), "weight": ones, "bias": 0 * ones}
    outputs = layernorm.reference(**inputs)
    bound = layernorm.bound(Computed(inputs, outputs, DType.parse("f32"), tuple(x.shape), depth))["y"]
    return outputs["y"], bound.absolute


def around(mean: float, columns: int = COLUMNS) -> torch.Tensor:
    return torch.randn(2, columns, generator=torch.Generator().manual_seed(1)) + mean


@ALL
@pytest.mark.parametrize("value", [123456.7, 100000.3, 1e-3])
@pytest.mark.parametrize("columns", [33, COLUMNS])
def test_a_constant_row_is_zero(device, name, value, columns):
    """Its sum in f32 is rounded and so is its mean; what is left of that must not be taken for a deviation."""
    y = normalise(name, torch.full((2, columns), value), device)
    assert y.abs().max() <= 1e-5


@ALL
def test_a_constant_row_of_16_bits_is_zero(device, name):
    """The same for f16, whose products and sums are f32."""
    assert normalise(name, torch.full((2, 33), 1e4, dtype=torch.float16), device).abs().max() <= 1e-3


@ALL
@pytest.mark.parametrize("mean", [1e4, 1e6])
def test_a_mean_costs_no_more_than_its_own_rounding(device, name, mean):
    """A mean in f32 is off by up to its last digit, whatever has been summed up for it."""
    x = around(mean)
    exact, _ = limits(x, 1)
    last_digit = 2**-24 * mean
    assert (normalise(name, x, device) - exact).abs().max() <= 1e-5 + 2 * last_digit


@ALL
@pytest.mark.parametrize("mean", [0.0, 1e4, 1e5])
def test_the_result_is_within_the_bound(device, name, mean):
    """Each kernel, with the depth that the suite declares for it."""
    x = around(mean)
    exact, limit = limits(x, DEPTHS.get(name, rowwise.triton_depth)(tuple(x.shape)))
    assert ((normalise(name, x, device) - exact).abs() <= limit).all()


@pytest.mark.parametrize("mean", [0.0, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("wrong", [0.0, -1.0, 0.5])
def test_a_bound_at_a_large_mean_tells_right_from_wrong(mean, wrong):
    """Zeros, what has the wrong sign and what is half as large are out of bounds."""
    exact, limit = limits(around(mean), 80)
    assert ((wrong * exact - exact).abs() > limit).any()


def test_a_mean_that_nobody_corrects_exceeds_the_bound():
    """A sum in one chain, as a thread of a long row had it, leaves more than the rounding of the mean."""
    x = around(1e5, 8 * COLUMNS)
    exact, limit = limits(x, 80)
    mean = _chain(x) / x.shape[1]
    deviation = x - mean
    y = deviation / ((deviation * deviation).mean(dim=1, keepdim=True) + layernorm.EPS).sqrt()
    assert ((y.double() - exact).abs() > limit).any()


def _chain(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(len(x))
    for column in x.T:
        total += column
    return total[:, None]


def test_noise_in_place_of_a_constant_row_exceeds_the_bound():
    """What constant rows came to before their mean was corrected."""
    x = torch.full((1, COLUMNS), 123456.7)
    exact, limit = limits(x, 80)
    mean = _chain(x) / COLUMNS
    y = (x - mean) / ((x - mean).square().mean() + layernorm.EPS).sqrt()
    assert ((y.double() - exact).abs() > limit).all()
