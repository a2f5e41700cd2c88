"""Which addresses a launch may touch, and who touched them last.

One :class:`Allocation` per storage: all views of it share the record of accesses, so overlapping and interleaved views
are seen as what they are. An element is legal if some tensor argument of the launch contains it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

NOBODY, SEVERAL = -1, -2


class Allocation:
    """The hull of all views of one storage, in granules of the smallest element size among them."""

    def __init__(self, views: list[tuple[str, Any]]) -> None:
        self.granule = min(t.element_size() for _, t in views)
        spans = [_span(t) for _, t in views]
        self.low = min(low for low, _ in spans)
        self.high = max(high for _, high in spans)
        self.names = sorted({name for name, _ in views})
        self._views = views
        self.legal = np.zeros((self.high - self.low) // self.granule, bool)
        for _, tensor in views:
            self._admit(tensor)
        size = self.legal.size
        self.writer, self.written_at = np.full(size, NOBODY, np.int32), np.zeros(size, np.int32)
        self.reader, self.read_at = np.full(size, NOBODY, np.int32), np.zeros(size, np.int32)
        self.updater, self.updated_at = np.full(size, NOBODY, np.int32), np.zeros(size, np.int32)

    @property
    def name(self) -> str:
        """The arguments that share this storage."""
        return "/".join(self.names)

    def _admit(self, tensor: Any) -> None:
        places = np.zeros(1, np.int64)
        for extent, stride in zip(tensor.shape, tensor.stride(), strict=True):
            places = (places[:, None] + np.arange(extent, dtype=np.int64) * stride).reshape(-1)
        size = tensor.element_size()
        first = (places * size + tensor.data_ptr() - self.low) // self.granule
        for k in range(size // self.granule):
            self.legal[first + k] = True


class AddressMap:
    """All allocations of a launch, found by address."""

    def __init__(self, tensors: Iterable[tuple[str, Any]]) -> None:
        groups: dict[int, list[tuple[str, Any]]] = {}
        for name, tensor in tensors:
            if tensor.numel():
                groups.setdefault(tensor.untyped_storage().data_ptr(), []).append((name, tensor))
        self.allocations = sorted((Allocation(views) for views in groups.values()), key=lambda a: a.low)

    def nearest(self, address: int) -> Allocation | None:
        """The allocation closest to an address."""
        if not self.allocations:
            return None
        return min(self.allocations, key=lambda a: max(a.low - address, address - a.high + 1, 0))


def tensors_in(name: str, value: Any) -> Iterable[tuple[str, Any]]:
    """Every tensor in a kernel argument: plain, wrapped, in tuples, and the base of a descriptor."""
    if type(value).__name__ == "TensorDescriptor":
        yield name, value.base
    elif isinstance(value, tuple):
        for i, inner in enumerate(value):
            yield from tensors_in(f"{name}[{i}]", inner)
    elif hasattr(value, "data_ptr"):
        yield name, getattr(value, "base", value) if type(value).__name__ == "TensorWrapper" else value


def _span(tensor: Any) -> tuple[int, int]:
    """First address and one past the last of a view."""
    size = tensor.element_size()
    offsets = [(extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride(), strict=True)]
    low = tensor.data_ptr() + sum(o for o in offsets if o < 0) * size
    high = tensor.data_ptr() + (sum(o for o in offsets if o > 0) + 1) * size
    return low, high
