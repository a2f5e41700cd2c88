"""Stored results held against their own device's roofline: what a machine without a GPU can still say about time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_roofline.baselines import Baseline, Run
from pytest_roofline.devices.record import keys, load
from pytest_roofline.discovery import Catalogue
from pytest_roofline.roofline import assess
from pytest_roofline.statistics import Summary


def lines(baselines: Iterable[Baseline], catalogue: Catalogue) -> list[str]:
    """One line per stored case: typical time over all campaigns, share of the datasheet bound, and provenance."""
    found: list[str] = []
    for baseline in baselines:
        rows = [*_measured(baseline, catalogue), *_published(baseline, catalogue)]
        if rows:
            found += ["", f"{baseline.operation} on {baseline.device}"]
            found.append(f"  {'case':36} {'time':>11} {'bound':>7}  provenance")
            found += rows
    return found or ["no results are stored"]


def measured(baselines: Iterable[Baseline]) -> dict[str, dict[str, float]]:
    """Typical seconds by device and case, of devices that have a record."""
    found: dict[str, dict[str, float]] = {}
    for baseline in baselines:
        if baseline.measured and baseline.device in keys():
            seconds = {case: _seconds(runs) for case, runs in baseline.measured.items()}
            found.setdefault(baseline.device, {}).update(seconds)
    return found


def _measured(baseline: Baseline, catalogue: Catalogue) -> Iterator[str]:
    for case, runs in sorted(baseline.measured.items()):
        origin = f"measured, {len(runs)} campaign{'s' if len(runs) > 1 else ''}"
        yield _line(case, _seconds(runs), baseline.device, catalogue, origin)


def _published(baseline: Baseline, catalogue: Catalogue) -> Iterator[str]:
    for case, figures in sorted(baseline.published.items()):
        for figure in figures:
            origin = f"published, {figure.device}"
            if figure.seconds is None:
                yield f"  {_short(case):36} {figure.value:>7g} {figure.unit}  {origin}"
            else:
                yield _line(case, figure.seconds, figure.device, catalogue, origin)


def _seconds(runs: Mapping[str, Run]) -> float:
    """The same choice as a live report: the kernel's own duration where it was short enough to be measured."""
    alone = [run.kernel for run in runs.values() if run.kernel is not None]
    return sum(alone) / len(alone) if len(alone) == len(runs) else _typical([run.summary for run in runs.values()])


def _typical(summaries: list[Summary]) -> float:
    return sorted(s.seconds for s in summaries)[len(summaries) // 2]


def _line(case_id: str, seconds: float, device: str, catalogue: Catalogue, origin: str) -> str:
    share = "-"
    try:
        case = catalogue.case(case_id)
    except ValueError:
        case = None  # an orphan, which fails elsewhere
    if case is not None and device in keys():
        fraction = assess(case.work, case.model, load(device)).fraction(seconds)
        share = "-" if fraction is None else f"{100 * fraction:.1f}%"
    return f"  {_short(case_id):36} {seconds * 1e6:>8.2f} us {share:>7}  {origin}"


def _short(case: str) -> str:
    name = case.split("/", 1)[1]
    return name if len(name) <= 36 else name[:16] + ".." + name[-18:]
