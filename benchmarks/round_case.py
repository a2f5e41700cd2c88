"""One case of a round: the kernel of a copy of the tree, the kernel, and the kernel slowed, in turn on the same data.

What is timed and how is the plugin's own retest (``timing.pairing``), with a third participant; ``verdict_rounds.py``
calls it.
"""

from __future__ import annotations

import functools
import hashlib
import pathlib
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_roofline.contract import Case, Protocol
from pytest_roofline.discovery import Catalogue

BLOCKS = 10
BLOCK_SECONDS = 0.15  # GPU time of all blocks of a case: long kernels get fewer of them, the longest a single one
PLANTED = ((20e-6, (0.01, 0.02)), (5e-6, (0.02,)), (0.0, (0.05,)))  # by seconds of the kernel; several take turns
ROOT = pathlib.Path(__file__).resolve().parent.parent
LONG = 4e-3  # seconds of a kernel that needs no further warming up


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
    warm = 0 if estimate > LONG else max(1, todo.warm_ups // 4)
    plain, new = job(session, olds, case), job(session, news, case)
    take_old = session.taker(plain, Plan(todo.launches, 0, warm), protocol)
    take_new = session.taker(new, Plan(todo.launches, 0, min(warm, 2)), protocol)
    bracket = todo.launches * statistics.median(take_new() for _ in range(1 if estimate > LONG else 5))
    planted = planted_in(turn, estimate)
    slow = replace(new, head=head(session.tools, session.delay, planted * bracket))
    take_slow = session.taker(slow, Plan(todo.launches, 0, min(warm, 2)), protocol)
    stages.end("warm")
    clocks: list[list[float]] = [[], [], []]
    takers = [_with_clock(session, *both) for both in zip((take_old, take_new, take_slow), clocks, strict=True)]
    blocks = Blocks(takers, random.Random())
    for _ in range(max(1, min(BLOCKS, int(BLOCK_SECONDS / (2 * len(takers) * bracket))))):
        blocks.block()
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
        "clocks_mhz": [round(statistics.median(seen) * 1e-6, 2) if seen else None for seen in clocks],
        "reasons": list(session.monitor.reasons()),
        "power_w": reading[2],
        "temperature_c": reading[3],
    }
    stages.end("record")
    return found | {"wall": stages.spent}


@functools.cache
def _source(operation: str) -> str:
    """In place of the machine code, where that is not known: a digest of the operation's files."""
    names = (f"kernels_cuda/{operation}/**/*", f"kernels_triton/{operation}*", f"kernels_triton/{operation}/**/*")
    files = sorted({p for name in names for p in ROOT.glob(name) if p.suffix in (".py", ".cu", ".cuh", ".h")})
    return "source " + hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()[:16]


def _with_clock(session, take: Callable[[], float], seen: list[float]) -> Callable[[], float]:
    """The same, noting the SM clock of each bracket."""

    def taken() -> float:
        session.clocks.clear()
        seconds = take()
        seen.extend(session.clocks)
        return seconds

    return taken
