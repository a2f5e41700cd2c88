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
import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from pytest_roofline import signature
from pytest_roofline.counting import cuda_cpu
from pytest_roofline.nvrtc import compile_kernel

GRID_LIMIT = (2**31 - 1, 65535, 65535)
BLOCK_LIMIT = (1024, 1024, 64)
STATIC_SHARED_BYTES = 48 * 1024  # a kernel must ask for more than this, CUDA C++ programming guide

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


class Source:
    """A ``.cu`` file, compiled when one of its functions is first launched, once per function and device.

    ``options`` go to the compiler (``-DNAME=value``, ``--use_fast_math``). Headers included with quotes are looked up
    relative to the file.
    """

    def __init__(self, path: Path, options: Sequence[str] = ()) -> None:
        self.path = Path(path)
        self.options = tuple(options)
        self._functions: dict[str, Function] = {}

    def function(self, name: str) -> Function:
        """The kernel called ``name``, or the instance ``name<float, 32>`` of a template. Compiles nothing yet."""
        if name not in self._functions:
            self._functions[name] = Function(self, name)
        return self._functions[name]

    @functools.cached_property
    def text(self) -> str:
        """The file's content. Raises ``FileNotFoundError``."""
        return self.path.read_text(encoding="utf-8")

    @functools.cached_property
    def cpu_module(self) -> Any:
        """The file, to run on this machine's CPU. Its launches raise :class:`cuda_cpu.CompilerMissing`."""
        return cuda_cpu.load(self.path, options=self.options)


class Function:
    """One kernel of a :class:`Source`; calling it launches it."""

    def __init__(self, source: Source, name: str) -> None:
        self.source = source
        self.name = name
        self._kernels: dict[int, _Loaded] = {}  # by device index
        self._opted_in: dict[int, int] = {}  # dynamic shared memory allowed so far, by device index

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
        ``TypeError`` and ``OverflowError`` (an argument against its parameter), :class:`nvrtc.CudaCompileError`.
        """
        try:
            grid3, block3 = _extents(tuple(grid), tuple(block))
        except ValueError as error:
            raise ValueError(f"{self}: {error}") from None
        if len(args) != len(self._converters):
            wanted = ", ".join(map(str, self.parameters))
            raise ValueError(f"{self}: {len(args)} arguments for {len(self.parameters)} parameters ({wanted})")
        try:
            values = [convert(value) for convert, value in zip(self._converters, args, strict=True)]
        except (TypeError, OverflowError) as error:
            raise type(error)(f"{self}: {error}") from None
        device = self._device(values)
        if 0 in grid3:
            return
        if device.type == "cpu":
            self.source.cpu_module.function(self.name)(grid3, block3, tuple(values), shared_bytes)
        else:
            self._launch_on_gpu(device.index, grid3, block3, values, shared_bytes)

    @functools.cached_property
    def _converters(self) -> tuple[Callable[[Any], Any], ...]:
        """For each parameter, what an argument is checked and made its C type with; built once, used in every launch.

        Raises ``ValueError`` when the file has no such kernel, ``TypeError`` for a parameter that nothing can be
        passed for.
        """
        try:
            return tuple(_tensor_of(p) if p.pointer else signature.converter(p) for p in self.parameters)
        except TypeError as error:
            raise TypeError(f"{self}: {error}") from None

    def _device(self, values: Sequence[Any]) -> torch.device:
        """Where the tensors are: of page-locked host memory beside a GPU's, the GPU, which addresses both."""
        found = None
        for value in values:
            if isinstance(value, torch.Tensor):
                device = value.device
                if found is None:
                    found = device
                elif device != found:
                    found = self._common_device([v for v in values if isinstance(v, torch.Tensor)])
                    break
        if found is not None:
            return found
        return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")

    def _common_device(self, tensors: Sequence[torch.Tensor]) -> torch.device:
        devices = {t.device for t in tensors if not (t.device.type == "cpu" and t.is_pinned())}
        if len(devices) > 1:
            raise ValueError(f"{self}: the tensors are on several devices: {', '.join(sorted(map(str, devices)))}")
        return devices.pop()

    def _launch_on_gpu(
        self,
        index: int,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        values: Sequence[Any],
        shared_bytes: int,
    ) -> None:
        if index != torch.cuda.current_device():
            with torch.cuda.device(index):
                return self._launch_on_gpu(index, grid, block, values, shared_bytes)
        kernel = self._kernels.get(index) or self._compile(index)
        if shared_bytes > self._opted_in.get(index, STATIC_SHARED_BYTES):
            kernel.raw.max_dynamic_shared_size_bytes = shared_bytes
            self._opted_in[index] = shared_bytes
        raw = tuple([v if isinstance(v, np.generic) else np.uintp(v.data_ptr()) for v in values])
        kernel.function(grid, block, raw, shared_bytes, _stream(_stream_handle(index)))

    def _compile(self, index: int) -> _Loaded:
        """The kernel for the current device, whose number is ``index``. Raises :class:`nvrtc.CudaCompileError`."""
        source = self.source
        with on_torch_stream(torch.device("cuda", index)) as cupy:
            arch = f"sm_{cupy.cuda.Device(index).compute_capability}"
            headers = _fingerprint(source.path, source.text)
            compiled = compile_kernel(source.path, source.text, self.name, source.options, arch, headers)
            raw = cupy.RawModule(path=str(compiled.path)).get_function(compiled.symbol)
            self._kernels[index] = _Loaded(raw, raw.kernel)
        return self._kernels[index]


