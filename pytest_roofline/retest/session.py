"""The end of a benchmark run: cases that the baseline could not clear are measured again and get their last verdict."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_roofline.attribution import changed, settle, shift_sentence
from pytest_roofline.evidence import CaseSpec, Environment, Evidence, Outcome, Timing
from pytest_roofline.judging import Row, median_of
from pytest_roofline.retest.choice import controls, worth
from pytest_roofline.retest.pairs import Found, Order, Tell, cases, collect, retest
from pytest_roofline.retest.settings import ALL, OFF
from pytest_roofline.statistics import alarm, summarise
from pytest_roofline.statistics.paired import Outcome as Paired
from pytest_roofline.verdict import Kind, Reason, Verdict

if TYPE_CHECKING:
    from pytest_roofline.state import State

FRESH = 4  # processes without an old kernel: they rule out a process's own state, not what a start of the machine has
FRESH_UPDATE = 2  # where this run is accepted anyway: enough for a median
PANEL = 20  # cases that tell whether a shift of the whole run is the machine's
_NO_OLD, _OLD_FAILS = Reason.NO_OLD_KERNEL.value, Reason.OLD_FAILS.value


@dataclass
class Retest:
    """Retests of one session. ``tell`` is for its steps, ``tick`` for single cases of them.

    ``told`` are lines for the report, ``failures`` what only the whole run shows; ``without`` says why a case has no
    old kernel, ``broken`` which of those have one that does not run.
    """

    state: State
    tell: Tell
    tick: Tell
    told: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    without: dict[str, str] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    chance: float = alarm(400)

    def run(self) -> None:
        """Give every suspect its last verdict, look at the shift of the whole run, calibrate where that was asked."""
        state, settings = self.state, self.state.options.retest
        rows = {str(row.case): row for row in state.rows if row.timing is not None}
        if not rows:
            return
        self._screen_again(rows)
        suspects = [name for name, row in rows.items() if self._worth(row)]
        panel = self._shifted(rows)
        again = settings.which != OFF and (suspects or panel)
        if again or settings.calibrate or settings.processes > 1:
            from pytest_roofline import worker

            worker.close()  # what this process holds on the GPU is given back to those that follow
        if settings.which == OFF and state.old is not None:
            self.told.append(f"nothing is compared with {state.old.name}: --roofline-retest=off")
        if again:
            if state.old is not None:
                suspects = self._beside_old(rows, suspects, panel)
            self._alone(rows, suspects)
            self._unsettled(rows)
        if settings.processes > 1:
            self._repeat(rows, settings.processes - 1)
        if settings.calibrate:
            self._calibrate(rows)

    def _worth(self, row: Row, which: str = "", *, old: bool | None = None) -> bool:
        old = self.state.old is not None if old is None else old
        which, update = which or self.state.options.retest.which, self.state.options.update
        return not row.case.kernel.peer and worth(row.verdict, row.seconds, which, old=old, update=update)

    def _screen_again(self, rows: dict[str, Row]) -> None:
        """Judge every case anew with what only the end of a run knows, so that their order does not matter: how far all
        of it has moved, which code is the baseline's, and how many cases can raise a false alarm, which are those whose
        code is not known to be that."""
        state = self.state
        evidence = {name: state.evidence[name] for name in rows}
        own = [row.case for row in rows.values() if not row.case.kernel.peer]
        self.chance = alarm(sum(state.judge.changed_code(case, evidence[str(case)]) is not False for case in own))
        for name, row in rows.items():
            again = state.judge.row(row.case, evidence[name], self.chance)
            if again != row:
                self._replace(rows, name, again)

    def _shifted(self, rows: Mapping[str, Row]) -> list[str]:
        """Tell a remarkable shift of the whole run, and choose cases that find out whose it is."""
        state = self.state
        moved = state.judge.moved(_environment(state))
        if not moved.remarkable:
            return []
        self.told.append(shift_sentence(moved, bool(state.old)))
        if state.old is None:
            return []
        candidates = [n for n, row in rows.items() if not row.case.kernel.peer and row.verdict.kind is Kind.SAME]
        return random.sample(candidates, min(PANEL, len(candidates)))

    def _beside_old(self, rows: dict[str, Row], suspects: Sequence[str], panel: Sequence[str]) -> list[str]:
        """Pairs with the old kernels; returns the suspects that have none. When the ``panel`` shows that the code has
        made the whole run slower, every case is compared."""
        old = self.state.old
        assert old is not None
        found = self._pairs(rows, [*suspects, *panel])
        if self._blame(found, panel, old.name):
            found.update(self._pairs(rows, [n for n, row in rows.items() if n not in found and self._worth(row, ALL)]))
        for name, one in found.items():
            self._accept(rows, name, settled(rows[name].verdict, one, old.name))
            if one.problem is not None and one.problem.reason in (_NO_OLD, _OLD_FAILS):
                self.without[name] = f"{old.name}: {one.problem.detail}"
            if one.problem is not None and one.problem.reason == _OLD_FAILS:
                self.broken.add(name)
        self._tell_beside(found, old.name)
        return [name for name in found if rows[name].verdict.suspect]

    def _pairs(self, rows: Mapping[str, Row], names: Sequence[str]) -> dict[str, Found]:
        """What pairs of these cases with their old kernels show."""
        state, old = self.state, self.state.old
        assert old is not None
        orders = {name: self._order(rows[name], str(old.root)) for name in dict.fromkeys(names)}
        if orders:
            self.tell(f"{cases(len(orders))} beside {old.name}")
        return retest(orders, self._run, state.judge.past(_environment(state)).pairs, self.tell)

    def _tell_beside(self, found: Mapping[str, Found], old: str) -> None:
        """How much of what should be compared could be; the run fails where most of it could not."""
        compared = sum(one.decision is not None or one.same_code for one in found.values())
        missing = len(self.without) - len(self.broken)
        line = f"{compared} of {cases(len(found))} compared beside {old}"
        line += f", {missing} had no kernel there" if missing else ""
        first = next((self.without[name] for name in found if name in self.broken), "")
        line += f", {len(self.broken)} could not: {_first_line(first.removeprefix(f'{old}: '))}" if first else ""
        self.told.append(line)
        if 2 * len(self.broken) > len(found) - missing:
            self.failures.append(f"most old kernels do not run, so little was compared: {line}")

    def _unsettled(self, rows: dict[str, Row]) -> None:
        """A case whose old kernel does not run is never the same: what was asked could not be found out."""
        for name in sorted(self.broken):
            verdict = rows[name].verdict
            if verdict.kind in (Kind.SAME, Kind.NEW):
                sentence = verdict.sentence
                if self.without[name] not in sentence:
                    sentence = f"{sentence}; {self.without[name]}"
                told = replace(verdict, kind=Kind.UNRESOLVED, reason=Reason.OLD_FAILS, sentence=sentence, suspect=False)
                self._accept(rows, name, told)

    def _blame(self, found: Mapping[str, Found], panel: Sequence[str], old: str) -> bool:
        """Whether the old kernels are faster here than the new ones: then the code has made the whole run slower."""
        seen = [one for name in panel if (one := found[name]).decision is not None or one.same_code]
        slower = [one for one in seen if one.decision is not None and one.decision.outcome is Paired.SLOWER]
        if seen:
            self.told.append(f"of {len(seen)} cases drawn from all, {len(slower)} are slower than with {old}")
        blamed = len(slower) > len(seen) / 2
        if blamed:
            self.failures.append(
                f"regression: the whole run is slower, and so are {len(slower)} of {len(seen)} cases drawn from it "
                f"beside {old}: what all kernels share has become slower"
            )
        return blamed

    def _alone(self, rows: dict[str, Row], names: Sequence[str]) -> None:
        """Measure suspects without an old kernel in fresh processes, and judge the median of all their processes."""
        doubtful = [name for name in names if self._worth(rows[name], old=False)]
        if not doubtful:
            return
        state = self.state
        self.tell(f"{cases(len(doubtful))} again, without an old kernel")
        others = [name for name, row in rows.items() if not row.case.kernel.peer and _comparable(row)]
        stored = state.judge.past(_environment(state)).history.likeness.values
        panel = controls([name for name in others if name not in doubtful], state.judge.unchanged, stored)
        found = self._fresh(rows, [*doubtful, *panel], FRESH_UPDATE if state.options.update else FRESH)
        beside = {name: median_of(timing, found[name]) for name in panel if (timing := state.evidence[name].timing)}
        for name in doubtful:
            verdict = state.judge.again(rows[name].case, state.evidence[name], found[name], self.chance, beside)
            if name in self.without:
                verdict = replace(verdict, sentence=f"{verdict.sentence}; {self.without[name]}")
            self._accept(rows, name, verdict)
        if state.options.update:  # one process that was off is not what later runs shall be compared with
            for name in doubtful:
                self._take_middle(rows, name, found[name])

    def _fresh(self, rows: Mapping[str, Row], names: Sequence[str], processes: int) -> dict[str, list[Timing]]:
        """What so many fresh processes measure of some cases, whatever they did not manage left out."""
        found: dict[str, list[Timing]] = {name: [] for name in names}
        for process in range(1, processes + 1):
            self.tell(f"process {process} of {processes}, {cases(len(names))}")
            for evidence in self._run([self._spec(rows[name]) for name in names]):
                if evidence.outcome is Outcome.OK and evidence.timing is not None:
                    found[evidence.case].append(evidence.timing)
        return found

    def _repeat(self, rows: dict[str, Row], processes: int) -> None:
        """Let every kernel's evidence be that of the middle one of several processes; its verdict stays."""
        names = [name for name, row in rows.items() if not row.case.kernel.peer and _comparable(row)]
        self.tell(f"{cases(len(names))} in {processes} more processes, to store the middle one")
        for name, fresh in self._fresh(rows, names, processes).items():
            self._take_middle(rows, name, fresh)

    def _take_middle(self, rows: dict[str, Row], name: str, fresh: Sequence[Timing]) -> None:
        """Let a case's evidence be that of the middle one of its processes; its verdict stays."""
        state, evidence = self.state, self.state.evidence[name]
        assert evidence.timing is not None
        taken = sorted([evidence.timing, *fresh], key=lambda one: summarise(one.samples).log_mean)
        state.evidence[name] = replace(evidence, timing=taken[(len(taken) - 1) // 2])
        before = rows[name]
        again = state.judge.row(before.case, state.evidence[name], self.chance)
        self._replace(rows, name, replace(again, verdict=before.verdict, comparisons=before.comparisons))

    def _calibrate(self, rows: Mapping[str, Row]) -> None:
        """Every kernel beside itself, and what that showed into the baselines."""
        from pytest_roofline.retest.calibration import store

        state = self.state
        names = [name for name, row in rows.items() if not row.case.kernel.peer and _comparable(row)]
        orders = {name: self._order(rows[name], str(state.root), unchanged=True) for name in names}
        self.tell(f"calibrating: {cases(len(orders))}, each beside itself")
        found = collect(orders, self._run, state.options.retest.calibrate, self.tell)
        self.told += store(state.store, _environment(state), found)

    def _order(self, row: Row, root: str, *, unchanged: bool = False) -> Order:
        spec = replace(self._spec(row), against=root, pair_unchanged=unchanged)
        past = self.state.judge.past(_environment(self.state))
        return Order(spec, past.calibrated(str(row.case)))

    def _spec(self, row: Row) -> CaseSpec:
        return self.state.spec(row.case, time=True)

    def _run(self, specs: Sequence[CaseSpec]) -> Iterable[Evidence]:
        from pytest_roofline import worker

        for done, evidence in enumerate(worker.run_together(specs, self.state.options.timeout), 1):
            self.tick(f"{done} of {cases(len(specs))}, {evidence.case}")
            yield evidence

    def _accept(self, rows: dict[str, Row], name: str, verdict: Verdict) -> None:
        """Give a case another verdict."""
        before = rows[name]
        self._replace(
            rows, name, replace(before, verdict=verdict, comparisons=(*before.comparisons, ("retest", verdict)))
        )

    def _replace(self, rows: dict[str, Row], name: str, after: Row) -> None:
        """Put a row in place of another, in the session's list of rows and in pytest-benchmark's file."""
        before, rows[name] = rows[name], after
        place = next(i for i, row in enumerate(self.state.rows) if row is before)
        self.state.rows[place] = after
        told = self.state.told_benchmark.get(name)
        if told is not None:
            told.update(after.plain())


def settled(before: Verdict, one: Found, old: str) -> Verdict:
    """The verdict from a case's pairs; still suspect where there is no old kernel to compare with."""
    problem = one.problem
    if one.same_code:
        sentence = f"{before.sentence}; the compiled code and its launch are those of {old}"
        moved = before.change is not None and changed(before.change)
        kind = Kind.ENVIRONMENT if moved else Kind.SAME
        return replace(before, kind=kind, reason=Reason.SAME_CODE, sentence=sentence, suspect=False)
    if problem is not None and problem.reason in (_NO_OLD, _OLD_FAILS):
        return replace(before, sentence=f"{before.sentence}; {old}: {problem.detail}")
    if problem is not None:
        reason = Reason(problem.reason) if problem.reason else Reason.NO_TIME
        return Verdict(Kind.INVALID, reason, f"the retest failed: {problem.detail}", before.change, before.campaigns)
    if one.decision is None:
        sentence = f"the retest beside {old} gave too few measurements"
        return Verdict(Kind.INVALID, Reason.NO_TIME, sentence, before.change, before.campaigns)
    return settle(before, one.decision, old)


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")


def _comparable(row: Row) -> bool:
    return row.verdict.kind not in (Kind.INVALID, Kind.IMPOSSIBLE)


def _environment(state: State) -> Environment:
    """Of this run; every case has the same."""
    return next(e.environment for e in state.evidence.values() if e.environment is not None)
