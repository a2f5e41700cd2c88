"""Launch CUDA C++ kernels on torch tensors: through CuPy on a GPU, through ``counting.cuda_cpu`` on a CPU.

A launcher names a file, a function and a grid::

    SOURCE = Source(Path(__file__).with_name("scalar.cu"))
    SOURCE.function("vector_add<float>")((blocks,), (256,), (x, y, n))

Every argument is held against the signature in the source: tensors must have the pointer's element type, numbers are
passed as exactly the C type that the kernel expects. Launches go to torch's current stream and never synchronise.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch

from pytest_roofline import signature
from pytest_roofline.arguments import by_value, checked, gpu_of, in_three
from pytest_roofline.capability import runs_on
from pytest_roofline.counting import cuda_cpu
from pytest_roofline.driver import Extents, LoadedKernel
from pytest_roofline.nvrtc import compile_kernel
from pytest_roofline.streams import on_torch_stream, stream_handle

current_device: Callable[[], int] = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
"""torch.cuda.current_device without a look at whether CUDA is initialised, as in streams.py."""
single_gpu: Callable[[], bool] = functools.cache(lambda: torch.cuda.device_count() == 1)
"""Whether there is but one GPU, which need not be asked for: that takes longer than to look at a tensor."""
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', re.MULTILINE)
_C_NAMES = {
    torch.float64: "double",
    torch.float32: "float",
    torch.float16: "__half",
    torch.bfloat16: "__nv_bfloat16",
    torch.int64: "long long",
    torch.int32: "int",
    torch.int8: "signed char",
}


class GpuNeeded(RuntimeError):  # noqa: N818  (a state of the machine: the worker turns it into a skip)
    """What a launcher does exists only where a GPU is."""


class Source:
    """A ``.cu`` file, compiled when one of its functions is first launched, once per function and device.

    ``options`` go to the compiler (``-DNAME=value``, ``--use_fast_math``). Headers included with quotes are looked up
    relative to the file. ``arch`` is for a file that one architecture alone can run, such as ``sm_90a``: its
    instructions have no model on a CPU. Other files are compiled for the GPU at hand.
    """

    def __init__(self, path: Path, options: Sequence[str] = (), arch: str = "") -> None:
        self.path = Path(path)
        self.options = tuple(options)
        self.arch = arch
        self._functions: dict[str, Function] = {}

    def function(self, name: str, *, chained: bool = False) -> Function:
        """The kernel called ``name``, or the instance ``name<float, 32>`` of a template. Compiles nothing yet.

        A ``chained`` one may start on a GPU of sm_90 and up while the kernel before it in the stream still runs, from
        that one's ``griddepcontrol.launch_dependents`` on, and must wait for its results by ``griddepcontrol.wait``.
        """
        if name not in self._functions:
            self._functions[name] = Function(self, name, chained=chained)
        return self._functions[name]

    @functools.cached_property
    def text(self) -> str:
        """The file's content. Raises ``FileNotFoundError``."""
        return self.path.read_text(encoding="utf-8")

    @functools.cached_property
    def fingerprint(self) -> str:
        """A digest of all files beside it or of this package that it includes, directly or not."""
        return _fingerprint(self.path, self.text)

    @functools.cached_property
    def cpu_module(self) -> Any:
        """The file, to run on this machine's CPU. Its launches raise :class:`cuda_cpu.CompilerMissing`."""
        return cuda_cpu.load(self.path, options=self.options)


