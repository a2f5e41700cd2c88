"""One bracket: held stream -> event -> graph of N launches -> event. Its time divided by N is one sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_roofline.timing.errors import AllocatedWhileTimed, NotCapturable

Call = Callable[[], None]
HOLD_TIMEOUT_NS = 2_000_000_000


class Tools:
    """The engine's own kernels and buffers on one device, compiled and allocated once per process."""

    def __init__(self, l2_bytes: int) -> None:
        import torch

        from pytest_roofline.launch import Source

        source = Source(Path(__file__).with_name("device_kernels.cu"))
        self._hold = source.function("hold_stream")
        self._flush = source.function("flush_l2")
        self.nothing = source.function("do_nothing")
        self.fill = source.function("calibrate_fill")
        self.scale = source.function("calibrate_scale")
        self._words = torch.zeros(3 * l2_bytes // 4, dtype=torch.int32, device="cuda")
        self._released = torch.zeros(1, dtype=torch.int32).pin_memory()
        self._blocks = 8 * torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
        self._start, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]

    def flush(self, dirty: float) -> None:
        """Fill L2 with lines of a buffer that nobody else uses, a share ``dirty`` (0 to 1) of them modified."""
        self._flush((self._blocks,), (256,), (self._words, self._words.numel() // 4, round(64 * dirty)))

    def seconds(self, enqueue: Call) -> float:
        """GPU time of what ``enqueue`` puts on the stream, all of it submitted before the first of it starts."""
        import torch

        self._released[0] = 0
        self._hold((1,), (1,), (self._released.data_ptr(), HOLD_TIMEOUT_NS))
        self._start.record()
        enqueue()
        self._end.record()
        self._released[0] = 1
        torch.cuda.synchronize()
        return float(self._start.elapsed_time(self._end)) * 1e-3


def capture(calls: Sequence[Call], launches: int, *, may_allocate: bool) -> Any:
    """A CUDA graph of ``launches`` launches, rotating over ``calls``.

    Raises :class:`NotCapturable` when a launcher synchronises or otherwise cannot be captured, and
    :class:`AllocatedWhileTimed` when it allocates GPU memory although it must not.
    """
    import torch

    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    allocated = 0
    try:
        with torch.cuda.graph(graph):  # which allocates for itself, so the counters are read inside
            before = _allocations()
            for i in range(launches):
                calls[i % len(calls)]()
            allocated = _allocations() - before
    except Exception as error:
        raise NotCapturable(
            f"the launcher cannot be captured into a CUDA graph ({error}): it must only enqueue work on the current "
            "stream, without synchronising; a kernel that cannot is timed with Protocol.HOST_CLOCK"
        ) from error
    if allocated and not may_allocate:
        raise AllocatedWhileTimed(
            f"the launcher allocated GPU memory {allocated} times in {launches} launches: declare a workspace instead"
        )
    return graph


def _allocations() -> int:
    import torch

    return int(torch.cuda.memory_stats().get("allocation.all.allocated", 0))
