"""Vector clocks and sets of accesses."""

import pytest

np = pytest.importorskip("numpy")

from pytest_roofline.counting.triton_cpu.ordering import EMPTY, Clock, Histories  # noqa: E402

FLAG = np.array([EMPTY], np.int32)


def started(programs, **options):
    """A clock whose last of so many programs runs."""
    clock = Clock(**{"release_has_barrier": False} | options)
    for _ in range(programs):
        clock.start_program()
    return clock


def test_a_program_knows_itself_and_nobody_else():
    """Without atomics nothing is ordered."""
    clock = started(2)
    assert clock.knows(1, 7)
    assert not clock.knows(0, 0)


def test_an_acquire_learns_what_was_released_before():
    """Accesses before the release are ordered, those after it are not."""
    clock = started(1)
    before = clock.epoch()
    flag = clock.release(FLAG, by_all=False)
    clock.end_phase()
    after = clock.epoch()
    clock.start_program()
    assert not clock.knows(0, before)
    clock.acquire(flag)
    assert clock.knows(0, before)
    assert not clock.knows(0, after)


def test_knowledge_is_passed_on():
    """The third program learns of the first through the second."""
    clock = started(1)
    first = clock.epoch()
    flag = clock.release(FLAG, by_all=False)
    clock.start_program()
    clock.acquire(flag)
    other_flag = clock.release(FLAG, by_all=False)
    clock.start_program()
    clock.acquire(other_flag)
    assert clock.knows(0, first)


def test_a_flag_collects_the_releases_of_several_programs():
    """As a ticket counter does; elements that were released differently stay apart."""
    clock = started(1)
    flags = np.array([EMPTY, EMPTY], np.int32)
    flags[:1] = clock.release(flags[:1], by_all=False)
    clock.start_program()
    flags = clock.release(flags, by_all=False)
    clock.start_program()
    clock.acquire(flags[1:])
    assert (clock.knows(0, 0), clock.knows(1, 0)) == (False, True)
    clock.acquire(flags[:1])
    assert (clock.knows(0, 0), clock.knows(1, 0)) == (True, True)


def test_superseded_snapshots_are_dropped():
    """A counter that every program increments keeps only the last one, or a large grid would fill the memory."""
    clock, flag = started(0), FLAG
    for _ in range(100):
        clock.start_program()
        clock.acquire(flag)
        flag = clock.release(flag, by_all=False)
    clock.start_program()
    clock.acquire(flag)
    assert all(clock.knows(program, 0) for program in range(100))
    assert len(clock._snapshots) == 2


def test_snapshots_stay_where_granules_have_split():
    """One half may be released again, the other one still holds what was published before."""
    clock = started(1)
    flag = clock.release(FLAG, by_all=False)
    halves = np.repeat(flag, 2)
    clock.keep_all()
    clock.start_program()
    halves[:1] = clock.release(halves[:1], by_all=False)
    clock.start_program()
    clock.acquire(halves[1:])
    assert (clock.knows(0, 0), clock.knows(1, 0)) == (True, False)


@pytest.mark.parametrize(
    ("barrier_first", "by_all", "compiler", "ordered"),
    [(False, False, False, False), (True, False, False, True), (False, True, False, True), (False, False, True, True)],
)
def test_a_release_by_one_lane_covers_the_stores_of_others_only_behind_a_barrier(
    barrier_first, by_all, compiler, ordered
):
    """The barrier is the kernel's or the compiler's; an atomic of all lanes needs none."""
    clock = started(1, release_has_barrier=compiler)
    store = clock.epoch(others_store=True)
    if barrier_first:
        clock.end_phase()
    flag = clock.release(FLAG, by_all=by_all)
    clock.start_program()
    clock.acquire(flag)
    assert clock.knows(0, store) is ordered


def test_sets_of_accesses_are_shared_and_listed_backwards():
    """Equal sets have equal numbers, so that memory needs one number per element."""
    histories = Histories()
    sets = np.array([EMPTY, EMPTY, histories.single(0, 0)], np.int32)
    extended = histories.extended(sets, 1, 4)
    assert extended[0] == extended[1] != extended[2]
    assert list(histories.accesses(int(extended[2]))) == [(1, 4), (0, 0)]
    assert list(histories.accesses(EMPTY)) == []


def test_a_later_access_of_a_program_replaces_its_earlier_one():
    """A program that loads an element in a loop does not make the set longer."""
    histories = Histories()
    one = histories.single(0, 0)
    assert list(histories.accesses(int(histories.extended(np.array([one]), 0, 2)))) == [(0, 2)]
    assert histories.extended(np.array([one]), 0, 0) == one
