"""The timing engine of one process and device: calibrates itself once, then measures cases."""

from __future__ import annotations

import functools
import itertools
import statistics
import time
from collections.abc import Sequence

from pytest_roofline.contract import Protocol
from pytest_roofline.evidence import Timing
from pytest_roofline.timing import cupti
from pytest_roofline.timing.bracket import Call, Tools, capture
from pytest_roofline.timing.errors import Throttled, TimingUnavailable
from pytest_roofline.timing.plan import Plan, copies, plan
from pytest_roofline.timing.telemetry import Monitor, open_monitor, watching

SHORT_SECONDS = 20e-6  # below this the gap between graph nodes matters, and CUPTI is asked as well
ATTEMPTS = 3
BACK_OFF_SECONDS = 0.05
_CALIBRATION_ELEMENTS = (1 << 10, 1 << 14, 1 << 18, 1 << 20)


class Session:
    """Measures on the current GPU. Create it through :func:`open_session`."""

    def __init__(self) -> None:
        import torch

        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        self.l2_bytes: int = properties.L2_cache_size
        self.monitor: Monitor = open_monitor(str(properties.uuid))
        self.tools = Tools(self.l2_bytes)
        self._nothing: Call = lambda: self.tools.nothing((1,), (1,), ())

    @functools.cached_property
    def tick(self) -> float:
        """Smallest step between two event readings, in seconds."""
        readings = sorted({round(self.tools.seconds(self._nothing) * 1e9) for _ in range(200)})
        steps = [b - a for a, b in itertools.pairwise(readings) if b > a]
        return min(steps) * 1e-9 if steps else 0.0

    @functools.cached_property
    def launch_floor(self) -> float:
        """Seconds per launch of an empty kernel in a graph: nothing on this device is faster."""
        return statistics.median(self._brackets([self._nothing], Plan(256, 20, 3)))

    @functools.cached_property
    def gap(self) -> float:
        """Seconds that a graph bracket contains per launch beside the kernel itself: median of :attr:`gaps`."""
        return statistics.median(self.gaps.values()) if self.gaps else 0.0

    @functools.cached_property
    def gaps(self) -> dict[str, float]:
        """Bracket minus CUPTI duration of the engine's own fill and scale kernels under the same cold L2."""
        differences = {}
        for elements in _CALIBRATION_ELEMENTS:
            for name, (calls, dirty) in self._calibration_kernels(elements).items():
                flush = functools.partial(self.tools.flush, dirty)
                seconds = statistics.median(self._brackets(calls, Plan(len(calls), 20, 3), flush=flush))
                alone = cupti.kernel_seconds(calls, flush)
                if alone is not None:
                    differences[f"{name} {elements}"] = seconds - alone
        return differences

    def estimate(self, call: Call) -> float:
        """Rough seconds of one cold execution, launch latency excluded; also compiles what is not compiled yet."""
        for _ in range(2):
            call()
        readings = []
        for _ in range(3):
            self.tools.flush(dirty=0.5)
            readings.append(self.tools.seconds(call))
        empty = self.tools.seconds(self._nothing)
        return max(min(readings) - empty, 0.0) + self.launch_floor

    def copies(self, footprint: int, estimate: float) -> int:
        """How many rotated argument sets of ``footprint`` bytes a bracket of such a kernel wants."""
        import torch

        free, _ = torch.cuda.mem_get_info()
        return copies(footprint, self.l2_bytes, plan(estimate, "default").launches, free)

    def measure(
        self,
        calls: Sequence[Call],
        *,
        dirty: float = 0.5,
        protocol: Protocol = Protocol.GRAPH_COLD,
        restore: Call | None = None,
        effort: str = "default",
        may_allocate: bool = False,
    ) -> Timing:
        """Samples of a complete operation.

        ``calls`` launch it on torch's current stream, one per rotated argument set; ``dirty`` is the share of the bytes
        it touches that it writes; ``restore`` re-initialises what it updates, outside the brackets. Raises
        :class:`Throttled`, :class:`NotCapturable` or :class:`AllocatedWhileTimed`.
        """
        todo = plan(self.estimate(calls[0]), effort)
        flush = functools.partial(self.tools.flush, dirty) if protocol is Protocol.GRAPH_COLD else None
        graphed = protocol in (Protocol.GRAPH_COLD, Protocol.GRAPH_HOT)
        if not graphed:
            todo = Plan(1, todo.brackets, todo.warm_ups)
        discarded = 0
        for attempt in range(1, ATTEMPTS + 1):
            with watching(self.monitor) as state:
                samples = self._sample(calls, todo, protocol, flush, restore, may_allocate)
            telemetry = state()
            bad = self.monitor.throttled()
            if not bad:
                break
            discarded += len(samples)
            time.sleep(BACK_OFF_SECONDS * 4**attempt)
        else:
            raise Throttled(f"the GPU throttled in {ATTEMPTS} attempts ({', '.join(bad)}): {telemetry}")
        short = graphed and statistics.median(samples) < SHORT_SECONDS
        return Timing(
            samples=tuple(samples),
            launches=todo.launches,
            copies=len(calls),
            protocol=protocol.value,
            tick=self.tick,
            launch_floor=self.launch_floor,
            gap=self.gap if graphed else 0.0,
            kernel=cupti.kernel_seconds(calls, flush or _nothing) if short else None,
            host=host_seconds(calls[0]),
            linearity=self._linearity(calls, todo, flush, restore, may_allocate) if graphed else None,
            discarded=discarded,
            telemetry=telemetry,
        )

    def _sample(
        self,
        calls: Sequence[Call],
        todo: Plan,
        protocol: Protocol,
        flush: Call | None,
        restore: Call | None,
        may_allocate: bool,
    ) -> list[float]:
        if protocol is Protocol.HOST_CLOCK:
            return _host_clock(calls, todo, restore)
        if protocol is Protocol.TRANSFER:
            readings = [self.tools.seconds(calls[i % len(calls)]) for i in range(todo.warm_ups + todo.brackets)]
            return readings[todo.warm_ups :]
        return self._brackets(calls, todo, flush=flush, restore=restore, may_allocate=may_allocate)

    def _brackets(
        self,
        calls: Sequence[Call],
        todo: Plan,
        *,
        flush: Call | None = None,
        restore: Call | None = None,
        may_allocate: bool = False,
    ) -> list[float]:
        calls[0]()  # compiled before the capture
        graph = capture(calls, todo.launches, may_allocate=may_allocate)
        samples = []
        for i in range(todo.warm_ups + todo.brackets):
            if restore is not None:
                restore()
            if flush is not None:
                flush()
            seconds = self.tools.seconds(graph.replay)
            if i >= todo.warm_ups:
                samples.append(seconds / todo.launches)
        return samples

    def _calibration_kernels(self, elements: int) -> dict[str, tuple[list[Call], float]]:
        """The engine's own kernels on ``elements`` floats, each launch on buffers of its own where memory allows, and
        the share of their lines that they leave dirty."""
        import torch

        sets = max(1, min(128, (1 << 28) // (8 * elements)))
        x = torch.randn(sets, elements, device="cuda")
        y = torch.empty_like(x)
        grid, block = (-(-elements // 256),), (256,)
        fill: list[Call] = [functools.partial(self.tools.fill, grid, block, (y[i], 1.0, elements)) for i in range(sets)]
        scale: list[Call] = [
            functools.partial(self.tools.scale, grid, block, (x[i], y[i], 2.0, elements)) for i in range(sets)
        ]
        return {"fill": (fill, 1.0), "scale": (scale, 0.5)}

    def _linearity(
        self, calls: Sequence[Call], todo: Plan, flush: Call | None, restore: Call | None, may_allocate: bool
    ) -> float | None:
        """Time of a bracket of 2N launches over twice that of N; ``None`` for long kernels, where N is 1."""
        if todo.launches == 1:
            return None

        def seconds(launches: int) -> float:
            few = Plan(launches, 5, 1)
            found = self._brackets(calls, few, flush=flush, restore=restore, may_allocate=may_allocate)
            return statistics.median(found)

        half = max(1, todo.launches // 2)
        return seconds(2 * half) / seconds(half)


def host_seconds(call: Call, repeats: int = 20) -> float:
    """Seconds that the host spends in one call of a launcher, the device's work not awaited. Median of five."""
    import torch

    readings = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        readings.append((time.perf_counter() - start) / repeats)
    torch.cuda.synchronize()
    return statistics.median(readings)


def _host_clock(calls: Sequence[Call], todo: Plan, restore: Call | None) -> list[float]:
    """Seconds on the host's clock until the device is done, for what a graph cannot hold."""
    import torch

    samples = []
    for i in range(todo.warm_ups + todo.brackets):
        if restore is not None:
            restore()
        torch.cuda.synchronize()
        start = time.perf_counter()
        calls[i % len(calls)]()
        torch.cuda.synchronize()
        if i >= todo.warm_ups:
            samples.append(time.perf_counter() - start)
    return samples


def _nothing() -> None:
    """No flush: the hot protocol finds its data where the last launch left it."""


_open: dict[int, Session] = {}


def open_session() -> Session:
    """The session of this process and current GPU. Raises :class:`TimingUnavailable` with the reason."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise TimingUnavailable("torch is not installed: pip install 'pytest-roofline[cuda13]'") from error
    if not torch.cuda.is_available():
        raise TimingUnavailable("torch finds no GPU here, so nothing can be timed")
    try:
        import cupy  # noqa: F401
    except ModuleNotFoundError as error:
        raise TimingUnavailable("the timing kernels need CuPy: pip install 'pytest-roofline[cuda13]'") from error
    device = torch.cuda.current_device()
    if device not in _open:
        _open[device] = Session()
    return _open[device]
