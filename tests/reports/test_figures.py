"""What is known of a case, from counters, counts and its time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.counting.counts import Access, CaseCounts, Launch, to_plain
from pytest_roofline.reports import diagnosis, figures
from pytest_roofline.reports.diagnosis import Status
from pytest_roofline.runs.record import CaseRecord, CountedFigures
from tests.runs.made import made_case, made_run

RUN = made_run({})
NAME = "transpose/cuda/shared/f32/64x64"


def counted_case(*launches: Launch, layout_free: bool = False, **compiled: object) -> CaseRecord:
    """A timed case with the counts of these launches and one compiled kernel."""
    kernel = {"key": "k", "registers": 30, "spills": 0, "occupancy": 0.75, **compiled}
    plain = to_plain(CaseCounts(launches, layout_free), places=False)
    return replace(made_case(NAME, 40e-6), counted=CountedFigures("sm_80", NAME, plain, (kernel,)))


def test_counts_become_sectors_conflicts_and_atomics():
    """Per request, as a share of what would do, and per element of the counted problem."""
    launch = Launch(
        "k",
        (
            Access("global load", 4, 100, 3200, 3200, 400),
            Access("shared load", 4, 100, 3200, wavefronts=3200, ideal_wavefronts=100),
            Access("global atomic", 4, 128, 4096, 4096, 512),
        ),
        {},
        12800,
        4,
    )
    found = figures.of(counted_case(launch), RUN.device)
    assert found["load_sectors_per_request"].value == 32
    assert found["load_used"].value == 12.5
    assert (found["shared_conflicts"].value, found["shared_passes"].value) == (3100, 3200)
    assert found["atomics_per_element"].value == 1
    assert found["load_used"].origin == "counted at 64x64, sm_80"


def test_triton_has_no_requests_of_warps_and_nothing_of_shared_memory():
    """Its interpreter knows neither, and no figure pretends that."""
    launch = Launch("k", (Access("global load", 4, 1, 4096, 1024, 512),), {}, 16384, 0)
    found = figures.of(counted_case(launch, layout_free=True), RUN.device)
    assert found["load_used"].value == 50
    assert not {"load_sectors_per_request", "shared_passes", "shared_conflicts"} & set(found)


def test_several_kernels_show_the_traffic_between_them():
    """Two kernels over the same data move twice what one would."""
    launches = [Launch(name, (), {}, 4096, 4096) for name in ("add", "relu")]
    found = figures.of(counted_case(*launches), RUN.device)
    assert found["kernels_traffic"].value == 2
    assert [f.claim for f in diagnosis.diagnose(found) if f.status is Status.APPLIES] == ["fuse-1"]


def test_the_kernel_that_needs_most_speaks_for_compiled_code():
    """Registers and spills are the largest, occupancy the smallest, of the kernels of a case."""
    case = counted_case(Launch("k", (), {}, 1, 1))
    assert case.counted is not None
    kernels = ({**case.counted.kernels[0]}, {"key": "l", "registers": 255, "spills": 64, "occupancy": 0.125})
    found = figures.of(replace(case, counted=replace(case.counted, kernels=kernels)), RUN.device)
    assert [found[n].value for n in ("registers", "spills", "possible_occupancy")] == [255, 64, 12.5]


def test_the_time_gives_shares_of_dram_and_of_the_pipeline():
    """48 MB in 40 us are a quarter of 4.8 TB/s, if the declared bytes are what moved."""
    found = figures.of(made_case(NAME, 40e-6), RUN.device)
    assert found["dram_share"].value == pytest.approx(25, rel=0.01)
    assert found["fma_share"].value == pytest.approx(100 * 6e6 / 40e-6 / 67e12, rel=0.01)
    assert found["dram_share"].origin == figures.WORK


def test_a_hardware_counter_comes_before_what_was_derived_or_counted():
    """It was taken on this very shape; its origin says so."""
    case = counted_case(Launch("k", (Access("global load", 4, 100, 3200, 3200, 400),), {}, 1, 1))
    case = replace(case, ncu={"kernel": "k", "dram_share": 33.0, "load_used": 50.0, "stall.barrier": 60.0})
    found = figures.of(case, RUN.device)
    assert (found["dram_share"].value, found["dram_share"].origin) == (33.0, figures.NCU)
    assert (found["load_used"].value, found["load_used"].origin) == (50.0, figures.NCU)
    assert found["stall.long_scoreboard"].value == 0  # shares below one percent are not kept


def test_a_case_of_another_profiler_version_keeps_what_is_known():
    """A figure that this version has no name for is left out."""
    found = figures.of(replace(made_case(NAME, 40e-6), ncu={"new_counter": 1.0, "occupancy": 50.0}), RUN.device)
    assert "new_counter" not in found
    assert found["occupancy"].value == 50
