"""Kernels that hand data on, run in stages or mix kinds of memory: clean and right in every order, planted bugs found.

A bug ``n`` is compiled in with ``-DBUG=n``; the finding must point at a line marked ``// BUG n``.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from pytest_roofline.counting.cuda_cpu import CudaFault
from tests.counting.cuda_cpu.algorithm import Algorithm
from tests.counting.cuda_cpu.handovers import CASES

ORDERS = ("forward", "reverse", "random", "interleaved")
INTERLEAVED = {"task_stack": "one block does everything where blocks run one after another"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
def test_correct_kernel_is_clean_and_right(case: Algorithm) -> None:
    """No finding in any order of threads or blocks, and the result agrees with NumPy."""
    for order in ORDERS:
        case.right(*case.launch(0, order))


@pytest.mark.parametrize(
    ("case", "bug"),
    [pytest.param(case, bug, id=f"{case.kernel}-{bug}") for case in CASES for bug in range(1, len(case.bugs) + 1)],
)
def test_planted_bug_is_found(case: Algorithm, bug: int) -> None:
    """In every order the first finding has an expected kind and points at a line that carries the bug's number."""
    for order in ("interleaved",) if case.kernel in INTERLEAVED else ORDERS:
        with pytest.raises(CudaFault) as caught:
            case.launch(bug, order)
        finding = caught.value.findings[0]
        assert finding.kind in case.bugs[bug - 1], str(finding)
        assert {finding.line, finding.other_line} & case.marked(bug), str(finding)
