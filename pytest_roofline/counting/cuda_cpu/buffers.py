"""Move the arguments of a launch into the runtime's guarded slots and the results back.

Every byte of a slot has a state (``ByteState`` in ``runtime/abi.hpp``): part of a view or a gap, written or not. Views
that overlap share a slot, all others have one each, far apart.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_roofline.counting.cuda_cpu import abi
from pytest_roofline.counting.cuda_cpu.arguments import View

Bytes = NDArray[np.uint8]


@dataclass
class Uninitialised:
    """Memory that nobody has written before its first launch; remembers between launches what has been."""

    view: View
    written: Bytes = field(init=False)

    def __post_init__(self) -> None:
        self.written = np.zeros(self.view.high - self.view.low, np.uint8)


@dataclass
class Region:
    """A slot: views that overlap, or one alone."""

    slot: int
    low: int
    high: int
    views: list[View]
    address: int = 0  # of `low` in the slot

    @property
    def name(self) -> str:
        return "/".join(dict.fromkeys(v.name for v in self.views))

    @property
    def read_only(self) -> bool:
        return all(v.constant for v in self.views)

    def device_address(self, view: View) -> int:
        """What the kernel receives for a view."""
        return self.address + view.start - self.low


def group(views: Iterable[View]) -> list[Region]:
    """Regions of views that share bytes. Raises ``ValueError`` for more than the runtime has slots."""
    regions: list[Region] = []
    for view in sorted(views, key=lambda v: (v.low, v.high)):
        last = regions[-1] if regions else None
        if last and view.low < last.high and view.low < view.high:
            last.high = max(last.high, view.high)
            last.views.append(view)
        else:
            regions.append(Region(len(regions), view.low, view.high, [view]))
    if len(regions) > abi.MAX_SLOTS:
        raise ValueError(f"a launch has at most {abi.MAX_SLOTS} separate buffers here, not {len(regions)}")
    return regions


def open_regions(runtime: ctypes.CDLL, regions: Sequence[Region]) -> None:
    """Open the slots and copy the data in. Raises ``MemoryError``."""
    for region in regions:
        size = region.high - region.low
        region.address = runtime.rl_open(region.slot, size, region.views[0].placed)
        if not region.address:
            raise MemoryError(f"no address space for the buffer {region.name} of {size} bytes")
        ctypes.memmove(region.address, region.low, size)


def open_map(
    runtime: ctypes.CDLL, region: Region, uninitialised: Sequence[Uninitialised], read_only: Sequence[View]
) -> Bytes:
    """The byte states of an open region: valid where a view has elements, initialised unless known not to be."""
    size = region.high - region.low
    address = runtime.rl_map(region.slot)
    if not address:
        raise MemoryError(f"no memory for the byte states of {region.name}")
    states: Bytes = np.ctypeslib.as_array((ctypes.c_uint8 * max(size, 1)).from_address(address))[:size]
    if len(region.views) > 1 or not _dense(region.views[0]):
        states.fill(0)
    for view in region.views:
        _elements(states, region.low, view)[...] = abi.VALID | abi.INITIALISED
    for memory in uninitialised:
        low, high = max(memory.view.low, region.low), min(memory.view.high, region.high)
        if low < high:
            unwritten = memory.written[low - memory.view.low : high - memory.view.low] == 0
            states[low - region.low : high - region.low][unwritten] &= ~np.uint8(abi.INITIALISED)
    protected = any(v.low < region.high and region.low < v.high for v in read_only)
    if region.read_only or protected:
        runtime.rl_read_only(region.slot)
    return states


def remember(region: Region, states: Bytes, uninitialised: Sequence[Uninitialised]) -> None:
    """Note what a launch has written of memory that was uninitialised."""
    for memory in uninitialised:
        low, high = max(memory.view.low, region.low), min(memory.view.high, region.high)
        if low < high:
            written = states[low - region.low : high - region.low] & abi.INITIALISED
            memory.written[low - memory.view.low : high - memory.view.low] |= written


def footprint(runtime: ctypes.CDLL, region: Region) -> tuple[int, int]:
    """How many bytes of an open region have been read and written, each counted once."""
    read, written = ctypes.c_uint64(), ctypes.c_uint64()
    runtime.rl_footprint(region.slot, ctypes.byref(read), ctypes.byref(written))
    return read.value, written.value


def copy_back(region: Region) -> None:
    """Copy a region's bytes to where the tensors lie."""
    ctypes.memmove(region.low, region.address, region.high - region.low)


def contents(region: Region) -> Bytes:
    """A copy of a region's bytes."""
    return np.frombuffer(ctypes.string_at(region.address, region.high - region.low), np.uint8)


def _elements(states: Bytes, origin: int, view: View) -> Any:
    """The states of a view's elements, shaped like the view with a last axis of bytes."""
    if not view.shape or view.low == view.high or _dense(view):
        return states[view.low - origin : view.high - origin]
    offset = view.start - origin
    return np.lib.stride_tricks.as_strided(
        states[offset:], (*view.shape, view.itemsize), (*view.strides, 1), writeable=True
    )


def _dense(view: View) -> bool:
    """Whether the view has no gaps."""
    elements = 1
    for extent in view.shape:
        elements *= extent
    if elements * view.itemsize != view.high - view.low:
        return False
    expected = view.itemsize
    for extent, stride in sorted(zip(view.shape, view.strides, strict=True), key=lambda pair: abs(pair[1])):
        if extent > 1 and abs(stride) != expected:
            return False
        expected *= extent
    return True
