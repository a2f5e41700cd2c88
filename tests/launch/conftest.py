"""A file of kernels to launch, and vectors to launch them on."""

from __future__ import annotations

import contextlib
import sys
import types

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


@pytest.fixture(params=[True, False], ids=["from_external", "ExternalStream"])
def cupy(request, monkeypatch):
    """A CuPy that only records, and the two ways in which versions of it take another library's stream."""
    pytest.importorskip("torch")
    from pytest_roofline import launch, streams
    from tests.launch.fake_cupy import FakeCupy

    fake = FakeCupy(with_from_external=request.param)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(launch, "compile_kernel", fake.compile_kernel)
    monkeypatch.setitem(sys.modules, "cupy.cuda", fake.cuda)
    streams._stream.cache_clear()
    yield fake
    streams._stream.cache_clear()


@pytest.fixture
def on_gpu(monkeypatch):
    """Pretend that tensors live on the GPU number ``device``, and that torch's current one is number ``current``."""
    state = types.SimpleNamespace(device=1, current=1)

    @contextlib.contextmanager
    def switched(index):
        state.current, before = index, state.current
        yield
        state.current = before

    torch = pytest.importorskip("torch")
    from pytest_roofline import launch, remembered, streams

    monkeypatch.setattr(launch.Function, "_gpu", lambda self, args: state.device)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: state.current)
    monkeypatch.setattr(torch.cuda, "device", switched)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: types.SimpleNamespace(cuda_stream=77))
    monkeypatch.setattr(launch, "current_device", lambda: state.current)
    monkeypatch.setattr(launch, "single_gpu", lambda: False)
    for module in (launch, remembered, streams):
        monkeypatch.setattr(module, "stream_handle", streams._public_stream_handle)
    monkeypatch.setattr(torch.Tensor, "get_device", lambda self: state.device)
    return state
