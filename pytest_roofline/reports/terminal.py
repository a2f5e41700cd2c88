"""The terminal section: one line per timed case, the worst first within an operation. Returns lines only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_roofline.judging import Row
from pytest_roofline.roofline import Regime
from pytest_roofline.verdict import FAILING, WARNING, Kind

_LABEL = {Kind.INFORMATION: "peer", Kind.STALE_CEILING: "stale"}
_NAME = 30  # columns of a case's name, so that a line has 80


def section(rows: Sequence[Row], *, verbose: bool = False) -> list[str]:
    """The lines of the section; empty without rows. Readable at 80 columns."""
    lines: list[str] = []
    for operation in dict.fromkeys(row.case.operation.name for row in rows):
        mine = [row for row in rows if row.case.operation.name == operation]
        lines += ["", f"{operation}: {mine[0].case.operation.summary}"]
        lines.append(f"  {'case':{_NAME}} {'time':>9} {'rate':>12} {'bound':>6} {'peer':>5} verdict")
        lines += [_line(row, _peer_ratio(row, mine)) for row in sorted(mine, key=_order)]
        lines += _sentences(mine, verbose)
    return lines


def totals(rows: Sequence[Row]) -> str:
    """One line that counts the verdicts."""
    counts = Counter(_label(row) for row in rows)
    return f"{len(rows)} cases timed: " + ", ".join(f"{count} {label}" for label, count in counts.most_common())


def _line(row: Row, ratio: float | None) -> str:
    name = str(row.case).split("/", 1)[1]
    if len(name) > _NAME:
        name = name[: _NAME // 2 - 2] + ".." + name[-_NAME // 2 :]
    time = rate = share = peer = "-"
    if row.rates is not None:
        time, rate = _time(row.seconds) + ("*" if row.from_cupti else " "), _rate(row)
        fraction = row.assessment.fraction(row.seconds)
        share = f"{100 * fraction:.1f}%" if fraction is not None else "-"
        if row.assessment.regime is Regime.OVERHEAD:
            share = "ovh"
        peer = f"{ratio:.2f}" if ratio is not None else "-"
    mark = "~" if row.verdict.provisional and not row.case.kernel.peer else " "
    return f"  {name:{_NAME}} {time:>9} {rate:>12} {share:>6} {peer:>5}{mark}{_label(row)}"


def _sentences(rows: Sequence[Row], verbose: bool) -> list[str]:
    """What the verdicts say, for those that fail or warn; with -v for all."""
    told = [r for r in rows if verbose or (r.verdict.kind in FAILING | WARNING and r.verdict.kind is not Kind.NEW)]
    return [f"  {_label(r)}: {r.case}: {r.verdict.sentence}" for r in sorted(told, key=_order)]


def footnotes(rows: Sequence[Row]) -> list[str]:
    """What the columns mean, as far as it applies."""
    lines = ["bound: share of the datasheet roof; peer: time of the fastest library routine / time"]
    if any(row.from_cupti for row in rows):
        lines.append(
            "*: kernel duration from CUPTI, because below 20 us a bracket contains gaps; verdicts use brackets"
        )
    if any(row.verdict.provisional for row in rows):
        lines.append("~: provisional, the baseline has fewer than five campaigns")
    if any(row.assessment.regime is Regime.OVERHEAD for row in rows):
        lines.append("ovh: overhead-bound, the roof is below the time of an empty launch")
    return lines


def _peer_ratio(row: Row, rows: Sequence[Row]) -> float | None:
    """Time of the fastest peer on the same problem over this time."""
    if row.case.kernel.peer or row.summary is None:
        return None
    peers = [
        other.summary.seconds
        for other in rows
        if other.case.kernel.peer
        and other.summary is not None
        and (other.case.dtype, other.case.shape) == (row.case.dtype, row.case.shape)
    ]
    return min(peers) / row.summary.seconds if peers else None


def _order(row: Row) -> tuple[int, float]:
    severity = 0 if row.verdict.kind in FAILING else 1 if row.verdict.kind in WARNING else 2
    return severity, row.assessment.fraction(row.seconds) or 0.0


def _label(row: Row) -> str:
    return _LABEL.get(row.verdict.kind, row.verdict.kind.value)


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def _rate(row: Row) -> str:
    assert row.rates is not None
    limit = row.assessment.algorithm or row.assessment.ceiling
    if limit is not None and limit.regime is Regime.COMPUTE:
        return f"{row.rates.operations_per_second / 1e12:.3g} TFLOP/s"
    per_second = row.rates.bytes_per_second
    return f"{per_second / 1e12:.3g} TB/s" if per_second >= 1e12 else f"{per_second / 1e9:.3g} GB/s"
