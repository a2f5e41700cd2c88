"""Where the suite's launchers run: on a GPU if there is one, else interpreted."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def device() -> str:
    """``"cuda"``, or ``"cpu"`` with Triton's interpreter ready."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if torch.cuda.is_available():
        return "cuda"
    from pytest_roofline.counting import triton_cpu

    try:
        triton_cpu.enable()
    except triton_cpu.InterpreterUnavailable as reason:
        pytest.skip(str(reason))
    return "cpu"
