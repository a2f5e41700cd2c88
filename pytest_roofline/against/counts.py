"""Counts and compiled code of another version's kernels in the place of stored ones: the comparison without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_roofline.baselines import Counted, CountedCase
from pytest_roofline.counting import counts
from pytest_roofline.counting.compiled.client import Compiler
from pytest_roofline.evidence import CaseSpec, Evidence, Outcome
from pytest_roofline.gate import read_code
from pytest_roofline.verdict import Reason


@dataclass(frozen=True)
class OldCounts:
    """Counts the kernels below ``root``; ``compiler`` is a process of its own for them."""

    root: str
    compiler: Compiler

    def ask(self, spec: CaseSpec) -> None:
        """Let the old kernel of a case be compiled meanwhile."""
        self.compiler.ask(spec.case, spec.module, against=self.root, gpu=spec.compile_only)

    def block(self, spec: CaseSpec, run: Callable[[CaseSpec], Evidence]) -> Counted:
        """What would be stored of the old kernel; empty if there is none.

        Raises ``RuntimeError`` for one that does not run or compile.
        """
        block = Counted(self.compiler.arch)
        evidence = run(replace(spec, against=self.root))
        if evidence.reason == Reason.NO_OLD_KERNEL.value:
            return block
        if evidence.outcome is not Outcome.OK:
            raise RuntimeError(f"the old kernel cannot be counted: {evidence.detail}")
        code = read_code(self.compiler.answer(spec.case), self.compiler.arch)
        for key, kernel in code.kernels.items():
            block.compiled.setdefault(kernel.compiler, {})[key] = kernel
        block.cases[spec.case] = CountedCase(counts.from_plain(evidence.counts), code.keys, code.calls)
        return block
