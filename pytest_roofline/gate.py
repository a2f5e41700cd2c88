"""The gate of a machine without a GPU: counts and compiled code of every case against the accepted ones.

Nothing here is a time. Counts from source are compared whatever the compiler; compiled code only with what the same
compiler made, and every report says how much was compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any

from pytest_roofline.baselines import Baseline, Counted, CountedCase, Store, counted_for
from pytest_roofline.baselines.counted import DEVICE
from pytest_roofline.contract import Case
from pytest_roofline.counting import counts
from pytest_roofline.counting.comparing import Difference, Place, compare_code, compare_counts, limits, worse
from pytest_roofline.counting.compiled.client import Compiler
from pytest_roofline.counting.compiled.resources import Resources, from_plain
from pytest_roofline.counting.counts import CaseCounts
from pytest_roofline.verdict import Kind, Reason, Verdict


@dataclass(frozen=True)
class Code:
    """The kernels that a case launches, in order, as they were compiled; ``missing`` says why there are none."""

    keys: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    kernels: Mapping[str, Resources] = field(default_factory=dict)
    places: Mapping[str, Mapping[str, Place]] = field(default_factory=dict)
    missing: str = ""


@dataclass(frozen=True)
class CountedRow:
    """One counted case: its figures, what changed, and the verdict. ``compared`` names the kernels whose code was;
    ``device`` is what was asked to be counted for."""

    case: Case
    counts: CaseCounts
    code: Code
    differences: tuple[Difference, ...]
    verdict: Verdict
    compared: frozenset[str] = frozenset()
    device: str = DEVICE

    @property
    def target(self) -> tuple[str, str]:
        """The folder of baselines and the architecture that the case was counted for."""
        return counted_for(self.case.kernel.capability, self.device)

    @property
    def arch(self) -> str:
        """The architecture that the case was counted for."""
        return self.target[1]


@dataclass
class Gate:
    """Compares the cases of one session with what is stored for ``device``, and where a kernel cannot run there for
    the first that can; everything found is kept in ``rows`` for the report and for an update."""

    store: Store
    compiler: Compiler
    device: str = DEVICE
    rows: list[CountedRow] = field(default_factory=list)
    _stored: dict[tuple[str, str], Counted] = field(default_factory=dict)

    def judge(self, case: Case, plain: Mapping[str, Any], before: Counted | None = None) -> CountedRow:
        """Hold the counts of a case, and the code that its kernels became, against the stored ones or against those of
        another version (``before``)."""
        found, code = counts.from_plain(plain), read_code(self.compiler.answer(str(case)), self.compiler.arch)
        row = compare(case, found, code, self._stored_beside(case) if before is None else before)
        row = replace(row, device=self.device)
        self.rows.append(row)
        return row

    def stored(self, operation: str, device: str, arch: str) -> Counted:
        """What was accepted for an operation on a device of that architecture; empty if nothing was."""
        if (device, operation) not in self._stored:
            self._stored[device, operation] = self.store.load(device, operation).counted or Counted(arch)
        return self._stored[device, operation]

    def _stored_beside(self, case: Case) -> Counted:
        return self.stored(case.operation.name, *counted_for(case.kernel.capability, self.device))

    def update(self) -> list[str]:
        """Accept everything found; returns what was written, as lines."""
        found: dict[tuple[str, str], Counted] = {}
        for row in self.rows:
            device, arch = row.target
            block = found.setdefault((device, row.case.operation.name), Counted(arch))
            block.cases[str(row.case)] = self._accepted(row)
            for key, kernel in row.code.kernels.items():
                block.compiled.setdefault(kernel.compiler, {})[key] = kernel
        written = []
        for (device, operation), block in found.items():
            path = self.store.save(Baseline(device, operation, counted=block))
            kernels = sum(map(len, block.compiled.values()))
            written.append(f"roofline: stored the counts of {len(block.cases)} cases and {kernels} kernels in {path}")
        return written

    def _accepted(self, row: CountedRow) -> CountedCase:
        """The new counts; what was stored of the code stays where nothing could be compiled here."""
        before = self._stored_beside(row.case).cases.get(str(row.case))
        if row.code.missing and before is not None:
            return CountedCase(row.counts, before.kernels, before.calls)
        return CountedCase(row.counts, row.code.keys, row.code.calls)


def read_code(answer: Mapping[str, Any], arch: str) -> Code:
    """An answer of the process that compiles. A kernel that does not compile raises ``RuntimeError``."""
    if "error" in answer:
        if answer["missing"]:
            return Code(missing=answer["error"])
        raise RuntimeError(answer["error"])
    kernels, places = {}, {}
    for key, entry in answer["kernels"].items():
        kernels[key] = from_plain(entry, entry.get("arch", arch), entry["compiler"])
        places[key] = {kind: Place(*at) for kind, at in entry["places"].items()}
    return Code(tuple(answer["launches"]), tuple(answer["calls"]), kernels, places)


def compare(case: Case, found: CaseCounts, code: Code, stored: Counted) -> CountedRow:
    """The verdict about one case: worse in anything fails, better in anything is reported."""
    before = stored.cases.get(str(case))
    differences: list[Difference] = []
    for key, kernel in code.kernels.items():
        differences += limits(kernel, _places(code, key))
    if before is None:
        sentence = "no counts are stored for this case: --roofline-update stores them"
        return CountedRow(case, found, code, tuple(differences), _verdict(differences, Kind.NEW, sentence))
    differences += compare_counts(before.counts, found)
    if not code.missing and before.kernels:
        differences += _calls(before.calls, code.calls)
    compared = set()
    for old, new in _pairs(before.kernels, code.keys):
        kernel = code.kernels[new]
        reference = stored.compiled.get(kernel.compiler, {}).get(old)
        if reference is not None and new not in compared:
            compared.add(new)
            differences += [d for d in compare_code(reference, kernel, _places(code, new)) if d not in differences]
    verdict = _verdict(differences, Kind.SAME, "all counts are those stored")
    return CountedRow(case, found, code, tuple(differences), verdict, frozenset(compared))


def _pairs(before: Sequence[str], now: Sequence[str]) -> list[tuple[str, str]]:
    """Which kernel took the place of which: by their place, and by their names where there are more or fewer."""
    if len(before) == len(now):
        return list(zip(before, now, strict=True))
    matcher = SequenceMatcher(None, list(map(_name, before)), list(map(_name, now)), autojunk=False)
    return [
        (before[block.a + i], now[block.b + i]) for block in matcher.get_matching_blocks() for i in range(block.size)
    ]


def _name(key: str) -> str:
    """Of a kernel, without what it is specialised on: ``sum.cu:sum_blocks`` or ``_copy``."""
    return re.split(r"[(<]| threads=", key, maxsplit=1)[0]


def _places(code: Code, key: str) -> Any:
    places = code.places.get(key, {})
    return lambda kind: places.get(kind, places.get("", Place()))


def _calls(before: tuple[str, ...], now: tuple[str, ...]) -> list[Difference]:
    if len(before) == len(now):
        return []
    sentence = f"torch is asked for {', '.join(now) or 'nothing'}, before for {', '.join(before) or 'nothing'}"
    return [Difference("launches", len(now) > len(before), sentence)]


def _verdict(differences: list[Difference], otherwise: Kind, sentence: str) -> Verdict:
    bad = worse(differences)
    if bad:
        return Verdict(Kind.REGRESSION, Reason.COSTS_MORE, "; ".join(f"{d.cause}: {d.sentence}" for d in bad))
    if differences:
        good = "; ".join(f"{d.cause}: {d.sentence}" for d in differences)
        return Verdict(Kind.IMPROVEMENT, Reason.COSTS_LESS, f"{good} (--roofline-update accepts it)")
    reason = Reason.NO_BASELINE if otherwise is Kind.NEW else Reason.COUNTS_EQUAL
    return Verdict(otherwise, reason, sentence)
