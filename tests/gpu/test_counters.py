"""Counters of real kernels through Nsight Compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_roofline.counters import ncu
from pytest_roofline.evidence import CaseSpec

ROOT = Path(__file__).parents[2]
NAIVE, SHARED = "transpose/cuda/naive/f32/4096x4096", "transpose/cuda/shared/f32/4096x4096"


def test_counters_are_those_that_the_source_predicts():
    """A naive transpose scatters its stores over 32 sectors; the unpadded tile has conflicts instead."""
    specs = [CaseSpec(case, "suite.operations.transpose", (str(ROOT),), "cuda") for case in (NAIVE, SHARED)]
    try:
        found = ncu.profile(specs)
    except ncu.CountersUnavailableError as reason:
        pytest.skip(str(reason))
    assert found.problems == {}
    (naive,), (shared,) = found.cases[NAIVE], found.cases[SHARED]
    assert (naive.figures["load_sectors_per_request"], naive.figures["store_sectors_per_request"]) == (4, 32)
    assert shared.figures["store_sectors_per_request"] == 4
    assert shared.figures["shared_conflicts"] / shared.figures["shared_passes"] > 0.9
    assert sum(naive.stalls.values()) > 50
