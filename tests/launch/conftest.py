"""A file of kernels to launch, and vectors to launch them on."""

from __future__ import annotations

import pytest

KERNELS = """
__global__ void truth(bool b) {}
__global__ void mixed(unsigned char b, double d, signed char c, long long l, short s, float f, unsigned u) {}
template <typename T>
__global__ void add(const T* x, T* y, int n, float factor) {}
__global__ void nothing() {}
"""


class CpuModule:
    """Stands in for ``counting.cuda_cpu`` and records launches."""

    def __init__(self):
        self.launches = []

    def function(self, name):
        return lambda *launch: self.launches.append((name, *launch))


@pytest.fixture
def source(tmp_path):
    """The file; what is launched on the CPU is recorded in ``cpu_module.launches``."""
    pytest.importorskip("torch")
    from pytest_roofline.launch import Source

    path = tmp_path / "add.cu"
    path.write_text(KERNELS)
    source = Source(path)
    source.cpu_module = CpuModule()
    return source


@pytest.fixture
def vectors():
    """Two of eight ones."""
    torch = pytest.importorskip("torch")
    return torch.ones(8), torch.ones(8)
