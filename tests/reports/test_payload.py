"""What the page is given: compact, complete, and unable to become part of the page."""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from dataclasses import replace
from importlib import resources

import pytest

from pytest_roofline.reports.html.payload import payload, script
from pytest_roofline.reports.series import RunPoint, Series
from pytest_roofline.runs.record import PublishedFigure
from tests.runs.made import made_case, made_run

CASE = "sum/cuda/two_stage/f32/1024"
POINTS = tuple(RunPoint(f"run-{i}", f"2026-11-{i + 1:02}T02:00:00+00:00", f"{i}" * 40) for i in range(4))


def test_every_column_has_one_value_per_case():
    """The page reads them side by side."""
    run = made_run({CASE: 20e-6, "sum/triton/two_stage/f32/1024": 30e-6})
    columns = payload(run)["cases"]
    assert {len(column) for column in columns.values()} == {2}
    assert columns["id"] == [case.id for case in run.cases]


@pytest.mark.parametrize(
    "hostile", ["</script><script>x</script>", "<!--<script>", "a & b", "line\u2028paragraph\u2029end"]
)
def test_no_text_can_end_the_script_it_stands_in(hostile: str):
    """Neither in a value nor in a name; the page reads it back unchanged."""
    text = script({hostile: [hostile]})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {hostile: [hostile]}


def test_times_are_rounded_and_what_is_not_finite_is_unknown():
    """Six digits; NaN is no JSON and would stop the whole page."""
    run = made_run({CASE: 20e-6})
    run = replace(run, cases=(replace(run.cases[0], intensity=math.inf, fraction=0.123456789),))
    columns = payload(run)["cases"]
    assert columns["intensity"] == [None]
    assert columns["fraction"] == [0.123457]
    script(payload(run))


def test_history_takes_four_bytes_a_time():
    """Little-endian float32 in base64, NaN where a run did not time the case."""
    series = Series(POINTS, {CASE: (1e-5, None, 2e-5, 2e-5)}, {CASE: (2,)})
    found = payload(made_run({CASE: 2e-5}), series)["history"]
    values = struct.unpack("<4f", base64.b64decode(found["seconds"][CASE]))
    assert values[0] == pytest.approx(1e-5)
    assert math.isnan(values[1])
    assert found["changes"] == {CASE: [2]}
    assert [point[0] for point in found["runs"]] == ["run-0", "run-1", "run-2", "run-3"]


def test_history_of_other_cases_stays_out():
    """A report shows its own run's cases; a store may hold thousands of others."""
    series = Series(POINTS, {"other/cuda/plain/f32/1": (1e-5,) * 4, CASE: (None,) * 4})
    assert payload(made_run({CASE: 2e-5}), series)["history"]["seconds"] == {}
    assert payload(made_run({CASE: 2e-5}), Series())["history"] is None


def test_library_ratio_is_that_of_the_run():
    """The same figure as in the terminal, for every case."""
    run = made_run({CASE: 20e-6, "sum/triton/two_stage/f32/2048": 30e-6})
    run = replace(run, cases=(*run.cases, made_case("sum/torch/sum/f32/1024", 40e-6, peer=True)))
    expected = [run.peer_ratio(case) for case in run.cases]
    found = payload(run)["cases"]["peer_ratio"]
    assert [None if f is None else pytest.approx(f, rel=1e-5) for f in found] == expected


@pytest.mark.parametrize(
    ("seconds", "changes", "message"),
    [((1e-5,), (), "1 times for 4 runs"), ((1e-5,) * 4, (4,), "outside the 4 runs"), ((1e-5,) * 4, (0,), "outside")],
)
def test_a_series_that_does_not_fit_its_runs_is_refused(seconds, changes, message):
    """A time that belongs to no run would be drawn at the wrong place."""
    with pytest.raises(ValueError, match=message):
        Series(POINTS, {CASE: seconds}, {CASE: changes} if changes else {})


def style() -> dict[str, dict[str, str]]:
    """The colours of both themes, as the style sheet names them."""
    css = (resources.files("pytest_roofline.reports.html") / "assets" / "theme.css").read_text()
    blocks = {"light": css[: css.index("}")], "dark": css[css.index(':root[data-theme="dark"]') :].partition("}")[0]}
    return {name: dict(re.findall(r"--([\w-]+): (#\w+)", block)) for name, block in blocks.items()}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.1)."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * d for d in colour[1:])
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "paper", "least"),
    [
        *((ink, paper, 4.5) for ink in ("ink", "muted", "accent") for paper in ("bg", "surface", "soft")),
        *((kind, f"{kind}-bg", 4.5) for kind in ("fail", "warn", "good")),
        *((mark, "surface", 3.0) for mark in ("cuda", "triton", "peer", "other")),
    ],
)
def test_text_and_marks_stand_out_in_both_themes(theme: str, ink: str, paper: str, least: float):
    """Contrast as WCAG 2.1 AA asks for: 4.5 for text, 3 for marks."""
    lights = sorted((luminance(style()[theme][ink]), luminance(style()[theme][paper])))
    assert (lights[1] + 0.05) / (lights[0] + 0.05) >= least


def test_the_dark_colours_are_the_same_whether_chosen_or_the_systems():
    """They stand in the style sheet twice."""
    css = (resources.files("pytest_roofline.reports.html") / "assets" / "theme.css").read_text()
    system = css[css.index("prefers-color-scheme: dark") :].partition("}")[0]
    assert dict(re.findall(r"--([\w-]+): (#\w+)", system)) == style()["dark"]


def test_a_rate_beside_its_time_is_one_published_figure():
    """The same source, card and time, printed in two units, is one row of the page."""
    figures = [
        PublishedFigure("a100_pcie_40gb", metric, value, unit, "someone", seconds)
        for metric, value, unit, seconds in (("time", 13.9, "us", 1.39e-5), ("bandwidth", 301, "GB/s", 1.3901e-5))
    ]
    other = PublishedFigure("a100_pcie_40gb", "time", 15.0, "us", "someone else", 1.5e-5)
    run = made_run({CASE: 20e-6})
    run = replace(run, cases=(replace(run.cases[0], published=(*figures, other)),))
    found = payload(run)
    metrics = [found["texts"][row[1]] for row in found["cases"]["published"][0]]
    assert metrics == ["time", "time"]
