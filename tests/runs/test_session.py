"""The run file of a session: written when asked for, complete, and not lost when the process dies."""

from __future__ import annotations

import json

import pytest

from pytest_roofline.runs import COUNTED, TIMED, read
from tests.absent_gpu import alike

CASE = "negate/host/plain/f32/64x64"
KILLED = """
import os
import pytest

@pytest.mark.roofline("timed")
def test_benchmark(roofline_case, roofline_benchmark):
    roofline_benchmark(roofline_case)

def test_last(benchmark):
    os._exit(9)
"""


@pytest.fixture
def on_gpu(project):
    """``on_gpu(*arguments)`` times the one case of the project with 50 us on a GPU that is not there."""
    pytester = project()

    def run(*arguments):
        pytester.makeconftest(alike(50e-6))
        return pytester.runpytest_subprocess("--benchmark-only", "--roofline-ceilings=off", *arguments)

    return run


def test_a_timed_run_is_kept_whole(on_gpu, pytester):
    """Times, work, bounds, verdict, environment and options; pytest-benchmark's own file stands beside and names it."""
    found = on_gpu("--roofline-save=run.json", "--benchmark-json=pytest.json")
    found.stdout.fnmatch_lines(["roofline: saved this run in *run.json"])
    run = read(pytester.path / "run.json")
    case = run.case(CASE)
    assert (run.kind, run.device.key, run.environment.driver) == (TIMED, "h200", "580")
    assert run.ended is not None
    assert case.times.bracket.count == len(case.times.bracket.samples) == 20
    assert case.times.seconds == pytest.approx(50e-6, rel=0.01)
    assert case.operations == {"fp32": 4096}
    assert case.bounds["algorithm"].seconds == pytest.approx(2 * 4 * 4096 / 4.8e12)
    assert case.fraction == pytest.approx(case.bounds["algorithm"].seconds / case.times.seconds)
    assert case.verdict.kind == "new"
    assert run.operations["negate"].kernels == ("host/plain",)
    assert run.options["effort"] == "default"
    theirs = json.loads((pytester.path / "pytest.json").read_text())
    assert theirs["roofline_run"] == run.id
    assert theirs["benchmarks"][0]["stats"]["rounds"] == 20
    assert not list(pytester.path.glob("*.unfinished.jsonl"))


def test_a_folder_gets_a_file_per_run(on_gpu, pytester):
    """Named after the run, so that many runs may share the folder; the ini option is enough."""
    on_gpu("-o", "roofline_save=kept")
    (path,) = (pytester.path / "kept").iterdir()
    assert path.name == f"{read(path).id}.json"


def test_what_was_finished_survives_the_death_of_the_process(on_gpu, pytester):
    """The journal is a run file of its own, which says that the run did not end."""
    pytester.makepyfile(test_suite=KILLED)
    assert on_gpu("--roofline-save=run.json").ret == 9
    assert not (pytester.path / "run.json").exists()
    run = read(pytester.path / "run.unfinished.jsonl")
    assert run.ended is None
    assert run.case(CASE).times.seconds == pytest.approx(50e-6, rel=0.01)
    assert run.environment.driver == "580"


def test_a_run_without_a_gpu_keeps_counts_or_how_a_check_failed(project, monkeypatch):
    """No time in it: a wrong kernel is there with its reason."""
    pytester = project(launcher="def negate(x, y):\n    y.copy_(x)\n")
    arguments = ("--benchmark-only", "--roofline-on=cpu", "--roofline-save=run.json")
    assert pytester.runpytest_subprocess(*arguments).ret == 1
    run = read(pytester.path / "run.json")
    assert (run.kind, run.environment) == (COUNTED, None)
    assert {case.outcome for case in run.cases} == {"wrong"}
    assert all(case.times is None and "error" in case.detail for case in run.cases)


@pytest.mark.parametrize("device", ["a100", "h200"])
def test_counted_cases_are_bounded_by_the_device_they_are_counted_for(project, device):
    """2 x 252 bytes over the bandwidth of its datasheet, the same that the run names."""
    pytester = project()
    options = ("--benchmark-only", "--roofline-on=cpu", f"--roofline-count-for={device}", "--roofline-save=run.json")
    assert pytester.runpytest(*options, "-k", "7x9").ret == 0
    run = read(pytester.path / "run.json")
    bound = run.case("negate/host/plain/f32/7x9").bounds["problem"]
    assert bound.seconds == pytest.approx(2 * 252 / run.device.bandwidths["device"])


def test_a_file_that_cannot_be_written_does_not_hide_the_run(on_gpu, pytester):
    """Its results are printed all the same, and what is wrong with the file is said."""
    pytester.makepyfile(
        test_last="""
        import os

        def test_takes_its_place(benchmark):
            benchmark(os.makedirs, "run.json", exist_ok=True)
        """
    )
    found = on_gpu("--roofline-save=run.json")
    found.stdout.fnmatch_lines(["*cases timed*", "roofline: the run file cannot be written: *run.json*"])


def test_a_run_without_a_result_writes_nothing(project):
    """Nothing was selected: an empty file would pass for a run."""
    pytester = project()
    found = pytester.runpytest("--benchmark-only", "--roofline-on=cpu", "--roofline-save=run.json", "-k", "nothing")
    assert found.ret == 5
    assert not (pytester.path / "run.json").exists()


def test_pytest_benchmarks_own_storage_and_comparison_work_as_always(on_gpu, pytester):
    """Saved by one run, compared and failed by the next: the name of our run in its file disturbs nothing."""
    assert on_gpu("--benchmark-autosave").ret == 0
    found = on_gpu("--benchmark-compare", "--benchmark-compare-fail=mean:5%", "--roofline-save=run.json")
    assert found.ret == 0
    found.stderr.fnmatch_lines(["Comparing against benchmarks from: *0001_*.json*"])
    found.stdout.fnmatch_lines(["*(NOW)*"])
