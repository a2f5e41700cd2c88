"""A clock that plays recorded durations back, so that pytest-benchmark's own machinery takes our samples unchanged.

pytest-benchmark only ever looks at ``end - start`` of its timer. The clock answers the start of a round with zero and
its end with the recorded duration, so the statistics hold exactly the samples (an accumulating clock would lose
2.7e-8 of them at t = 1000 s). Outside a replay it creeps, because a clock that stands still hangs calibration.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

_CREEP = 1e-12


class ReplayClock:
    """The timer that our cases hand to pytest-benchmark."""

    def __init__(self) -> None:
        self._readings: Iterator[float] = iter(())
        self._idle = itertools.count()

    def __call__(self) -> float:
        """Seconds: the next reading of a running replay, else an ever creeping time."""
        reading = next(self._readings, None)
        return next(self._idle) * _CREEP if reading is None else reading

    def load(self, samples: Sequence[float]) -> None:
        """Play ``samples`` (seconds) on the following readings, two readings per sample."""
        self._readings = iter([reading for sample in samples for reading in (0.0, sample)])


clock = ReplayClock()


def replay(benchmark: Any, samples: Sequence[float]) -> None:
    """Feed ``samples`` (seconds per execution) to the fixture ``benchmark`` of pytest-benchmark, one round each."""
    clock.load(samples)
    benchmark.pedantic(_nothing, rounds=len(samples), iterations=1, warmup_rounds=0)


def _nothing() -> None:
    """What pytest-benchmark 'runs': the kernel has been measured before."""


REFUSED = {
    "benchmark_timer": "the samples come from the GPU's clock",
    "benchmark_cprofile": "the kernel does not run while pytest-benchmark looks",
    "benchmark_cprofile_dump": "the kernel does not run while pytest-benchmark looks",
    "benchmark_min_rounds": "use --roofline-effort",
    "benchmark_min_time": "use --roofline-effort",
    "benchmark_max_time": "use --roofline-effort",
    "benchmark_calibration_precision": "there is nothing to calibrate",
    "benchmark_precision": "use --roofline-effort",
    "benchmark_warmup": "every case is warmed up on the GPU",
    "benchmark_warmup_iterations": "every case is warmed up on the GPU",
    "benchmark_disable_gc": "the host does not take part in the timed bracket",
}
"""Options of pytest-benchmark that a replay cannot honour, and why."""


def refused_options(given: Sequence[str]) -> list[str]:
    """Messages for the command line arguments ``given`` that a replay cannot honour."""
    messages = []
    for name, why in REFUSED.items():
        flag = "--" + name.replace("_", "-")
        if any(argument == flag or argument.startswith(flag + "=") for argument in given):
            messages.append(f"{flag} cannot be honoured for kernels timed on the GPU: {why}")
    return messages
