"""How much longer a launch takes inside a graph bracket than its kernel alone. Pure.

The difference depends on the kernel's duration: the launch of the next node overlaps with a long kernel and not with a
short one. It is measured on kernels of the engine's own and interpolated, never on the kernel at hand.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Gap:
    """One calibration kernel: seconds per launch in a bracket, and how much of it is not the kernel."""

    name: str
    bracket: float
    gap: float


def gap_at(seconds: float, calibrated: Sequence[Gap]) -> float:
    """The gap of a kernel that takes ``seconds`` per launch in a bracket, linear in the logarithm of the time between
    the calibrated durations and constant beyond them. Several kernels of about one duration count with their mean;
    0 without any."""
    if not calibrated:
        return 0.0
    points = sorted((math.log(c.bracket), c.gap) for c in calibrated)
    merged: list[tuple[float, float]] = []
    for start in range(0, len(points), 2):
        pair = points[start : start + 2]
        merged.append((sum(x for x, _ in pair) / len(pair), sum(y for _, y in pair) / len(pair)))
    place = math.log(seconds)
    if place <= merged[0][0]:
        return merged[0][1]
    for (x0, y0), (x1, y1) in itertools.pairwise(merged):
        if place <= x1:
            return y0 + (y1 - y0) * (place - x0) / (x1 - x0)
    return merged[-1][1]
