"""From a case and its evidence to a row of the report: rates, bound, comparison and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_roofline.baselines import Past, Store, device_key, latest, past
from pytest_roofline.contract import Case, Floor
from pytest_roofline.devices.ceilings import Ceilings
from pytest_roofline.devices.record import DeviceRecord
from pytest_roofline.evidence import Environment, Evidence, Outcome, Timing, same_code, to_plain
from pytest_roofline.limits import Roof, hold_against_roof
from pytest_roofline.roofline import Assessment, Rates, assess, rates
from pytest_roofline.screening import Measured, screen
from pytest_roofline.statistics import Summary, middle, summarise
from pytest_roofline.statistics.paired import target
from pytest_roofline.statistics.screen import FALSE_ALARM, Shift, shift
from pytest_roofline.verdict import Kind, Reason, Verdict, judge


@dataclass(frozen=True)
class Row:
    """One timed case. ``seconds`` is what the roofline uses: the CUPTI kernel time where there is one (``from_cupti``),
    else the typical bracket time. ``summary`` is what the comparison uses, always from brackets; ``device`` is the
    driver's name of the GPU. ``comparisons`` are what ``verdict`` was made of, by what the case was held against."""

    case: Case
    seconds: float
    from_cupti: bool
    summary: Summary | None
    rates: Rates | None
    assessment: Assessment
    verdict: Verdict
    timing: Timing | None = None
    device: str = ""
    comparisons: tuple[tuple[str, Verdict], ...] = ()

    def plain(self) -> dict[str, object]:
        """What goes into pytest-benchmark's ``extra_info``."""
        assessment = self.assessment
        return {
            "case": str(self.case),
            "device": self.device,
            "seconds": self.seconds,
            "seconds_from": "cupti" if self.from_cupti else "bracket",
            "bytes_per_second": self.rates.bytes_per_second if self.rates else None,
            "operations_per_second": self.rates.operations_per_second if self.rates else None,
            "bound_seconds": assessment.algorithm.seconds if assessment.algorithm else None,
            "bound_by": assessment.algorithm.by if assessment.algorithm else None,
            "fraction_of_bound": assessment.fraction(self.seconds),
            "fraction_of_ceiling": assessment.fraction_of_ceiling(self.seconds),
            "regime": assessment.regime.value,
            "verdict": self.verdict.kind.value,
            "reason": self.verdict.reason.value,
            "sentence": self.verdict.sentence,
            "timing": {k: v for k, v in to_plain(self.timing).items() if k != "samples"} if self.timing else None,
        }


