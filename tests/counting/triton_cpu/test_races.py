"""Accesses without an order are found with their kind, at their line; orders that hold are accepted."""

import pytest

from pytest_roofline.counting.triton_cpu import Finding, KernelFault, checking
from tests.counting.triton_cpu.conftest import blamed, bug_line

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

BLOCK = 64
KINDS = {
    "overlapping_same_value": Finding.RACE,
    "racy_accumulate": Finding.RACE,
    "in_place_shift": Finding.RACE,
    "reads_neighbours_result": Finding.RACE,
    "lanes_collide": Finding.DUPLICATE_STORE,
    "atomic_against_plain_store": Finding.RACE,
    "plain_load_of_an_atomic": Finding.RACE,
    "atomics_within_a_block": Finding.RACE,
    "relaxed_ticket": Finding.RACE,
    "release_without_acquire": Finding.RACE,
    "tickets_at_different_addresses": Finding.RACE,
    "reversed_without_barrier": Finding.MISSING_BARRIER,
    "scalars_read_as_a_vector": Finding.MISSING_BARRIER,
}


@pytest.mark.parametrize("name", KINDS)
def test_a_missing_order_is_found_at_its_line(races, name):
    """Whatever the order in which the interpreter runs the programs, and although the values may agree."""
    kernel = getattr(races, name)
    fault = blamed(kernel, (2,), torch.randn(100), torch.zeros(100), torch.zeros(100), 100, BLOCK=BLOCK)
    assert (fault.kind, fault.line, fault.kernel) == (KINDS[name], bug_line(kernel), name)


def test_unlocking_by_a_plain_store_is_a_race(races):
    """It may become visible before what the lock protects."""
    lock, out = torch.zeros(1, dtype=torch.int32), torch.zeros(1)
    fault = blamed(races.unlocked_by_a_store, (2,), out, lock, out, 1, BLOCK=1)
    assert (fault.kind, fault.line, fault.buffer) == (Finding.RACE, bug_line(races.unlocked_by_a_store), "lock")


def test_a_lock_that_is_never_released_is_an_endless_wait(races):
    """A hang would say nothing."""
    lock, out = torch.zeros(1, dtype=torch.int32), torch.zeros(1)
    fault = blamed(races.never_unlocked, (2,), out, lock, out, 1, BLOCK=1)
    assert (fault.kind, fault.line) == (Finding.ENDLESS_WAIT, bug_line(races.never_unlocked))


def test_many_programs_that_change_nothing_do_not_wait(correct, monkeypatch):
    """Patience is counted within a program: equal atomics of others are no endless wait."""
    from pytest_roofline.counting.triton_cpu import launch

    monkeypatch.setattr(launch, "_PATIENCE", 3)
    out = torch.zeros(1, dtype=torch.int32)
    with checking():
        correct.largest[(20,)](out)


def test_a_scan_whose_flag_does_not_release_is_a_race(races):
    """The flag arrives, the prefix may not."""
    x, out, flags = torch.ones(8), torch.zeros(8), torch.zeros(8, dtype=torch.int32)
    fault = blamed(races.scan_without_release, (8,), x, flags, out, 8, BLOCK=1)
    assert (fault.kind, fault.line, fault.program) == (Finding.RACE, bug_line(races.scan_without_release), (1, 0, 0))


def test_overlapping_views_race_through_their_common_memory(races):
    """out is x shifted by one element: programs meet at the border of their blocks."""
    buffer = torch.randn(101)
    fault = blamed(races.copy, (2,), buffer[:-1], buffer[1:], 100, BLOCK=BLOCK)
    assert (fault.kind, fault.buffer) == (Finding.RACE, "x/out")


def test_storing_to_a_broadcast_tensor_is_found(correct):
    """All elements of an expanded tensor are one, so the lanes of a store collide."""
    out = torch.zeros(1, 1).expand(1, 8)
    fault = blamed(correct.copy_rows, (1,), torch.randn(1, 8), out, 8, 8, 1, *out.stride(), BLOCK=8)
    assert (fault.kind, fault.buffer) == (Finding.DUPLICATE_STORE, "out")


def test_a_release_by_one_lane_does_not_wait_for_the_stores_of_others(races):
    """The store of a block needs tl.debug_barrier() before the ticket; only since Triton 3.9 the compiler adds it."""
    x, partial, out = torch.zeros(1), torch.zeros(2, BLOCK), torch.zeros(BLOCK + 1)
    if tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 9):
        with checking():
            races.released_without_barrier[(2,)](x, partial, out, 0, BLOCK=BLOCK)
        assert (out == 2).all()
        return
    fault = blamed(races.released_without_barrier, (2,), x, partial, out, 0, BLOCK=BLOCK)
    assert (fault.kind, fault.line) == (Finding.MISSING_BARRIER, bug_line(races.released_without_barrier))
    assert "debug_barrier" in fault.message


def test_order_can_be_left_out(races, bugs):
    """races=False admits deliberate writes of the same value by several programs, and nothing else."""
    x, out = torch.zeros(100), torch.zeros(100)
    with checking(races=False):
        races.overlapping_same_value[(2,)](x, x, out, 100, BLOCK=BLOCK)
        assert (out == 1).all()
        with pytest.raises(KernelFault) as caught:
            bugs.no_mask[(2,)](x, x, out, 100, BLOCK=BLOCK)
    assert caught.value.kind is Finding.OUT_OF_BOUNDS
