"""What the store holds beside a case of a run: published figures of the same case, and the counts of its kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_roofline.baselines import Baseline, CountedCase, Published, Store, counted_for
from pytest_roofline.contract import Case
from pytest_roofline.counting import counts
from pytest_roofline.counting.compiled import resources
from pytest_roofline.counting.compiled.resources import Resources
from pytest_roofline.devices.record import keys, load
from pytest_roofline.ids import CaseId, Shape
from pytest_roofline.roofline import assess
from pytest_roofline.runs.record import CountedFigures, PublishedFigure


@dataclass
class Beside:
    """What stands beside a case in the store: published figures, and the stored counts of its kernel. Reads each file
    once."""

    store: Store
    _read: dict[tuple[str, str], Baseline] = field(default_factory=dict)

    def published(self, case: Case) -> tuple[PublishedFigure, ...]:
        """The figures that somebody published for exactly this case."""
        found = [f for device in self.store.devices() for f in self._of(device, case).published.get(str(case), [])]
        return tuple(_published(figure, case) for figure in found)

    def counted(self, case: Case) -> CountedFigures | None:
        """The stored counts of the same kernel and dtype, of the largest counted shape that is laid out alike: one that
        is shifted by an element counts sectors that an aligned one does not have. The code is the case's own, where it
        was compiled."""
        block = self._of(counted_for(case.kernel.capability)[0], case).counted
        kernel = str(case).rsplit("/", 1)[0] + "/"
        alike = [name for name in (block.cases if block else ()) if name.startswith(kernel)]
        if block is None or not alike:
            return None
        name = max(alike, key=lambda n: _nearest(n, block.cases[n], case))
        found, entry = block.cases[name], block.cases.get(str(case), block.cases[name])
        code = [
            compiled(key, compiler, kernels[key])
            for key in dict.fromkeys(entry.kernels)
            for compiler, kernels in sorted(block.compiled.items())
            if key in kernels
        ]
        plain = counts.to_plain(found.counts, places=False)
        return CountedFigures(block.arch, name, plain, tuple(code), "", entry.kernels, entry.calls)

    def _of(self, device: str, case: Case) -> Baseline:
        key = (device, case.operation.name)
        if key not in self._read:
            self._read[key] = self.store.load(*key)
        return self._read[key]


def _nearest(name: str, entry: CountedCase, case: Case) -> tuple[Any, ...]:
    """What says most about a case comes last in order."""
    shape = CaseId.parse(name).shape
    return not entry.counts.uncounted, _alike(shape, case.shape), shape.size, name


def _alike(one: Shape, other: Shape) -> int:
    """How much of the layout two shapes share; whether their rows and ends are aligned comes last."""
    same = (
        (one.offset > 0) == (other.offset > 0),
        (one.pitch is None) == (other.pitch is None),
        one.transposed == other.transposed,
    )
    even = all((a % 32 == 0) == (b % 32 == 0) for a, b in zip(one.dims, other.dims, strict=True))
    return 2 * sum(same) + even


def compiled(key: str, compiler: str, found: Resources) -> Mapping[str, Any]:
    """A kernel's name, its compiler and its figures as plain data."""
    return {"key": key, "compiler": compiler, **resources.to_plain(found)}


def _published(figure: Published, case: Case) -> PublishedFigure:
    fraction = None
    if figure.seconds is not None and figure.device in keys():
        fraction = assess(case.work, case.model, load(figure.device)).fraction(figure.seconds)
    return PublishedFigure(
        figure.device,
        figure.metric,
        figure.value,
        figure.unit,
        figure.source,
        figure.seconds,
        fraction,
        figure.implementation,
        figure.method,
        figure.confidence,
    )
