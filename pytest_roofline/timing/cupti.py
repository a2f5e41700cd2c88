"""Duration of the kernels of one execution alone, from CUPTI through torch's profiler, with a flushed L2."""

from __future__ import annotations

import contextlib
import ctypes
import os
import statistics
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_roofline.timing.bracket import Step, Tools
from pytest_roofline.timing.capture import Graph

REPEATS = 12
BURST = 4  # executions after each flush, on argument sets of their own: all but the first find their code cached
_FLUSH = "flush_l2"

Event = tuple[str, float, float]


@dataclass(frozen=True)
class Execution:
    """One execution of an operation: time during which a kernel ran, and how often none did in between."""

    busy: float
    steps: int


def typical_execution(graph: Graph, burst: int, tools: Tools, flush: Step | None) -> Execution | None:
    """Median busy seconds and steps of one execution.

    ``graph`` holds ``burst`` executions. The pauses between the kernels of one are not taken from the trace, which
    widens them (on an H200 to 0.4 us, eight times the step from node to node without a trace). ``None`` where the
    profiler records no kernels (another profiler holds CUPTI, or it is not permitted).
    """
    import torch
    from torch.profiler import ProfilerActivity, profile

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch remarks on profiling cycles, of which there is one
        with profile(activities=[ProfilerActivity.CUDA]) as recorded:
            for _ in range(REPEATS):
                (flush or tools.settle)()
                graph.replay()
                torch.cuda.synchronize()
        events = [(e.name, e.time_range.start, e.time_range.end) for e in recorded.events() if _on_device(e)]
    found = executions(events, burst)
    if not found:
        return None
    return Execution(statistics.median(f.busy for f in found) * 1e-6, statistics.mode(f.steps for f in found))


def executions(events: Sequence[Event], burst: int) -> list[Execution]:
    """Single executions: ``events`` are ``(name, start, end)`` of device activities in any order and unit.

    Each flush begins a group of ``burst`` executions with the same number of activities each; a group that cannot be
    divided so (an event was lost) is left out.
    """
    groups: list[list[Event]] = []
    for event in sorted(events, key=lambda e: e[1]):
        if _FLUSH in event[0]:
            groups.append([])
        elif groups:
            groups[-1].append(event)
    found = []
    for group in groups:
        size, rest = divmod(len(group), burst)
        if size and not rest:
            found += [_execution(group[k * size : (k + 1) * size]) for k in range(burst)]
    return found


def detach() -> None:
    """Take CUPTI out of this process, with all that torch's profiler has left in it.

    The profiler leaves its callbacks behind. At the end of the process CUDA's runtime releases the context only after
    torch's static objects are gone; CUPTI then calls back into torch, which frees what no longer exists, and the
    process aborts after its work is done (torch 2.11, CUDA 13.0). A later profile attaches CUPTI anew.
    """
    import torch

    if torch.version.cuda is None:
        return  # a build for CPUs has no profiler of a GPU
    major = torch.version.cuda.partition(".")[0]
    with contextlib.suppress(OSError, AttributeError):  # not loaded, or no Linux: nothing to take out
        library = ctypes.CDLL(f"libcupti.so.{major}", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        library.cuptiFinalize()


def _execution(events: Sequence[Event]) -> Execution:
    """``events`` in the order of their starts; what overlaps counts once."""
    busy, steps, until = 0.0, -1, float("-inf")
    for _, start, end in events:
        steps += start > until
        busy += max(end - max(start, until), 0.0)
        until = max(until, end)
    return Execution(busy, steps)


def _on_device(event: object) -> bool:
    return getattr(getattr(event, "device_type", None), "name", "") == "CUDA"
