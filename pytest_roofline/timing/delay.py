"""A planted slowdown of known length: a spin kernel at the head of a bracket, inside the timed region.

A node of its own costs more than a percent of a short kernel, but a bracket of many launches lasts 200 us and more, and
one spin kernel in front of all of them delays the bracket, and so each launch on average, by exactly what is asked for.
At the head, because the kernel after it starts as after any idle moment; behind the launches a node waits for their
last writes, which took up to 1 us more on an H200.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from pytest_roofline.timing.bracket import Bracket, Tools
from pytest_roofline.timing.capture import Call, capture

_CARRIER = 64  # empty launches behind the spin kernel while its cost is measured
_SHORT, _LONG = 2_000, 42_000  # cycles; 1 and 21 us at 2 GHz
_BRACKETS = 20


class DelayTooShort(ValueError):  # noqa: N818  (a request that cannot be met, named like the other states)
    """A bracket would have to be delayed by less than an empty kernel takes."""


@dataclass(frozen=True)
class Delay:
    """How long a bracket becomes with a spin kernel: ``cost`` seconds and a second per ``hertz`` cycles."""

    cost: float
    hertz: float

    def cycles(self, seconds: float) -> int:
        """Cycles that delay a bracket by so many seconds. Raises :class:`DelayTooShort`."""
        if seconds < self.cost:
            raise DelayTooShort(
                f"a slowdown of {seconds * 1e6:.2f} us per bracket cannot be planted: a kernel that does nothing "
                f"already takes {self.cost * 1e6:.2f} us"
            )
        return round((seconds - self.cost) * self.hertz)


def calibrate(tools: Tools) -> Delay:
    """Measure what a spin kernel costs in a graph, from brackets without one and with two lengths of it."""

    def typical(head: Callable[[], None] | None) -> float:
        bracket = Bracket(tools, capture([tools.nothing], _CARRIER, head=head))
        bracket.warm_up(_BRACKETS)
        return statistics.median(bracket.seconds() for _ in range(_BRACKETS))

    plain, short, long = typical(None), *(typical(functools.partial(tools.spin, n)) for n in (_SHORT, _LONG))
    hertz = (_LONG - _SHORT) / (long - short)
    return Delay(short - plain - _SHORT / hertz, hertz)


def head(tools: Tools, delay: Delay, seconds: float) -> Call:
    """What goes in front of the launches of a bracket to delay it by so many seconds. Raises :class:`DelayTooShort`."""
    return functools.partial(tools.spin, delay.cycles(seconds))
