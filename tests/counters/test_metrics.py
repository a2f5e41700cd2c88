"""The figures that hardware counters make."""

from __future__ import annotations

import pytest

from pytest_roofline.counters.metrics import FIGURES, METRICS, Counters, counters, dominant, from_plain, plain

RAW = {
    "gpu__time_duration.sum": 2500.0,
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 100.0,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 500.0,
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 0.0,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 0.0,
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": 80.0,
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct": 0.0,
    "smsp__average_warp_latency_per_inst_issued.ratio": 20.0,
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": 15.0,
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": 2.0,
    "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio": 0.1,
}


def test_figures_are_in_base_units_and_ratios_are_formed():
    """Seconds from nanoseconds; sectors per request from the two counters."""
    found = counters("kernel", RAW).figures
    assert found["duration"] == pytest.approx(2.5e-6)
    assert found["load_sectors_per_request"] == 5
    assert found["load_used"] == 80


def test_what_a_kernel_does_not_do_has_no_figure():
    """A kernel without stores has neither sectors per store nor a share of their bytes, where ncu prints zero."""
    found = counters("kernel", RAW).figures
    assert "store_sectors_per_request" not in found
    assert "store_used" not in found


def test_counters_that_a_chip_lacks_are_left_out():
    """Nothing is guessed for a missing counter, and the other figures stay."""
    assert set(counters("kernel", {"gpu__time_duration.sum": 1.0}).figures) == {"duration"}


def test_stalls_are_shares_of_a_warps_time_and_the_largest_comes_first():
    """Reasons below one percent are noise and left out."""
    assert counters("kernel", RAW).stalls == {"long_scoreboard": pytest.approx(75), "barrier": pytest.approx(10)}
    assert list(counters("kernel", RAW).stalls) == ["long_scoreboard", "barrier"]


def test_a_hit_rate_above_one_is_no_hit_rate():
    """The passes of a profile see different executions; what cannot be true is left out."""
    assert "l2_hits" not in counters("kernel", {"lts__t_sector_hit_rate.pct": 209.4}).figures
    assert counters("kernel", {"lts__t_sector_hit_rate.pct": 88.8}).figures == {"l2_hits": 88.8}


def test_every_figure_comes_from_counters_that_are_asked_for():
    """With all counters there, all figures are."""
    assert set(counters("kernel", dict.fromkeys(METRICS, 1.0)).figures) == set(FIGURES)
    assert len(set(METRICS)) == len(METRICS)


def test_the_longest_launch_stands_for_a_case():
    """An operation of several kernels is diagnosed by the one that takes most of the time."""
    short, long = Counters("fill", {"duration": 1e-6}), Counters("work", {"duration": 7e-3})
    assert dominant((short, long)) is long
    assert dominant(()) is None


def test_counters_survive_a_file():
    """What a run file holds reads back equal; fields of another version are ignored."""
    found = counters("kernel<float>", RAW)
    assert from_plain(plain(found)) == found
    assert from_plain({**plain(found), "comment": "text", "flag": True}) == found
