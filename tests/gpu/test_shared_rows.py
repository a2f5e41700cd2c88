"""Rows of softmax that several Triton programs share."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

INF, NAN = float("inf"), float("nan")
COLUMNS = 40_000  # ten parts, the last one partial; six more programs have none
PART = 4096


def shared(x: torch.Tensor) -> torch.Tensor:
    from kernels_triton import softmax

    y = torch.full_like(x, 7)
    words = x.shape[0] * softmax.parts(x.shape[1]) + 1
    softmax.fused(x, y, shares=torch.full((words,), -1, dtype=torch.int64, device=x.device))
    return y


def test_special_values_in_one_part_are_seen_by_all():
    """-inf gives 0, a row of nothing else NaN; NaN or +inf anywhere makes all parts of the row NaN."""
    x = torch.randn(8, COLUMNS, device="cuda")
    x[1, :PART] = -INF
    x[2] = -INF
    x[3, 5] = NAN
    x[4, COLUMNS - 1] = INF
    x[5, PART : 2 * PART] = NAN
    x[6] = 0
    x[7, 3 * PART] = 3e38
    y = shared(x)
    torch.testing.assert_close(y.double(), torch.softmax(x.double(), dim=1), rtol=1e-5, atol=1e-9, equal_nan=True)
    assert y.isnan().any(dim=1).tolist() == y.isnan().all(dim=1).tolist() == [k in (2, 3, 4, 5) for k in range(8)]


@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_more_programs_than_the_device_holds_wait_for_none_that_cannot_start(rows):
    """A program takes the next part when it starts, so that all that a row waits for run; bits do not change."""
    x = torch.randn(rows, COLUMNS, device="cuda")
    y = shared(x)
    torch.testing.assert_close(y, torch.softmax(x, dim=1), rtol=1e-5, atol=1e-9)
    assert all(torch.equal(shared(x), y) for _ in range(3))
