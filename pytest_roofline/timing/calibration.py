"""What a bracket holds beside the kernels, from measurements on the engine's own kernels. Pure.

A bracket of N launches takes ``ends + N * (kernel + node)``: the two events and the start of the graph once, the way
from one execution to the next N times. Both come from kernels that are not under test: ``ends`` from an empty one,
``node`` from kernels too small for memory traffic to matter, as what CUPTI's duration leaves over. It can be negative,
because CUPTI's durations of neighbours overlap. An operation of several kernels also holds a ``step`` between two of
them, found on pairs.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """One calibration: seconds per execution in a bracket of ``launches``, and those that CUPTI saw a kernel run.

    ``steps`` is how often an execution goes from one kernel to the next: 0 for a single one, 1 for a pair.
    """

    name: str
    bracket: float
    launches: int
    alone: float
    steps: int


@dataclass(frozen=True)
class Overhead:
    """Seconds beside the kernels: once per bracket, once per execution, and per step within an execution."""

    ends: float
    node: float
    step: float

    def gap(self, launches: int) -> float:
        """Seconds per execution that a bracket of ``launches`` contains beside the operation."""
        return self.node + self.ends / launches


def overhead(ends: float, comparisons: Sequence[Comparison]) -> Overhead:
    """Medians of what the comparisons leave over; 0 for what none of them tells."""

    def left(steps: int) -> float:
        rest = [c.bracket - ends / c.launches - c.alone for c in comparisons if c.steps == steps]
        return statistics.median(rest) if rest else 0.0

    return Overhead(ends, left(0), left(1) - left(0) if any(c.steps == 1 for c in comparisons) else 0.0)


def ends(one: float, many: float, launches: int) -> float:
    """Seconds of a bracket outside its launches, from brackets of 1 and of ``launches`` launches of one kernel."""
    per_launch = (many - one) / (launches - 1)
    return one - per_launch
