"""One case of a round: the kernel of a copy of the tree, the kernel, and the kernel slowed, in turn on the same data.

What is timed and how is the plugin's own retest (``timing.pairing``), with a third participant; ``verdict_rounds.py``
calls it.
"""

from __future__ import annotations

import functools
import hashlib
import math
import pathlib
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from benchmarks.rounds_data import BLOCKS
from pytest_roofline.contract import Case, Protocol
from pytest_roofline.discovery import Catalogue
from pytest_roofline.statistics.paired import of_process, precise
from pytest_roofline.timing import environment

FEWEST = 2  # blocks of six brackets; of most kernels BLOCKS, where a retest takes 25 of four
BLOCK_SECONDS = 0.12  # GPU time of all blocks of a case: long kernels get fewer of them
MORE = 6  # times as many where those scatter too much, as in a retest
PLANTED = ((20e-6, (0.01, 0.02)), (5e-6, (0.02,)), (0.0, (0.05,)))  # by seconds of the kernel; several take turns
ROOT = pathlib.Path(__file__).resolve().parent.parent
LONG = 4e-3  # seconds of a kernel that needs no further warming up
WARM_SECONDS = 60e-3
NEAR, SETTLED = 0.985, 0.003  # of the highest clock; change between two looks


@dataclass(frozen=True)
class Loaded:
    """A case with the launchers of both trees; nothing of it lies on a GPU."""

    case: Case
    launcher: Callable[..., None]
    old_case: Case
    old_launcher: Callable[..., None]


def load(catalogue: Catalogue, case: Case, copy: pathlib.Path) -> Loaded:
    """Import what the case needs. Raises what an import raises."""
    from pytest_roofline.against.kernels import old_kernel
    from pytest_roofline.checking.check import load_launcher

    module = catalogue.operation(case.operation.name).module
    return Loaded(case, load_launcher(case.kernel.launcher), *old_kernel(case, module, str(copy)))


class Stages:
    """Seconds of the host by what it was busy with."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._since = time.perf_counter()

    def end(self, name: str) -> None:
        """What began with the end of the stage before is over."""
        now = time.perf_counter()
        self.spent[name] = round(now - self._since, 4)
        self._since = now


def planted_in(turn: int, seconds: float) -> float:
    """The slowdown that rounds of that ``turn`` plant into a kernel of ``seconds``."""
    choices = next(by for start, by in PLANTED if seconds >= start)
    return choices[turn % len(choices)]


def measure(session, loaded: Loaded, turn: int, estimate: float | None) -> dict[str, object]:
    """Samples of the old kernel, the new one and the slowed one, in seconds, two of each in every block.

    ``estimate`` is what an earlier round of this start has found.
    """
    from pytest_roofline.checking.check import prepare
    from pytest_roofline.timing.delay import head
    from pytest_roofline.timing.paired_case import beside, job
    from pytest_roofline.timing.pairing import Blocks, code_of
    from pytest_roofline.timing.plan import Plan, plan
    from pytest_roofline.timing.timed_case import another

    stages, case, protocol = Stages(), loaded.case, loaded.case.operation.protocol
    first = prepare(case, loaded.launcher, "cuda", "random", 0)
    estimate = estimate or float(f"{session.estimate(first.call, protocol):.4g}")
    count = session.copies(first.footprint, estimate) if protocol is Protocol.GRAPH_COLD else 1
    news = [first, *(another(first, "cuda") for _ in range(count - 1))]
    olds = [beside(copy, loaded.old_case, loaded.old_launcher, "cuda") for copy in news]
    for prepared in news:  # the old ones have the same arguments
        prepared.reset()
    stages.end("prepare")
    todo = plan(estimate, "default")
    once = Plan(todo.launches, 0, 0)
    plain, new = job(session, olds, case), job(session, news, case)
    takers = [Taker(session, session.taker(plain, once, protocol)), Taker(session, session.taker(new, once, protocol))]
    bracket = todo.launches * (takers[1]() if estimate > LONG else warm_up(session, *takers))
    planted = planted_in(turn, bracket / todo.launches)
    slow = replace(new, head=head(session.tools, session.delay, planted * bracket))
    takers.append(Taker(session, session.taker(slow, once, protocol)))
    stages.end("warm")
    for one in takers:
        one.clocks.clear()
    blocks = Blocks(takers, random.Random())
    wanted = max(FEWEST, min(BLOCKS, int(BLOCK_SECONDS / (2 * len(takers) * bracket))))
    differences: list[list[float]] = []
    while len(differences) < wanted or (len(differences) < MORE * wanted and not enough(differences, estimate)):
        differences.append(blocks.block())
    stages.end("blocks")
    reading = session.monitor.reading()
    found = {
        "estimate": estimate,
        "seconds": statistics.median(blocks.readings[0]),
        "planted": planted,
        "samples": [[float(f"{reading:.6g}") for reading in readings] for readings in blocks.readings],
        "launches": todo.launches,
        "copies": count,
        "code": code_of(new) or _source(case.operation.name),
        "clocks_mhz": [one.clock_mhz() for one in takers],
        "log_cycles": [one.log_cycles(readings) for one, readings in zip(takers, blocks.readings, strict=True)],
        "reasons": list(session.monitor.reasons()),
        "power_w": reading[2],
        "temperature_c": reading[3],
    }
    stages.end("record")
    return found | {"wall": stages.spent}


def enough(differences: Sequence[Sequence[float]], seconds: float) -> bool:
    """Whether the blocks are precise for the new kernel and for the slowed one."""
    return all(precise(of_one, seconds) for of_one in zip(*differences, strict=True))


@functools.cache
def _source(operation: str) -> str:
    """In place of the machine code, where that is not known: a digest of the operation's files."""
    names = (f"kernels_cuda/{operation}/**/*", f"kernels_triton/{operation}*", f"kernels_triton/{operation}/**/*")
    files = sorted({p for name in names for p in ROOT.glob(name) if p.suffix in (".py", ".cu", ".cuh", ".h")})
    return "source " + hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()[:16]


class Taker:
    """Takes samples and notes the SM clock of each bracket, in Hz."""

    def __init__(self, session, take: Callable[[], float]) -> None:
        self.session, self.take = session, take
        self.clocks: list[float] = []

    def __call__(self) -> float:
        self.session.clocks.clear()
        seconds = self.take()
        self.clocks.extend(self.session.clocks)
        return seconds

    def clock_mhz(self) -> float | None:
        """The typical one."""
        return round(statistics.median(self.clocks) * 1e-6, 2) if self.clocks else None

    def log_cycles(self, readings: Sequence[float]) -> float | None:
        """The 20-80 % trimmed mean of ln(cycles) of its brackets."""
        if len(self.clocks) != len(readings):
            return None
        return round(of_process([math.log(s * c) for s, c in zip(readings, self.clocks, strict=True)]), 6)


def warm_up(session, old: Taker, new: Taker) -> float:
    """Run both until the SM clock has settled, at most 60 ms; the typical seconds of the new one.

    A product that ran before leaves a lowered clock behind for some tens of milliseconds.
    """
    highest = environment().max_sm_clock_mhz or math.inf
    seconds = [new() for _ in range(3)]
    until = time.perf_counter() + WARM_SECONDS
    while time.perf_counter() < until and new.clocks:
        before = statistics.median(new.clocks[-3:])
        seconds += [(old(), new())[1] for _ in range(4)]
        now = statistics.median(new.clocks[-3:])
        if now * 1e-6 > NEAR * highest or abs(now / before - 1) < SETTLED:
            break
    return statistics.median(seconds[-5:])
