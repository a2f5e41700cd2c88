"""The device at hand beside what was published for others: shares of each device's own bound, never a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_roofline.across import BRIEF, Caveat, Pair, Trust, caveats, estimate, side, trust
from pytest_roofline.baselines import Baseline, Published
from pytest_roofline.contract import Case
from pytest_roofline.devices.record import DeviceRecord, load
from pytest_roofline.discovery import Catalogue
from pytest_roofline.reports import stored
from pytest_roofline.roofline import assess

_NAME = 31


def pairs(
    measured: Mapping[str, float], here: DeviceRecord, baselines: Iterable[Baseline], catalogue: Catalogue
) -> list[Pair]:
    """Every published figure of another device for a case that was ``measured`` here (seconds by case id).

    Figures that cannot be turned into a time, and cases without a bound on either device, have no pair.
    """
    found = []
    for baseline in baselines:
        for case_id, figures in sorted(baseline.published.items()):
            if case_id in measured:
                case = catalogue.case(case_id)
                found += [p for f in _distinct(figures) if (p := _pair(case, measured[case_id], here, f)) is not None]
    return found


def section(found: list[Pair], verbose: bool = False) -> list[str]:
    """The pairs, the comparable ones first, and by family how well the one device foretold the other.

    ``verbose`` adds each figure's method and source.
    """
    if not found:
        return []
    here = found[0].here.device
    lines = [f"{here} (measured) beside what was published for others; each as a share of its own device's bound"]
    lines.append(f"  {'case':{_NAME}} {here:>8} {'there':>8} {'device':16} {'time there':>10}")
    for pair in sorted(found, key=lambda p: (len(p.caveats), p.case, p.there.device)):
        lines += _lines(pair, verbose)
    used = {caveat for pair in found for caveat in pair.caveats}
    lines += [f"  {_MARK[caveat]} {caveat.value}: not comparable" for caveat in Caveat if caveat in used]
    return [*lines, "", *_trust(trust(found).values(), here)]


def expectations(
    cases: Iterable[Case], there: DeviceRecord, baselines: list[Baseline], catalogue: Catalogue
) -> dict[str, float]:
    """Derived seconds on ``there`` by case id, for those measured on another device whose family may be estimated."""
    found: dict[str, float] = {}
    for key, seconds in stored.measured(baselines).items():
        if key == there.key:
            continue
        here = load(key)
        trusted = trust(pairs(seconds, here, baselines, catalogue))
        for case in cases:
            mine = side(key, seconds.get(str(case), 0.0), assess(case.work, case.model, here))
            bound = assess(case.work, case.model, there).algorithm
            if mine is not None and bound is not None and bound.complete and mine.seconds >= BRIEF:
                derived = estimate(mine, bound.seconds, trusted.get(case.operation.name))
                if derived is not None:
                    found.setdefault(str(case), derived)
    return found


_MARK = {Caveat.CACHED: "c", Caveat.BRIEF: "s"}


def _distinct(figures: Iterable[Published]) -> Iterable[Published]:
    """One figure of each device and source: a rate beside its time is the same result printed twice."""
    return {(f.device, f.implementation, f.method, f.source): f for f in reversed(list(figures))}.values()


def _pair(case: Case, seconds: float, here: DeviceRecord, figure: Published) -> Pair | None:
    if figure.seconds is None or figure.device == here.key:
        return None
    there = load(figure.device)
    mine = side(here.key, seconds, assess(case.work, case.model, here))
    theirs = side(there.key, figure.seconds, assess(case.work, case.model, there))
    if mine is None or theirs is None:
        return None
    found = caveats(case.work, (seconds, figure.seconds), (here, there))
    return Pair(str(case), mine, theirs, found, f"{figure.implementation}; {figure.method}", figure.source)


def _lines(pair: Pair, verbose: bool) -> Iterator[str]:
    name = pair.case if len(pair.case) <= _NAME else f"{pair.case[: _NAME // 2 - 1]}..{pair.case[-_NAME // 2 :]}"
    marks = "".join(_MARK[caveat] for caveat in pair.caveats)
    shares = f"{100 * pair.here.share:7.1f}% {100 * pair.there.share:7.1f}%"
    yield f"  {name:{_NAME}} {shares} {pair.there.device:16} {pair.there.seconds * 1e6:>7.4g} us {marks}".rstrip()
    if verbose:
        yield f"      {pair.method}"
        yield f"      {pair.source}"


def _trust(found: Iterable[Trust], here: str) -> Iterator[str]:
    yield f"had each kernel reached there the share that it reaches on {here} (derived):"
    for item in sorted(found, key=lambda t: t.family):
        if not item.pairs:
            yield f"  {item.family}: no comparable figure, so no estimate"
            continue
        error = f"off by {100 * item.typical:.0f} % (rms of {item.pairs}, worst {100 * item.worst:+.0f} %)"
        yield f"  {item.family}: {error}: {'estimates are given' if item.given else 'no estimate'}"
