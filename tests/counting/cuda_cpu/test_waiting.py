"""Locks and hand-overs under contention end soon; a deadlock, a missing fence or a game without end is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import CudaFault, FaultKind, checking, load
from tests.counting.cuda_cpu.algorithm import ORDERS

SOURCE = Path(__file__).parent / "waiting.cu"


def ints(*shape: int) -> Any:
    return np.zeros(shape, np.int32)


def launch(kernel: str, blocks: int, threads: int, *args: Any, order: str = "forward", **settings: Any) -> None:
    with checking(order=order, **settings):
        load(SOURCE).function(kernel)((blocks,), (threads,), args)


def marked(kernel: str) -> set[int]:
    """Lines of a kernel that carry the mark."""
    text = SOURCE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(text) if f" {kernel}(" in line)
    end = next(i for i in range(start, len(text)) if text[i] == "}")
    return {i + 1 for i in range(start, end) if "// BUG" in text[i]}


def found(kernel: str, attempt: Callable[[str, int], None], order: str) -> set[FaultKind]:
    """The kinds of the first findings over some seeds, each at a marked line."""
    kinds = set()
    for seed in range(6):
        try:
            attempt(order, seed)
        except CudaFault as fault:
            finding = fault.findings[0]
            assert {finding.line, finding.other_line} & marked(kernel), str(finding)
            kinds.add(finding.kind)
    return kinds


@pytest.mark.parametrize("order", ORDERS)
def test_a_contended_ticket_lock_ends(order: str) -> None:
    """64 warps that take a lock 8 times each poll it tens of thousands of times: far within five seconds of work."""
    next_, serving, count = np.zeros(1, np.uint32), np.zeros(1, np.uint32), ints(1)
    launch("ticket_lock", 8, 256, next_, serving, count, np.int32(8), order=order, seed=1, launch_limit=5.0)
    assert count[0] == next_[0] == serving[0] == 512


@pytest.mark.parametrize("order", ORDERS)
def test_a_ticket_lock_without_its_fence_is_found(order: str) -> None:
    """The many releases in between hide no race."""
    with pytest.raises(CudaFault) as caught:
        launch(
            "ticket_without_fence", 4, 64, np.zeros(1, np.uint32), np.zeros(1, np.uint32), ints(1), np.int32(2),
            order=order,
        )  # fmt: skip
    assert caught.value.kind is FaultKind.GLOBAL_RACE
    assert caught.value.line in marked("ticket_without_fence")


@pytest.mark.parametrize("order", ORDERS)
def test_nested_locks_in_one_order_are_clean(order: str) -> None:
    """Two of six locks at a time, 48 warps: no finding, the right sums, and far within five seconds of work."""
    rng = np.random.default_rng(4)
    from_, to = rng.integers(0, 6, (2, 48 * 5), np.int32)
    balance = ints(6)
    launch("transfers", 6, 256, from_, to, balance, ints(6), np.int32(5), order=order, seed=2, launch_limit=5.0)
    np.testing.assert_array_equal(balance, np.bincount(to, minlength=6) - np.bincount(from_, minlength=6))


@pytest.mark.parametrize("order", ["random", "interleaved"])
@pytest.mark.parametrize(
    ("kernel", "arguments"), [("inverted_warps", lambda: (ints(2), ints(1))), ("inverted_shared", lambda: (ints(1),))]
)
def test_warps_that_take_locks_in_opposite_orders_deadlock(
    kernel: str, arguments: Callable[[], Any], order: str
) -> None:
    """A thread pauses after its first lock with some seeds, so that both warps hold one."""
    kinds = found(kernel, lambda o, seed: launch(kernel, 1, 64, *arguments(), order=o, seed=seed), order)
    assert kinds == {FaultKind.LIVELOCK}


@pytest.mark.parametrize("order", ORDERS)
def test_a_launch_ends_at_its_limit(order: str) -> None:
    """Threads that always make progress are stopped by the limit of the launch, which the finding names."""
    with pytest.raises(CudaFault, match="launch_limit") as caught:
        launch("endless_game", 1, 2, ints(1), order=order, launch_limit=0.5)
    assert caught.value.kind is FaultKind.TIME_LIMIT
    assert caught.value.line in marked("endless_game")
    launch("passed_on", 2, 64, ints(1), ints(1), ints(1), ints(1))  # the next launch is as any other


@pytest.mark.parametrize("order", ORDERS)
def test_a_loop_of_compare_and_swap_may_begin_with_a_plain_read(order: str) -> None:
    """Of which nothing but the value to compare with depends."""
    x, largest = np.random.default_rng(2).standard_normal(500), np.full(2, -9.0)
    for seed in range(3):
        launch("largest_by_swaps", 3, 64, x, largest, np.int32(500), order=order, seed=seed)
        assert largest.tolist() == [x.max()] * 2


@pytest.mark.parametrize("order", ORDERS)
def test_another_plain_read_beside_swaps_is_found(order: str) -> None:
    """It is of another place, and no swap follows it."""
    with pytest.raises(CudaFault) as caught:
        launch("read_beside_swaps", 1, 64, np.arange(64.0), np.zeros(1), np.zeros(64), order=order)
    assert caught.value.kind is FaultKind.GLOBAL_RACE
    assert {caught.value.line, caught.value.findings[0].other_line} & marked("read_beside_swaps")


def test_order_is_passed_on() -> None:
    """A thread that has learnt of a store within its block may tell another block of it."""
    out = ints(1)
    launch("passed_on", 2, 64, ints(1), ints(1), ints(1), out)
    assert out[0] == 7


def test_a_narrow_fence_leaves_a_wide_one_as_it_was() -> None:
    """What the first fence covers is ordered for other blocks; what only the second does is a race."""
    out = ints(2)
    launch("two_fences", 2, 32, ints(2), ints(1), out)
    assert out[0] == 7
    with pytest.raises(CudaFault) as caught:
        launch("two_fences", 2, 32, ints(2), ints(1), np.ones(2, np.int32))
    assert caught.value.kind is FaultKind.GLOBAL_RACE
    assert {caught.value.line, caught.value.findings[0].other_line} <= marked("two_fences")