class Function:
    """One kernel of a :class:`Source`; calling it launches it."""

    def __init__(self, source: Source, name: str, *, chained: bool = False) -> None:
        self.source = source
        self.name = name
        self.chained = chained
        self.loaded: dict[int, LoadedKernel] = {}  # by device index
        self._recent: LoadedKernel | None = None  # of the device that was launched on last

    def __str__(self) -> str:
        return f"{self.source.path.name}:{self.name}"

    @functools.cached_property
    def parameters(self) -> tuple[signature.Parameter, ...]:
        """The kernel's parameters. Raises ``ValueError`` when the file has no such kernel."""
        try:
            return signature.find(self.source.text, self.name).parameters
        except ValueError as error:
            raise ValueError(f"{self.source.path}: {error}") from error

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], shared_bytes: int = 0) -> None:
        """Launch on torch's current stream of the tensors' device; an empty grid launches nothing.

        ``grid`` (blocks) and ``block`` (threads) have one to three extents, ``args`` one entry per parameter,
        ``shared_bytes`` is dynamic shared memory. Raises ``ValueError`` (extents, number or devices of arguments),
        ``TypeError`` and ``OverflowError`` (an argument against its parameter), :class:`nvrtc.CudaCompileError`,
        CuPy's ``CUDADriverError``.
        """
        try:
            grid3, block3 = in_three(tuple(grid), tuple(block))
        except ValueError as error:
            raise ValueError(f"{self}: {error}") from None
        if len(args) != len(self.parameters):
            wanted = ", ".join(map(str, self.parameters))
            raise ValueError(f"{self}: {len(args)} arguments for {len(self.parameters)} parameters ({wanted})")
        recent = self._recent
        if (
            recent is not None
            and recent.index == current_device()
            and 0 not in grid3
            and recent.launch_plain(grid3, block3, args, shared_bytes, stream_handle(recent.index))
        ):
            observed(recent, grid3, block3, args, shared_bytes)
            return
        index, values = self._checked(args)
        if 0 in grid3:
            return
        if index is None or _recorder.get() is not None:
            self._launch_on_cpu(grid3, block3, values, shared_bytes)
        elif index == torch.cuda.current_device():
            self._launch_on_gpu(index, grid3, block3, values, shared_bytes)
        else:
            with torch.cuda.device(index):
                self._launch_on_gpu(index, grid3, block3, values, shared_bytes)
        observed(self._recent if index is not None else None, grid3, block3, args, shared_bytes)

    @functools.cached_property
    def _pointers(self) -> tuple[int, ...]:
        return tuple(i for i, parameter in enumerate(self.parameters) if parameter.pointer or parameter.tensor_map)

    def _checked(self, args: Sequence[Any]) -> tuple[int | None, tuple[Any, ...]]:
        """The GPU to launch on, ``None`` for the CPU, and the arguments as their parameters take them."""
        try:
            return self._gpu(args), checked(self.parameters, args)
        except (ValueError, TypeError, OverflowError) as error:
            raise type(error)(f"{self}: {error}") from None

    def _gpu(self, args: Sequence[Any]) -> int | None:
        if self._pointers:
            return gpu_of(args, self._pointers)
        here = torch.cuda.is_available() and _recorder.get() is None
        return torch.cuda.current_device() if here else None

    def _launch_on_cpu(self, grid: Extents, block: Extents, values: Sequence[Any], shared_bytes: int) -> None:
        recorder = _recorder.get()
        if recorder is not None:
            recorder(self, grid, block, shared_bytes)
        elif self.source.arch:
            raise GpuNeeded(f"{self} is written for {self.source.arch}: its instructions have no model on a CPU")
        else:
            self.source.cpu_module.function(self.name)(grid, block, values, shared_bytes)

    def _launch_on_gpu(
        self, index: int, grid: Extents, block: Extents, values: Sequence[Any], shared_bytes: int
    ) -> None:
        self._recent = kernel = self.loaded.get(index) or self._load(index)
        plain = [by_value(v) for v in values]
        kernel.launch(grid, block, plain, shared_bytes, stream_handle(index))

    def _load(self, index: int) -> LoadedKernel:
        """The kernel for the current device, whose number is ``index``. Raises :class:`nvrtc.CudaCompileError`."""
        source = self.source
        with on_torch_stream(torch.device("cuda", index)) as cupy:
            arch = _architecture(self, f"sm_{cupy.cuda.Device(index).compute_capability}")
            headers = source.fingerprint
            compiled = compile_kernel(source.path, source.text, self.name, source.options, arch, headers)
            raw = cupy.RawModule(path=str(compiled.path)).get_function(compiled.symbol)
            self.loaded[index] = LoadedKernel(raw, self.parameters, index, compiled.path, chained=self.chained)
        return self.loaded[index]


