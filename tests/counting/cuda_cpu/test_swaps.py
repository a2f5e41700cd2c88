"""A plain read before a compare and swap of what it saw is no race; a plain read for anything else is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import FaultKind as K
from tests.counting.cuda_cpu.algorithm import ORDERS, Algorithm, Arrays, close, f32, n, planted, zeros

SOURCE = Path(__file__).parent / "swaps.cu"
RACE, SHARED_RACE = {K.GLOBAL_RACE}, {K.SHARED_RACE}


def sums(a: Arrays) -> Any:
    return [a[0].astype(np.float64).sum()]


CASES = [
    Algorithm(
        SOURCE, "sum_by_swaps", (64,),
        lambda: (f32(192), zeros(1, kind=np.float64), zeros(192, kind=np.float64), n(192)),
        close(1, sums, 1e-12), (RACE,) * 4, (3,),
    ),
    Algorithm(
        SOURCE, "shared_sum_by_swaps", (64,), lambda: (f32(128), zeros(1, kind=np.float64)),
        close(1, sums, 1e-12), ({K.SHARED_RACE, K.UNINITIALISED_READ}, SHARED_RACE), (2,),
    ),
    Algorithm(
        SOURCE, "count_in_halves", (64,), lambda: (zeros(2, kind=np.uint16), zeros(64, kind=np.uint16)),
        close(0, lambda _: [64, 64]), (RACE,), (2,),
    ),
    Algorithm(
        SOURCE, "largest_by_swaps", (64,), lambda: (f32(150), zeros(1), zeros(150), n(150)),
        close(1, lambda a: [a[0].max()], 0, 0), (RACE,), (3,),
    ),
]  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
def test_a_swap_confirms_the_read_before_it(case: Algorithm, order: str) -> None:
    """Whatever other memory the thread looks at in between, in global and shared memory, of 2, 4 and 8 bytes."""
    case.assert_right(order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("case", "bug"), planted(CASES))
def test_a_read_for_more_than_a_swap_is_found(case: Algorithm, bug: int, order: str) -> None:
    """Behind it comes a plain store, another atomic, a barrier, a swap elsewhere or nothing at that address."""
    case.assert_found(bug, order)
