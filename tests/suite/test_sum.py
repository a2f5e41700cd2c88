"""Sums: what only long vectors do."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("n", [0, 8191, 8193, 100_003])
def test_the_first_stage_of_long_vectors_sums_short_ones_too(monkeypatch, device, n):
    """Its block and hint are chosen above 2^22 elements, which the interpreter does not reach: here from none."""
    from kernels_triton import sum as kernels

    monkeypatch.setattr(kernels, "_SMALL_ELEMENTS", -1)
    x = torch.arange(n, dtype=torch.int32, device=device) % 1001 - 400
    total, partials = (torch.full((k,), -7, dtype=torch.int32, device=device) for k in (1, 1056))
    kernels.two_stage(x, total, num_warps=8, partials=partials)
    assert total.item() == x.sum().item()
