"""Launches reach the right backend with exactly typed arguments, and bad ones never reach it."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import launch  # noqa: E402
from pytest_roofline.counting import cuda_cpu  # noqa: E402
from tests.launch.conftest import KERNELS  # noqa: E402


def test_cpu_tensors_go_to_the_cpu_backend(source, vectors):
    """Grid and block get three extents, numbers their C types, tensors stay tensors."""
    x, y = vectors
    source.function("add<float>")((2,), (32, 4), (x, y, 8, 2), shared_bytes=64)
    [(name, grid, block, args, shared)] = source.cpu_module.launches
    assert (name, grid, block, shared) == ("add<float>", (2, 1, 1), (32, 4, 1), 64)
    assert args[0] is x
    assert args[1] is y
    assert (type(args[2]), type(args[3])) == (np.int32, np.float32)


def test_a_recorder_is_told_of_launches_instead(source, vectors):
    """What is recorded is not executed; arguments are checked all the same, and afterwards launches run again."""
    x, y = vectors
    add, told = source.function("add<float>"), []
    with launch.recording(lambda *launched: told.append(launched)):
        add((2,), (32, 4), (x, y, 8, 2), shared_bytes=64)
        with pytest.raises(TypeError):
            add((2,), (32, 4), (x, y, 8.5, 2))
    assert told == [(add, (2, 1, 1), (32, 4, 1), 64)]
    assert not source.cpu_module.launches
    add((2,), (32, 4), (x, y, 8, 2))
    assert len(source.cpu_module.launches) == 1


def test_an_empty_grid_launches_nothing(source, vectors):
    """CUDA refuses a grid without blocks; there is nothing to do."""
    source.function("add<float>")((0,), (32,), (*vectors, 8, 1.0))
    assert source.cpu_module.launches == []


def test_a_kernel_without_tensors_runs_on_this_machine(source, monkeypatch):
    """Without a tensor to ask, the device is the GPU if there is one."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    source.function("nothing")((1,), (1,), ())
    assert len(source.cpu_module.launches) == 1


def test_a_kernel_without_tensors_is_recorded_where_a_gpu_is(source, monkeypatch):
    """What is recorded runs nowhere, whatever devices there are."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    nothing, told = source.function("nothing"), []
    with launch.recording(lambda *launched: told.append(launched)):
        nothing((1,), (1,), ())
    assert told == [(nothing, (1, 1, 1), (1, 1, 1), 0)]


@pytest.mark.parametrize(
    ("grid", "args", "error", "message"),
    [
        ((1,), (torch.ones(8), torch.ones(8).double(), 8, 1.0), TypeError, r"parameter float\* y takes"),
        ((1,), (torch.ones(8), torch.ones(8), 2**32, 1.0), OverflowError, "parameter int n: 4294967296 does not fit"),
        ((1,), (torch.ones(8), torch.ones(8, device="meta"), 8, 1.0), ValueError, "several devices: cpu, meta"),
        ((1, 65536), (torch.ones(8), torch.ones(8), 8, 1.0), ValueError, "the grid .* leaves CUDA's limits"),
    ],
)
def test_what_is_refused_is_refused_in_the_name_of_the_kernel(source, grid, args, error, message):
    """File and function stand before what is wrong; nothing is launched."""
    with pytest.raises(error, match=rf"^add.cu:add<float>: .*{message}"):
        source.function("add<float>")(grid, (1,), args)
    assert source.cpu_module.launches == []


def test_the_number_of_arguments_is_checked(source, vectors):
    """The message shows the signature."""
    with pytest.raises(ValueError, match=r"2 arguments for 4 parameters \(float\* x, float\* y, int n, float factor\)"):
        source.function("add<float>")((1,), (1,), vectors)


def test_an_unknown_kernel_names_the_file(source):
    """The message names the file and what is in it."""
    with pytest.raises(ValueError, match=r"add.cu: no kernel 'sub'; there are add, mixed, nothing, truth"):
        source.function("sub")((1,), (1,), ())


def test_without_a_compiler_the_reason_is_given(tmp_path, monkeypatch):
    """A machine that cannot run CUDA C++ is told apart from a broken kernel."""
    monkeypatch.setenv("PYTEST_ROOFLINE_CXX", "no-such-compiler")
    path = tmp_path / "add.cu"
    path.write_text(KERNELS)
    with pytest.raises(cuda_cpu.CompilerMissing, match=r"apt-get install g\+\+"):
        launch.Source(path).function("nothing")((1,), (1,), ())


def test_helpers():
    """What launchers compute grids and reject shapes with."""
    assert [launch.ceil_div(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    vector = torch.ones(8)
    start = launch.misalignment(vector, 16)
    assert launch.misalignment(vector[1:], 16) == (start + 4) % 16
    assert launch.c_type(vector.half()) == "__half"
    with pytest.raises(ValueError, match=r"no CUDA kernel takes torch\.complex64"):
        launch.c_type(vector.to(torch.complex64))
    with pytest.raises(ValueError, match="because"):
        launch.require(False, "because")


def test_truth_values_name_template_arguments():
    """As C++ spells them."""
    assert (launch.c_bool(True), launch.c_bool(False)) == ("true", "false")
