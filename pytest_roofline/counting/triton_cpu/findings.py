"""What the checker reports: one exception class per kind of fault, each naming the kernel statement."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar


class Finding(enum.Enum):
    """Kinds of faults."""

    OUT_OF_BOUNDS = "out of bounds"
    VIEW_GAP = "outside the view"
    MISALIGNED = "misaligned"
    RACE = "race"
    DUPLICATE_STORE = "several lanes store one element"
    MISSING_BARRIER = "missing barrier"
    UNDEFINED_VALUE = "undefined value"
    FALSE_HINT = "false hint"
    GRID_LIMIT = "grid limit"
    ENDLESS_WAIT = "endless wait"


@dataclass(frozen=True)
class Place:
    """Where a fault happened. ``offset`` counts elements of the access from the start of ``buffer``."""

    kernel: str
    program: tuple[int, int, int]
    file: str
    line: int
    buffer: str | None = None
    offset: int | None = None


class KernelFault(RuntimeError):  # noqa: N818  (the established word for what a sanitizer reports)
    """A kernel does what it must not do.

    ``kind`` is a :class:`Finding`, ``kernel`` the function's name, ``program`` the program ids (x, y, z), ``file`` and
    ``line`` the kernel statement, ``buffer`` the argument (several names where they share memory) and ``offset`` the
    element in it (both None where no buffer is involved), ``message`` what is wrong.
    """

    kind: ClassVar[Finding]

    def __init__(self, message: str, place: Place) -> None:
        self.message = message
        self.place = place
        self.kernel, self.program = place.kernel, place.program
        self.file, self.line = place.file, place.line
        self.buffer, self.offset = place.buffer, place.offset
        where = f"kernel {place.kernel}, program {place.program}"
        super().__init__(f"{place.file}:{place.line}: {self.kind.value}: {message} ({where})")

    def __reduce__(self) -> tuple[Callable[[], KernelFault], tuple[Any, ...]]:
        return partial(type(self), self.message, self.place), ()  # so that it crosses processes


class OutOfBoundsError(KernelFault):
    """An access outside every tensor argument."""

    kind = Finding.OUT_OF_BOUNDS


class ViewGapError(KernelFault):
    """An access between the elements of a view, for example to the padding behind a row."""

    kind = Finding.VIEW_GAP


class MisalignedError(KernelFault):
    """An address that is no multiple of the size of the element."""

    kind = Finding.MISALIGNED


class RaceError(KernelFault):
    """Two programs touch one element, one of them writes, and nothing orders them."""

    kind = Finding.RACE


class DuplicateStoreError(KernelFault):
    """Several lanes of one store write one element: which value stays is not defined."""

    kind = Finding.DUPLICATE_STORE


class MissingBarrierError(KernelFault):
    """Lanes of one program exchange values through memory, or publish them for others, without a barrier."""

    kind = Finding.MISSING_BARRIER


class UndefinedValueError(KernelFault):
    """A masked lane loaded without ``other`` takes part in a reduction that would hide it."""

    kind = Finding.UNDEFINED_VALUE


class FalseHintError(KernelFault):
    """``tl.multiple_of``, ``tl.max_contiguous`` or ``tl.max_constancy`` promises what is not so."""

    kind = Finding.FALSE_HINT


class GridLimitError(KernelFault):
    """More programs along an axis than CUDA launches."""

    kind = Finding.GRID_LIMIT


class EndlessWaitError(KernelFault):
    """A program waits for a value that no program that ran before it has written."""

    kind = Finding.ENDLESS_WAIT
