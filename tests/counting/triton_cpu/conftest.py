"""These tests run kernels in Triton's interpreter, which must be chosen before Triton is imported."""

import pytest


@pytest.fixture(scope="session")
def kernels():
    """The module of planted kernels, loaded into a checked interpreter."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from pytest_roofline.counting import triton_cpu

    try:
        triton_cpu.enable()
    except triton_cpu.InterpreterUnavailable as reason:
        pytest.skip(str(reason))
    from tests.counting.triton_cpu import kernels

    return kernels
