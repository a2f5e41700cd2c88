"""Blocks under way at the same time: what they then see of each other is run, and bugs on those paths are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pytest_roofline.checking.check import _instrumented
from pytest_roofline.counting.cuda_cpu import CudaFault, FaultKind, checking, load
from pytest_roofline.counting.cuda_cpu.session import current

SOURCE = Path(__file__).parent / "interleaved.cu"
BLOCKS = 12


def launch(
    kernel: str, *args: Any, seed: int, bug: int = 0, order: str = "interleaved", unset: tuple[Any, ...] = ()
) -> None:
    function = load(SOURCE, options=(f"-DBUG={bug}",)).function(kernel)
    with checking(order=order, seed=seed, uninitialised=unset):
        function((BLOCKS,), (64,), args)


def look_back(seed: int, bug: int = 0, order: str = "interleaved") -> Any:
    """How many tiles of which only the sum was known each block met."""
    x, y, met = np.arange(1, BLOCKS + 1, dtype=np.int32), np.zeros(BLOCKS, np.int32), np.zeros(BLOCKS, np.int32)
    tiles = np.zeros((BLOCKS, 3), np.int32)
    launch("look_back", x, y, tiles, met, seed=seed, bug=bug, order=order)
    np.testing.assert_array_equal(y, x.cumsum())
    return met


def found(attempt: Callable[[int], Any], lines: set[int]) -> set[FaultKind]:
    """The kinds of the first findings over some schedules; each must be at one of the lines."""
    kinds = set()
    for seed in range(8):
        try:
            attempt(seed)
        except CudaFault as fault:
            finding = fault.findings[0]
            assert {finding.line, finding.other_line} & lines, str(finding)
            kinds.add(finding.kind)
    return kinds


def marked(bug: int, kernel: str) -> set[int]:
    """Lines of a kernel that carry a bug's mark."""
    text = SOURCE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(text) if f" {kernel}(" in line)
    end = next(i for i in range(start, len(text)) if text[i] == "}")
    return {i + 1 for i in range(start, end) if f"// BUG {bug}" in text[i]}


def test_one_after_another_a_look_back_finds_finished_tiles() -> None:
    """In the other orders blocks do not overlap, so that every predecessor has its prefix ready."""
    assert not look_back(0, order="forward").any()


def test_a_look_back_adds_up_sums_of_unfinished_tiles() -> None:
    """Set aside between its two flags, a block shows its successors a sum only; several in a row occur, too."""
    met = np.stack([look_back(seed) for seed in range(8)])
    assert met.any()
    assert met.max() > 1


def test_a_fence_missing_on_the_way_of_sums_is_found() -> None:
    """The sum is read where nothing but the missing fence would order it; run in order, nobody ever reads it."""
    look_back(0, bug=1, order="forward")
    assert found(lambda seed: look_back(seed, bug=1), marked(1, "look_back")) == {FaultKind.GLOBAL_RACE}


def test_a_wrong_sum_of_unfinished_tiles_is_seen() -> None:
    """Taking the prefix where only the sum is known gives a wrong result, or a race with who stores it."""
    look_back(0, bug=2, order="forward")
    wrong = 0
    for seed in range(8):
        try:
            look_back(seed, bug=2)
        except (AssertionError, CudaFault):
            wrong += 1
    assert wrong


def test_a_schedule_repeats_with_its_seed() -> None:
    """The same seed gives the same schedule, another one another."""
    assert (look_back(3) == look_back(3)).all()
    assert len({tuple(look_back(seed)) for seed in range(8)}) > 1


@pytest.mark.parametrize("seed", range(4))
def test_a_lock_is_waited_for(seed: int) -> None:
    """A block that holds a lock may be set aside; who waits for it lets it go on."""
    lock, count, seen = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(BLOCKS, np.int32)
    launch("locked_count", lock, count, seen, seed=seed)
    assert count[0] == BLOCKS
    assert sorted(seen) == list(range(BLOCKS))


def test_reading_before_the_lock_is_found() -> None:
    """A race in any order."""

    def count(seed: int) -> None:
        launch(
            "locked_count", np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(BLOCKS, np.int32), seed=seed, bug=1
        )

    assert found(count, marked(1, "locked_count")) == {FaultKind.GLOBAL_RACE}


def test_several_blocks_are_under_way() -> None:
    """Up to four at a time, and one where blocks run in order."""
    most = []
    for seed, order in [(0, "forward"), *((seed, "interleaved") for seed in range(6))]:
        here, largest = np.zeros(1, np.int32), np.zeros(1, np.int32)
        launch("present", here, largest, seed=seed, order=order)
        assert here[0] == 0
        most.append(int(largest[0]))
    assert most[0] == 1
    assert 1 < max(most) <= 4


@pytest.mark.parametrize("seed", range(4))
def test_a_block_keeps_what_is_its_own(seed: int) -> None:
    """Shared memory and the order of accesses to it survive that other blocks run in between."""
    ticket, out = np.zeros(1, np.int32), np.zeros((BLOCKS, 3, 64), np.int32)
    launch("own_memory", ticket, out, seed=seed)
    b, r, t = np.indices(out.shape)
    np.testing.assert_array_equal(out, b * 1000 + r * 100 + 63 - t)
    assert ticket[0] == 6 * BLOCKS


def test_a_check_takes_its_order_by_its_seed() -> None:
    """Drawn seeds reach every order, and the seed that a failure prints brings back its schedule."""
    case: Any = SimpleNamespace(kernel=SimpleNamespace(peer=False, backend="cuda"))
    taken = []
    for seed in (0, 1, 2, 3, 7):
        with _instrumented(case, "cpu", seed, patience=1.0):
            taken.append((current().order, current().seed))
    assert taken == [("forward", 0), ("reverse", 1), ("random", 2), ("interleaved", 3), ("interleaved", 7)]
