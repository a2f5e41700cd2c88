"""Functions of the headers that no other test uses give what CUDA's give."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import CudaFault, FaultKind, checking, load

SOURCE = Path(__file__).parent / "functions.cu"


def launch(kernel: str, blocks: int, threads: int, *args: Any, bug: int = 0, **settings: Any) -> None:
    with checking(**settings):
        load(SOURCE, options=(f"-DBUG={bug}",)).function(kernel)((blocks,), (threads,), args)


def neighbours(exact: Fraction) -> tuple[float, float]:
    """The floats at or below, and at or above, an exact number."""
    nearest = np.float32(float(exact))
    if Fraction(float(nearest)) == exact:
        return float(nearest), float(nearest)
    if Fraction(float(nearest)) > exact:
        return float(np.nextafter(nearest, np.float32(-np.inf))), float(nearest)
    return float(nearest), float(np.nextafter(nearest, np.float32(np.inf)))


def test_directed_roundings() -> None:
    """Sums, differences and products rounded down, up and towards zero, against exact fractions."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(64).astype(np.float32) for _ in range(2))
    out = np.zeros((8, 64), np.float32)
    launch("directed", 1, 64, a, b, out, np.int32(64))
    for x, y, results in zip(map(Fraction, a.tolist()), map(Fraction, b.tolist()), out.T, strict=True):
        plus, times, minus = neighbours(x + y), neighbours(x * y), neighbours(x - y)
        nearer_zero = [min(pair, key=abs) for pair in (plus, times)]
        expected = [*plus, nearer_zero[0], *times, nearer_zero[1], *minus]
        assert results.tolist() == expected


def test_directed_roundings_to_halves() -> None:
    """The neighbours of every number, zero and its neighbours among them."""
    x = np.array([0.0, 1e-9, -1e-9, 1.0, 1.0001, -1.0001, 3.14159, -2047.3], np.float32)
    down, up = np.zeros(8, np.float16), np.zeros(8, np.float16)
    launch("rounded_halves", 1, 32, x, down, up, np.int32(8))
    assert (down.astype(np.float32) <= x).all()
    assert (up.astype(np.float32) >= x).all()
    inexact = x.astype(np.float16).astype(np.float32) != x
    assert (np.nextafter(down, np.float16(np.inf))[inexact] == up[inexact]).all()
    assert (down[~inexact] == up[~inexact]).all()


def test_inverse_error_function() -> None:
    """Its error function is the argument; the ends are infinite."""
    x = np.linspace(-0.9999, 0.9999, 61).astype(np.float32)
    x = np.concatenate([x, np.array([-1.0, 1.0], np.float32)])
    y = np.zeros(63, np.float32)
    launch("inverse_erf", 1, 64, x, y, np.int32(63))
    np.testing.assert_allclose([math.erf(v) for v in y], x, rtol=1e-6, atol=1e-7)
    assert y[-2:].tolist() == [-math.inf, math.inf]


def test_scans_and_partitions_of_groups() -> None:
    """Scans go by tiles; a partition holds the lanes that agree."""
    x = np.arange(64, dtype=np.int32) * 7 % 11
    inclusive, exclusive, largest = (np.zeros(64, np.int32) for _ in range(3))
    launch("scans", 1, 64, x, inclusive, exclusive, largest)
    np.testing.assert_array_equal(inclusive.reshape(8, 8), x.reshape(8, 8).cumsum(1))
    np.testing.assert_array_equal(exclusive, inclusive - x)
    for warp in (slice(0, 32), slice(32, 64)):
        expected = [max(v for v in x[warp] if v % 2 == mine % 2) for mine in x[warp]]
        np.testing.assert_array_equal(largest[warp], expected)


def test_a_partition_by_labels() -> None:
    """One sum per label."""
    label, x = np.arange(32, dtype=np.int32) ** 2 % 5, np.arange(32, dtype=np.int32)
    sums = np.zeros(5, np.int32)
    launch("by_label", 1, 32, label, x, sums)
    np.testing.assert_array_equal(sums, np.bincount(label, x, 5))


def test_copies_by_a_group() -> None:
    """They arrive by the wait, and what reads before it is found."""
    x, y = np.arange(192, dtype=np.float32), np.zeros(192, np.float32)
    launch("staged", 2, 96, x, y)
    np.testing.assert_array_equal(y.reshape(2, 96), x.reshape(2, 96)[:, ::-1])
    with pytest.raises(CudaFault) as caught:
        launch("staged", 2, 96, x, y, bug=1)
    assert caught.value.kind in {FaultKind.ASYNC_COPY, FaultKind.UNINITIALISED_READ, FaultKind.SHARED_RACE}
    assert caught.value.line == next(
        number for number, text in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1) if "s[95 - t]" in text
    )


def test_the_clock_goes_on_and_others_run() -> None:
    """Who waits by the clock comes to an end, and meanwhile another thread has its turn."""
    out = np.zeros(1, np.int32)
    launch("waits_by_clock", 1, 64, np.zeros(1, np.int32), out)
    assert out[0] == 5
