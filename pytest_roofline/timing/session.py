"""The timing engine of one process and device: calibrates itself once, then measures cases."""

from __future__ import annotations

import functools
import itertools
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pytest_roofline.contract import Protocol
from pytest_roofline.evidence import Timing
from pytest_roofline.timing.bracket import Bracket, Step, Tools
from pytest_roofline.timing.calibration import Comparison, Overhead, ends, overhead
from pytest_roofline.timing.calibration_kernels import kernels
from pytest_roofline.timing.capture import capture
from pytest_roofline.timing.code import code_of
from pytest_roofline.timing.collect import CHUNK, collect
from pytest_roofline.timing.cupti import BURST, Execution, typical_execution
from pytest_roofline.timing.delay import Delay, calibrate
from pytest_roofline.timing.delay import head as delaying
from pytest_roofline.timing.environment import environment
from pytest_roofline.timing.errors import HoldExpired, NotCapturable
from pytest_roofline.timing.hostcost import batches, completion_seconds, submission_seconds, submissions
from pytest_roofline.timing.plan import LONG_SECONDS, Plan, copies, plan
from pytest_roofline.timing.telemetry import Monitor, open_monitor, slow_clock, watching, with_clock

SHORT_SECONDS = 20e-6  # below this the gap between graph nodes matters, and CUPTI is asked as well
_FLOOR_LAUNCHES = 256
_FLOOR_TOLERANCE = 0.1
_CALIBRATION_ELEMENTS = tuple(1 << k for k in range(10, 17, 2))

Call = Callable[[], object]


@dataclass(frozen=True)
class Job:
    """What is timed: one closure per rotated argument set, what precedes a bracket, and what delays it (``head``)."""

    calls: Sequence[Call]
    flush: Step | None = None
    restore: Step | None = None
    may_allocate: bool = False
    head: Step | None = None


def graphed(protocol: Protocol) -> bool:
    """Whether a protocol times CUDA graphs."""
    return protocol in (Protocol.GRAPH_COLD, Protocol.GRAPH_HOT)


