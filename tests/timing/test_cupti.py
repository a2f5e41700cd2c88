"""Executions are told apart in a stream of device activities."""

from pytest_roofline.timing.cupti import executions


def test_one_kernel_per_execution():
    """The flush begins a group and is none of it."""
    events = [("flush_l2", 0, 5), ("k", 10, 12), ("k", 13, 16)]
    assert executions(events, 2) == [2, 3]


def test_several_kernels_per_execution_count_with_what_lies_between():
    """From the start of the first to the end of the last, in any order of events."""
    events = [("b", 14, 15), ("a", 10, 12), ("flush_l2", 0, 5), ("a", 20, 22), ("b", 23, 29)]
    assert executions(events, 2) == [5, 9]


def test_a_group_with_a_lost_event_is_left_out():
    """Three activities are no two executions; the next group still counts."""
    events = [
        ("flush_l2", 0, 1),
        ("k", 2, 3),
        ("k", 4, 5),
        ("k", 6, 7),
        ("flush_l2", 8, 9),
        ("k", 10, 12),
        ("k", 12, 15),
    ]
    assert executions(events, 2) == [2, 3]


def test_nothing_recorded_gives_nothing():
    """No events, no durations; what runs before the first flush is not ours."""
    assert executions([], 1) == []
    assert executions([("k", 0, 1)], 1) == []
