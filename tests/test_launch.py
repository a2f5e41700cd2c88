"""Launches reach the right backend with exactly typed arguments, and bad ones never reach it."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import launch, nvrtc, streams  # noqa: E402
from pytest_roofline.counting import cuda_cpu  # noqa: E402

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
    path = tmp_path / "add.cu"
    path.write_text(KERNELS)
    source = launch.Source(path)
    source.cpu_module = CpuModule()
    return source


@pytest.fixture
def vectors():
    return torch.ones(8), torch.ones(8)


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


# The GPU path, with a CuPy that only records: a tensor's address is an address on any device.


class FakeKernel:
    """A RawKernel: its attributes are its own; launches go to the function behind ``kernel.ptr``."""

    FIRST = 0x7F00_0000_0000
    max_dynamic_shared_size_bytes = 0

    def __init__(self, cupy, name):
        self.name = name
        self.kernel = types.SimpleNamespace(ptr=self.FIRST + len(cupy.loaded))
        cupy.loaded.append(self)


MIXED = (ctypes.c_uint8, ctypes.c_double, ctypes.c_int8, ctypes.c_int64, ctypes.c_int16, ctypes.c_float, ctypes.c_uint)


class FakeDriverError(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__("CUDA_ERROR_INVALID_VALUE: invalid argument")


class FakeDriver(types.ModuleType):
    """``cupy.cuda.driver``, as far as a launch uses it; ``refusals`` are what the next launches fail with."""

    def __init__(self, cupy):
        super().__init__("driver")
        self.cupy, self.refusals = cupy, []
        self.kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_float)

    def launchKernel(self, function, *rest):  # noqa: N802
        *extents, shared, stream, addresses, _ = rest
        if self.refusals:
            raise FakeDriverError(self.refusals.pop(0))
        kernel = self.cupy.loaded[function - FakeKernel.FIRST]
        kinds = {"add<float>": self.kinds, "mixed": MIXED}.get(kernel.name, ())
        pointers = (ctypes.c_void_p * len(kinds)).from_address(addresses)
        values = [kind.from_address(pointer).value for kind, pointer in zip(kinds, pointers, strict=True)]
        device = torch.cuda.current_device()
        self.cupy.launches.append((kernel.name, tuple(extents[:3]), tuple(extents[3:]), values, shared, device, stream))


class FakeCupy(types.ModuleType):
    """As much of CuPy as a launch touches."""

    def __init__(self, *, with_from_external):
        super().__init__("cupy")
        self.launches, self.compiled, self.entered, self.loaded, self.freed = [], [], [], [], []
        streams = types.SimpleNamespace()
        if with_from_external:
            streams.from_external = lambda obj: self.entering(("stream", obj.__cuda_stream__()))
        self.cuda = types.SimpleNamespace(
            Stream=streams,
            ExternalStream=lambda handle: self.entering(("external", handle)),
            Device=lambda index: self.entering(("device", index)),
            runtime=types.SimpleNamespace(free=self.freed.append),
            driver=FakeDriver(self),
        )

    def entering(self, what):
        cupy = self

        class Context:
            compute_capability = "90"

            def __enter__(self):
                cupy.entered.append(what)

            def __exit__(self, *error):
                cupy.entered.pop()

        return Context()

    def compile_kernel(self, source, text, name, options, arch, headers):
        self.compiled.append((source.name, name, options, arch, headers))
        return nvrtc.Compiled(source.with_suffix(".cubin"), name)

    def RawModule(self, path):  # noqa: N802
        assert path.endswith(".cubin")
        return types.SimpleNamespace(get_function=lambda name: FakeKernel(self, name))


@pytest.fixture(params=[True, False], ids=["from_external", "ExternalStream"])
def cupy(request, monkeypatch):
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

    monkeypatch.setattr(launch.Function, "_gpu", lambda self, args: state.device)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: state.current)
    monkeypatch.setattr(torch.cuda, "device", switched)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: types.SimpleNamespace(cuda_stream=77))
    monkeypatch.setattr(launch, "_current_device", lambda: state.current)
    for module in (launch, streams):
        monkeypatch.setattr(module, "stream_handle", streams._public_stream_handle)
    monkeypatch.setattr(torch.Tensor, "get_device", lambda self: state.device)
    return state


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
