"""A session measures complete operations by every protocol, or says why it cannot."""

import functools
import statistics
import subprocess
import sys

import pytest

from pytest_roofline.contract import Protocol
from pytest_roofline.timing import AllocatedWhileTimed, NotCapturable, Throttled, TimingUnavailable, open_session
from pytest_roofline.timing.telemetry import Monitor

torch = pytest.importorskip("torch")


def test_importing_the_engine_loads_no_gpu_library():
    """The plugin stays light where nothing is timed."""
    code = "import sys, pytest_roofline.timing; print(sorted({'torch', 'cupy', 'triton'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_without_a_gpu_the_reason_is_given(monkeypatch):
    """It becomes the reason of a skip."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(TimingUnavailable, match="no GPU"):
        open_session()


def test_without_cupy_both_extras_are_named(monkeypatch):
    """The user learns what to install for which driver."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(TimingUnavailable, match=r"cuda13.*cuda12"):
        open_session()


def test_closing_without_a_session_loads_nothing():
    """A run that timed nothing has nothing to give back, and torch stays out of the process."""
    code = "import sys; from pytest_roofline import timing, worker; worker.close(); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_closing_gives_memory_back_and_a_new_session_can_be_opened(engine):
    """What the engine holds on the GPU is gone before the interpreter ends."""
    from pytest_roofline.timing import close_sessions

    close_sessions()
    assert open_session() is not engine


@pytest.fixture
def scale(engine):
    """``scale(n, sets)``: one launch of y = 2 x over n floats per argument set."""

    def make(n, sets=1):
        x, y = (torch.rand(sets, n, device="cuda") for _ in range(2))
        grid = (-(-n // 256),)
        return [functools.partial(engine.tools.scale, grid, (256,), (x[i], y[i], 2.0, n)) for i in range(sets)]

    return make


def test_a_short_kernel_gets_every_number(engine, scale):
    """Bracket samples, gap, CUPTI duration and host cost agree on the order of magnitude of 1 Mi elements."""
    found = engine.measure(scale(1 << 20, 64), effort="quick")
    typical = statistics.median(found.samples)
    assert (found.protocol, found.copies, found.discarded) == ("graph_cold", 64, 0)
    assert found.launches * typical > 100e-6
    assert 0.5 < found.kernel / (typical - found.gap) < 2
    assert found.host > 1e-6
    assert 0.8 < found.linearity < 1.2
    assert found.launch_floor < typical
    assert 0 < found.tick < 2e-6


def test_the_overhead_of_a_bracket_is_calibrated_on_single_kernels_and_on_pairs(engine):
    """CUPTI tells the two kernels of a pair apart, and what is left over is far below a launch from the host."""
    assert {(c.name.split()[:2] == ["scale", "and"], c.steps) for c in engine.comparisons} == {(False, 0), (True, 1)}
    assert 0 < engine.overhead.ends < 20e-6
    assert abs(engine.overhead.node) < 1e-6
    assert abs(engine.overhead.step) < 1e-6


def test_a_long_kernel_is_launched_once_per_bracket(engine, scale):
    """The gap does not matter there and CUPTI is not asked."""
    found = engine.measure(scale(1 << 28), effort="quick")
    assert (found.launches, found.kernel, found.gap, found.linearity) == (1, None, None, None)


def test_cold_data_takes_longer_than_hot(engine, scale):
    """1 Mi floats fit into L2, so only a rotation over many sets and a flush take them from memory."""
    cold = engine.measure(scale(1 << 20, 64), effort="quick")
    hot = engine.measure(scale(1 << 20), protocol=Protocol.GRAPH_HOT, effort="quick")
    assert statistics.median(hot.samples) < 0.8 * statistics.median(cold.samples)
    assert hot.kernel < 0.8 * cold.kernel


def test_values_are_restored_before_each_bracket_and_not_inside(engine):
    """An update in place never drifts: a bracket starts from what ``restore`` left."""
    x = torch.zeros(1 << 10, device="cuda")
    engine.measure([lambda: x.add_(1)], restore=x.zero_, effort="quick", protocol=Protocol.GRAPH_HOT)
    assert 0 < x[0].item() <= 512 + 100  # one bracket, and the calls that measure the host's cost


def test_throttling_that_does_not_end_is_reported(engine, scale, monkeypatch):
    """The caller gets an error with what was measured, never samples that look good."""
    nvml = type("Nvml", (), {"NVMLError": RuntimeError, "nvmlDeviceGetCurrentClocksEventReasons": lambda self, gpu: 8})
    monkeypatch.setattr(engine, "monitor", Monitor(nvml(), None))
    monkeypatch.setattr(Monitor, "reading", lambda self: (None, None, None, None))
    monkeypatch.setattr("pytest_roofline.timing.collect.BACK_OFF_SECONDS", 0.0)
    with pytest.raises(Throttled, match="HwSlowdown") as caught:
        engine.measure(scale(1 << 20, 8), effort="quick")
    assert caught.value.samples
    assert "HwSlowdown" in caught.value.telemetry.throttle_reasons


def test_after_a_refusal_the_next_case_is_measured(engine, scale):
    """A launcher that allocates and one that waits leave the engine as it was."""
    x = torch.rand(1 << 20, device="cuda")
    with pytest.raises(AllocatedWhileTimed):
        engine.measure([lambda: x.clone()], effort="quick")
    with pytest.raises(NotCapturable):
        engine.measure([torch.cuda.synchronize], effort="quick")
    assert engine.measure(scale(1 << 20, 8), effort="quick").samples


def test_work_on_another_stream_is_not_taken_for_a_fast_kernel(engine):
    """It would escape the capture and leave an empty graph that takes no time."""
    x, other = torch.rand(1 << 10, device="cuda"), torch.cuda.Stream()

    def launch():
        with torch.cuda.stream(other):
            x.add_(1)

    with pytest.raises(NotCapturable, match="current stream"):
        engine.measure([launch], effort="quick")


def test_a_launcher_that_waits_is_timed_by_the_host_clock(engine):
    """Protocol ``host_clock`` has no graph: the sample runs until the device is done."""
    x = torch.rand(1 << 20, device="cuda")
    found = engine.measure([lambda: x.sum().item()], protocol=Protocol.HOST_CLOCK, effort="quick")
    assert (found.launches, found.kernel, found.gap) == (1, None, None)
    assert min(found.samples) > 1e-6


@pytest.mark.parametrize("pinned", [True, False])
def test_transfers_are_timed_between_events(engine, pinned):
    """From pinned memory, and from pageable memory where the driver waits for the copy."""
    source = torch.rand(1 << 24)
    source = source.pin_memory() if pinned else source
    target = torch.empty(1 << 24, device="cuda")
    found = engine.measure(
        [lambda: target.copy_(source, non_blocking=True)], protocol=Protocol.TRANSFER, effort="quick"
    )
    assert found.launches == 1
    assert 1e9 < source.nbytes / statistics.median(found.samples) < 1e12  # bytes per second over any host link


def test_the_estimate_follows_the_protocol(engine, scale):
    """A hot kernel is not planned as a cold one, and what no graph holds is estimated by its own clock."""
    [call] = scale(1 << 22)
    cold, hot = (min(engine.estimate(call, p) for _ in range(3)) for p in (Protocol.GRAPH_COLD, Protocol.GRAPH_HOT))
    assert hot < 0.9 * cold
    assert engine.estimate(call, Protocol.HOST_CLOCK) > hot
