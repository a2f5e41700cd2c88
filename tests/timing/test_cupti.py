"""Executions are told apart in a stream of device activities."""

import ctypes
import os

import pytest

from pytest_roofline.timing.cupti import Execution, detach, executions


def test_one_kernel_per_execution():
    """The flush begins a group and is none of it."""
    events = [("flush_l2", 0, 5), ("k", 10, 12), ("k", 13, 16)]
    assert executions(events, 2) == [Execution(2, 0), Execution(3, 0)]


def test_pauses_between_the_kernels_of_one_execution_are_counted_and_not_timed():
    """The trace widens them; in any order of events."""
    events = [("b", 14, 15), ("a", 10, 12), ("flush_l2", 0, 5), ("a", 20, 22), ("b", 23, 29)]
    assert executions(events, 2) == [Execution(3, 1), Execution(8, 1)]


def test_kernels_that_run_at_the_same_time_count_once():
    """One inside the other, one overlapping, and one right behind after a pause."""
    events = [("flush_l2", 0, 1), ("a", 10, 20), ("b", 12, 15), ("c", 18, 24), ("d", 30, 31)]
    assert executions(events, 1) == [Execution(15, 1)]


def test_a_group_with_a_lost_event_is_left_out():
    """Three activities are no two executions; the next group still counts."""
    lost = [("flush_l2", 0, 1), ("k", 2, 3), ("k", 4, 5), ("k", 6, 7)]
    whole = [("flush_l2", 8, 9), ("k", 10, 12), ("k", 12.5, 15.5)]
    assert executions(lost + whole, 2) == [Execution(2, 0), Execution(3, 0)]


def test_nothing_recorded_gives_nothing():
    """No events, no durations; what runs before the first flush is not ours."""
    assert executions([], 1) == []
    assert executions([("k", 0, 1)], 1) == []


class FakeCupti:
    """A loaded library; remembers how it was asked for, and what was called."""

    def __init__(self):
        self.calls = []

    def __call__(self, name, mode):
        self.calls.append((name, bool(mode & os.RTLD_NOLOAD)))
        return self

    def cuptiFinalize(self):  # noqa: N802
        self.calls.append("cuptiFinalize")


def test_cupti_is_taken_out_of_the_process_that_torch_loaded_it_into(monkeypatch):
    """The library of torch's CUDA version, never loaded for this alone."""
    torch = pytest.importorskip("torch")
    loaded = FakeCupti()
    monkeypatch.setattr(ctypes, "CDLL", loaded)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    detach()
    assert loaded.calls == [("libcupti.so.13", True), "cuptiFinalize"]


def test_without_cupti_there_is_nothing_to_take_out(monkeypatch):
    """A process that has profiled nothing, or a CPU build of torch, closes as quietly: no library is asked for."""
    torch = pytest.importorskip("torch")
    loaded = FakeCupti()
    monkeypatch.setattr(ctypes, "CDLL", loaded)
    monkeypatch.setattr(torch.version, "cuda", None)
    detach()
    assert loaded.calls == []
