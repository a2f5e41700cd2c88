"""Whole benchmark runs with a retest on a GPU that is not there: its times are given, everything after is real."""

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_roofline.baselines import Baseline, Store, run_of
from pytest_roofline.evidence import Environment, Timing
from pytest_roofline.runs import read
from pytest_roofline.runs.accepting import baselines_of

# What a conftest of the inner project replaces: the GPU, its environment, and the worker that would time on it. Times
# come from a plan: seconds of the run itself (none: the GPU throttled), of each fresh process, and of blocks beside the
# old kernel.
GPU = """
import itertools
import pytest_roofline.state as state, pytest_roofline.timing as timing, pytest_roofline.worker as worker
from pytest_roofline.evidence import Environment, Evidence, Outcome, Pair, Timing

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {{"torch": "2.11"}}, 132, 60 << 20, machine={machine!r})
SECONDS, FRESH, PAIRS, CODE = {seconds!r}, iter({fresh!r}), iter({pairs!r}), {code!r}

def timed(seconds, slowdown):
    samples = tuple(seconds * (1 + slowdown) * (1 + 1e-4 * k) for k in range(20))
    return Timing(samples, 20, 2, "graph_cold", 1e-9, 5e-7, 0.0, code=CODE)

def run(spec):
    if spec.time and not SECONDS:
        hot = "the GPU throttled (HwThermalSlowdown) and 3 pauses did not help"
        return Evidence(spec.case, Outcome.INVALID, hot, environment=HERE, reason="gpu_throttled")
    found = timed(SECONDS, spec.slowdown) if spec.time else None
    return Evidence(spec.case, Outcome.OK, timing=found, environment=HERE)

def run_together(specs, timeout):
    for spec in specs:
        print("asked", spec.case, spec.against and "pair", spec.pair_unchanged)
        if spec.against:
            what = next(PAIRS)
            if isinstance(what, tuple):
                yield Evidence(spec.case, Outcome(what[0]), what[2], reason=what[1])
            elif what is None:
                yield Evidence(spec.case, Outcome.OK, pair=Pair((), 0.0, 0.0, 1, "graph_cold", "a", "a"))
            else:
                blocks = (what + spec.slowdown,) * 5
                yield Evidence(spec.case, Outcome.OK, pair=Pair(blocks, SECONDS, SECONDS, 4, "graph_cold"))
        else:
            yield Evidence(spec.case, Outcome.OK, timing=timed(next(FRESH), spec.slowdown), environment=HERE)

state.State.device = "gpu"
state.State.prepare_interpreter = lambda self: None
state._require_cuda_torch = lambda: None
timing.environment = lambda: HERE
worker.run, worker.run_together = run, run_together
"""

CASE = "negate/host/plain/f32/64x64"
US = 1e-6


@pytest.fixture
def on_gpu(project, monkeypatch):
    """``on_gpu(seconds, *arguments, fresh=, pairs=)`` runs the project in a process of its own."""
    pytester = project()
    monkeypatch.setenv("COLUMNS", "300")  # sentences in one line
    starts = iter(range(100))

    def run(seconds, *arguments, fresh=(), pairs=(), code=None):
        machine = f"start{next(starts)}"
        pytester.makeconftest(
            GPU.format(seconds=seconds, fresh=list(fresh), pairs=list(pairs), machine=machine, code=code)
        )
        return pytester.runpytest_subprocess("--benchmark-only", "--roofline-ceilings=off", "-rA", *arguments)

    run.pytester = pytester
    return run


def store(on_gpu, *, code=None):
    """Five campaigns of 50 us."""
    found = Baseline("h200", "negate")
    timing = Timing(tuple(50 * US * (1 + 1e-4 * k) for k in range(20)), 20, 2, "graph_cold", 1e-9, 5e-7, 0.0, code=code)
    for k in range(5):
        name = f"2026-11-2{k}.start{k}.abc"
        found.campaigns[name] = Environment(
            "NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11"}, 132, 60 << 20, machine=f"before{k}"
        )
        found.measured.setdefault(CASE, {})[name] = run_of(timing)
    Store(on_gpu.pytester.path / "baselines").save(found)


@pytest.fixture
def baseline(on_gpu):
    """The project with five stored campaigns."""
    store(on_gpu)
    return on_gpu


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


def test_a_throttled_run_is_invalid_and_stores_nothing(baseline):
    """Not even with --roofline-update: the case fails, and the baseline stays as it was."""
    path = baseline.pytester.path / "baselines" / "h200" / "negate.json"
    before = path.read_text()
    found = baseline(None, "--roofline-update")
    assert found.ret == 1
    found.stdout.fnmatch_lines([f"*{CASE}: invalid: the GPU throttled (HwThermalSlowdown)*"])
    assert path.read_text() == before


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


