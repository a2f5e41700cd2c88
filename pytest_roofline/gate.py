"""The gate of a machine without a GPU: counts and compiled code of every case against the accepted ones.

Nothing here is a time. Counts from source are compared whatever the compiler; compiled code only with what the same
compiler made, and every report says how much was compared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_roofline.baselines import Baseline, Counted, CountedCase, Store, counted_for
from pytest_roofline.baselines.counted import DEVICE
from pytest_roofline.contract import Case
from pytest_roofline.cost import Code, changes
from pytest_roofline.counting import counts
from pytest_roofline.counting.comparing import Difference, Place, kernel_name
from pytest_roofline.counting.compiled.client import Compiler
from pytest_roofline.counting.compiled.resources import from_plain
from pytest_roofline.counting.counts import CaseCounts
from pytest_roofline.verdict import Kind, Reason, Verdict


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
    the first that can; everything found is kept in ``rows`` for the report and for an update, and ``unknown`` are cases
    of which nothing can be counted or compiled here."""

    store: Store
    compiler: Compiler
    device: str = DEVICE
    rows: list[CountedRow] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    _stored: dict[tuple[str, str], Counted] = field(default_factory=dict)

    def judge(self, case: Case, plain: Mapping[str, Any], before: Counted | None = None) -> CountedRow:
        """Hold the counts of a case, and the code that its kernels became, against the stored ones or against those of
        another version (``before``)."""
        found, code = counts.from_plain(plain), read_code(self.compiler.answer(str(case)), self.compiler.arch)
        row = compare(case, found, code, self._stored_beside(case) if before is None else before)
        row = replace(row, device=self.device)
        if found.uncounted and code.missing:
            self.unknown.add(str(case))
        else:
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


def unseen(rows: Sequence[CountedRow], blocks: Sequence[Counted], countable: Collection[str]) -> list[str]:
    """Kernels that timed cases launch and no counted one does: what they do to memory nobody would ever see.

    ``blocks`` are the stored counts, for counted cases that did not run; ``countable`` are the ids of all. An operation
    of which no counted case is known says nothing.
    """
    launched = {case: entry.kernels for block in blocks for case, entry in block.cases.items()}
    launched |= {str(row.case): row.code.keys for row in rows}
    known = {case: set(map(kernel_name, keys)) for case, keys in launched.items() if case in countable}
    operations = {case.partition("/")[0] for case in known}
    seen = set().union(*known.values())
    found: dict[str, str] = {}
    for row in rows:
        if row.case.operation.name in operations and str(row.case) not in countable:
            for name in sorted(set(map(kernel_name, row.code.keys)) - seen - set(row.case.kernel.uncounted)):
                found.setdefault(name, f"{name} is launched by {row.case}, but by no counted case")
    return list(found.values())


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
    asked_at = tuple(Place(*at) for at in answer["asked_at"])
    return Code(tuple(answer["launches"]), tuple(answer["calls"]), kernels, places, asked_at=asked_at)


def compare(case: Case, found: CaseCounts, code: Code, stored: Counted) -> CountedRow:
    """The verdict about one case: worse in anything fails, better in anything is reported."""
    before = stored.cases.get(str(case))
    change = changes(before, stored.compiled, found, code)
    if before is None:
        otherwise = Verdict(
            Kind.NEW, Reason.NO_BASELINE, "no counts are stored for this case: --roofline-update stores them"
        )
    else:
        sentence = "the code is that stored" if found.uncounted else "all counts are those stored"
        otherwise = Verdict(Kind.SAME, Reason.COUNTS_EQUAL, sentence)
        if code.kernels and before.kernels and not change.compared:
            compilers = ", ".join(sorted({kernel.compiler for kernel in code.kernels.values()}))
            counts = "" if found.uncounted else f"{sentence}; "
            sentence = f"{counts}no code of {compilers} is stored for this case: --roofline-update stores it"
            otherwise = Verdict(Kind.NEW, Reason.NO_BASELINE, sentence)
    verdict = change.verdict(otherwise, " (--roofline-update accepts it)")
    return CountedRow(case, found, code, change.differences, verdict, change.compared)
