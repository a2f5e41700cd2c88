"""What a case costs by its counts and its compiled code, against what was accepted. Pure.

Counts from source are compared whatever the compiler; compiled code only with what the same compiler made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from pytest_roofline.baselines import CountedCase
from pytest_roofline.counting.comparing import (
    Difference,
    Place,
    Places,
    compare_code,
    compare_counts,
    compare_launches,
    kernel_name,
    limits,
    worse,
)
from pytest_roofline.counting.compiled.resources import Resources
from pytest_roofline.counting.counts import CaseCounts
from pytest_roofline.verdict import Kind, Reason, Verdict


@dataclass(frozen=True)
class Code:
    """The kernels that a case launches, in order, as they were compiled; ``missing`` says why there are none.
    ``calls`` are the operations that its launcher asks torch for, at the lines ``asked_at``."""

    keys: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    kernels: Mapping[str, Resources] = field(default_factory=dict)
    places: Mapping[str, Mapping[str, Place]] = field(default_factory=dict)
    missing: str = ""
    asked_at: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Changes:
    """What changed, and the keys of the kernels whose code was compared."""

    differences: tuple[Difference, ...]
    compared: frozenset[str] = frozenset()

    def verdict(self, otherwise: Verdict, hint: str = "") -> Verdict:
        """Worse in anything fails, better in anything is an improvement, which ``hint`` adds to; else ``otherwise``."""
        bad = worse(list(self.differences))
        told = "; ".join(f"{d.cause}: {d.sentence}" for d in (bad or self.differences))
        if bad:
            return Verdict(Kind.REGRESSION, Reason.COSTS_MORE, told)
        if self.differences:
            return Verdict(Kind.IMPROVEMENT, Reason.COSTS_LESS, told + hint)
        return otherwise


def changes(
    before: CountedCase | None, compiled: Mapping[str, Mapping[str, Resources]], found: CaseCounts, code: Code
) -> Changes:
    """What a case counts and compiles to now against what was accepted of it; ``compiled`` are the accepted kernels by
    compiler and key. Of a case that nothing is known of, only what no kernel may have is told."""
    differences: list[Difference] = []
    for key, kernel in code.kernels.items():
        differences += limits(kernel, _places(code, key))
    if before is None:
        return Changes(tuple(differences))
    differences += compare_counts(before.counts, found)
    if not code.missing and before.kernels:
        differences += _calls(before.calls, code)
        if found.uncounted or before.counts.uncounted:
            differences += compare_launches(before.kernels, code.keys)
    compared = set()
    for old, new in _pairs(before.kernels, code.keys):
        if new in compared or new not in code.kernels:
            continue
        now = code.kernels[new]
        reference = compiled.get(now.compiler, {}).get(old)
        if reference is not None:
            compared.add(new)
            differences += [d for d in compare_code(reference, now, _places(code, new)) if d not in differences]
    return Changes(tuple(differences), frozenset(compared))


def _pairs(before: Sequence[str], now: Sequence[str]) -> list[tuple[str, str]]:
    """Which kernel took the place of which: by their place, and by their names where there are more or fewer."""
    if len(before) == len(now):
        return list(zip(before, now, strict=True))
    matcher = SequenceMatcher(None, list(map(kernel_name, before)), list(map(kernel_name, now)), autojunk=False)
    return [
        (before[block.a + i], now[block.b + i]) for block in matcher.get_matching_blocks() for i in range(block.size)
    ]


def _places(code: Code, key: str) -> Places:
    places = code.places.get(key, {})
    return lambda kind: places.get(kind, places.get("", Place()))


def _calls(before: tuple[str, ...], code: Code) -> list[Difference]:
    now = code.calls
    if len(before) == len(now):
        return []
    sentence = f"torch is asked for {', '.join(now) or 'nothing'}, before for {', '.join(before) or 'nothing'}"
    return [Difference("launches", len(now) > len(before), sentence + str(_added(before, code)))]


def _added(before: Sequence[str], code: Code) -> Place:
    """Where the launcher asks torch for the first operation that it did not ask for before."""
    left = Counter(before)
    for name, place in zip(code.calls, code.asked_at, strict=False):
        if not left[name]:
            return place
        left[name] -= 1
    return Place()
