"""Cases of a baseline that the catalogue no longer has: dropped, or under their new name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from pytest_roofline.baselines.content import Baseline


def forget(baseline: Baseline, pattern: str) -> list[str]:
    """Drop all that is stored of the cases whose id matches (``*`` also matches a slash), and campaigns that nothing
    uses then; returns their ids."""
    gone = sorted(case for case in _ids(baseline) if fnmatchcase(case, pattern))
    for block in _blocks(baseline):
        for case in gone:
            block.pop(case, None)
    if gone:
        baseline.drop_unused_campaigns()
        if baseline.counted is not None:
            baseline.counted.drop_unused()
    return gone


def rename(baseline: Baseline, old: str, new: str) -> dict[str, str]:
    """Move what is stored of ``old``, a case or the first parts of ids (``copy/cuda/wide``), to ``new``; returns the
    new ids by the old ones.

    Raises ``ValueError`` if something is stored under a new id already; nothing has changed then.
    """
    ids = _ids(baseline)
    moved = {case: new + case[len(old) :] for case in sorted(ids) if case == old or case.startswith(f"{old}/")}
    taken = sorted(name for name in moved.values() if name in ids and name not in moved)
    if taken:
        raise ValueError(f"{taken[0]} is stored already: forget one of the two first")
    for block in _blocks(baseline):
        entries = {case: block.pop(case) for case in moved if case in block}
        block.update((moved[case], entry) for case, entry in entries.items())
    return moved


def _blocks(baseline: Baseline) -> list[dict[str, Any]]:
    """Everything that is kept by case."""
    counted = [baseline.counted.cases] if baseline.counted is not None else []
    return [baseline.measured, baseline.noise, baseline.published, *counted]


def _ids(baseline: Baseline) -> set[str]:
    return {case for block in _blocks(baseline) for case in block}