@dataclass(frozen=True)
class Judge:
    """Knows the device's record and ceilings and the stored baselines; ``current`` are this run's cases so far, and
    ``unchanged`` those of them whose code is the baseline's."""

    store: Store
    record: DeviceRecord | None
    ceilings: Ceilings | None
    current: dict[str, Summary] = field(default_factory=dict)
    unchanged: set[str] = field(default_factory=set)
    _past: list[tuple[Environment, Past]] = field(default_factory=list)
    _moved: list[tuple[Environment, int, int, Shift]] = field(default_factory=list)

    def row(self, case: Case, evidence: Evidence, chance: float = FALSE_ALARM) -> Row:
        """Judge the evidence of a timed case (``OK`` with a timing, or ``INVALID``) at a chance of a false alarm."""
        work, model = case.work, case.model
        if evidence.outcome is Outcome.INVALID or evidence.timing is None or evidence.environment is None:
            reason = Reason(evidence.reason) if evidence.reason else Reason.NO_TIME
            verdict = Verdict(Kind.INVALID, reason, evidence.detail)
            return Row(case, 0.0, False, None, None, assess(work, model, self.record, self.ceilings), verdict)
        timing, summary = evidence.timing, _summary(evidence.timing)
        if self.current.get(str(case)) != summary:
            self.current[str(case)] = summary
            self._moved.clear()
        seconds = timing.kernel if timing.kernel is not None else summary.seconds
        assessment = assess(work, model, self.record, self.ceilings, timing.launch_floor)
        against_roof = hold_against_roof(seconds, self._roof(case, assessment))
        against_baseline = self._compare(case, timing, summary, evidence.environment, chance)
        comparisons = (*(("roof", found) for found in against_roof), ("baseline", against_baseline))
        verdict = judge([found for _, found in comparisons])
        if case.kernel.peer:
            verdict = Verdict(Kind.INFORMATION, Reason.PEER, verdict.sentence, verdict.change, verdict.campaigns)
        found, device = rates(work, seconds), evidence.environment.device
        from_cupti = timing.kernel is not None
        return Row(case, seconds, from_cupti, summary, found, assessment, verdict, timing, device, comparisons)

    def _compare(
        self,
        case: Case,
        timing: Timing,
        summary: Summary,
        environment: Environment,
        chance: float,
        controls: Mapping[str, Summary] | None = None,
    ) -> Verdict:
        """Against the stored campaigns.

        ``controls`` tell which of them this run is like and how far all of it moved, in place of all of its cases.
        """
        past, name = self.past(environment), str(case)
        runs = past.runs.get(name, {})
        before = latest(runs).code if runs else None
        unchanged = timing.code is not None and before is not None and same_code(timing.code, before)
        # A library routine of the same fingerprint is what it was.
        if unchanged or (case.kernel.peer and runs and before is None and name not in past.differences):
            self.unchanged.add(name)
        moved = whole = self.moved(environment)
        if controls:
            moved = replace(shift(controls, past.history, self.unchanged), strange=whole.strange)
        clock = timing.telemetry.clock_mhz
        found = Measured(summary, timing.protocol, timing.launch_floor, clock, unchanged)
        return screen(name, found, past, moved, chance, environment)

    def again(
        self,
        case: Case,
        evidence: Evidence,
        fresh: Sequence[Timing],
        chance: float = FALSE_ALARM,
        controls: Mapping[str, Summary] | None = None,
    ) -> Verdict:
        """The verdict on a case that was measured again in fresh processes: their median with it stands for the run.

        ``controls`` are medians of cases that were measured again only to know this run as well as the case.
        """
        timing, environment = evidence.timing, evidence.environment
        assert timing is not None
        assert environment is not None
        summary = median_of(timing, fresh)
        verdict = self._compare(case, timing, summary, environment, chance, controls)
        sentence = f"{verdict.sentence}; median of {1 + len(fresh)} processes"
        if verdict.kind is not Kind.SAME:
            sentence += "; without an old kernel what a start of the machine has of its own remains: "
            sentence += f"{100 * verdict.change.detectable:.1f} % would show, " if verdict.change else ""
            sentence += f"with --roofline-against=REF {100 * target(summary.seconds):.0f} %"
        return replace(verdict, sentence=sentence, suspect=False)

    def changed_code(self, case: Case, evidence: Evidence) -> bool | None:
        """Whether the kernel's code is another than the baseline's; ``None`` where one of them is not known."""
        if evidence.timing is None or evidence.environment is None:
            return None
        runs = self.past(evidence.environment).runs.get(str(case), {})
        stored = latest(runs).code if runs else None
        if stored is None or evidence.timing.code is None:
            return None
        return not same_code(stored, evidence.timing.code)

    def past(self, environment: Environment) -> Past:
        """What is stored of this device, as a run in that environment sees it; read once."""
        if not self._past or self._past[0][0] != environment:
            self._past[:] = [(environment, past(self.store.load_all(device_key(environment)), environment))]
        return self._past[0][1]

    def moved(self, environment: Environment) -> Shift:
        """What all cases of this run have in common against the stored campaigns, and which of those it is like."""
        known = environment, len(self.current), len(self.unchanged)  # at the end of a run all cases ask for the same
        if not self._moved or self._moved[0][:3] != known:
            self._moved[:] = [(*known, shift(self.current, self.past(environment).history, self.unchanged))]
        return self._moved[0][3]

    def _roof(self, case: Case, assessment: Assessment) -> Roof:
        floor = self.floor(case)
        return Roof(
            datasheet=assessment.algorithm.seconds if assessment.algorithm else None,
            ceiling=assessment.ceiling.seconds if assessment.ceiling else None,
            floor=floor.fraction if floor else None,
            floor_reason=floor.reason if floor else "",
        )

    def floor(self, case: Case) -> Floor | None:
        """The kernel's floor on this device for a problem of this size: the one with the largest size that fits."""
        if self.record is None:
            return None
        fitting = [f for f in case.kernel.floors if f.device == self.record.key and case.shape.size >= f.size]
        return max(fitting, key=lambda f: f.size, default=None)


def median_of(timing: Timing, fresh: Sequence[Timing]) -> Summary:
    """A run and what fresh processes measured after it, as one run."""
    return middle([_summary(one) for one in (timing, *fresh)])


def _summary(timing: Timing) -> Summary:
    """Of the brackets, with the clock under them."""
    return replace(summarise(timing.samples), clock_mhz=timing.telemetry.clock_mhz or None)
