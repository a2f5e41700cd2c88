"""Kernels that hand data on, run in stages or mix kinds of memory: clean and right in every order, planted bugs found.

A bug ``n`` is compiled in with ``-DBUG=n``; the finding must point at a line marked ``// BUG n``.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.counting.cuda_cpu.algorithm import ORDERS, Algorithm, planted
from tests.counting.cuda_cpu.handovers import CASES

INTERLEAVED = {"task_stack": "one block does everything where blocks run one after another"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
def test_correct_kernel_is_clean_and_right(case: Algorithm) -> None:
    """No finding in any order of threads or blocks, and the result agrees with NumPy."""
    for order in ORDERS:
        case.assert_right(order)


@pytest.mark.parametrize(("case", "bug"), planted(CASES))
def test_planted_bug_is_found(case: Algorithm, bug: int) -> None:
    """In every order the first finding has an expected kind and points at a line that carries the bug's number."""
    for order in ("interleaved",) if case.kernel in INTERLEAVED else ORDERS:
        case.assert_found(bug, order)
