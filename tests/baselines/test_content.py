"""Which campaigns and runs are of one environment, one kernel, one start of a machine."""

import dataclasses
import math

import pytest

from pytest_roofline.baselines import another_host, campaign_id, device_key, differences, latest, run_of
from pytest_roofline.baselines.content import of_one_kernel
from pytest_roofline.evidence import Telemetry, Timing
from tests.baselines.made import HERE, RUN


def test_differences_are_named():
    """What could explain a change of time is listed by name."""
    there = dataclasses.replace(HERE, driver="581", packages={"torch": "2.12", "triton": "3.6"}, machine="other")
    assert differences(HERE, there) == ["driver 580 -> 581", "torch 2.11 -> 2.12"]
    assert differences(HERE, HERE) == []


def test_a_campaign_is_a_day_a_start_of_the_machine_and_a_fingerprint():
    """Repeating a campaign replaces it; another day, start or toolchain is another one."""
    found = campaign_id(HERE, "2026-11-30T10:00:00")
    assert found.startswith("2026-11-30.abcdef12.")
    assert found == campaign_id(HERE, "2026-11-30T23:59:59")
    others = [{"machine": "fedcba987"}, {"driver": "581"}, {"packages": {"torch": "2.12", "triton": "3.6"}}]
    names = {campaign_id(dataclasses.replace(HERE, **other), "2026-11-30") for other in others}
    assert len({found, campaign_id(HERE, "2026-12-01"), *names}) == 5


def test_a_gpu_without_a_record_has_a_folder_of_its_own():
    """An unknown GPU can be tracked too; it only gets no percentage."""
    assert device_key(HERE) == "h200"
    assert device_key(dataclasses.replace(HERE, device="NVIDIA Future-9 X")) == "nvidia_future_9_x"


def test_a_run_keeps_the_conditions():
    """Clocks, power, temperature and throttle reasons are stored with the summary."""
    state = Telemetry((1980, 1970), (3201, 3201), (300.0, 400.0), (40, 45), ("SwPowerCap",), 1975.5)
    timing = Timing((1e-4, 1.1e-4, 1.2e-4), 2, 1, "graph_cold", 3e-8, 1e-6, 4e-7, None, 8e-6, 1.0, 0, state, "12ab")
    run = run_of(timing)
    assert (run.count, run.launches, run.gap, run.kernel, run.host) == (3, 2, 4e-7, None, 8e-6)
    assert (run.sm_clock_mhz, run.memory_clock_mhz, run.power_w) == ((1980, 1970), (3201, 3201), (300.0, 400.0))
    assert (run.temperature_c, run.throttle_reasons, run.code) == ((40, 45), ("SwPowerCap",), "12ab")
    assert (run.clock_mhz, run.launch_floor) == (1975.5, 1e-6)
    assert run.summary.power_limited
    assert not RUN.summary.power_limited
    assert run.quantiles[2] == 1.1e-4


def test_two_cards_of_one_machine_are_two_campaigns():
    """Their runs must not replace each other; a record from before cards were told apart keeps its name."""
    names = {
        campaign_id(dataclasses.replace(HERE, gpu=gpu), "2026-11-30T10:00:00") for gpu in ("aaaa1111", "bbbb2222", "")
    }
    assert len(names) == 3
    assert campaign_id(HERE, "2026-11-30").count(".") == 2


def test_only_runs_of_one_kernel_are_compared_with():
    """Those of the code that was stored last; where a code is unknown, those that are not far off."""
    at = lambda seconds, **changes: dataclasses.replace(  # noqa: E731
        RUN, log_mean=math.log(seconds), quantiles=(seconds,) * 5, **changes
    )
    runs = {
        "a": at(1e-4),
        "b": at(1.3e-4),
        "c": at(1.02e-4, code="new", date="2026-11-30T12"),
        "d": at(1.01e-4, code="new", date="2026-11-30T11"),
        "e": at(1e-4, code="old", date="2026-11-30T10"),
    }
    assert latest(runs) is runs["c"]
    assert set(of_one_kernel(runs)) == {"a", "c", "d"}
    assert of_one_kernel({}) == {}


@pytest.mark.parametrize(
    ("protocol", "machines", "other"),
    [
        ("host_clock", ["aaaaaaaa-1", "bbbbbbbb-2"], True),
        ("transfer", ["aaaaaaaa-1"], True),
        ("host_clock", ["aaaaaaaa-1", "cccccccc-3"], False),
        ("graph_cold", ["aaaaaaaa-1"], False),
    ],
)
def test_a_host_is_another_one_if_no_campaign_was_on_its_start(protocol, machines, other):
    """Only where the host is what was timed; of a host that is not known nothing is said."""
    names = [campaign_id(dataclasses.replace(HERE, machine=machine), "2026-11-30") for machine in machines]
    here = dataclasses.replace(HERE, machine="cccccccc-3")
    assert another_host(protocol, here, names) is other
    assert not another_host(protocol, dataclasses.replace(HERE, machine=""), names)
