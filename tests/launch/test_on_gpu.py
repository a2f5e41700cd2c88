"""Launches on a GPU, as a CuPy that only records sees them: stream, device, memory of the arguments, compilation."""

from __future__ import annotations

import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import launch  # noqa: E402
from tests.launch.fake_cupy import FakeDriverError, FakeKernel  # noqa: E402


def test_gpu_launches_go_to_torchs_stream_and_device(source, vectors, cupy, on_gpu):
    """The kernel runs on the tensors' device and torch's current stream, and gets addresses."""
    x, y = vectors
    source.function("add<float>")((2,), (32,), (x, y, 8, 2.0))
    [(name, grid, block, args, shared, device, stream)] = cupy.launches
    assert (name, grid, block, shared) == ("add<float>", (2, 1, 1), (32, 1, 1), 0)
    assert args == [x.data_ptr(), y.data_ptr(), 8, 2.0]
    assert (device, stream) == (1, 77)
    assert cupy.entered == []


def test_the_raw_stream_handle_is_used_where_torch_tells_it(source, vectors, cupy, on_gpu, monkeypatch):
    """Without it each launch would pay for two stream objects."""
    monkeypatch.setattr(launch, "stream_handle", lambda index: 500 + index)
    source.function("add<float>")((2,), (32,), (*vectors, 8, 2.0))
    assert cupy.launches[0][6] == 501


def test_tensors_of_another_gpu_are_computed_there(source, vectors, cupy, on_gpu):
    """The device is switched for the launch, and back."""
    on_gpu.current = 0
    source.function("add<float>")((2,), (32,), (*vectors, 8, 2.0))
    assert cupy.launches[0][5] == 1
    assert on_gpu.current == 0


def test_numbers_of_numpy_are_passed_as_their_values(source, vectors, cupy, on_gpu):
    """They take the long way, to the same bytes."""
    source.function("add<float>")((1,), (1,), (*vectors, np.int64(-3), np.float64(0.5)))
    source.function("add<float>")((1,), (1,), (*vectors, -3, 7))
    assert [entry[3][2:] for entry in cupy.launches] == [[-3, 0.5], [-3, 7.0]]


def test_arguments_lie_where_c_would_put_them(source, cupy, on_gpu):
    """Each at a multiple of its size, whatever is before it; the second launch takes the short way."""
    values = (255, 0.1, -128, -(2**63), 32767, 0.5, 2**32 - 1)
    for _ in range(2):
        source.function("mixed")((1,), (1,), values)
    assert [tuple(entry[3]) for entry in cupy.launches] == [values, values]


@pytest.mark.parametrize(
    ("place", "value"), [(0, 256), (2, 128), (2, True), (3, 0.5), (4, 2**15), (5, 1e39), (6, -1), (6, 1.0), (1, "1")]
)
def test_the_short_way_refuses_what_the_long_one_does(source, cupy, on_gpu, place, value):
    """A warm kernel takes no number that a cold one would not take."""
    values = [255, 0.1, -128, -(2**63), 32767, 0.5, 2**32 - 1]
    function = source.function("mixed")
    function((1,), (1,), values)
    values[place] = value
    with pytest.raises((TypeError, OverflowError), match=r"add.cu:mixed: parameter "):
        function((1,), (1,), values)
    assert len(cupy.launches) == 1


def test_a_truth_is_no_number_on_any_way(source, cupy, on_gpu):
    """A bool is passed to a bool, again and again, and an int is not."""
    function = source.function("truth")
    for _ in range(2):
        function((1,), (1,), (True,))
        with pytest.raises(TypeError, match="parameter bool b: got 1 of type int"):
            function((1,), (1,), (1,))
    assert [entry[0] for entry in cupy.launches] == ["truth", "truth"]


def test_a_tensor_of_another_gpu_is_not_taken_the_short_way(source, vectors, cupy, on_gpu):
    """What was loaded last belongs to the device before."""
    source.function("add<float>")((1,), (1,), (*vectors, 8, 1.0))
    on_gpu.device = 0
    source.function("add<float>")((1,), (1,), (*vectors, 8, 1.0))
    assert [entry[5] for entry in cupy.launches] == [1, 0]


def test_a_thread_without_a_context_gets_one(source, vectors, cupy, on_gpu):
    """The driver refuses the first launch of a thread that has not used CUDA; the second try succeeds."""
    cupy.cuda.driver.refusals = [201]
    source.function("add<float>")((1,), (1,), (*vectors, 8, 1.0))
    assert (len(cupy.launches), cupy.freed) == (1, [0])


def test_what_the_driver_refuses_is_named(source, vectors, cupy, on_gpu):
    """By CUDA's own name and words."""
    cupy.cuda.driver.refusals = [1]
    with pytest.raises(FakeDriverError, match="CUDA_ERROR_INVALID_VALUE: invalid argument"):
        source.function("add<float>")((1,), (1,), (*vectors, 8, 1.0))


def test_a_kernel_without_parameters_is_launched(source, cupy, on_gpu):
    """There is nothing to lay out for it."""
    source.function("nothing")((1,), (1,), ())
    assert cupy.launches[0][:4] == ("nothing", (1, 1, 1), (1, 1, 1), [])


