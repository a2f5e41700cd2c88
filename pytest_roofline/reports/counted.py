"""The section of a run without a GPU: what was counted, how much of it was compared, and what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pytest_roofline.baselines.counted import ARCHITECTURES, DEVICE
from pytest_roofline.gate import CountedRow
from pytest_roofline.verdict import Kind


def section(
    rows: Sequence[CountedRow], known: Mapping[str, int], *, device: str = DEVICE, verbose: bool = False
) -> list[str]:
    """The lines; ``known`` is how many kernels are stored by compiler, ``device`` what was asked to be counted for. No
    word of time here."""
    verdicts = Counter(row.verdict.kind for row in rows)
    told = ", ".join(f"{number} {kind.value}" for kind, number in verdicts.most_common())
    counted = [row for row in rows if not row.counts.uncounted]
    alone = f", {len(rows) - len(counted)} of them only compiled" if len(counted) < len(rows) else ""
    lines = [f"{len(rows)} cases counted for {_architectures(rows, device)}{alone}, nothing was timed: {told}"]
    compared = sum(row.verdict.kind is not Kind.NEW for row in counted)
    lines.append(f"counts from source: compared {compared} of {len(counted)} cases")
    lines += _compiled(rows, known)
    for row in rows:
        if row.verdict.kind in (Kind.REGRESSION, Kind.IMPROVEMENT) or verbose:
            lines.append(f"  {row.verdict.kind.value}: {row.case}: {row.verdict.sentence}")
    return lines


def _architectures(rows: Sequence[CountedRow], device: str) -> str:
    """What was asked for, and how many cases exist only on another."""
    asked = ARCHITECTURES[device]
    others = Counter(row.arch for row in rows if row.arch != asked)
    return asked + "".join(f" ({number} for {arch})" for arch, number in others.items())


def _compiled(rows: Sequence[CountedRow], known: Mapping[str, int]) -> list[str]:
    compilers: dict[str, set[str]] = {}
    for row in rows:
        for key, kernel in row.code.kernels.items():
            compilers.setdefault(kernel.compiler, set()).add(f"{row.case.operation.name} {key}")
    compared = {f"{row.case.operation.name} {key}" for row in rows for key in row.compared}
    lines = []
    for compiler, keys in sorted(compilers.items()):
        lines.append(f"compiled code, {compiler}: compared {len(keys & compared)} of {len(keys)} kernels")
        if not keys & compared and known:
            lines[-1] += f"; stored are {', '.join(sorted(known))}"
    reasons = Counter(row.code.missing.partition("\n")[0] for row in rows if row.code.missing)
    lines += [f"compiled code: compared 0 of {number} cases: {why}" for why, number in reasons.most_common()]
    return lines
