"""Are the hints true that a kernel gives the compiler? False ones make it emit wrong vector accesses.

What they promise is what Triton's axis analysis takes from them: contiguity and constancy hold for every aligned group
of that many values along a dimension, divisibility holds for the first value of every contiguous run (all values of a
contiguous block cannot be multiples of 16, yet ``multiple_of`` is the established hint for it). Contiguous pointers
are one element apart, and their divisibility counts bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

NAMES = ("multiple_of", "max_contiguous", "max_constancy")


def false_hint(name: str, data: Any, values: Sequence[int], step: int = 1) -> str | None:
    """What is wrong with a hint on the values at hand, or None.

    ``data`` has any number of dimensions and integers of any width, ``values`` one entry per dimension (1 promises
    nothing), ``step`` is the distance of contiguous values: 1, or the element size in bytes for pointers.
    """
    array = np.asarray(data).astype(np.int64)
    if array.ndim == 0 or (array.size == 1 and len(values) == 1):
        array = array.reshape(1)
    for axis, value in enumerate(values[: array.ndim]):
        if value <= 1:
            continue
        rows = np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])
        wrong = _not_multiple(rows, value, step) if name == "multiple_of" else _irregular(name, rows, value, step)
        if wrong is not None:
            return f"tl.{name} of {value} along dimension {axis}: {wrong}"
    return None


def _not_multiple(rows: Any, value: int, step: int) -> str | None:
    starts = np.ones(rows.shape, bool)
    starts[:, 1:] = np.diff(rows, axis=1) != step
    wrong = rows[starts & (rows % value != 0)]
    return f"a contiguous run starts at {int(wrong[0])}" if wrong.size else None


def _irregular(name: str, rows: Any, value: int, step: int) -> str | None:
    width = min(value, rows.shape[1])
    groups = rows[:, : rows.shape[1] // width * width].reshape(-1, width)
    wrong = np.flatnonzero((np.diff(groups, axis=1) != (step if name == "max_contiguous" else 0)).any(axis=1))
    if not wrong.size:
        return None
    group = groups[wrong[0]]
    at = int(np.flatnonzero(np.diff(group) != (step if name == "max_contiguous" else 0))[0])
    return f"{int(group[at])} is followed by {int(group[at + 1])}, {at + 1} into a group of {width}"
