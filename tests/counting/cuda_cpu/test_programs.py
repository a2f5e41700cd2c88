"""Programs as people write them: correct ones are clean and right in every order of threads, planted bugs are found.

A bug ``n`` is compiled in with ``-DBUG=n``; the finding must point at a line marked ``// BUG n``.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.counting.cuda_cpu.algorithm import ORDERS, Algorithm, planted
from tests.counting.cuda_cpu.programs import PROGRAMS


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.kernel)
def test_correct_program_is_clean_and_right(case: Algorithm) -> None:
    """No finding in any order of threads or blocks, and the result agrees with NumPy."""
    for order in ORDERS:
        case.assert_right(order)


@pytest.mark.parametrize(("case", "bug"), planted(PROGRAMS))
def test_planted_bug_is_found(case: Algorithm, bug: int) -> None:
    """The first finding has an expected kind and points at a line that carries the bug's number."""
    case.assert_found(bug)
