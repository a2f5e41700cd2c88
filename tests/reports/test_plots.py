"""Plots as files: what is drawn, in which format, and what is said where there is nothing to draw."""

from __future__ import annotations

import sys
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_roofline.reports import ReportUnavailableError, plots
from pytest_roofline.reports.series import RunPoint, Series
from pytest_roofline.runs.record import MeasuredCeilings, RunRecord
from tests.runs.made import made_case, made_run

matplotlib = pytest.importorskip("matplotlib", reason="Matplotlib is not installed: the extra report brings it")
CASE = "sum/cuda/two_stage/f32/1024"


def sample() -> RunRecord:
    """Two rungs and a library routine, with measured ceilings."""
    cases = (
        made_case("sum/cuda/atomic/f32/1024", 1e-3),
        made_case(CASE, 12e-6, order=1),
        made_case("sum/torch/sum/f32/1024", 20e-6, peer=True),
    )
    return replace(made_run({}), cases=cases, ceilings=MeasuredCeilings("2026-11-30", 4.2e12, 4.6e12, 5e-7))


def series() -> Series:
    points = tuple(RunPoint(f"run-{i}", f"2026-11-{i + 1:02}T02:00:00+00:00", f"{i}" * 40) for i in range(4))
    return Series(points, {CASE: (1e-5, None, 2e-5, 2e-5)}, {CASE: (2,)})


def texts(path: Path) -> str:
    """All text of an SVG, which must be well-formed."""
    return " ".join(xml.etree.ElementTree.parse(path).getroot().itertext())


def test_the_roofline_names_its_roofs(tmp_path: Path):
    """Datasheet and measured bandwidth, the pipelines in use, and no others."""
    shown = texts(plots.save(plots.roofline(sample()), tmp_path / "roofline.svg"))
    for words in ("4.8 TB/s datasheet", "4.2 TB/s copy, measured", "4.6 TB/s read, measured", "H200"):
        assert words in shown
    assert "fp32 67 TFLOP/s" in shown
    assert "tensor" not in shown


def test_a_derived_roof_is_dotted_and_says_so(tmp_path: Path):
    """It follows from the clock and is in no datasheet."""
    run = sample()
    device = replace(run.device, peaks={"special": 4e12}, sources={"special": "derived: 16 per SM and clock"})
    cases = tuple(replace(case, operations={"special": 6_000_000}) for case in run.cases)
    figure = plots.roofline(replace(run, device=device, cases=cases))
    flat = [line for line in figure.axes[0].lines if list(line.get_ydata()) == [4e12, 4e12]]
    assert [line.get_linestyle() for line in flat] == [":"]
    assert "special 4 Top/s derived" in texts(plots.save(figure, tmp_path / "roofline.svg"))


def test_every_case_is_a_point_at_its_intensity_and_rate():
    """6 million operations over 48 MB are 0.125 per byte; the rate follows from the time."""
    axes = plots.roofline(sample()).axes[0]
    points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1]
    expected = [(0.125, 6e6 / case.seconds) for case in sample().cases if case.seconds]
    assert points == [(pytest.approx(x), pytest.approx(y)) for x, y in expected]


def test_the_ladder_has_a_bar_per_kernel_with_share_and_time(tmp_path: Path):
    """Library routines last; the share is that of the report."""
    shown = texts(plots.save(plots.ladder(sample(), "sum"), tmp_path / "ladder.svg"))
    for words in ("cuda atomic", "0.999 %, 1 ms", "cuda two_stage", "torch sum", "50 %, 20 us"):
        assert words in shown


def test_the_history_shows_where_the_level_changed(tmp_path: Path):
    """With the commit of the first run of the new level; a run that did not time the case leaves a gap."""
    figure = plots.history(series(), CASE)
    assert list(figure.axes[0].lines[0].get_xdata()) == [0, 2, 3]
    assert "2222222222" in texts(plots.save(figure, tmp_path / "history.svg"))


def test_the_ending_says_the_format(tmp_path: Path):
    """PNG is PNG; the same run gives the same bytes; another ending is refused."""
    for name in ("one.png", "two.png", "one.svg", "two.svg"):
        plots.save(plots.ladder(sample(), "sum"), tmp_path / name)
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    for ending in ("png", "svg"):
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()
    with pytest.raises(plots.PlotError, match=r"\.svg or \.png"):
        plots.save(plots.ladder(sample(), "sum"), tmp_path / "ladder.pdf")
    assert not (tmp_path / "ladder.pdf").exists()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.roofline(sample(), "transpose"), "no timed case of transpose"),
        (lambda: plots.roofline(sample(), level="l2"), "bytes of l2"),
        (lambda: plots.ladder(sample(), "transpose"), "known are sum"),
        (lambda: plots.history(series(), "sum/cuda/atomic/f32/7"), "no run of this history timed"),
    ],
)
def test_nothing_to_draw_is_told(draw, message):
    """An empty picture says nothing; the message says what there would be."""
    with pytest.raises(plots.PlotError, match=message):
        draw()


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch):
    """Which extra brings it."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ReportUnavailableError, match=r"pytest-roofline\[report\]"):
        plots.ladder(sample(), "sum")
