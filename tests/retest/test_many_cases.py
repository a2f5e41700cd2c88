"""Whole benchmark runs of many cases on a GPU that is not there: what only all of them together show."""

import math

import pytest

from pytest_roofline.baselines import Baseline, Store
from tests.absent_gpu import conftest, store_campaign

# By variant (``*``: all others): seconds over those stored, the digest of the code, and what pairs with the old kernel
# show: ln(new / old), or what its failure says.
WORKER = """
def of(what, spec):
    return what.get(spec.case.split("/")[2], what.get("*"))

def run(spec):
    found = timed(50e-6 * (of(RATIO, spec) or 1.0), of(CODE, spec))
    return Evidence(spec.case, Outcome.OK, timing=found if spec.time else None, environment=HERE)

def pair(spec):
    what = of(PAIRS, spec)
    if isinstance(what, tuple):
        return Evidence(spec.case, Outcome.INVALID, what[1], reason=what[0])
    return Evidence(spec.case, Outcome.OK, pair=Pair((what or 0.0,) * 5, 5e-5, 5e-5, 4, "graph_cold"))

def run_together(specs, timeout):
    for spec in specs:
        yield pair(spec) if spec.against else run(spec)
"""

BROKEN = ("old_kernel_does_not_run", "the old kernel does not run: ImportError: no helper\nand more")
MISSING = ("no_old_kernel", "the other version has no operation negate")


def variants(count):
    """Names of so many kernels."""
    return [f"k{number:02}" for number in range(count)]


@pytest.fixture
def many(project, monkeypatch):
    """``many(count, ratio=, code=, pairs=)`` runs so many kernels beside an old version; ``stored`` campaigns each."""
    monkeypatch.setenv("COLUMNS", "300")

    def run(count, *arguments, ratio=None, code=None, pairs=None, stored=5, before="abc"):
        kernel = 'Kernel("host", "{0}", "operations.negate:negate", ("f32",), best={1}),'
        if run.pytester is None:
            kernels = "".join(kernel.format(name, name == "k00") for name in variants(count))
            run.pytester = project(kernels=kernels.replace("{", "{{").replace("}", "}}"))
            (run.pytester.path / "old" / "operations").mkdir(parents=True)
            if stored:
                store(run.pytester.path / "baselines", count, stored, before)
        plan = {"RATIO": ratio or {}, "CODE": code or {}, "PAIRS": pairs or {}}
        run.pytester.makeconftest(conftest(WORKER, "here", **plan))
        options = ("--benchmark-only", "--roofline-ceilings=off", "--benchmark-columns=median", *arguments)
        return run.pytester.runpytest_subprocess(*options)

    run.pytester = None
    return run


def store(folder, count, campaigns, code):
    """Campaigns of 50 us, by 0.05 % apart."""
    found = Baseline("h200", "negate")
    for k in range(campaigns):
        cases = {}
        for number, variant in enumerate(variants(count)):
            shape = "32x32" if number else "64x64"
            cases[f"negate/host/{variant}/f32/{shape}"] = 50e-6 * math.exp(5e-4 * math.sin(7 * number + k))
        store_campaign(found, k, cases, code)
    Store(folder).save(found)


def test_an_old_version_that_does_not_run_fails_the_run(many):
    """Nothing could be compared: that is told with the first error, every case is unresolved, and the run fails though
    each of its tests passes."""
    found = many(4, "--roofline-against=old", "--roofline-retest=all", pairs={"*": BROKEN})
    assert found.ret == 1
    told = "0 of 4 cases compared beside old (a directory), 4 could not: the old kernel does not run: ImportError: *"
    found.stdout.fnmatch_lines(["4 cases timed: 4 unresolved*", f"roofline: {told}"])
    found.stdout.fnmatch_lines([f"most old kernels do not run, so little was compared: {told}"])
    found.assert_outcomes(passed=4, failed=1, deselected=16)


def test_without_a_baseline_they_are_not_just_new(many):
    """Where nothing is stored, pairs were all that could have told."""
    found = many(3, "--roofline-against=old", stored=0, pairs={"*": BROKEN})
    assert found.ret == 1
    found.stdout.fnmatch_lines(["3 cases timed: 3 unresolved*"])


def test_few_old_kernels_that_do_not_run_are_told(many):
    """One of four: a warning, which strict runs fail; the others have their verdicts."""
    pairs = {"k02": BROKEN, "*": 0.0}
    found = many(4, "--roofline-against=old", "--roofline-retest=all", pairs=pairs)
    assert found.ret == 0
    found.stdout.fnmatch_lines(
        ["4 cases timed: 1 unresolved, 3 same*", "roofline: 3 of 4 cases compared beside *, 1 could not: *ImportError*"]
    )
    assert many(4, "--roofline-against=old", "--roofline-retest=all", "--roofline-strict", pairs=pairs).ret == 1


def test_new_kernels_have_no_old_one_and_fail_nothing(many):
    """A change that only adds kernels: told, and judged by what is stored."""
    found = many(3, "--roofline-against=old", "--roofline-retest=all", pairs={"*": MISSING})
    assert found.ret == 0
    found.stdout.fnmatch_lines(
        ["3 cases timed: 3 same", "roofline: 0 of 3 cases compared beside old *, 3 had no kernel there"]
    )


