"""Whole benchmark runs with a retest on a GPU that is not there: its times are given, everything after is real."""

import xml.etree.ElementTree as ET

import pytest

from tests.retest.conftest import CASE, US, store


def test_one_slow_process_is_no_regression(baseline):
    """The run itself was 12 % slower, four fresh processes are not: their median clears the case, without a failure."""
    found = baseline(56 * US, fresh=[50 * US] * 4)
    assert found.ret == 0
    found.stdout.fnmatch_lines(["roofline: retest: process 4 of 4, 1 case*", "*1 same*"])


def test_a_slowdown_that_stays_is_one_failure_everywhere(baseline, tmp_path):
    """The test fails once, by name, in the summary, JUnit file and --lf; how weak this is stands in the message."""
    slow = [56 * US] * 4
    found = baseline(56 * US, "--junit-xml=junit.xml", fresh=slow)
    assert found.ret == 1
    found.assert_outcomes(failed=1, passed=1, deselected=4)
    found.stdout.fnmatch_lines(
        [f"*{CASE}: regression: +12.* % (*median of 5 processes; without an old kernel*with --roofline-against=REF 1 %"]
    )
    cases = ET.parse(baseline.pytester.path / "junit.xml").iter("testcase")
    assert [CASE in c.get("name") for c in cases if c.find("failure") is not None] == [True]
    again = baseline(56 * US, "--lf", fresh=slow)
    assert again.parseoutcomes()["failed"] == 1


def test_no_retest_judges_the_run_alone(baseline):
    """--roofline-retest=off asks nothing more."""
    found = baseline(56 * US, "--roofline-retest=off")
    assert found.ret == 1
    found.stdout.no_fnmatch_line("asked*")


@pytest.mark.parametrize(
    ("seconds", "pairs", "kind", "code"),
    [
        (50.5, [0.0101] * 4, "regression", 1),
        (50.0, [0.0001] * 4, "same", 0),
        (50.0, [-0.03] * 4, "improvement", 0),
        (56.0, [0.0001] * 4, "environment", 0),
        (50.0, [0.014, 0.002] * 8, "unresolved", 0),
        (56.0, [None], "environment", 0),
        (50.0, [None], "same", 0),
        (50.0, [("crashed", "", "signal SIGSEGV")], "invalid", 1),
        (50.0, [("invalid", "gpu_throttled", "too hot")] * 4, "invalid", 1),
    ],
)
def test_beside_the_old_kernel(baseline, seconds, pairs, kind, code):
    """What pairs show is the verdict: 1 % is found; a case as slow with its old kernel is the environment's; unchanged
    code is not even measured; what crashes or throttles is never called the same."""
    (baseline.pytester.path / "old").mkdir()
    (baseline.pytester.path / "old" / "operations").mkdir()
    found = baseline(seconds * US, "--roofline-against=old", pairs=pairs)
    assert found.ret == code
    found.stdout.fnmatch_lines([f"1 cases timed: 1 {kind}*"])


def test_without_an_old_kernel_the_fresh_processes_remain(baseline):
    """A case that the other version lacks is judged as without it, and the reason is told."""
    (baseline.pytester.path / "old" / "operations").mkdir(parents=True)
    missing = ("invalid", "no_old_kernel", "the other version has no operation negate")
    found = baseline(56 * US, "--roofline-against=old", pairs=[missing], fresh=[56 * US] * 4)
    assert found.ret == 1
    found.stdout.fnmatch_lines([f"*{CASE}: regression: *median of 5 processes*; old*: {missing[2]}"])


def test_an_old_kernel_that_does_not_build_leaves_the_fresh_processes(baseline):
    """The same, with the compiler's words; it is not the same for that, and a run that compared nothing fails."""
    (baseline.pytester.path / "old" / "operations").mkdir(parents=True)
    broken = (
        "invalid",
        "old_kernel_does_not_run",
        "the old kernel does not run: CudaCompileError: negate.cu(3): error",
    )
    found = baseline(50 * US, "--roofline-against=old", "--roofline-retest=all", pairs=[broken])
    assert found.ret == 1
    found.stdout.fnmatch_lines(["1 cases timed: 1 unresolved*"])
    found = baseline(56 * US, "--roofline-against=old", pairs=[broken], fresh=[56 * US] * 4)
    assert found.ret == 1
    found.stdout.fnmatch_lines([f"*{CASE}: regression: *median of 5 processes*; old*: {broken[2]}"])


