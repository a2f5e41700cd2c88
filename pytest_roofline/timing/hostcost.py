"""Times on the host's clock: what a call costs the host, and how long a caller waits for the result."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from pytest_roofline.timing.plan import LONG_SECONDS

BATCH_SECONDS = 5e-3  # what the calls of one batch may keep the device or the host busy
MOST_SUBMISSIONS = 20


def submissions(seconds: float) -> int:
    """How often to submit an execution of ``seconds`` in one batch: often enough for a mean, and not for minutes."""
    return max(1, min(MOST_SUBMISSIONS, int(BATCH_SECONDS / seconds)))


def batches(seconds: float) -> int:
    """How many batches to take of an execution of ``seconds``: a long one hides its submission anyway."""
    return 1 if seconds > LONG_SECONDS else 5


def submission_seconds(call: Callable[[], object], repeats: int = MOST_SUBMISSIONS, batches: int = 5) -> float:
    """Seconds the host spends in one call of a launcher, the device's work not awaited. Median of the batches.

    They are short, so that the queue of launches never fills up and makes the host wait for the device.
    """
    import torch

    readings = []
    for _ in range(batches):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        readings.append((time.perf_counter() - start) / repeats)
    torch.cuda.synchronize()
    return statistics.median(readings)


def completion_seconds(call: Callable[[], object]) -> float:
    """Seconds from the call until the device has done everything, for what a graph cannot hold."""
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - start
