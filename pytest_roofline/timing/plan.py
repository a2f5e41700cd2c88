"""How often to launch, how many copies to rotate, how many brackets to take. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

BRACKET_SECONDS = 200e-6  # with a 32 ns tick and 3 us per event pair, below this a bracket measures its own ends
MAX_LAUNCHES = 512  # graph nodes; only kernels below 0.4 us would want more
REUSE = 2  # a byte comes back only after this many times L2 has been read
WARM_UP_SECONDS = 50e-3
BUDGET_SECONDS = {"quick": 0.05, "default": 0.3, "full": 1.5}  # GPU time of one case beside warming up
BESIDE = 6  # executions beside warm-ups and brackets: estimate, capture, cost for the host, look at the outputs
LONG_SECONDS = 5e-3  # of a kernel of which one execution tells as much as several
MOST_BRACKETS = {"quick": 20, "default": 100, "full": 400}
FEWEST_BRACKETS = {"quick": 3, "default": 5, "full": 30}
PAIR_SECONDS = {"quick": 0.05, "default": 0.15, "full": 0.6}  # the same of all blocks of one pair in one process
MOST_BLOCKS = {"quick": 10, "default": 25, "full": 100}
FEWEST_BLOCKS = 4
MORE_BLOCKS = 4  # times as many where those scatter too much


@dataclass(frozen=True)
class Plan:
    """``launches`` per bracket, ``brackets`` in all, ``warm_ups`` replays thrown away before them."""

    launches: int
    brackets: int
    warm_ups: int


def plan(estimate: float, effort: str) -> Plan:
    """A plan for a kernel of about ``estimate`` seconds, cold."""
    enough = math.ceil(BRACKET_SECONDS / max(estimate, 1e-9) - 1e-6)  # the quotient of two floats lies beside N
    launches = max(1, min(MAX_LAUNCHES, enough))
    bracket = launches * estimate
    affordable = int((BUDGET_SECONDS[effort] - BESIDE * estimate) / max(bracket, BRACKET_SECONDS))
    brackets = max(FEWEST_BRACKETS[effort], min(MOST_BRACKETS[effort], affordable))
    warm_ups = max(1, math.ceil(WARM_UP_SECONDS / max(bracket, BRACKET_SECONDS)))
    return Plan(launches, brackets, warm_ups)


def blocks(bracket: float, effort: str) -> int:
    """How many blocks of four brackets of about ``bracket`` seconds a pair gets in one process."""
    affordable = int(PAIR_SECONDS[effort] / (4 * max(bracket, BRACKET_SECONDS)))
    return max(FEWEST_BLOCKS, min(MOST_BLOCKS[effort], affordable))


def copies(footprint: int, l2_bytes: int, launches: int, free_bytes: int) -> int:
    """How many argument sets of ``footprint`` bytes a bracket rotates over, so that none is found in L2.

    Either every launch has a set of its own (a flush before the bracket makes them cold), or so many sets rotate that
    a byte comes back only after ``REUSE`` times L2. At most half of the free memory is taken.
    """
    if footprint <= 0 or footprint >= REUSE * l2_bytes:
        return 1
    wanted = min(launches, math.ceil(REUSE * l2_bytes / footprint) + 1)
    return max(1, min(wanted, free_bytes // 2 // footprint))