class _Loaded(NamedTuple):
    """A kernel on one device: CuPy's ``RawKernel``, which holds its attributes, and the plain function underneath.

    The function is launched directly: it takes the stream as an argument, so that no launch has to enter and leave a
    device and a stream of CuPy's.
    """

    raw: Any
    function: Any


def _tensor_of(parameter: signature.Parameter) -> Callable[[Any], torch.Tensor]:
    """A check that a value is a tensor of the pointer's element type. Raises ``TypeError`` for an unknown type."""
    wanted = getattr(torch, str(parameter.c_type.torch_name))

    def check(value: Any) -> torch.Tensor:
        if isinstance(value, torch.Tensor) and value.dtype is wanted:
            return value
        got = value.dtype if isinstance(value, torch.Tensor) else type(value).__name__
        raise TypeError(f"parameter {parameter} takes a {wanted} tensor, got {got}")

    return check


@contextlib.contextmanager
def on_torch_stream(device: torch.device) -> Iterator[Any]:
    """CuPy, working on torch's current stream of ``device``. Raises ``ModuleNotFoundError`` where it is missing."""
    try:
        import cupy
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "CUDA C++ kernels need CuPy on a GPU: pip install 'pytest-roofline[cuda13]' (cuda12 for older drivers)",
            name="cupy",
        ) from error
    with cupy.cuda.Device(device.index), _stream(torch.cuda.current_stream(device).cuda_stream):
        yield cupy


def _stream_handle(index: int) -> int:
    """Handle of torch's current stream on a device."""
    # What Triton and Inductor call for each launch; the public way makes two Python objects for it.
    read = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return int(read(index)) if read else int(torch.cuda.current_stream(index).cuda_stream)


class _StreamHandle:
    """The CUDA stream protocol around a raw handle; torch's own streams speak it only in recent versions."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


@functools.cache
def _stream(handle: int) -> Any:
    import cupy

    if hasattr(cupy.cuda.Stream, "from_external"):
        return cupy.cuda.Stream.from_external(_StreamHandle(handle))
    return cupy.cuda.ExternalStream(handle)


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


@functools.lru_cache(maxsize=4096)
def _extents(grid: tuple[int, ...], block: tuple[int, ...]) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Both with three extents each. Raises ``ValueError`` for what CUDA would refuse."""
    grid3, block3 = _three("grid", grid, GRID_LIMIT), _three("block", block, BLOCK_LIMIT)
    if not 0 < math.prod(block3) <= 1024:
        raise ValueError(f"a block has 1 to 1024 threads, not {block}")
    return grid3, block3


def _three(what: str, extents: tuple[int, ...], limits: tuple[int, int, int]) -> tuple[int, int, int]:
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"a {what} has one to three extents, not {len(extents)}")
    x, y, z = (*extents, 1, 1)[:3]
    if any(not 0 <= extent <= limit for extent, limit in zip((x, y, z), limits, strict=True)):
        raise ValueError(f"the {what} {extents} leaves CUDA's limits {limits}")
    return x, y, z


def c_type(tensor: torch.Tensor) -> str:
    """The C name of a tensor's element type, to instantiate a template with. Raises ``ValueError``."""
    try:
        return _C_NAMES[tensor.dtype]
    except KeyError:
        raise ValueError(f"no CUDA kernel takes {tensor.dtype}") from None


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
