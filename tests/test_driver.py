"""Kernels that take tensor maps, and files that one architecture alone can run."""

from __future__ import annotations

import ctypes
import sys
import types

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import launch, tensor_map  # noqa: E402
from pytest_roofline.driver import LoadedKernel  # noqa: E402

SOURCE = """
__global__ void __launch_bounds__(128, 1) copied(const __grid_constant__ TensorMap x, float* y, int n) {}
"""
ENCODED = bytes(range(128))


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "copied.cu"
    path.write_text(SOURCE)
    return launch.Source(path, arch="sm_90a")


@pytest.fixture
def x():
    return tensor_map.tensor_map(torch.zeros(64, 64), (64, 32))


@pytest.fixture
def loaded(source, monkeypatch):
    """The kernel on GPU 0, where tensors of this machine count as being; ``launches`` holds what it was given."""
    launches = []

    def launched(function, *rest):
        pointers = (ctypes.c_void_p * 3).from_address(rest[-2])
        kinds = (ctypes.c_char * 128, ctypes.c_void_p, ctypes.c_int)
        values = [kind.from_address(pointer) for kind, pointer in zip(kinds, pointers, strict=True)]
        launches.append((values[0].raw, values[1].value, values[2].value))

    fake = types.SimpleNamespace(driver=types.SimpleNamespace(launchKernel=launched))
    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))
    monkeypatch.setitem(sys.modules, "cupy.cuda", fake)
    monkeypatch.setattr(torch.Tensor, "get_device", lambda self: 0)
    monkeypatch.setattr(tensor_map.TensorMap, "get_device", lambda self: 0)
    monkeypatch.setattr(tensor_map.TensorMap, "encoded", ENCODED)
    raw = types.SimpleNamespace(kernel=types.SimpleNamespace(ptr=1), shared_size_bytes=0)
    kernel = LoadedKernel(raw, source.function("copied").parameters, 0)
    kernel.launches = launches
    return kernel


def test_a_map_is_passed_as_its_bytes(loaded, x):
    """128 of them by value, before a pointer and a number."""
    y = torch.zeros(64)
    assert loaded.launch_plain((1, 1, 1), (128, 1, 1), (x, y, 7), 0, 0)
    assert loaded.launches == [(ENCODED, y.data_ptr(), 7)]


@pytest.mark.parametrize("wrong", [torch.zeros(64, 64), ENCODED, None, 7])
def test_nothing_else_passes_for_a_map(loaded, source, wrong):
    """Not launched on the short way, and refused by name on the long one."""
    assert not loaded.launch_plain((1, 1, 1), (128, 1, 1), (wrong, torch.zeros(64), 7), 0, 0)
    assert loaded.launches == []
    with pytest.raises(TypeError, match="parameter TensorMap x takes a tensor map, got"):
        source.function("copied")._checked((wrong, torch.zeros(64), 7))


def test_a_map_of_another_device_is_refused(source, x):
    """Maps count among the tensors whose device is asked for."""
    with pytest.raises(ValueError, match="several devices: cpu, meta"):
        source.function("copied")((1,), (128,), (x, torch.zeros(64, device="meta"), 7))


def test_a_file_for_one_architecture_is_not_run_on_a_cpu(source, x):
    """That is a state of the machine and no fault of the kernel; recorded it is all the same, to be compiled."""
    function, told = source.function("copied"), []
    with pytest.raises(launch.GpuNeeded, match=r"copied\.cu:copied is written for sm_90a"):
        function((1,), (128,), (x, torch.zeros(64), 7))
    with launch.recording(lambda *launched: told.append(launched)):
        function((1,), (128,), (x, torch.zeros(64), 7))
    assert told == [(function, (1, 1, 1), (128, 1, 1), 0)]


def test_a_file_is_compiled_for_its_own_architecture_or_for_the_gpu_at_hand(source):
    """Another GPU is refused before anything is compiled."""
    function = source.function("copied")
    assert launch._architecture(function, "sm_90") == "sm_90a"
    assert launch._architecture(launch.Source(source.path).function("copied"), "sm_89") == "sm_89"
    with pytest.raises(ValueError, match="written for sm_90a, and this GPU is sm_100"):
        launch._architecture(function, "sm_100")
