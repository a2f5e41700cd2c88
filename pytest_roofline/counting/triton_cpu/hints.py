"""Are the hints true that a kernel gives the compiler? False ones make it emit wrong vector accesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np


def false_hint(kind: str, data: Any, values: Sequence[int]) -> str | None:
    """What is wrong with ``multiple_of``, ``max_contiguous`` or ``max_constancy`` on the values at hand.

    ``values`` has one entry per dimension. Divisibility is a promise about the first value of each run of consecutive
    ones, contiguity and constancy about every aligned group of that many values.
    """
    array = np.asarray(data).astype(np.int64)
    if array.size <= 1:
        wrong = kind == "multiple_of" and array.size == 1 and int(array.reshape(-1)[0]) % values[0]
        return f"{int(array.reshape(-1)[0])} is no multiple of {values[0]}" if wrong else None
    for axis, value in enumerate(values):
        if value <= 1 or axis >= array.ndim:
            continue
        rows = np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])
        bad = next(_CHECKS[kind](rows, value), None)
        if bad is not None:
            return f"{kind}({list(values)}) along dimension {axis}: {bad}"
    return None


def _multiple_of(rows: Any, value: int) -> Iterator[str]:
    starts = np.ones(rows.shape, bool)
    starts[:, 1:] = np.diff(rows, axis=1) != 1
    wrong = rows[starts & (rows % value != 0)]
    if wrong.size:
        yield f"a run of consecutive values starts at {int(wrong[0])}, no multiple of {value}"


def _steps(rows: Any, value: int, step: int, word: str) -> Iterator[str]:
    width = min(value, rows.shape[1])
    groups = rows[:, : rows.shape[1] // width * width].reshape(rows.shape[0], -1, width)
    wrong = (np.diff(groups, axis=2) != step).any(axis=2)
    if wrong.any():
        group = groups[wrong][0]
        yield f"the group {group[:4].tolist()}... of {width} values is not {word}"


_CHECKS: dict[str, Callable[[Any, int], Iterator[str]]] = {
    "multiple_of": _multiple_of,
    "max_contiguous": lambda rows, value: _steps(rows, value, 1, "contiguous"),
    "max_constancy": lambda rows, value: _steps(rows, value, 0, "constant"),
}