def test_a_comparison_that_is_switched_off_is_told(many):
    """--roofline-retest=off leaves nothing to do for --roofline-against."""
    found = many(2, "--roofline-against=old", "--roofline-retest=off")
    assert found.ret == 0
    found.stdout.fnmatch_lines(["roofline: nothing is compared with old (a directory): --roofline-retest=off"])


def test_every_case_of_a_run_that_the_code_made_slower_is_told_so(many):
    """All kernels are 3 % slower: the shift hides it from the baseline, a panel shows whose it is, and then no case is
    left the same."""
    found = many(26, "--roofline-against=old", ratio={"*": 1.03}, code={"*": "new"}, pairs={"*": 0.03})
    assert found.ret == 1
    found.stdout.fnmatch_lines(["26 cases timed: 26 regression*", "roofline: 26 of 26 cases compared beside old*"])


def test_cases_of_the_panel_have_the_verdict_of_their_pairs(many):
    """The machine is slower, the code is not, but for a case that was drawn for the panel."""
    found = many(10, "--roofline-against=old", ratio={"*": 1.03}, pairs={"k04": 0.03, "*": 0.0})
    assert found.ret == 1
    found.stdout.fnmatch_lines(["10 cases timed: 1 regression, 9 same*"])


def test_the_place_of_a_case_in_the_run_does_not_matter(many):
    """Two kernels of unknown code are 3 % slower, the first and the last that is timed: nothing was known of the run
    when the first was judged, and both have the same verdict at its end."""
    found = many(40, "--roofline-retest=off", ratio={"k00": 1.03, "k39": 1.03}, before=None)
    assert found.ret == 1
    found.stdout.fnmatch_lines(["40 cases timed: 2 regression, 38 same"])
    found.assert_outcomes(failed=2, passed=39, deselected=160)


def test_each_timed_case_is_told_while_the_run_goes_on(many):
    """Though their reports wait for its end, and are then logged in order; with -v each has a line in a log."""
    found = many(3, "-v")
    found.stdout.fnmatch_lines(
        [f"roofline: timing: {k + 1} of 3, test_benchmark?negate/host/k0{k}*(* s)" for k in range(3)]
        + [f"*test_benchmark?negate/host/k0{k}/* PASSED*" for k in range(3)],
    )


def test_a_run_that_is_stopped_says_that_it_compared_nothing(many):
    """With -x a failing test ends it before the retest."""
    many(2, "--co")
    suite = many.pytester.path / "test_suite.py"
    suite.write_text(suite.read_text() + "\n\ndef test_zz(benchmark):\n    benchmark(lambda: 1 / 0)\n")
    found = many(2, "-x", "--roofline-against=old")
    found.stdout.fnmatch_lines(["roofline: the run was stopped: nothing was compared with old (a directory)"])


def test_a_verdict_that_nothing_changes_stops_a_run_at_once(many):
    """With -x; what did not run is counted, and what would have been retested says that it was not."""
    found = many(4, "-x", ratio={"k00": 1.2, "k01": 1e-6})
    assert found.ret == 1
    found.assert_outcomes(failed=2, deselected=16)
    found.stdout.fnmatch_lines(
        [
            "*k01/f32/32x32: impossible: *",
            "*k00/f32/64x64: regression: *; the run was stopped before it was judged again",
            "roofline: the run was stopped: 2 cases of the baseline did not run",
        ]
    )


def test_a_run_that_is_interrupted_tells_what_did_not_run(many):
    """Control-C ends it with pytest's exit code for that, and what was timed is reported."""
    many(4, "--co")
    suite = many.pytester.path / "test_suite.py"
    call = "    roofline_benchmark(roofline_case)"
    interrupt = "    if 'k02' in str(roofline_case):\n        raise KeyboardInterrupt\n"
    suite.write_text(suite.read_text().replace(call, interrupt + call))
    found = many(4)
    assert found.ret == 2
    found.stdout.fnmatch_lines(
        ["2 cases timed: 2 same", "roofline: the run was stopped: 2 cases of the baseline did not run"]
    )


def test_a_regression_is_told_at_the_end_of_a_run_that_nothing_stops(many):
    """With -x as well: until then the rest of the run, or a retest, may clear it."""
    found = many(4, "-x", ratio={"k00": 1.2})
    assert found.ret == 1
    found.assert_outcomes(passed=4, failed=1, deselected=16)
    assert "the run was stopped" not in found.stdout.str()


def test_a_selected_case_that_was_not_timed_is_missing(many):
    """Its test passes without having timed it: that fails the run, and stands in its report."""
    many(3, "--co")
    suite = many.pytester.path / "test_suite.py"
    suite.write_text(
        suite.read_text().replace("    roofline_benchmark(", "    'k01' in str(roofline_case) or roofline_benchmark(")
    )
    found = many(3)
    assert found.ret == 1
    case = "negate/host/k01/f32/32x32"
    found.stdout.fnmatch_lines(
        [
            f"missing: {case} is in the baseline of this GPU, but did not run (in_baseline_but_not_run)",
            "3 cases timed: 1 missing, 2 same",
            "*host/k01 *missing*",
        ]
    )
    assert many(3, "-k", "not k01").ret == 0
