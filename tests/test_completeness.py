"""Baselines and cases must match: an orphan fails a benchmark run, also without a GPU."""

import json

import pytest

from pytest_roofline.baselines import Baseline, Counted, CountedCase, Run, Store
from pytest_roofline.counting.counts import CaseCounts
from pytest_roofline.evidence import Environment
from pytest_roofline.runs import read

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11"}, 132, 62914560, machine="abc")
RUN = Run(-9.0, (1.22e-4, 1.23e-4, 1.234e-4, 1.24e-4, 1.25e-4), 100, 2, 1, "graph_cold", 4e-7)
RUNS = ("--roofline-on=cpu", "--benchmark-only")


def stored(pytester, *cases):
    """Store a campaign for some cases of negate."""
    Store(pytester.path / "baselines").save(
        Baseline("h200", "negate", {"c": HERE}, {case: {"c": RUN} for case in cases})
    )
    return pytester


def counted(pytester, *shapes):
    """Store counts of some cases of negate."""
    found = Counted("sm_80", {f"negate/host/plain/f32/{n}": CountedCase(CaseCounts()) for n in shapes})
    Store(pytester.path / "baselines").save(Baseline("a100", "negate", counted=found))
    return pytester


def test_a_baseline_with_its_case_passes_and_is_shown(project):
    """Stored results are compared with the roofline of their device, and nothing claims to be timed here."""
    result = stored(project(), "negate/host/plain/f32/64x64").runpytest(*RUNS)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*nothing was timed here*", "negate on h200", "*host/plain/f32/64x64*measured, 1 campaign"]
    )


@pytest.mark.parametrize(
    "case", ["negate/host/gone/f32/64x64", "negate/host/plain/f32/65x65", "negate/host/plain/f16/64x64"]
)
def test_an_orphan_fails_by_name(project, case):
    """A stored case that nothing times any more is an error with the case and the file."""
    result = stored(project(), case).runpytest(*RUNS)
    assert result.ret == 1
    result.assert_outcomes(failed=1, passed=3, deselected=4)
    result.stdout.fnmatch_lines(
        [f"orphan: {case} in *negate.json is no timed case (baseline_without_case)", "FAILED *roofline-baselines*"]
    )


def test_counts_without_a_case_are_orphans(project):
    """Stored counts belong to counted cases; a shape that is only timed has none."""
    pytester = counted(project(), "64x64", "65x65")
    result = pytester.runpytest(*RUNS)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["orphan: negate/host/plain/f32/65x65 in *negate.json is no counted case (baseline_without_case)"]
    )


def test_the_baseline_of_a_file_that_cannot_be_loaded_is_no_orphan(project):
    """Its own failure is told; the advice to forget what is stored would be wrong."""
    pytester = stored(project(), "negate/host/plain/f32/64x64")
    (pytester.path / "operations" / "negate.py").write_text("import nowhere\n")
    result = pytester.runpytest(*RUNS)
    assert result.ret == 1
    assert "No module named 'nowhere'" in result.stdout.str()
    assert "orphan: " not in result.stdout.str()


PICKY = """
import pytest

@pytest.mark.roofline("timed")
def test_benchmark(roofline_case, roofline_benchmark):
    if str(roofline_case).endswith("/7x9"):
        {}
    roofline_benchmark(roofline_case)
"""
"""A suite with a test that does something else with one case."""


@pytest.mark.parametrize("chosen", [(), ("-k", "7x9 or 3x5")])
def test_a_selected_case_that_gets_no_result_is_missing(project, chosen):
    """Its test passes without a word, in a run of everything and in one of a part; the verdict says what is missing."""
    pytester = counted(project(), "7x9", "3x5.p8")
    pytester.makepyfile(test_suite=PICKY.format("return"))
    result = pytester.runpytest(*RUNS, *chosen, "--roofline-save=run.json")
    assert result.ret == 1
    case = "negate/host/plain/f32/7x9"
    result.stdout.fnmatch_lines([f"missing: {case} has stored counts, but was not counted (in_baseline_but_not_run)"])
    found = read(pytester.path / "run.json").case(case)
    assert found.verdict is not None
    assert (found.verdict.kind, found.verdict.reason) == ("missing", "in_baseline_but_not_run")
    assert "3x5.p8 has stored counts" not in result.stdout.str()