def test_a_second_launch_checks_its_arguments_too(source, vectors, cupy, on_gpu):
    """What a launch keeps for the next is how to check, not that it has checked."""
    x, y = vectors
    function = source.function("add<float>")
    function((1,), (1,), (x, y, 8, 1.0))
    with pytest.raises(TypeError, match=r"add.cu:add<float>: parameter float\* y takes a torch.float32"):
        function((1,), (1,), (x, y.half(), 8, 1.0))
    with pytest.raises(OverflowError, match="int n: 2147483648 does not fit"):
        function((1,), (1,), (x, y, 2**31, 1.0))
    with pytest.raises(OverflowError, match=r"float factor: 1e\+39 is larger"):
        function((1,), (1,), (x, y, 8, 1e39))
    with pytest.raises(TypeError, match=r"parameter int n: got 1\.5 of type float"):
        function((0,), (1,), (x, y, 1.5, 1.0))
    with pytest.raises(ValueError, match=r"add.cu:add<float>: a block has 1 to 1024 threads"):
        function((1,), (512, 4), (x, y, 8, 1.0))
    assert len(cupy.launches) == 1


def test_a_kernel_is_compiled_once_per_device(source, vectors, cupy, on_gpu):
    """The second launch on a device compiles nothing."""
    for on_gpu.device in (0, 0, 1, 1, 0):
        source.function("add<float>")((1,), (1,), (*vectors, 8, 1.0))
    assert [entry[1:4] for entry in cupy.compiled] == [("add<float>", (), "sm_90")] * 2


def test_large_shared_memory_is_opted_into_before_the_launch(source, vectors, cupy, on_gpu):
    """Up to 48 KiB need no permission; more is set on the kernel, and only raised."""
    function = source.function("add<float>")
    allowed = []
    for wanted in (48 * 1024, 100_000, 60_000, 120_000):
        function((1,), (1,), (*vectors, 8, 1.0), shared_bytes=wanted)
        allowed.append(function.loaded[1].raw.max_dynamic_shared_size_bytes)
    assert allowed == [0, 100_000, 100_000, 120_000]
    assert [entry[4] for entry in cupy.launches] == [48 * 1024, 100_000, 60_000, 120_000]


def test_static_shared_memory_counts_in_what_needs_no_permission(source, vectors, cupy, on_gpu, monkeypatch):
    """The driver refuses 48 KiB of dynamic shared memory beside a static byte without it."""
    monkeypatch.setattr(FakeKernel, "shared_size_bytes", 640)
    function = source.function("add<float>")
    allowed = []
    for wanted in (48 * 1024 - 640, 48 * 1024):
        function((1,), (1,), (*vectors, 8, 1.0), shared_bytes=wanted)
        allowed.append(function.loaded[1].raw.max_dynamic_shared_size_bytes)
    assert allowed == [0, 48 * 1024]


def test_a_changed_header_changes_the_fingerprint(tmp_path, cupy, on_gpu):
    """Compiled kernels are kept; without looking into includes a stale one would be measured."""
    (tmp_path / "outer.cuh").write_text('#include "inner.cuh"\n')
    path = tmp_path / "k.cu"
    path.write_text('#include "outer.cuh"\n#include <cuda_fp16.h>\n__global__ void k() {}\n')
    for content in ("int a;", "int b;"):
        (tmp_path / "inner.cuh").write_text(content)
        launch.Source(path).function("k")((1,), (1,), ())
    first, second = (headers for *_, headers in cupy.compiled)
    assert first != second


def test_a_changed_tensor_core_header_changes_the_fingerprint(tmp_path, cupy, on_gpu, monkeypatch):
    """The package's own device headers are included with angle brackets and count like the source's."""
    monkeypatch.setattr(launch.cuda_cpu, "include_directory", lambda: tmp_path / "package")
    (tmp_path / "package" / "roofline").mkdir(parents=True)
    path = tmp_path / "k.cu"
    path.write_text("#include <roofline/tensor_core.cuh>\n__global__ void k() {}\n")
    for content in ("int a;", "int b;"):
        (tmp_path / "package" / "roofline" / "tensor_core.cuh").write_text(content)
        launch.Source(path).function("k")((1,), (1,), ())
    first, second = (headers for *_, headers in cupy.compiled)
    assert first != second


def test_compiler_options_reach_the_compiler(tmp_path, cupy, on_gpu):
    """A source's own options are handed on."""
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k() {}\n")
    launch.Source(path, options=("-DWIDTH=4",)).function("k")((1,), (1,), ())
    assert cupy.compiled[0][2] == ("-DWIDTH=4",)


def test_without_cupy_the_message_says_what_to_install(source, vectors, on_gpu, monkeypatch):
    """A missing CuPy is a ModuleNotFoundError that names it."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'pytest-roofline\[cuda13\]'") as caught:
        source.function("add<float>")((1,), (1,), (*vectors, 8, 1.0))
    assert caught.value.name == "cupy"
