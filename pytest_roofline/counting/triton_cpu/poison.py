"""Masked lanes without ``other`` are undefined on a GPU; the interpreter makes them zero, which hides that.

They become all ones: NaN in every floating format, -1 in integers. A maximum or minimum ignores NaN, so a reduction
that mixes such lanes with defined ones is a fault of its own (floating formats only: -1 may be data). A row without
any defined lane is none: masking whole rows and dropping their results is common and correct.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Leading bits of the poison that survive a conversion from the shortest format (bfloat16 to float32, float16 to
# float32 or float64). No NaN that arithmetic makes has them: those have one leading bit of the fraction set.
_LEADING = {2: 13, 4: 16, 8: 19}


def poison(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of all ones in every bit (True in a boolean one)."""
    if dtype == np.bool_:
        return np.ones(shape, bool)
    size = int(np.prod(shape, dtype=np.int64))
    return np.full(size * dtype.itemsize, 0xFF, np.uint8).view(dtype).reshape(shape)


def mixes_poison(data: Any, axis: int | None) -> bool:
    """Whether a reduction along ``axis`` (None: all) joins poisoned lanes with defined ones; never for integers."""
    size = data.dtype.itemsize
    if data.dtype.kind != "f" or not bool(np.isnan(data).any()):
        return False
    bits = np.ascontiguousarray(data).view(f"u{size}")
    kept = _LEADING[size]
    poisoned = (bits >> np.array(size * 8 - kept, bits.dtype)) == (1 << kept) - 1
    return bool((poisoned.any(axis) & ~poisoned.all(axis)).any())
