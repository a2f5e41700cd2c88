"""cp.async behind one header: zeros after what is read, nothing read of nothing, and a wait that is too weak shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pytest_roofline.counting.cuda_cpu import CudaFault, FaultKind, checking, load  # noqa: E402

SOURCE = Path(__file__).parent / "async_copy.cu"
MODULE = load(SOURCE)


@pytest.mark.parametrize("elements", range(5))
def test_what_is_not_read_becomes_zero(elements):
    """The source may end where reading ends: an access past it would be reported."""
    x, y = torch.arange(1.0, 1.0 + elements) if elements else torch.empty(0), torch.full((4,), 7.0)
    with checking() as session:
        MODULE.function("copy_some")((1,), (1,), (x, y, np.int32(elements)))
    assert y.tolist() == [*x.tolist(), *[0.0] * (4 - elements)]
    loads = [line for line in session.launches[0].lines if line.kind == "global load"]
    assert sum(line.bytes for line in loads) == 4 * elements


def test_a_wait_that_lets_the_last_group_go_is_reported():
    """At the line that reads what may not have come yet."""
    with checking(), pytest.raises(CudaFault) as caught:
        MODULE.function("copy_and_not_wait")((1,), (1,), (torch.ones(4), torch.zeros(4)))
    assert caught.value.kind is FaultKind.ASYNC_COPY
    line = next(i for i, text in enumerate(SOURCE.read_text().splitlines(), 1) if "// BUG" in text)
    assert f"{SOURCE.name}:{line}" in str(caught.value)