class Session:
    """Measures on the current GPU. Create it through :func:`opening.open_session`."""

    def __init__(self) -> None:
        import torch

        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        self.l2_bytes: int = properties.L2_cache_size
        self.monitor: Monitor = open_monitor(str(properties.uuid))
        self.tools = Tools(self.l2_bytes)
        self.clocks: list[float] = []  # SM clock of every bracket since a case began

    @functools.cached_property
    def tick(self) -> float:
        """Smallest step between two event readings, in seconds."""
        readings = sorted({round(self.tools.seconds(self.tools.nothing) * 1e9) for _ in range(200)})
        steps = [b - a for a, b in itertools.pairwise(readings) if b > a]
        return min(steps) * 1e-9 if steps else 0.0

    @functools.cached_property
    def launch_floor(self) -> float:
        """Seconds per launch of an empty kernel in a graph: nothing on this device is faster."""
        return self._empty_launch(20)

    @functools.cached_property
    def comparisons(self) -> list[Comparison]:
        """Brackets of the engine's own kernels and of pairs of them, in several sizes, beside what CUPTI sees."""
        found = []
        for elements in _CALIBRATION_ELEMENTS:
            for name, calls, dirty in kernels(self.tools, elements):
                job = Job(calls, functools.partial(self.tools.flush, dirty))
                alone = self._alone(job)
                if alone is not None:
                    bracket = self._typical(job, Plan(len(calls), 20, 20))
                    found.append(Comparison(f"{name} {elements}", bracket, len(calls), alone.busy, alone.steps))
        return found

    @functools.cached_property
    def overhead(self) -> Overhead:
        """What a bracket contains beside the kernels, calibrated on kernels of the engine's own."""
        one = self._typical(Job([self.tools.nothing]), Plan(1, 20, 20))
        outside = ends(one, _FLOOR_LAUNCHES * self.launch_floor, _FLOOR_LAUNCHES)
        return overhead(outside, self.comparisons)

    @functools.cached_property
    def delay(self) -> Delay:
        """What a planted slowdown costs beside its length."""
        return calibrate(self.tools)

    def estimate(self, call: Call, protocol: Protocol = Protocol.GRAPH_COLD) -> float:
        """Rough seconds of one execution, cold where the protocol is; also compiles what is not compiled yet."""
        call()
        if not graphed(protocol):
            call()
            return min(self._clock(protocol)(call) for _ in range(3))
        readings: list[float] = []
        while len(readings) < 4 and not (readings and readings[-1] > LONG_SECONDS):
            if protocol is Protocol.GRAPH_COLD:
                self.tools.flush(dirty=0.5)
            try:
                readings.append(self.tools.seconds(call))
            except HoldExpired:  # it waits for the device, or the host stalled
                return completion_seconds(call)
        return max(min(readings) - self.tools.seconds(self.tools.nothing), 0.0) + self.launch_floor

    def _clock(self, protocol: Protocol) -> Callable[[Call], float]:
        """What takes the time of one call that no graph holds.

        A transfer is timed by events without a hold, since a copy from pageable memory waits for the device.
        """
        return completion_seconds if protocol is Protocol.HOST_CLOCK else self.tools.seconds_unheld

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
        restore: Step | None = None,
        effort: str = "default",
        may_allocate: bool = False,
        estimate: float | None = None,
        slowdown: float = 0.0,
    ) -> Timing:
        """Samples of a complete operation.

        ``calls`` launch it on torch's current stream, one per rotated argument set; ``dirty`` is the share of the bytes
        it touches that it writes; ``restore`` re-initialises what it updates, outside the brackets; ``estimate`` is
        what :meth:`copies` was asked with, so that no bracket holds more launches than it was told. ``slowdown`` delays
        every bracket by that fraction. Raises :class:`Throttled`, :class:`NotCapturable`,
        :class:`AllocatedWhileTimed` or :class:`delay.DelayTooShort`.
        """
        in_graph, cold = graphed(protocol), protocol is Protocol.GRAPH_COLD
        self._follow()
        flush = functools.partial(self.tools.flush, dirty) if cold else None
        job = Job(calls, flush, restore, may_allocate)
        todo = plan(self.estimate(calls[0], protocol) if estimate is None else estimate, effort)
        todo = todo if in_graph else Plan(1, todo.brackets, todo.warm_ups)
        take = self.taker(self.slowed(job, todo, [slowdown])[0] if slowdown else job, todo, protocol)
        with watching(self.monitor) as state:
            found = collect(take, todo.brackets, self.spoilt)
        typical = statistics.median(found.samples)
        telemetry = with_clock(state(), self.clock_mhz() if in_graph else None, environment().max_sm_clock_mhz)
        if in_graph and typical < self.launch_floor / 2:
            raise NotCapturable("the graph is empty: the launcher does not enqueue its work on torch's current stream")
        short = in_graph and typical < SHORT_SECONDS
        return Timing(
            samples=found.samples,
            launches=todo.launches,
            copies=len(calls),
            protocol=protocol.value,
            tick=self.tick,
            launch_floor=self.launch_floor,
            gap=self.overhead.gap(todo.launches) if short else None,
            kernel=self.kernel(job) if short else None,
            host=submission_seconds(calls[0], submissions(typical), batches(typical)),
            linearity=self._linearity(job, todo) if in_graph and todo.launches > 1 else None,
            discarded=found.discarded,
            telemetry=telemetry,
            code=self._code(job, slowdown) if in_graph else None,
        )

    def _code(self, job: Job, slowdown: float) -> str | None:
        """The digest of one execution; a planted slowdown counts as other code."""
        compiled = job.calls[:1]  # by the measurement before
        found = code_of(lambda: None, lambda: capture(compiled, 1, may_allocate=job.may_allocate))
        if not found or not slowdown:
            return found
        code, dot, numbers = found.partition(".")
        return f"{code} slowed by {1e6 * slowdown:.0f} ppm{dot}{numbers}"

    def slowed(self, job: Job, todo: Plan, fractions: Sequence[float]) -> list[Job]:
        """The job with work in front of its launches that makes a bracket longer by each of the fractions.

        Raises :class:`delay.DelayTooShort`.
        """
        plain = self._typical(job, Plan(todo.launches, 15, max(1, todo.warm_ups // 4))) * todo.launches
        return [replace(job, head=delaying(self.tools, self.delay, fraction * plain)) for fraction in fractions]

    def spoilt(self) -> tuple[str, ...]:
        """Why the last samples say nothing about the kernel; empty if they do."""
        recent, reasons = self.clocks[-CHUNK:], self.monitor.reasons()
        clock = statistics.median(recent) * 1e-6 if recent else None
        slow = slow_clock(clock, environment().max_sm_clock_mhz, reasons)
        return (*self.monitor.throttled(), *([f"SM clock at {clock:.0f} MHz"] if slow else []))

    def clock_mhz(self) -> float | None:
        """Median SM clock of the brackets since the last :meth:`taker`."""
        return statistics.median(self.clocks) * 1e-6 if self.clocks else None

    def kernel(self, job: Job) -> float | None:
        """Seconds of one execution's kernels from CUPTI, the calibrated step added between two of them; ``None`` where
        it records nothing."""
        alone = self._alone(job)
        return None if alone is None else alone.busy + alone.steps * self.overhead.step

    def _alone(self, job: Job) -> Execution | None:
        job.calls[0]()  # compiled before the capture
        burst = min(BURST, len(job.calls))
        graph = capture(job.calls, burst, may_allocate=job.may_allocate)
        return typical_execution(graph, burst, self.tools, job.flush)

    def _empty_launch(self, brackets: int) -> float:
        return self._typical(Job([self.tools.nothing]), Plan(_FLOOR_LAUNCHES, brackets, brackets))

    def _follow(self) -> None:
        """Forget the calibration if an empty launch has become slower or faster: what else the process does can change
        how long every graph node takes (on an H200 0.51 to 0.69 us after ``torch.compile`` has made CUDA graphs)."""
        if abs(self._empty_launch(3) / self.launch_floor - 1) > _FLOOR_TOLERANCE:
            for name in ("launch_floor", "comparisons", "overhead"):
                self.__dict__.pop(name, None)

    def taker(self, job: Job, todo: Plan, protocol: Protocol) -> Callable[[], float]:
        """A function that takes one sample, in seconds per launch; the GPU is warm when it is returned."""
        self.tools.displace_kept()
        if graphed(protocol):
            bracket = self._bracket(job, todo.launches)
            bracket.warm_up(todo.warm_ups)
            self.clocks.clear()
            return lambda: self._sample(bracket) / todo.launches
        rotation = itertools.cycle(job.calls)

        def restored() -> Call:
            if job.restore is not None:
                job.restore()
            return next(rotation)

        clock = self._clock(protocol)
        for _ in range(todo.warm_ups):
            clock(restored())
        return lambda: clock(restored())

    def _sample(self, bracket: Bracket) -> float:
        seconds = bracket.seconds()
        clock = self.tools.clock()
        if clock is not None:
            self.clocks.append(clock)
        return seconds

    def _bracket(self, job: Job, launches: int) -> Bracket:
        job.calls[0]()  # compiled before the capture
        graph = capture(job.calls, launches, may_allocate=job.may_allocate, head=job.head)
        return Bracket(self.tools, graph, job.flush, job.restore)

    def _typical(self, job: Job, todo: Plan) -> float:
        """Median seconds per launch over a few brackets."""
        bracket = self._bracket(job, todo.launches)
        readings = [bracket.seconds() for _ in range(todo.warm_ups + todo.brackets)]
        return statistics.median(readings[todo.warm_ups :]) / todo.launches

    def _linearity(self, job: Job, todo: Plan) -> float:
        """Seconds per launch with all launches in a bracket over that with half of them; 1 without overhead."""
        half = todo.launches // 2
        return self._typical(job, Plan(2 * half, 5, 1)) / self._typical(job, Plan(half, 5, 1))
