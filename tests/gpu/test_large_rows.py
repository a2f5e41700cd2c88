"""Rows and matrices with an extent near and past 2^31, where a number of 32 bits overflows."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("memory")

NEAR = (1 << 31) - 1  # fits an int, the end of a block that it lies in does not
WORDS = (1 << 31) - 8  # the same in whole 16-byte words
PAST = (1 << 31) + 8
BOTH = pytest.mark.parametrize("language", ["cuda", "triton"])
COLUMNS = pytest.mark.parametrize("columns", [WORDS, PAST])
PART = 1 << 26  # columns that a check converts at once
TRANSPOSES = [
    ("cuda", "naive", {}),
    ("cuda", "shared", {}),
    ("cuda", "shared_padded", {}),
    ("cuda", "shared_swizzled", {}),
    ("cuda", "vectorised", {}),
    ("triton", "naive", {"block": 256}),
    ("triton", "tiled", {}),
]


def module(language: str, operation: str):
    return pytest.importorskip(f"kernels_{language}.{operation}")


def row(columns: int) -> torch.Tensor:
    """One row that repeats itself, different in every word."""
    x = torch.empty(1, columns, dtype=torch.float16, device="cuda")
    return x.normal_(generator=torch.Generator("cuda").manual_seed(0))


def parts(x: torch.Tensor):
    """First, last and some parts between, in double precision; all of it would take seconds."""
    columns = x.shape[1]
    starts = sorted({0, PART, (1 << 31) - PART, columns - PART})
    return [x[0, start : min(start + PART, columns)] for start in starts if start < columns]


def total(x: torch.Tensor, term) -> float:
    return sum(float(term(x[0, i : i + PART].double()).sum()) for i in range(0, x.shape[1], PART))


def holds(x: torch.Tensor, y: torch.Tensor, function, absolute: float = 0.0) -> None:
    for given, got in zip(parts(x), parts(y), strict=True):
        torch.testing.assert_close(got.double(), function(given.double()), rtol=2e-3, atol=absolute)


@BOTH
@COLUMNS
def test_a_long_softmax_is_whole(language, columns):
    """Every exponential is in the sum once. Sixteen elements stand out, so that the results are numbers of f16."""
    x = torch.full((1, columns), -20.0, dtype=torch.float16, device="cuda")
    places = torch.linspace(0, columns - 1, 16, dtype=torch.float64).long().cuda()
    x[0, places] = 0
    y = torch.full_like(x, 7)
    module(language, "softmax").fused(x, y)
    denominator = 16 + (columns - 16) * math.exp(-20)
    assert (y[0, places].double() - 1 / denominator).abs().max() <= 1e-4
    y[0, places] = 0
    assert all(float(part.max()) <= 1e-6 and float(part.min()) >= 0 for part in parts(y))


@BOTH
@COLUMNS
def test_a_long_rmsnorm_is_whole(language, columns):
    """Every square is in the mean once, and every column is scaled."""
    x = row(columns)
    y = torch.full_like(x, 7)
    module(language, "rmsnorm").fused(x, torch.ones_like(x[0]), y, eps=1e-6)
    scale = (total(x, torch.square) / columns + 1e-6) ** -0.5
    holds(x, y, lambda part: part * scale, 1e-6)


@BOTH
@COLUMNS
def test_a_long_layernorm_is_whole(language, columns):
    """Every element is in mean and variance once, and every column is scaled."""
    x = row(columns)
    y = torch.full_like(x, 7)
    module(language, "layernorm").fused(x, torch.ones_like(x[0]), torch.zeros_like(x[0]), y, eps=1e-5)
    mean = total(x, lambda part: part) / columns
    variance = total(x, lambda part: (part - mean).square()) / columns
    holds(x, y, lambda part: (part - mean) * (variance + 1e-5) ** -0.5, 2e-3)


@BOTH
@pytest.mark.parametrize("variant", ["unfused", "fused"])
def test_a_long_row_around_a_large_mean_keeps_its_deviations(language, variant):
    """A mean of 10^6 deviations over a million elements is off by no more than its own rounding in f32."""
    columns, mean = 1_000_001, 1e6
    x = torch.empty(2, columns, device="cuda").normal_(mean, generator=torch.Generator("cuda").manual_seed(0))
    y = torch.full_like(x, 7)
    options = {}
    if variant == "unfused":
        options = {key: torch.full((2,), math.nan, device="cuda") for key in ("means", "variances")}
        options |= {"block": 1024} if language == "triton" else {}
    weight, bias = torch.ones_like(x[0]), torch.zeros_like(x[0])
    getattr(module(language, "layernorm"), variant)(x, weight, bias, y, eps=1e-5, **options)
    exact = x.double() - x.double().mean(dim=1, keepdim=True)
    exact *= (exact.square().mean(dim=1, keepdim=True) + 1e-5).rsqrt()
    assert float((y - exact).abs().max()) <= 2 * 2**-24 * mean


@BOTH
def test_a_long_unfused_softmax_loses_nothing(language):
    """A sum of 2^31 terms in f32, which loses parts of a percent in chains of millions."""
    x = torch.empty(1, NEAR, device="cuda").normal_(generator=torch.Generator("cuda").manual_seed(0))
    y = torch.full_like(x, 7)
    scratch = {key: torch.full((1,), math.nan, device="cuda") for key in ("maxima", "sums")}
    options = {"block": 1024} if language == "triton" else {}
    module(language, "softmax").unfused(x, y, **options, **scratch)
    largest = float(x.max())
    denominator = total(x, lambda part: (part - largest).exp())
    assert float(scratch["maxima"]) == largest
    assert float(scratch["sums"]) == pytest.approx(denominator, rel=5e-4)
    holds(x, y, lambda part: (part - largest).exp() / denominator)


@pytest.mark.parametrize(("language", "variant", "options"), TRANSPOSES)
@pytest.mark.parametrize("extents", [(1, NEAR), (1, PAST), (NEAR, 1)])
def test_a_long_transpose_is_whole(language, variant, options, extents):
    """A row as a column has the same elements in the same order, all bit patterns of 16 bits."""
    bits = torch.randint(-(1 << 15), 1 << 15, extents, dtype=torch.int16, device="cuda")
    y = torch.full(extents[::-1], 7, dtype=torch.float16, device="cuda")
    getattr(module(language, "transpose"), variant)(bits.view(torch.float16), y, **options)
    assert torch.equal(bits.view(-1), y.view(torch.int16).view(-1))
