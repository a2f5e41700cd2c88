"""One bracket: held stream -> event -> graph of N launches -> event. Its time divided by N is one sample."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_roofline.timing.capture import Graph
from pytest_roofline.timing.errors import HoldExpired

Step = Callable[[], object]
HOLD_TIMEOUT_NS = 2_000_000_000
FLUSH_OVER_L2 = 3  # bytes a flush touches over the size of L2: hashed, not fully associative, so once is not enough


class Tools:
    """The engine's own kernels and buffers on one device, compiled and allocated once per process."""

    def __init__(self, l2_bytes: int) -> None:
        import torch

        from pytest_roofline.launch import Source

        source = Source(Path(__file__).with_name("device_kernels.cu"))
        self._hold = source.function("hold_stream")
        self._flush = source.function("flush_l2")
        self._keep, self._release = source.function("read_kept"), source.function("release_kept")
        self._nothing = source.function("do_nothing")
        self.fill = source.function("calibrate_fill")
        self.scale = source.function("calibrate_scale")
        self._spin = source.function("spin")
        self._clocks = Clocks(source.function("read_clocks"))
        self._words = torch.zeros(FLUSH_OVER_L2 * l2_bytes // 4, dtype=torch.int32, device="cuda")
        self._flags = torch.zeros(2, dtype=torch.int32).pin_memory()  # released by the host, given up by the device
        self._blocks = 8 * torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
        self._start, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        self._load()

    def _load(self) -> None:
        """Launch every kernel once: loading one waits for the device, which must not be held then."""
        import torch

        y = torch.empty(1, device="cuda")
        self._flags.fill_(1)
        self._hold((1,), (1,), (self._flags.data_ptr(), HOLD_TIMEOUT_NS))
        self.nothing()
        self.flush(0.0)
        self.displace_kept()
        self.fill((1,), (1,), (y, 0.0, 0))
        self.scale((1,), (1,), (y, y, 0.0, 0))
        self.spin(0)
        self._clocks.read(0)
        torch.cuda.synchronize()

    def nothing(self) -> None:
        """Launch an empty kernel."""
        self._nothing((1,), (1,), ())

    def spin(self, cycles: int) -> None:
        """Launch a kernel that lasts so many cycles of the SM clock, and a launch's own time."""
        self._spin((1,), (1,), (cycles,))

    def clock(self) -> float | None:
        """The SM clock in Hz during the last bracket; ``None`` where it cannot be told."""
        return self._clocks.hertz()

    def flush(self, dirty: float) -> None:
        """Fill L2 with lines of a buffer that nobody else uses, a share ``dirty`` (0 to 1) of them modified.
        Lines that an earlier kernel read as ``evict_last`` stay: see :meth:`displace_kept`.
        """
        self._flush((self._blocks,), (256,), (self._words, self._words.numel() // 4, round(64 * dirty)))

    def displace_kept(self) -> None:
        """Rid L2 of lines that earlier kernels read as ``evict_last``: own ones take their places, and become ordinary.

        ``cuCtxResetPersistingL2Cache`` would do, but in processes that called it before each flush, launches of graphs
        came to take 0.69 in place of 0.51 us (H200, driver 580).
        """
        self._keep((self._blocks,), (256,), (self._words, self._words.numel() // 4))
        self._release((self._blocks,), (256,), (self._words, self._words.numel() // 32))

    def settle(self) -> None:
        """Launch a flush that touches nothing: it only separates executions, L2 stays as it is."""
        self._flush((1,), (32,), (self._words, 0, 0))

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Whatever the body enqueues starts only when all of it is there; on return the device has done it.

        Raises :class:`HoldExpired` when the host took longer than the hold lasts, or waited for the device in between.
        """
        import torch

        self._flags.zero_()
        self._hold((1,), (1,), (self._flags.data_ptr(), HOLD_TIMEOUT_NS))
        try:
            yield
        finally:
            self._flags[0] = 1
            torch.cuda.synchronize()
        if self._flags[1]:
            raise HoldExpired(f"the host needed more than {HOLD_TIMEOUT_NS / 1e9:g} s to enqueue a bracket")

    def seconds(self, enqueue: Step) -> float:
        """GPU time of what ``enqueue`` puts on the stream. Raises :class:`HoldExpired`."""
        with self.held():
            self._clocks.read(0)
            self._start.record()
            enqueue()
            self._end.record()
            self._clocks.read(1)
        return float(self._start.elapsed_time(self._end)) * 1e-3

    def seconds_unheld(self, enqueue: Step) -> float:
        """Time between two events around ``enqueue``, the host's cost of submitting it included."""
        import torch

        torch.cuda.synchronize()
        self._start.record()
        enqueue()
        self._end.record()
        torch.cuda.synchronize()
        return float(self._start.elapsed_time(self._end)) * 1e-3


class Clocks:
    """Cycle counters and times of a few SMs, read in the stream before and after a bracket."""

    BLOCKS = 16  # few, so that reading disturbs nothing; they land on the same SMs each time, all of one clock domain
    MOST_SMS = 1 << 10

    def __init__(self, kernel: Any) -> None:
        import torch

        self._kernel = kernel
        self._words = torch.zeros((2, self.MOST_SMS, 2), dtype=torch.int64).pin_memory()
        self._addresses = [row.data_ptr() for row in self._words]

    def read(self, which: int) -> None:
        """Launch a reading: 0 before a bracket, 1 after it."""
        self._kernel((self.BLOCKS,), (1,), (self._addresses[which],))

    def hertz(self) -> float | None:
        """Cycles per second between the two last readings, once the device has made them."""
        before, after = self._words.numpy()
        both = (before[:, 1] > 0) & (after[:, 1] > before[:, 1])
        if not both.any():
            return None
        cycles, nanoseconds = (after - before)[both].T
        return float(sorted(cycles / nanoseconds)[len(cycles) // 2]) * 1e9


@dataclass(frozen=True)
class Bracket:
    """A captured graph and what precedes each of its replays, outside the timed region."""

    tools: Tools
    graph: Graph
    flush: Step | None = None
    restore: Step | None = None

    def warm_up(self, replays: int) -> None:
        """Replay back to back, so that clocks and temperature are those of this kernel; then once as it is timed."""
        for _ in range(replays):
            self.graph.replay()
        self.seconds()

    def seconds(self) -> float:
        """GPU time of one replay."""
        if self.restore is not None:
            self.restore()
        if self.flush is not None:
            self.flush()
        return self.tools.seconds(self.graph.replay)
