"""NVML's masks and readings become a record; a GPU without NVML is timed all the same."""

import types

import pytest

from pytest_roofline.evidence import Telemetry
from pytest_roofline.timing.telemetry import Monitor, decode, slow_clock, watching, with_clock


class NotSupportedError(Exception):
    """NVML's error."""


def nvml(**changes):
    """As much of pynvml as is used, readings in the order in which they are taken."""
    readings = {"clocks": [1980, 3201, 1500, 3201], "power": [300_000, 400_000], "heat": [40, 45], "mask": [0x1, 0x4]}
    readings.update(changes)
    return types.SimpleNamespace(
        NVMLError=NotSupportedError,
        NVML_CLOCK_SM=1,
        NVML_CLOCK_MEM=2,
        NVML_TEMPERATURE_GPU=0,
        nvmlDeviceGetClockInfo=lambda gpu, kind: readings["clocks"].pop(0),
        nvmlDeviceGetPowerUsage=lambda gpu: readings["power"].pop(0),
        nvmlDeviceGetTemperature=lambda gpu, kind: readings["heat"].pop(0),
        nvmlDeviceGetCurrentClocksEventReasons=lambda gpu: readings["mask"].pop(0),
    )


@pytest.mark.parametrize(
    ("mask", "names"),
    [
        (0x0, ()),
        (0x1, ()),
        (0x4, ("SwPowerCap",)),
        (0x48, ("HwSlowdown", "HwThermalSlowdown")),
        (0x80, ("HwPowerBrakeSlowdown",)),
    ],
)
def test_masks_are_decoded(mask, names):
    """Idle is no reason to report."""
    assert decode(mask) == names


@pytest.mark.parametrize(
    ("mask", "bad"), [(0x4, False), (0x8, True), (0x20, True), (0x40, True), (0x80, True), (0x2, False)]
)
def test_a_power_cap_is_no_throttling(mask, bad):
    """Large GEMMs run at the power limit; heat, brakes and hardware slowdowns spoil a sample."""
    assert bool(Monitor(nvml(mask=[mask]), None).throttled()) == bad


def test_state_before_and_after_is_recorded():
    """Clocks, power, temperature and reasons on both sides of the measurement."""
    with watching(Monitor(nvml(), None)) as state:
        pass
    found = state()
    assert (found.sm_clock_mhz, found.memory_clock_mhz) == ((1980, 1500), (3201, 3201))
    assert (found.power_w, found.temperature_c, found.throttle_reasons) == ((300, 400), (40, 45), ("SwPowerCap",))


def test_what_a_gpu_does_not_support_is_unknown():
    """A missing sensor is None, not zero, and stops nothing."""

    def refuse(gpu):
        raise NotSupportedError

    fake = nvml()
    fake.nvmlDeviceGetPowerUsage = refuse
    with watching(Monitor(fake, None)) as state:
        pass
    assert state().power_w is None
    assert state().sm_clock_mhz == (1980, 1500)


def test_without_nvml_everything_is_unknown():
    """Neither the package nor the driver is needed to time."""
    blind = Monitor(None, None)
    with watching(blind) as state:
        pass
    assert state().sm_clock_mhz is None
    assert blind.throttled() == ()
    assert blind.attribute(lambda nvml, gpu: 1) is None


@pytest.mark.parametrize(
    ("clock", "highest", "reasons", "slow"),
    [
        (1980.0, 1980, (), False),
        (1490.0, 1980, (), False),
        (1480.0, 1980, (), True),
        (1380.0, 1980, ("SwPowerCap",), False),
        (1380.0, 1980, ("SyncBoost",), True),
        (None, 1980, (), False),
        (300.0, None, (), False),
    ],
)
def test_a_slow_clock_spoils_samples_unless_the_power_limit_explains_it(clock, highest, reasons, slow):
    """Under three quarters of the highest clock; a GEMM at the power limit runs like that for ever."""
    assert slow_clock(clock, highest, reasons) == slow


@pytest.mark.parametrize(
    ("clock", "highest", "reasons"),
    [
        (1965.0, 1980, ("SyncBoost",)),
        (1900.0, 1980, ("SwPowerCap", "SyncBoost")),
        (None, 1980, ("SwPowerCap", "SyncBoost")),
        (1965.0, None, ("SwPowerCap", "SyncBoost")),
    ],
)
def test_a_power_cap_that_holds_no_clock_down_is_not_recorded(clock, highest, reasons):
    """The driver still names it when the kernel that caused it is gone; without a clock its word has to do."""
    found = with_clock(Telemetry(throttle_reasons=("SwPowerCap", "SyncBoost"), power_w=(300, 310)), clock, highest)
    assert found == Telemetry(throttle_reasons=reasons, power_w=(300, 310), clock_mhz=clock)