Recorder = Callable[[Function, Extents, Extents, int], None]
_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextlib.contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Tell ``recorder`` of every launch (function, grid, block, dynamic shared memory), executing none."""
    token = _recorder.set(recorder)
    watching.append(recorder)
    try:
        yield
    finally:
        watching.pop()
        _recorder.reset(token)


class Repeatable(Protocol):
    """A kernel loaded on the GPU number ``index``, to be launched with addresses for its tensors."""

    @property
    def index(self) -> int: ...

    def launch(self, grid: Extents, block: Extents, values: Sequence[Any], shared_bytes: int, stream: int) -> None: ...


class Launched(NamedTuple):
    """A launch that was made: ``kernel`` is ``None`` where nothing can repeat it, ``args`` are as they were given."""

    kernel: Repeatable | None
    grid: Extents
    block: Extents
    args: tuple[Any, ...]
    shared_bytes: int


_observer: ContextVar[list[Launched] | None] = ContextVar("observer", default=None)
# Whether anybody observes; a list is asked sooner than the context, in each launch.
watching: list[object] = []


@contextlib.contextmanager
def observing() -> Iterator[list[Launched]]:
    """All launches of the body that are not empty, as they are made."""
    launches: list[Launched] = []
    token = _observer.set(launches)
    watching.append(launches)
    try:
        yield launches
    finally:
        watching.pop()
        _observer.reset(token)


def observed(
    kernel: Repeatable | None, grid: Extents, block: Extents, args: Sequence[Any], shared_bytes: int = 0
) -> None:
    """Tell whoever is :func:`observing` of a launch."""
    launches = _observer.get() if watching else None
    if launches is not None:
        launches.append(Launched(kernel, grid, block, tuple(args), shared_bytes))


def _architecture(function: Function, here: str) -> str:
    """What to compile for on a GPU of architecture ``here``. Raises ``ValueError`` for a file of another one."""
    wanted = function.source.arch
    major, minor = int(here[3:-1]), int(here[-1])
    if wanted and not runs_on(wanted, (major, minor)):
        raise ValueError(f"{function} is written for {wanted}, and this GPU is {here}")
    return wanted or here


def _fingerprint(path: Path, text: str) -> str:
    """A digest of all files beside the source or of this package that a text includes, directly or not."""
    digest = hashlib.sha256()
    for name in _INCLUDE.findall(text):
        for header in (path.parent / name, cuda_cpu.include_directory() / name):
            if header.is_file():  # CUDA's own headers belong to the compiler, whose version is in the key
                content = header.read_text(encoding="utf-8")
                digest.update(f"{name}\n{content}\n{_fingerprint(header, content)}".encode())
                break
    return digest.hexdigest()


def c_type(tensor: torch.Tensor) -> str:
    """The C name of a tensor's element type, to instantiate a template with. Raises ``ValueError``."""
    try:
        return _C_NAMES[tensor.dtype]
    except KeyError:
        raise ValueError(f"no CUDA kernel takes {tensor.dtype}") from None


def c_bool(value: bool) -> str:
    """The C++ name of a truth value, to instantiate a template with."""
    return "true" if value else "false"


def ceil_div(dividend: int, divisor: int) -> int:
    """The smallest number of parts of ``divisor`` that cover ``dividend``."""
    return -(-dividend // divisor)


def misalignment(tensor: torch.Tensor, nbytes: int) -> int:
    """How many bytes ``tensor`` starts past a multiple of ``nbytes``."""
    return tensor.data_ptr() % nbytes


def require(condition: bool, message: str) -> None:
    """Raise ``ValueError`` with ``message`` unless ``condition``: what a launcher does with what it cannot compute."""
    if not condition:
        raise ValueError(message)
