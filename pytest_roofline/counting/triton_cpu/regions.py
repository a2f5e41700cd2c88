"""Which addresses a launch may touch.

The kernel does not see the tensors' real addresses: every region of memory gets a slot of 2^44 bytes of a made-up
address space, with the region in its middle. However far an access misses its tensor, it cannot hit another one by
accident, as it can on a heap. The low 24 bits are the real ones, so alignment is what it would be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

_SLOT_BITS = 44
_FIRST_SLOT = 1 << 18  # far above any real address, so that a real one is recognised as a stranger
_KEPT = (1 << 24) - 1


class Region:
    """Memory that views of the arguments share: one dense view, or all views whose address ranges overlap.

    ``low`` and ``size`` are the real address and the extent in bytes, ``base`` the made-up address. State is kept per
    granule, the largest unit of which all elements consist (usually one element).
    """

    def __init__(self, number: int, views: list[View]) -> None:
        self.name = "/".join(dict.fromkeys(v.name for v in views))
        self.low: int = min(v.low for v in views)
        self.size: int = max(v.high for v in views) - self.low
        slot = (_FIRST_SLOT + number) << _SLOT_BITS
        self.base: int = slot + (1 << (_SLOT_BITS - 1)) + (self.low & _KEPT)
        unit = math.gcd(*(v.itemsize for v in views), *(v.low for v in views), *(v.address for v in views))
        self.shift = unit.bit_length() - 1  # a divisor of an element size is a power of two
        self.legal = self._legal(views)

    @property
    def granules(self) -> int:
        """How many there are."""
        return self.size >> self.shift

    def refine(self, size: int) -> int:
        """Granules of ``size`` bytes from now on, for accesses narrower than the elements. Returns the factor."""
        factor = (1 << self.shift) // size
        self.shift = size.bit_length() - 1
        if self.legal is not None:
            self.legal = np.repeat(self.legal, factor)
        return factor

    def _legal(self, views: list[View]) -> Any:
        """One flag per granule, or None if a dense view covers everything (large tensors usually do)."""
        if any(v.dense and v.high - v.low == self.size for v in views):
            return None
        legal = np.zeros(self.granules, bool)
        for view in views:
            first = (view.address - self.low) >> self.shift
            strides = (*(s * view.itemsize >> self.shift for s in view.strides), 1)
            shape = (*view.shape, view.itemsize >> self.shift)
            np.lib.stride_tricks.as_strided(legal[first:], shape, strides)[...] = True
        return legal


class View:
    """The elements of one tensor argument; it has at least one."""

    def __init__(self, name: str, tensor: Any) -> None:
        self.name = name
        self.shape: tuple[int, ...] = tuple(tensor.shape)
        self.strides: tuple[int, ...] = tuple(tensor.stride())
        self.address: int = tensor.data_ptr()
        self.itemsize: int = tensor.element_size()
        reach = [(extent - 1) * stride * self.itemsize for extent, stride in zip(self.shape, self.strides, strict=True)]
        self.low = self.address + sum(r for r in reach if r < 0)
        self.high = self.address + sum(r for r in reach if r > 0) + self.itemsize

    @property
    def dense(self) -> bool:
        """Whether the elements lie one behind the other, in whatever order of dimensions."""
        expected = 1
        for stride, extent in sorted(zip(self.strides, self.shape, strict=True)):
            if extent > 1 and stride != expected:
                return False
            expected *= extent
        return True


class AddressSpace:
    """All regions of a launch. Empty tensors have no legal address, only a made-up one far from all others."""

    def __init__(self, tensors: Iterable[tuple[str, Any]]) -> None:
        self.regions: list[Region] = []
        views = sorted((View(n, t) for n, t in tensors if t.numel()), key=lambda v: v.low)
        while views:
            end, count = views[0].high, 1
            while count < len(views) and views[count].low < end:
                end, count = max(end, views[count].high), count + 1
            self.regions.append(Region(len(self.regions), views[:count]))
            del views[:count]

    def made_up(self, tensor: Any) -> int:
        """The address that the kernel gets for a tensor argument; without elements it has a slot of its own."""
        address: int = tensor.data_ptr()
        for region in self.regions:
            if tensor.numel() and region.low <= address < region.low + region.size:
                return address - region.low + region.base
        return ((_FIRST_SLOT + len(self.regions) + 1) << _SLOT_BITS) + (address & _KEPT)

    def split(self, addresses: Any) -> Iterator[tuple[Region | None, Any]]:
        """Made-up addresses (int64) by region, with the index of each part. One part is what nearly always comes."""
        slots = (addresses >> _SLOT_BITS) - _FIRST_SLOT
        if bool((slots == slots[0]).all()):
            yield self._region(int(slots[0])), slice(None)
            return
        for slot in np.unique(slots):
            yield self._region(int(slot)), np.flatnonzero(slots == slot)

    def real(self, addresses: Any) -> Any:
        """Real addresses (uint64) for legal made-up ones; others come out as anything."""
        slots = (addresses >> np.uint64(_SLOT_BITS)).astype(np.int64) - _FIRST_SLOT
        first = int(slots.flat[0]) if slots.size else 0
        if bool((slots == first).all()):
            region = self._region(first)
            return addresses if region is None else addresses - np.uint64(region.base - region.low)
        moves = np.array([r.base - r.low for r in self.regions], np.uint64)
        return addresses - moves[np.clip(slots, 0, len(moves) - 1)]

    def _region(self, slot: int) -> Region | None:
        return self.regions[slot] if 0 <= slot < len(self.regions) else None


def tensors_in(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every tensor in a kernel argument: plain, wrapped in another type, in tuples, and the base of a descriptor."""
    if type(value).__name__ == "TensorDescriptor":
        yield from tensors_in(name, value.base)
    elif isinstance(value, tuple):
        for i, inner in enumerate(value):
            yield from tensors_in(f"{name}[{i}]", inner)
    elif type(value).__name__ == "TensorWrapper":
        yield name, value.base
    elif hasattr(value, "data_ptr"):
        yield name, value
