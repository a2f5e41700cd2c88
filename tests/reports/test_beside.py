"""A run beside an A100: derived bounds, caveats, and estimates only where they are borne out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.reports.html.beside import beside
from pytest_roofline.runs.record import Moved, PublishedFigure, RunRecord
from tests.runs.made import made_case, made_run

BIG = 16_000_000_000  # bytes: far outside any L2
HERE, THERE = BIG / 4.8e12, BIG / 2.039e12  # the bounds of the datasheets


def stream(name: str, share: float, published: float | None = None):
    """A copy of 16 GB that reaches ``share`` of its bound here, with a published share on an A100."""
    case = made_case(f"copy/cuda/{name}/f32/1024", HERE / share)
    assert case.times is not None
    bound = replace(case.bounds["algorithm"], seconds=HERE)
    seconds = HERE / share
    figures = ()
    if published is not None:
        figures = (PublishedFigure("a100_sxm4_80gb", "time", 1.0, "ms", "someone", THERE / published, published),)
    return replace(
        case,
        traffic=(Moved("device", BIG // 2, BIG // 2),),
        operations={},
        times=replace(case.times, seconds=seconds),
        bounds={"algorithm": bound},
        published=figures,
    )


def run(*cases) -> RunRecord:
    return replace(made_run({}), cases=cases)


def test_bounds_follow_from_the_other_cards_datasheet():
    """The bytes of the case over the bandwidth of an A100 of 80 GB."""
    found = beside(run(stream("plain", 0.9)))
    there = found.cases["copy/cuda/plain/f32/1024"]
    assert (there.bound, there.by) == (pytest.approx(THERE, rel=1e-3), "device")


def test_without_published_figures_there_is_no_estimate():
    """A bound is no forecast."""
    assert beside(run(stream("plain", 0.9))).cases["copy/cuda/plain/f32/1024"].estimate is None


def test_estimates_stand_where_published_times_would_have_been_foretold():
    """Three figures within a few percent make a family trusted; its other cases get their own share of the bound."""
    cases = [stream(f"k{i}", 0.88, 0.87 + 0.01 * i) for i in range(3)]
    found = beside(run(*cases, stream("other", 0.5)))
    assert found.cases["copy/cuda/other/f32/1024"].estimate == pytest.approx(THERE / 0.5, rel=1e-3)
    assert [t.given for t in found.trust] == [True]


def test_a_family_that_was_foretold_badly_gets_none():
    """Its error is kept and shown instead."""
    found = beside(run(*[stream(f"k{i}", 0.9, 0.4) for i in range(3)]))
    assert {there.estimate for there in found.cases.values()} == {None}
    assert found.trust[0].typical > 0.5


def test_a_short_case_carries_its_caveat():
    """Ten microseconds hold a launch as well."""
    case = replace(made_case("sum/cuda/plain/f32/1024", 12e-6))
    figure = PublishedFigure("a100_sxm4_80gb", "time", 1.0, "us", "someone", 30e-6, 0.8)
    found = beside(run(replace(case, published=(figure,))))
    assert any("launching" in words for words in found.caveats[case.id, "a100_sxm4_80gb"])


@pytest.mark.parametrize(
    "change", [{"operations": {"quantum": 1}}, {"traffic": (Moved("tape", 1, 1),)}, {"operations": {}, "traffic": ()}]
)
def test_what_this_version_does_not_know_has_no_bound(change):
    """A pipeline or level of a newer version is left out, and so is a case without any work."""
    assert beside(run(replace(made_case("sum/cuda/plain/f32/1024", 12e-6), **change))).cases == {}


def test_a_run_on_an_a100_stands_beside_nothing():
    """Its own times are the measured ones."""
    a100 = run(stream("plain", 0.9))
    assert beside(replace(a100, device=replace(a100.device, key="a100"))).cases == {}
