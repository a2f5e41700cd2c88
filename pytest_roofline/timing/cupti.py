"""Duration of the kernels of one execution alone, from CUPTI through torch's profiler, with a flushed L2."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Sequence

FLUSH = "flush_l2"


def kernel_seconds(calls: Sequence[Callable[[], None]], flush: Callable[[], None], repeats: int = 20) -> float | None:
    """Median seconds from the start of the first to the end of the last kernel of one execution.

    ``None`` where the profiler records no kernels (another profiler holds CUPTI, or it is not permitted).
    """
    import torch
    from torch.profiler import ProfilerActivity, profile

    with warnings.catch_warnings(), profile(activities=[ProfilerActivity.CUDA]) as recorded:
        warnings.simplefilter("ignore")  # torch remarks on profiling cycles, of which there is one
        for i in range(repeats):
            flush()
            calls[i % len(calls)]()
            torch.cuda.synchronize()
    spans = executions(
        [(e.name, e.time_range.start, e.time_range.end) for e in recorded.events() if e.device_type.name == "CUDA"]
    )
    return statistics.median(spans) * 1e-6 if spans else None


def executions(events: Sequence[tuple[str, float, float]]) -> list[float]:
    """Durations of what ran between flushes: ``(name, start, end)`` of device activities, in any order and any unit."""
    spans: list[float] = []
    start = end = None
    for name, begins, finishes in sorted(events, key=lambda e: e[1]):
        if FLUSH in name:
            if start is not None and end is not None:
                spans.append(end - start)
            start, end = None, begins
        elif end is not None:
            start = begins if start is None else start
            end = max(finishes, end)
    if start is not None and end is not None:
        spans.append(end - start)
    return spans