@pytest.mark.parametrize("does", ["pytest.skip('not today')", "pytest.fail('not today')"])
def test_a_case_whose_report_says_why_is_not_missing(project, does):
    """A skip has a reason, and what failed is told once."""
    pytester = counted(project(), "7x9", "3x5.p8")
    pytester.makepyfile(test_suite=PICKY.format(does))
    result = pytester.runpytest(*RUNS)
    assert result.ret == ("fail" in does)
    assert "missing: " not in result.stdout.str()


def test_a_case_that_was_not_selected_is_not_missing(project):
    """-k says which cases a run is about."""
    pytester = counted(project(), "7x9", "3x5.p8")
    pytester.makepyfile(test_suite=PICKY.format("return"))
    result = pytester.runpytest(*RUNS, "-k", "3x5")
    assert result.ret == 0
    assert "missing: " not in result.stdout.str()


def test_a_case_asked_for_by_name_misses_no_other(project):
    """Only a run of everything fails for what it did not run."""
    pytester = counted(project(), "7x9", "8x8.o1")
    result = pytester.runpytest(*RUNS, "--roofline-case=negate/host/plain/f32/7x9")
    assert "missing: " not in result.stdout.str()


def test_quick_effort_counts_one_case_of_each_kernel_and_misses_no_other(project):
    """The largest plain shape of the first dtype; the stored counts of the other shapes are none of its business."""
    pytester = counted(project(), "7x9", "8x8.o1")
    result = pytester.runpytest(*RUNS, "--roofline-effort=quick", "--collect-only", "-q")
    collected = [line.split("[")[1] for line in result.outlines if "[" in line]
    assert collected == ["negate/host/plain/f32/7x9]"]
    result = pytester.runpytest(*RUNS, "--roofline-effort=quick")
    assert result.ret == 0
    assert "missing: " not in result.stdout.str()


def test_a_damaged_baseline_stops_the_run_before_it_starts(project):
    """Exit code 4 and the file's name; the file stays as it is."""
    pytester = stored(project(), "negate/host/plain/f32/64x64")
    path = pytester.path / "baselines" / "h200" / "negate.json"
    path.write_text(path.read_text()[:-20])
    before = path.read_text()
    result = pytester.runpytest(*RUNS)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*negate.json is no baseline: line *restore it from version control*"])
    assert path.read_text() == before


@pytest.mark.parametrize("floor", ["-5e-07", "NaN", '"short"'])
def test_a_launch_floor_that_is_no_time_stops_the_run(project, floor):
    """It would explain a slowdown, or hide one: exit code 4, with the case, the field and what to do."""
    pytester = stored(project(), "negate/host/plain/f32/64x64")
    path = pytester.path / "baselines" / "h200" / "negate.json"
    text = path.read_text()
    assert text.count('"launch_floor": null') == 1
    path.write_text(text.replace('"launch_floor": null', f'"launch_floor": {floor}'))
    result = pytester.runpytest(*RUNS)
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*negate.json is no baseline: negate/host/plain/f32/64x64 in c: launch_floor *restore*"]
    )


def test_a_baseline_of_another_device_stops_the_run(project):
    """Measurements of a H200 in the folder of an A100 are refused."""
    pytester = stored(project(), "negate/host/plain/f32/64x64")
    folder = pytester.path / "baselines"
    data = json.loads((folder / "h200" / "negate.json").read_text())
    (folder / "a100_sxm4_80gb").mkdir()
    (folder / "a100_sxm4_80gb" / "negate.json").write_text(json.dumps({**data, "device": "a100_sxm4_80gb"}))
    result = pytester.runpytest(*RUNS)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*a baseline of another device is refused*"])


def test_baselines_may_live_elsewhere(project):
    """--roofline-baselines names another folder, and the ini option does too."""
    pytester = stored(project(), "negate/host/gone/f32/1x1")
    pytester.mkdir("empty")
    assert pytester.runpytest(*RUNS, "--roofline-baselines=empty").ret == 0
    (pytester.path / "tox.ini").write_text((pytester.path / "tox.ini").read_text() + "\nroofline_baselines = none\n")
    assert pytester.runpytest(*RUNS).ret == 0
