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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
        self._kernels: dict[int, Any] = {}  # by device index
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
        grid3, block3 = _extents("grid", grid, GRID_LIMIT), _extents("block", block, BLOCK_LIMIT)
        if not 0 < math.prod(block3) <= 1024:
            raise ValueError(f"{self}: a block has 1 to 1024 threads, not {tuple(block)}")
        if len(args) != len(self.parameters):
            wanted = ", ".join(map(str, self.parameters))
            raise ValueError(f"{self}: {len(args)} arguments for {len(self.parameters)} parameters ({wanted})")
        values = tuple(self._checked(p, a) for p, a in zip(self.parameters, args, strict=True))
        device = self._device(values)
        if 0 in grid3:
            return
        if device.type == "cpu":
            self.source.cpu_module.function(self.name)(grid3, block3, values, shared_bytes)
        else:
            self._launch_on_gpu(device, grid3, block3, values, shared_bytes)

    def _checked(self, parameter: signature.Parameter, value: Any) -> Any:
        """A tensor of the pointer's element type, or a number as exactly the parameter's C type."""
        try:
            if not parameter.pointer:
                return signature.scalar(parameter, value)
            wanted = parameter.c_type.torch_name
        except (TypeError, OverflowError) as error:
            raise type(error)(f"{self}: {error}") from None
        if not isinstance(value, torch.Tensor) or value.dtype is not getattr(torch, wanted):
            got = value.dtype if isinstance(value, torch.Tensor) else type(value).__name__
            raise TypeError(f"{self}: parameter {parameter} takes a torch.{wanted} tensor, got {got}")
        return value

    def _device(self, values: Sequence[Any]) -> torch.device:
        devices = {v.device for v in values if isinstance(v, torch.Tensor)}
        if len(devices) > 1:
            raise ValueError(f"{self}: the tensors are on several devices: {', '.join(sorted(map(str, devices)))}")
        if devices:
            return devices.pop()
        return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")

    def _launch_on_gpu(
        self,
        device: torch.device,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        values: Sequence[Any],
        shared_bytes: int,
    ) -> None:
        raw = tuple(np.uintp(v.data_ptr()) if isinstance(v, torch.Tensor) else v for v in values)
        with on_torch_stream(device) as cupy:
            kernel = self._kernels.get(device.index) or self._compile(cupy, device.index)
            if shared_bytes > self._opted_in.get(device.index, STATIC_SHARED_BYTES):
                kernel.max_dynamic_shared_size_bytes = shared_bytes
                self._opted_in[device.index] = shared_bytes
            kernel(grid, block, raw, shared_mem=shared_bytes)

    def _compile(self, cupy: Any, index: int) -> Any:
        """The kernel for the current device, whose number is ``index``. Raises :class:`nvrtc.CudaCompileError`."""
        source = self.source
        arch = f"sm_{cupy.cuda.Device(index).compute_capability}"
        headers = _fingerprint(source.path, source.text)
        compiled = compile_kernel(source.path, source.text, self.name, source.options, arch, headers)
        module = cupy.RawModule(path=str(compiled.path))
        self._kernels[index] = module.get_function(compiled.symbol)
        return self._kernels[index]


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


def _extents(what: str, extents: Sequence[int], limits: tuple[int, int, int]) -> tuple[int, int, int]:
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"a {what} has one to three extents, not {len(extents)}")
    x, y, z = (*extents, 1, 1)[:3]
    if any(not 0 <= extent <= limit for extent, limit in zip((x, y, z), limits, strict=True)):
        raise ValueError(f"the {what} {tuple(extents)} leaves CUDA's limits {limits}")
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
