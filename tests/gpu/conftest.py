"""Tests that only a GPU can run."""

import pytest

from pytest_roofline.devices import identify


@pytest.fixture(autouse=True)
def gpu():
    """Skip without a GPU, and say why there is none."""
    if not identify.gpu_count():
        pytest.skip(f"needs a GPU: {identify.why_none()}")
