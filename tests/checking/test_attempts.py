"""A kernel that does not end costs its time limit once or twice, not in every example of hypothesis."""

from __future__ import annotations

from pytest_roofline.checking.attempts import SEARCH, SHORT, Attempts
from pytest_roofline.evidence import CaseSpec, Evidence, Outcome

LIMIT = 10.0


def spec(size: int, **changes: float) -> CaseSpec:
    return CaseSpec(f"loop/cuda/plain/f32/{size}", "operations.loop", (), "cpu", **changes)  # type: ignore[arg-type]


class Worker:
    """Runs kernels on a clock of its own: ``needs`` seconds by size, within the limit."""

    def __init__(self, needs, outcome: Outcome = Outcome.FAULT) -> None:
        self.needs, self.outcome, self.now, self.orders = needs, outcome, 0.0, []

    def run(self, order: CaseSpec) -> Evidence:
        self.orders.append(order)
        needed, limit = self.needs(int(order.case.split("/")[-1])), LIMIT * order.patience
        self.now += min(needed, limit)
        if needed > limit:
            return Evidence(order.case, self.outcome, f"no end after {limit:g} s", timed_out=True)
        return Evidence(order.case, Outcome.OK)

    def attempts(self) -> Attempts:
        return Attempts(self.run, lambda: self.now)


def test_examples_that_end_are_run_as_they_are():
    """Also again, and those that are wrong: only a time-out shortens anything."""
    worker = Worker(lambda size: 0.001)
    attempts = worker.attempts()
    assert [attempts.run(spec(s)).outcome for s in (3, 3, 5)] == [Outcome.OK] * 3
    assert worker.orders == [spec(3), spec(3), spec(5)]
    wrong = Evidence(spec(3).case, Outcome.WRONG)
    assert attempts.settle(spec(3), wrong) == (spec(3), wrong)


def test_after_a_time_out_the_others_have_a_short_limit():
    """And none is run twice: hypothesis asks for the first one again before it shrinks."""
    worker = Worker(lambda size: 1e9 if size else 0)
    attempts = worker.attempts()
    first = attempts.run(spec(700))
    assert [attempts.run(spec(s)).outcome.value for s in (700, 0, 1, 1)] == ["fault", "ok", "fault", "fault"]
    assert attempts.run(spec(700)) is first
    assert worker.orders == [spec(700), spec(0, patience=SHORT), spec(1, patience=SHORT)]


def test_search_for_a_smaller_one_has_seconds():
    """After them only what is known to fail fails, so that hypothesis is done at once and finds what it had found."""
    worker = Worker(lambda size: 1e9)
    attempts = worker.attempts()
    found = [attempts.run(spec(size)).outcome for size in range(100, 0, -1)]
    assert worker.now <= LIMIT + SEARCH + SHORT * LIMIT
    tried = found.count(Outcome.FAULT)
    assert 1 < tried < 20
    assert found[:tried] == [Outcome.FAULT] * tried
    assert attempts.run(spec(101 - tried)).timed_out


def test_what_is_reported_timed_out_under_the_full_limit():
    """The smallest one is run once more, and its evidence speaks of the limit that its reproduction has."""
    worker = Worker(lambda size: 1e9)
    attempts = worker.attempts()
    attempts.run(spec(700))
    reported, evidence = attempts.settle(spec(1), attempts.run(spec(1)))
    assert (reported, evidence.detail) == (spec(1), "no end after 10 s")


def test_one_that_only_needed_more_time_is_not_reported():
    """Two seconds are no endless loop; the example that timed out first is."""
    worker = Worker(lambda size: 1e9 if size > 99 else 2.0)
    attempts = worker.attempts()
    first = attempts.run(spec(700))
    assert attempts.settle(spec(1), attempts.run(spec(1))) == (spec(700), first)


def test_other_failure_found_on_the_way_is_reported_as_it_is():
    """It needs no second run."""
    worker = Worker(lambda size: 1e9)
    attempts = worker.attempts()
    attempts.run(spec(700))
    wrong = Evidence(spec(1).case, Outcome.WRONG)
    assert attempts.settle(spec(1), wrong) == (spec(1), wrong)
    assert len(worker.orders) == 1


def test_beside_a_killed_process_nothing_smaller_is_looked_for():
    """It has cost minutes, which no attempt shortens."""
    worker = Worker(lambda size: 1e9, Outcome.HUNG)
    attempts = worker.attempts()
    first = attempts.run(spec(700))
    assert attempts.run(spec(1)).outcome is Outcome.OK
    assert attempts.settle(spec(700), attempts.run(spec(700))) == (spec(700), first)
    assert worker.orders == [spec(700)]
