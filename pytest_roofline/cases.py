"""Which cases of the catalogue a session runs: by its options, and by whether it has a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pytest

from pytest_roofline.checking.values import classes
from pytest_roofline.contract import Case
from pytest_roofline.counting import duration
from pytest_roofline.discovery import COMPILED, BrokenOperation, Catalogue, Drawn
from pytest_roofline.ids import Shape
from pytest_roofline.options import Options, Reproduction

Parameter = Case | Drawn | BrokenOperation


@dataclass(frozen=True)
class Cases:
    """The cases of one session; ``gpu``: whether they run on one."""

    catalogue: Catalogue
    options: Options
    gpu: bool

    def named(self) -> list[Case]:
        """The cases that ``--roofline-case`` asks for. Raises ``pytest.UsageError`` for one that there is not."""
        return [self._reproduced(wanted) for wanted in self.options.cases]

    def parameters(self, which: str) -> list[Parameter]:
        """What a test marked ``roofline(which)`` runs over."""
        broken: list[Parameter] = list(self.catalogue.broken)
        if self.options.cases:
            return [*broken, *self.named()]
        if which == "drawn":
            return [*broken, *self.catalogue.drawn()]
        return [*broken, *self._listed(which)]

    def _listed(self, which: str) -> list[Case]:
        full = self.options.effort == "full"
        if which == "timed":
            if self.gpu:
                return self.catalogue.timed(full=full)
            return self._without_gpu(full=full)
        cases = self.catalogue.counted()
        if self.options.correctness_only and self.gpu:
            cases += self.catalogue.timed(full=full)
        return list({str(case): case for case in cases}.values())

    def _without_gpu(self, *, full: bool) -> list[Case]:
        """What stands for the timed cases on a CPU: counted ones, and the timed ones only compiled."""
        if not self.options.timing:
            return self.catalogue.counted()
        brief = self.options.effort == "quick"
        # A library routine has no source to count.
        counted = [case for case in self.catalogue.counted(brief=brief) if not case.kernel.peer]
        return counted + self.catalogue.compiled(full=full, brief=brief)

    def compile_only(self, case: Case) -> bool:
        """Whether a case of the gate is too large to run without a GPU: one that is timed, or that would take long."""
        if case.kernel.backend not in COMPILED:
            return False
        return str(case) in self._timed_alone or duration.seconds(case) > duration.LONG

    @cached_property
    def _timed_alone(self) -> frozenset[str]:
        return frozenset(map(str, self.catalogue.compiled(full=True)))

    def _reproduced(self, wanted: Reproduction) -> Case:
        try:
            case = self.catalogue.case(wanted.case)
        except ValueError as error:
            raise pytest.UsageError(f"--roofline-case: {error}") from error
        lists = case.operation.shapes
        listed = {len(Shape.parse(text).dims): text for text in (*lists.counted, *lists.representative)[::-1]}
        if listed and len(case.shape.dims) not in listed:
            extents = " or ".join(f"{number} extents, such as {text}" for number, text in listed.items())
            raise pytest.UsageError(f"--roofline-case: {case}: a shape of {case.operation.name} has {extents}")
        known = dict.fromkeys(v for a in case.operation.arguments for v in classes(a.element(case.dtype)))
        if wanted.values not in known:
            raise pytest.UsageError(
                f"--roofline-case: {case} has no values {wanted.values!r}; it has {', '.join(known)}"
            )
        return case

    def verify_bearable(self, case: Case) -> None:
        """Raise ``pytest.UsageError`` for a case whose check on a CPU nobody would wait for."""
        if self.gpu or self.options.timing or duration.seconds(case) <= duration.UNBEARABLE:
            return
        smaller = [c.shape for c in self.catalogue.counted() if c.kernel == case.kernel and c.dtype == case.dtype]
        raise pytest.UsageError(
            f"--roofline-case: without a GPU {case} would run for about {duration.told(duration.seconds(case))}. "
            f"Check a smaller shape, such as {max(smaller, key=lambda s: s.size, default='one of a few tiles')}, "
            "or see with --benchmark-only what it compiles to"
        )
