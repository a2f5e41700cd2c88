"""The counters of one session: what is profiled, and what is told where nothing can be."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_roofline.contract import Case
from pytest_roofline.counters.metrics import Counters
from pytest_roofline.counters.ncu import CountersUnavailableError, Profile
from pytest_roofline.counters.session import profiled
from pytest_roofline.evidence import CaseSpec
from tests.counters.test_choosing import timed_row

ROWS = [timed_row("one"), timed_row("two")]


def spec(case: Case) -> CaseSpec:
    return CaseSpec(str(case), "operations.negate", (), "cuda")


def test_without_the_option_nothing_is_profiled():
    """The profiler is not even looked for."""

    def never(specs: Sequence[CaseSpec]) -> Profile:
        raise AssertionError("profiled")

    assert profiled(ROWS, (), spec, never).lines == ()
    assert profiled([], ("flagged",), spec, never).lines == ()


def test_the_longest_launch_of_each_case_is_kept():
    """A case's figures are its longest kernel's, by case id, and the report says how many there are."""
    launches = (Counters("fill", {"duration": 1e-6}), Counters("work", {"duration": 1e-3, "dram_share": 40.0}))

    def profile(specs: Sequence[CaseSpec]) -> Profile:
        return Profile("Nsight Compute 1", {specs[0].case: launches}, {specs[1].case: "hung: it did not end"})

    found = profiled(ROWS, ("*",), spec, profile)
    assert found.figures("negate/cuda/one/f32/32x32") == {"kernel": "work", "duration": 1e-3, "dram_share": 40.0}
    assert found.figures("negate/cuda/two/f32/32x32") == {}
    assert found.lines[0] == "counters of 1 of 2 chosen cases, Nsight Compute 1"
    assert "no counters of negate/cuda/two/f32/32x32: hung" in found.lines[1]


def test_a_machine_without_counters_costs_a_message_and_no_run():
    """The reason is told once; the times of the run stay."""

    def profile(specs: Sequence[CaseSpec]) -> Profile:
        raise CountersUnavailableError("ncu: ERR_NVGPUCTRPERM\nask its owner")

    found = profiled(ROWS, ("flagged",), spec, profile)
    assert not found.cases
    assert found.lines == ("counters: none. ncu: ERR_NVGPUCTRPERM\nask its owner",)


def test_a_pattern_that_fits_nothing_is_told():
    """A misspelt pattern is not silently an empty profile."""
    assert profiled(ROWS, ("sum/*",), spec, lambda specs: Profile("", {})).lines == (
        "counters: no timed case is sum/*",
    )