def test_a_new_case_is_paired_if_there_is_an_old_kernel(on_gpu):
    """No baseline is needed for that."""
    (on_gpu.pytester.path / "old" / "operations").mkdir(parents=True)
    found = on_gpu(50 * US, "--roofline-against=old", pairs=[0.05] * 4)
    assert found.ret == 1
    found.stdout.fnmatch_lines([f"*{CASE}: regression: +5.1 %*"])


def test_unchanged_code_that_is_slower_is_the_environment(on_gpu):
    """The digest of the machine code in the baseline settles it without a retest."""
    store(on_gpu, code="abc")
    found = on_gpu(56 * US, code="abc")
    assert found.ret == 0
    found.stdout.fnmatch_lines(["*environment: *the compiled code and its launch are those of the baseline*"])
    assert on_gpu(56 * US, code="other", fresh=[56 * US] * 4).ret == 1


def test_a_planted_slowdown_is_found(baseline):
    """--roofline-slow delays what matches, in the run and beside the old kernel, and is never stored."""
    (baseline.pytester.path / "old" / "operations").mkdir(parents=True)
    found = baseline(50 * US, "--roofline-against=old", "--roofline-slow=negate/*=2", pairs=[0.0] * 4)
    assert found.ret == 1
    found.stdout.fnmatch_lines([f"*{CASE}: regression: +2.0 %*"])
    assert baseline(50 * US, "--roofline-slow=copy/*=2").ret == 0
    refused = baseline(50 * US, "--roofline-slow=negate/*=2", "--roofline-update")
    assert refused.ret == 4
    refused.stderr.fnmatch_lines(["*never stored*"])


def test_a_run_that_is_stopped_tells_what_it_knows(baseline):
    """With -x the first failure ends the run: a suspect then has the verdict of the run alone, not of a retest."""
    suite = baseline.pytester.path / "test_suite.py"
    suite.write_text(suite.read_text() + "\n\ndef test_zz(benchmark):\n    benchmark(lambda: 1 / 0)\n")
    found = baseline(56 * US, "-x")
    assert found.ret == 1
    found.stdout.fnmatch_lines([f"*{CASE}: regression: +12.*"])
    found.stdout.no_fnmatch_line("asked*")


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("nowhere", "neither a directory"),
        ("", "it needs a git ref"),
        ("empty", "has no operations, where operations are"),
    ],
)
def test_what_cannot_be_compared_with_is_refused(on_gpu, wanted, words):
    """Before anything is timed, with the exit code of a usage error."""
    (on_gpu.pytester.path / "empty").mkdir()
    on_gpu.pytester.run("git", "init", "-q")
    found = on_gpu(50 * US, f"--roofline-against={wanted}")
    assert found.ret == 4
    found.stderr.fnmatch_lines([f"*--roofline-against: *{words}*"])


def test_a_renamed_case_is_new_and_its_baseline_an_orphan(baseline):
    """Both are told by name: what is stored no longer belongs to anything, and nothing is stored of the new one."""
    path = baseline.pytester.path / "operations" / "negate.py"
    path.write_text(path.read_text().replace('"plain"', '"renamed"'))
    found = baseline(50 * US)
    assert found.ret == 1
    found.stdout.fnmatch_lines(["*orphan: negate/host/plain/f32/64x64 in *", "1 cases timed: 1 new"])


def test_another_driver_is_not_held_against_the_kernel(baseline):
    """12 % slower, but under another driver: the environment, named, without a retest that could not tell either."""
    path = baseline.pytester.path / "baselines" / "h200" / "negate.json"
    path.write_text(path.read_text().replace('"driver": "580"', '"driver": "570"'))
    found = baseline(56 * US)
    assert found.ret == 0
    found.stdout.fnmatch_lines(["*environment: *: driver 570 -> 580"])
    found.stdout.no_fnmatch_line("asked*")


def test_pytest_benchmarks_own_comparison_still_works(on_gpu):
    """Who prefers a threshold on one run has it, on the same samples: 12 % pass at mean:20%, and fail at mean:5%."""
    assert on_gpu(50 * US, "--benchmark-save=before").ret == 0
    assert on_gpu(56 * US, "--benchmark-compare=0001", "--benchmark-compare-fail=mean:20%").ret == 0
    failed = on_gpu(56 * US, "--benchmark-compare=0001", "--benchmark-compare-fail=mean:5%")
    assert failed.ret == 1
    (failed.stdout if "regressed" in failed.stdout.str() else failed.stderr).fnmatch_lines(["*regressed*"])