def test_calibration_is_stored_and_used(on_gpu):
    """Each kernel beside itself in so many processes; the file holds a number for each."""
    found = on_gpu(50 * US, "--roofline-calibrate=3", pairs=[0.001, -0.001, 0.0005])
    assert found.ret == 0
    found.stdout.fnmatch_lines(["*calibration: stored the noise of 1 cases in *negate.json"])
    text = (on_gpu.pytester.path / "baselines" / "h200" / "negate.json").read_text()
    assert '"differences": [0.001, -0.001, 0.0005]' in text
    assert on_gpu(50 * US).ret == 0


def test_an_accepted_change_starts_the_baseline_anew(baseline):
    """Campaigns of the faster kernel do not mix with those of the slower one, once two more processes are as fast."""
    assert baseline(40 * US, "--roofline-update", fresh=[40 * US] * 2).ret == 0
    text = (baseline.pytester.path / "baselines" / "h200" / "negate.json").read_text()
    assert text.count('"log_mean"') == 1
    assert text.count('"driver"') == 1


def test_one_fast_process_drops_no_campaign(baseline):
    """Two more processes are as slow as ever: the campaigns stay, and the middle one of the three joins them."""
    found = baseline(40 * US, "--roofline-update", fresh=[50 * US, 50.1 * US])
    assert found.ret == 0
    found.stdout.fnmatch_lines(["1 cases timed: 1 same"])
    text = (baseline.pytester.path / "baselines" / "h200" / "negate.json").read_text()
    means = [math.exp(float(part.split(",")[0])) for part in text.split('"log_mean": ')[1:]]
    assert means == [pytest.approx(50 * US, rel=0.002)] * 6


def test_a_campaign_stores_the_middle_one_of_several_processes(on_gpu):
    """Whole, with its own samples; the report and the run's file show it, too. The verdict is not judged again."""
    found = on_gpu(50 * US, "--roofline-update", "--roofline-processes=3", fresh=[56 * US, 52 * US])
    assert found.ret == 0
    found.stdout.fnmatch_lines(["*1 case in 2 more processes, to store the middle one*", "1 cases timed: 1 new"])
    text = (on_gpu.pytester.path / "baselines" / "h200" / "negate.json").read_text()
    stored_mean = float(text.split('"log_mean": ')[1].split(",")[0])
    assert stored_mean == pytest.approx(math.log(52 * US), abs=0.005)


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


def test_a_campaign_that_is_killed_stores_nothing(baseline):
    """The baseline is as it was, and the next run is compared with it."""
    path = baseline.pytester.path / "baselines" / "h200" / "negate.json"
    before = path.read_text()
    suite = baseline.pytester.path / "test_suite.py"
    whole = suite.read_text()
    suite.write_text(whole + "\n\ndef test_zz(benchmark):\n    import os\n    os.kill(os.getpid(), 9)\n")
    assert baseline(50 * US, "--roofline-update").ret != 0
    assert path.read_text() == before
    suite.write_text(whole)
    found = baseline(50 * US, "--roofline-strict")
    assert found.ret == 0
    found.stdout.fnmatch_lines(["1 cases timed: 1 same"])


FULL = """

def test_zz(benchmark):
    from pytest_roofline.baselines import Store

    def save(self, baseline):
        raise OSError(28, "No space left on device")

    Store.save = save
"""


def test_a_campaign_that_cannot_be_stored_is_not_lost(baseline):
    """The disk became full while the run went on: the run fails, and its results can be accepted from a run file."""
    suite = baseline.pytester.path / "test_suite.py"
    suite.write_text(suite.read_text() + FULL)
    found = baseline(50 * US, "--roofline-update")
    assert found.ret == 1
    found.assert_outcomes(passed=3, deselected=4, warnings=1)
    found.stdout.fnmatch_lines(["roofline: NOT stored: 1 cases: *No space left on device"])
    kept = Path(found.stdout.str().split("its results are in ")[1].split(": ")[0])
    assert set(baselines_of(read(kept))[0].measured) == {CASE}
    kept.unlink()


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


@pytest.mark.parametrize(("campaigns", "kind"), [(0, "new"), (1, "same")])
def test_few_campaigns_are_enough_for_a_verdict(on_gpu, campaigns, kind):
    """None at all, and a provisional one."""
    for _ in range(campaigns):
        on_gpu(50 * US, "--roofline-update")
    found = on_gpu(50 * US)
    assert found.ret == 0
    found.stdout.fnmatch_lines([f"1 cases timed: 1 {kind}", *(["*~same*"] if campaigns else [])])


def test_pytest_benchmarks_own_comparison_still_works(on_gpu):
    """Who prefers a threshold on one run has it, on the same samples: 12 % pass at mean:20%, and fail at mean:5%."""
    assert on_gpu(50 * US, "--benchmark-save=before").ret == 0
    assert on_gpu(56 * US, "--benchmark-compare=0001", "--benchmark-compare-fail=mean:20%").ret == 0
    failed = on_gpu(56 * US, "--benchmark-compare=0001", "--benchmark-compare-fail=mean:5%")
    assert failed.ret == 1
    (failed.stdout if "regressed" in failed.stdout.str() else failed.stderr).fnmatch_lines(["*regressed*"])
