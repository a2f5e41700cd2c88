"""What a bracket holds beside the kernels, from measurements on the engine's own kernels. Pure.

A bracket of N launches takes ``ends + N * (kernel + node)``: the two events and the start of the graph once, the step
from one graph node to the next N times. An empty kernel gives ``ends``, since only it can be launched 1 and N times
without other differences; kernels too small for memory traffic to matter give ``node``, as what CUPTI's duration of the
kernel alone leaves over.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """One calibration kernel: seconds per launch in a bracket of ``launches``, and of the kernel alone (CUPTI)."""

    name: str
    bracket: float
    launches: int
    alone: float


@dataclass(frozen=True)
class Overhead:
    """Seconds beside the kernels: ``ends`` once per bracket, ``node`` once per graph node."""

    ends: float
    node: float

    def gap(self, launches: int) -> float:
        """Seconds per launch that a bracket of ``launches`` contains beside the kernel."""
        return self.node + self.ends / launches


def ends(one: float, many: float, launches: int) -> float:
    """Seconds of a bracket outside its launches, from brackets of 1 and of ``launches`` launches of one kernel."""
    per_launch = (many - one) / (launches - 1)
    return one - per_launch


def node(comparisons: Sequence[Comparison], ends: float) -> float:
    """The step between two nodes: median of what is left over; 0 where CUPTI recorded nothing."""
    left = [c.bracket - ends / c.launches - c.alone for c in comparisons]
    return statistics.median(left) if left else 0.0
