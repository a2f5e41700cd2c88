"""The order of a retest: looks, what ends it, and what it does with spoilt processes."""

import random

import pytest

from pytest_roofline.evidence import CaseSpec, Evidence, Outcome, Pair
from pytest_roofline.retest.pairs import Order, collect, retest
from pytest_roofline.statistics.noise import Prior
from pytest_roofline.statistics.paired import Outcome as Paired

QUIET = Prior(1.0, 20.0, 100)


def order(case):
    """What the worker gets."""
    return Order(CaseSpec(case, "m", (), "cuda", time=True, against="/old"))


def pair(case, difference, code="new"):
    """Evidence of one process."""
    found = Pair((difference,) * 5, 1e-4, 1e-4, 2, "graph_cold", "old", code)
    return Evidence(case, Outcome.OK, pair=found)


class Processes:
    """A worker that answers from a plan: case -> one answer per process."""

    def __init__(self, **plan):
        self.plan = {case: iter(answers) for case, answers in plan.items()}
        self.asked = []

    def __call__(self, specs):
        self.asked.append(sorted(spec.case for spec in specs))
        for spec in specs:
            answer = next(self.plan[spec.case])
            yield answer if isinstance(answer, Evidence) else pair(spec.case, answer)


def run(processes, prior=QUIET, **changes):
    """A retest of all cases of the plan."""
    told = []
    orders = {case: order(case) for case in processes.plan}
    return retest(orders, processes, prior, told.append, rng=random.Random(0), **changes), told


def test_decided_cases_are_not_measured_again():
    """After the first look only the undecided one goes on, to the last."""
    noisy = [0.014, 0.002] * 8
    processes = Processes(slow=[0.02] * 16, same=[0.0] * 16, noisy=noisy)
    found, told = run(processes)
    assert found["slow"].decision.outcome is Paired.SLOWER
    assert found["same"].decision.outcome is Paired.SAME
    assert found["noisy"].decision.outcome is Paired.UNDECIDED
    assert [len(cases) for cases in processes.asked] == [3] * 4 + [1] * 12
    assert len(found["noisy"].differences) == 16
    assert told[0] == "process 1 of 4, 3 cases"
    assert told[4] == "process 5 of 8, 1 case"


def test_it_ends_when_all_is_decided():
    """Four processes, not sixteen."""
    processes = Processes(a=[0.05] * 16)
    run(processes)
    assert len(processes.asked) == 4


def test_unchanged_code_is_asked_for_once():
    """No differences and equal digests: there is nothing to measure."""
    same = Evidence("a", Outcome.OK, pair=Pair((), 0.0, 0.0, 1, "graph_cold", "x", "x"))
    processes = Processes(a=[same])
    found, _ = run(processes)
    assert found["a"].same_code
    assert len(processes.asked) == 1


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.HUNG, Outcome.ERROR, Outcome.WRONG, Outcome.UNAVAILABLE])
def test_a_failing_process_ends_the_retest_of_its_case(outcome):
    """The other case goes on."""
    processes = Processes(a=[Evidence("a", outcome, "why")], b=[0.05] * 4)
    found, _ = run(processes)
    assert found["a"].problem.detail == "why"
    assert found["a"].decision is None
    assert found["b"].decision.outcome is Paired.SLOWER


def test_a_throttled_process_is_passed_over():
    """Three of them do not matter, four end it: never a verdict from what the machine spoilt."""
    hot = Evidence("a", Outcome.INVALID, "hot", reason="gpu_throttled")
    found, _ = run(Processes(a=[hot, hot, hot] + [0.05] * 13))
    assert found["a"].decision.outcome is Paired.SLOWER
    assert len(found["a"].differences) == 5
    found, _ = run(Processes(a=[hot] * 4))
    assert found["a"].problem is hot
    assert found["a"].decision is None


def test_without_calibration_the_pairs_say_what_is_usual():
    """A dozen noisy cases widen each other's intervals; alone, one of them would seem decided."""
    rng = random.Random(1)
    noisy = {f"n{k}": [rng.gauss(0, 0.02) for _ in range(16)] for k in range(20)}
    lucky = [0.009, 0.0091, 0.0089, 0.009]
    found, _ = run(Processes(lucky=lucky + [0.0] * 12, **noisy), Prior(degrees=8.0), looks=(4,))
    assert found["lucky"].decision.outcome is Paired.UNDECIDED
    alone, _ = run(Processes(lucky=lucky), Prior(degrees=8.0), looks=(4,))
    assert alone["lucky"].decision.change.high < found["lucky"].decision.change.high


def test_calibration_takes_every_process():
    """Whatever they show, nothing is decided; a case that fails once is left alone."""
    failed = Evidence("b", Outcome.CRASHED, "why")
    processes = Processes(a=[0.05, 0.04, 0.06], b=[0.01, failed, 0.01])
    found = collect({case: order(case) for case in "ab"}, processes, 3, lambda text: None)
    assert found["a"].differences == [pytest.approx(x) for x in (0.05, 0.04, 0.06)]
    assert found["a"].decision is None
    assert found["b"].problem is failed
