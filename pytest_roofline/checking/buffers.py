"""Buffers with guard zones: where a tensor of a case lies in memory, and whether a kernel stayed inside it.

Every argument lives in an arena of its own, ``guard | hull | guard`` bytes. The whole arena is first filled with a
poison of its own (a NaN payload or an integer pattern), so that an output element nobody wrote, a guard zone or the gap
between pitched rows can be told from data, and a value read from there spoils the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_roofline.contract import Argument, Case
from pytest_roofline.dtypes import Element, element

if TYPE_CHECKING:
    import torch

GUARD_BYTES = 1 << 14
ALIGNMENT = 256  # what cudaMalloc guarantees; offsets of a shape count from here

_POISON = {8: 0x7FF8_5AFE_0000_0000, 4: 0x7FC5_A000, 2: 0x7FC0, 1: 0x7F}


def poison_bits(item: Element, tag: int) -> int:
    """The bit pattern that poisons the buffer number ``tag``: a NaN where the format has one.

    Payloads differ between buffers, because NaN + NaN keeps a payload and an identical canary would hide the overwrite.
    """
    base = 0x7E00 if item.name == "f16" else _POISON[item.itemsize]
    return base if item.itemsize == 1 else base + 1 + tag % 32


@dataclass
class GuardedBuffer:
    """One tensor inside its arena; ``view`` is what the kernel receives."""

    name: str
    item: Element
    arena: torch.Tensor  # uint8
    view: torch.Tensor
    tag: int

    def poison(self) -> None:
        """Fill everything, guard zones included, with this buffer's poison."""
        bits = poison_bits(self.item, self.tag)
        integers = _integers(self.item.itemsize)
        aligned = self.arena[: self.arena.numel() // 8 * 8].view(integers)
        aligned.fill_(bits)

    def bits(self) -> torch.Tensor:
        """``view`` as integers of its own size: equal bits are equal values, NaN and -0.0 included."""
        return self.view.view(_integers(self.item.itemsize))

    def unwritten(self) -> torch.Tensor:
        """Boolean tensor of ``view``'s shape: which elements still hold the poison."""
        return self.bits() == poison_bits(self.item, self.tag)

    def twin(self, arena: torch.Tensor) -> torch.Tensor:
        """The same view over a copy of the arena."""
        offset = self.view.data_ptr() - self.arena.data_ptr()
        return _view(arena, offset, self.item, tuple(self.view.shape), tuple(self.view.stride()))

    def trespass(self, before: torch.Tensor, *, may_write: bool) -> str | None:
        """What a kernel changed outside its right, given the arena's bytes from before the launch."""
        import torch

        after = self.arena
        if may_write:
            after = after.clone()
            self.twin(after).copy_(self.twin(before))
        if torch.equal(after, before):
            return None
        places = (after != before).nonzero().view(-1)
        start = self.view.data_ptr() - self.arena.data_ptr()
        first = int(places[0]) - start
        hull = _hull(tuple(self.view.shape), tuple(self.view.stride())) * self.item.itemsize
        if first < 0:
            where = f"{-first} bytes before its start"
        elif first >= hull:
            where = f"{first - hull} bytes past its end"
        elif may_write:
            where = f"in the gap after a row, at byte {first}"
        else:
            where = f"at byte {first}, although the argument is read-only"
        return f"{self.name}: {places.numel()} bytes changed that the kernel must not write, the first {where}"


@dataclass(frozen=True)
class Layout:
    """How a tensor lies in memory: ``offset`` elements past a multiple of ``ALIGNMENT`` bytes. Strides in elements."""

    name: str
    item: Element
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def hull(self) -> int:
        """Elements from the first to the last, gaps included."""
        return _hull(self.extents, self.strides)


def layout(argument: Argument, case: Case) -> Layout:
    """How the case's shape lays out one argument. Raises ``ValueError`` when the pitch is shorter than a row."""
    extents = argument.extents(case.shape.dims)
    strides = _strides(argument, case, extents)
    offset = case.shape.offset if argument.shifted else 0
    return Layout(argument.name, argument.element(case.dtype), extents, strides, offset)


def workspace_layouts(case: Case) -> list[Layout]:
    """The workspace that the case's kernel asks for."""
    wanted = case.kernel.workspace(case.shape, case.dtype) if case.kernel.workspace else ()
    return [Layout(buffer.name, element(buffer.element), (buffer.extent,), (1,)) for buffer in wanted]


def guarded(argument: Argument, case: Case, device: str, tag: int) -> GuardedBuffer:
    """Allocate and poison the buffer of one argument where it belongs, laid out as the case's shape says.

    Raises ``ValueError`` when the pitch is shorter than a row.
    """
    place = "cpu" if argument.host else device
    pinned = argument.host and device != "cpu" and not case.kernel.pageable
    return _allocate(layout(argument, case), place, tag, pinned=pinned)


def workspaces(case: Case, device: str) -> list[GuardedBuffer]:
    """Allocate and poison the workspace that the case's kernel asks for."""
    return [_allocate(wanted, device, 16 + tag) for tag, wanted in enumerate(workspace_layouts(case))]


def _allocate(wanted: Layout, device: str, tag: int, *, pinned: bool = False) -> GuardedBuffer:
    item, shift = wanted.item, wanted.offset * wanted.item.itemsize
    size = 2 * GUARD_BYTES + ALIGNMENT + shift + wanted.hull * item.itemsize
    arena = _arena((size + 7) // 8 * 8, device, pinned=pinned)
    start = GUARD_BYTES + -(arena.data_ptr() + GUARD_BYTES) % ALIGNMENT + shift
    view = _view(arena, start, item, wanted.extents, wanted.strides)
    buffer = GuardedBuffer(wanted.name, item, arena, view, tag)
    buffer.poison()
    return buffer


def _arena(size: int, device: str, *, pinned: bool) -> torch.Tensor:
    """Bytes that start at a multiple of ``ALIGNMENT``.

    A CPU's memory does not, and of a view it is counted where it lies in its allocation: the counts of one case would
    differ from run to run. So the tensor's own storage begins at such a multiple.
    """
    import torch

    on_host = device == "cpu" and not pinned
    memory = torch.empty(size + on_host * ALIGNMENT, dtype=torch.uint8, device=device, pin_memory=pinned)
    if not on_host:
        return memory
    skipped = -memory.data_ptr() % ALIGNMENT
    return torch.from_numpy(memory.numpy()[skipped : skipped + size])


def _view(
    arena: torch.Tensor, start: int, item: Element, extents: tuple[int, ...], strides: tuple[int, ...]
) -> torch.Tensor:
    hull = _hull(extents, strides) * item.itemsize
    return arena[start : start + hull].view(item.torch()).as_strided(extents, strides)


def _strides(argument: Argument, case: Case, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides; pitched and transposed where the shape asks for it and the argument allows it."""
    shape = case.shape
    flip = shape.transposed and argument.transposable
    stored = extents[::-1] if flip else extents
    strides = [1] * len(stored)
    for axis in range(len(stored) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * stored[axis + 1]
    if shape.pitch is not None and argument.pitched:
        if shape.pitch < stored[-1]:
            raise ValueError(
                f"{case}: a row of {argument.name} has {stored[-1]} elements, more than the pitch {shape.pitch}"
            )
        strides[-2] = shape.pitch
    return tuple(strides[::-1] if flip else strides)


def _hull(extents: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Elements from the first to the last of a view, gaps included."""
    if math.prod(extents) == 0:
        return 0
    return 1 + sum((e - 1) * s for e, s in zip(extents, strides, strict=True))


def _integers(itemsize: int) -> torch.dtype:
    import torch

    return {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[itemsize]
