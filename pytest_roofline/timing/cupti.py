"""Duration of the kernels of one execution alone, from CUPTI through torch's profiler, with a flushed L2."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Sequence

from pytest_roofline.timing.bracket import Step, Tools
from pytest_roofline.timing.capture import Graph

REPEATS = 12
BURST = 4  # executions after each flush, on argument sets of their own: all but the first find their code cached
_FLUSH = "flush_l2"

Event = tuple[str, float, float]


def kernel_seconds(graph: Graph, burst: int, tools: Tools, flush: Step | None) -> float | None:
    """Median seconds from the start of the first to the end of the last kernel of one execution.

    ``graph`` holds ``burst`` executions, so that no host time lies between the kernels of one. ``None`` where the
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
    spans = executions(events, burst)
    return statistics.median(spans) * 1e-6 if spans else None


def executions(events: Sequence[Event], burst: int) -> list[float]:
    """Durations of single executions: ``events`` are ``(name, start, end)`` of device activities in any order and unit.

    Each flush begins a group of ``burst`` executions with the same number of activities each; a group that cannot be
    divided so (an event was lost) is left out.
    """
    groups: list[list[Event]] = []
    for event in sorted(events, key=lambda e: e[1]):
        if _FLUSH in event[0]:
            groups.append([])
        elif groups:
            groups[-1].append(event)
    spans = []
    for group in groups:
        size, rest = divmod(len(group), burst)
        if size and not rest:
            parts = [group[k * size : (k + 1) * size] for k in range(burst)]
            spans += [max(end for _, _, end in part) - part[0][1] for part in parts]
    return spans


def _on_device(event: object) -> bool:
    return getattr(getattr(event, "device_type", None), "name", "") == "CUDA"
