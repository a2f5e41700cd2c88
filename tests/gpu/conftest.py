"""Tests that only a GPU can run."""

import pytest

from pytest_roofline.devices import identify


@pytest.fixture(autouse=True)
def gpu():
    """Skip without a GPU, and say why there is none."""
    if not identify.gpu_count():
        pytest.skip(f"needs a GPU: {identify.why_none()}")


@pytest.fixture
def memory(gpu):
    """Skip where 20 GB are not free."""
    import torch

    free, _ = torch.cuda.mem_get_info()
    if free < 20e9:
        pytest.skip(f"needs 20 GB of GPU memory, {free / 1e9:.0f} are free")
    yield
    torch.cuda.empty_cache()
