"""Vectors past 2^31 elements, where an index of 32 bits overflows."""

from __future__ import annotations

import importlib

import pytest

torch = pytest.importorskip("torch")

ELEMENTS = (1 << 31) + 4099
BOTH = pytest.mark.parametrize("language", ["cuda", "triton"])
WIDE = pytest.mark.parametrize("variant", ["vectorised", "evict_last"])


def launcher(language: str, operation: str, variant: str):
    return getattr(importlib.import_module(f"kernels_{language}.{operation}"), variant)


@BOTH
@WIDE
@pytest.mark.parametrize("offset", [0, 1])
def test_a_long_copy_is_whole(memory, language, variant, offset):
    """Bytes on both sides of 2^31, from an aligned and from a misaligned start."""
    x = torch.randint(-128, 127, (ELEMENTS + offset,), dtype=torch.int8, device="cuda")[offset:]
    y = torch.zeros(ELEMENTS + offset, dtype=torch.int8, device="cuda")[offset:]
    launcher(language, "copy", variant)(x, y)
    assert torch.equal(x, y)


@BOTH
@WIDE
def test_a_long_addition_is_whole(memory, language, variant):
    """The first and last elements, and those around 2^31, in f16."""
    x = torch.randn(ELEMENTS, dtype=torch.float16, device="cuda")
    y = torch.ones_like(x)
    launcher(language, "vector_add", variant)(x, y)
    assert torch.equal(y, x.add_(1))


@BOTH
def test_a_long_relu_is_whole(memory, language):
    """The same for the fused pair."""
    x = torch.randn(ELEMENTS, dtype=torch.bfloat16, device="cuda")
    y = torch.empty_like(x)
    launcher(language, "add_relu", "fused")(x, y)
    assert torch.equal(y, x.add_(1).relu_())
