"""An old and a new kernel in turn, on the same buffers: blocks of four brackets, ``old new new old`` or the mirror.

A drift of clocks or temperature that is linear over a block cancels in it, and so does whatever the process, its memory
and the machine have in common for both.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log

from pytest_roofline.contract import Protocol
from pytest_roofline.evidence import Pair
from pytest_roofline.statistics.paired import precise
from pytest_roofline.timing import code
from pytest_roofline.timing.capture import capture
from pytest_roofline.timing.collect import collect
from pytest_roofline.timing.environment import environment
from pytest_roofline.timing.plan import MORE_BLOCKS, Plan, blocks, plan
from pytest_roofline.timing.session import Job, Session, graphed
from pytest_roofline.timing.telemetry import watching, with_clock

Take = Callable[[], float]


@dataclass
class Blocks:
    """Takes blocks of several kernels; ``takers`` give the seconds of one bracket per execution, the old one's first.

    ``readings`` collects what each gave.
    """

    takers: Sequence[Take]
    rng: random.Random
    readings: list[list[float]] = field(init=False)

    def __post_init__(self) -> None:
        self.readings = [[] for _ in self.takers]

    def block(self) -> list[float]:
        """ln(new / old) of every kernel but the first: each runs once on the way there and once on the way back."""
        order = list(range(len(self.takers)))
        if self.rng.random() < 0.5:
            order.reverse()
        sums = [0.0] * len(order)
        for place in (*order, *reversed(order)):
            reading = self.takers[place]()
            self.readings[place].append(reading)
            sums[place] += log(reading)
        return [(one - sums[0]) / 2 for one in sums[1:]]


def measure(
    session: Session, old: Job, new: Job, *, protocol: Protocol, effort: str, estimate: float, slowdown: float = 0.0
) -> Pair:
    """Blocks of two jobs on the same arguments, ``new`` delayed by the fraction ``slowdown`` of its time.

    Raises what :meth:`Session.measure` raises.
    """
    todo = plan(estimate, effort)
    todo = todo if graphed(protocol) else Plan(1, todo.brackets, todo.warm_ups)
    wanted = blocks(todo.launches * estimate, effort)
    if slowdown:
        (new,) = session.slowed(new, todo, [slowdown])
    warm = Plan(todo.launches, todo.brackets, max(1, todo.warm_ups // 2))
    turns = Blocks([session.taker(one, warm, protocol) for one in (old, new)], random.Random())
    with watching(session.monitor) as state:
        found = collect(
            lambda: turns.block()[0],
            wanted,
            session.spoilt,
            most=MORE_BLOCKS * wanted,
            enough=lambda differences: precise(differences, estimate),
        )
    clock = session.clock_mhz() if graphed(protocol) else None
    return Pair(
        differences=found.samples,
        old=statistics.median(turns.readings[0]),
        new=statistics.median(turns.readings[1]),
        launches=todo.launches,
        protocol=protocol.value,
        old_code=code_of(old) if graphed(protocol) else None,
        new_code=code_of(new) if graphed(protocol) else None,
        discarded=found.discarded,
        telemetry=with_clock(state(), clock, environment().max_sm_clock_mhz),
    )


def code_of(job: Job) -> str | None:
    """The digest of what one execution of a job runs."""
    return code.code_of(job.calls[0], lambda: capture(job.calls[:1], 1, may_allocate=job.may_allocate))
