"""Load a ``.cu`` file and launch its kernels on the CPU."""

from __future__ import annotations

import ctypes
import functools
import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pytest_roofline import signature
from pytest_roofline.counting.cuda_cpu import abi, launching, session
from pytest_roofline.counting.cuda_cpu.arguments import Parameter, convert
from pytest_roofline.counting.cuda_cpu.build import (
    INSTRUMENTED,
    MAX_SHARED_BYTES,
    PATTERNED,
    PLAIN,
    RAISED,
    ZEROED,
    Build,
    build_kernel,
    compile_code,
    filled,
    runtime_library,
)
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler
from pytest_roofline.counting.cuda_cpu.elf import Symbol, section, variable_name, variables
from pytest_roofline.counting.cuda_cpu.operations import SECTION, read_table
from pytest_roofline.counting.cuda_cpu.symbols import Symboliser

GRID_LIMIT = (2**31 - 1, 65535, 65535)
BLOCK_LIMIT = (1024, 1024, 64)

_lock = threading.RLock()  # the runtime holds one launch at a time


class Module:
    """A ``.cu`` file. Nothing is compiled before a kernel is launched."""

    def __init__(self, path: Path, options: Sequence[str]) -> None:
        self.path = path
        self.options = tuple(options)
        self._functions: dict[str, Function] = {}

    def function(self, name: str) -> Function:
        """The kernel ``name``, or an instance such as ``"transpose<float, 32>"`` of a template."""
        if name not in self._functions:
            self._functions[name] = Function(self, name)
        return self._functions[name]


class Variant:
    """One compiled form of a kernel, loaded into this process."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.runtime = _runtime()
        library = ctypes.CDLL(str(build.module))
        self._library = library
        library.rl_anchor.restype = ctypes.c_void_p
        self.anchor = library.rl_anchor
        self.entry = ctypes.cast(library.rl_entry, ctypes.c_void_p).value
        self.launch_bound = ctypes.c_uint32.in_dll(library, "rl_launch_bound").value
        self.symboliser = Symboliser(build.module)
        thread_local, ordinary = variables(build.module)
        self.shared = [s for s in thread_local if not _hidden(s)]
        self.hidden = [s for s in thread_local if _hidden(s)]
        self.device = sorted((s for s in ordinary if not s.constant), key=lambda s: s.address)
        self.objects = abi.spans(sorted((s.address, s.size | abi.CONSTANT_SPAN * s.constant) for s in ordinary))
        self.objects_count = len(ordinary)
        self.operations = read_table(section(build.module, SECTION))

    @property
    def static_shared_bytes(self) -> int:
        """Shared memory of the kernel's own variables."""
        return sum(s.size for s in self.shared if s.size != MAX_SHARED_BYTES)

    def shared_spans(self, dynamic_bytes: int) -> Any:
        """The shared variables of a launch, the dynamic array with the size asked for."""
        sizes = [(s.address, dynamic_bytes if s.size == MAX_SHARED_BYTES else s.size) for s in self.shared]
        return abi.spans(sizes + [(s.address, s.size | abi.HIDDEN_SPAN) for s in self.hidden])

    def shared_variable(self, offset: int) -> tuple[str, int]:
        """The shared variable around or before an offset of the window, and the offset from its start."""
        return _nearest(self.shared, "shared memory", offset)

    def device_variable(self, offset: int) -> tuple[str, int]:
        """The ``__device__`` variable around or before an offset from the module's start, and the offset in it."""
        return _nearest(self.device, "device memory", offset)

    def parameters(self, names: Sequence[str]) -> tuple[Parameter, ...]:
        """The kernel's parameters as the compiler sees them, under the source's names where those are known."""
        count = ctypes.c_uint32.in_dll(self._library, "rl_parameter_count").value
        described = ctypes.POINTER(abi.Parameter).in_dll(self._library, "rl_parameters")
        return tuple(
            Parameter(
                names[i] if len(names) == count and names[i] else f"#{i}",
                described[i].kind.decode(),
                described[i].size,
                described[i].element_size,
                bool(described[i].pointer),
                bool(described[i].constant),
            )
            for i in range(count)
        )


def _nearest(symbols: Sequence[Symbol], otherwise: str, offset: int) -> tuple[str, int]:
    below = [s for s in symbols if s.address <= offset] or symbols
    if not below:
        return otherwise, offset
    nearest = max(below, key=lambda s: s.address)
    return variable_name(nearest.name), offset - nearest.address


def _hidden(symbol: Symbol) -> bool:
    """Thread-local, but no shared variable: guards of variables with constructors, the anchor of the segment."""
    return symbol.name.startswith("_ZGV") or "rl_anchor_byte" in symbol.name


class Function:
    """A kernel; calling it launches it."""

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name
        self._variants: dict[str, Variant] = {}

    def __str__(self) -> str:
        return self.name

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        shared_bytes: int = 0,
    ) -> None:
        """Launch ``grid`` blocks of ``block`` threads with ``shared_bytes`` of dynamic shared memory.

        Tensors and arrays become pointers to exactly their elements; numbers are NumPy or ctypes scalars of exactly
        the parameter's type. Raises :class:`CudaFault` (what the kernel did wrong), ``TypeError`` (an argument),
        ``ValueError`` (a launch that a GPU refuses), :class:`CompilerMissing`, :class:`CudaBuildError`.
        """
        settings = session.current()
        with _lock:
            if settings.mode == "check" and INSTRUMENTED not in self._variants:
                self.build_for_check()
            variant = self.variant(PLAIN if settings.mode == "plain" and not self._polls else INSTRUMENTED)
            grid3, block3 = _extents("grid", grid, GRID_LIMIT), _extents("block", block, BLOCK_LIMIT)
            self._check_configuration(variant, block3, shared_bytes)
            values = convert(self.name, self.parameters, args)
            launching.launch(self, variant, settings, grid3, block3, values, shared_bytes)

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Names and types of the parameters; compiles the kernel."""
        try:
            names = signature.parameter_names(self._text, self.name)
        except ValueError:
            names = []  # a signature that only a C++ compiler reads
        loaded = next(iter(self._variants.values()), None) or self.variant(INSTRUMENTED)
        return loaded.parameters(names)

    @functools.cached_property
    def _text(self) -> str:
        return self.module.path.read_text(encoding="utf-8")

    @functools.cached_property
    def _polls(self) -> bool:
        """Whether the plain build could spin forever: only the instrumented one lets others run at volatile reads."""
        return "volatile" in self._text

    def variant(self, name: str) -> Variant:
        """A compiled form of this kernel, built if the cache has none."""
        if name not in self._variants:
            self._variants[name] = Variant(build_kernel(self.module.path, self.name, self.module.options, name))
        return self._variants[name]

    def build_for_check(self) -> None:
        """Compile what a check always needs, the two compilations at the same time. Raises as :func:`build_kernel`."""
        about = (self.module.path, self.name, self.module.options)
        with ThreadPoolExecutor(1) as beside:
            compared = beside.submit(compile_code, *about, ZEROED) if find_compiler().initialises else None
            self.variant(INSTRUMENTED)
        if compared is not None:
            compared.result()

    @functools.cached_property
    def fills(self) -> tuple[str, ...]:
        """The variants whose results may differ because of uninitialised variables; none where no code needs one."""
        if not find_compiler().initialises:
            return ()
        about = (self.module.path, self.name, self.module.options)
        zeroed = compile_code(*about, ZEROED)
        if not zeroed.unset or zeroed.digest == compile_code(*about, PATTERNED).digest:
            return ()
        positive = filled(*about, RAISED) != filled(*about, PATTERNED)
        return (PATTERNED, ZEROED, RAISED) if positive else (PATTERNED, ZEROED)

    def _check_configuration(self, variant: Variant, block: tuple[int, int, int], shared_bytes: int) -> None:
        threads = math.prod(block)
        if not 0 < threads <= 1024:
            raise ValueError(f"{self.name}: a block has 1 to 1024 threads, not {threads}")
        if threads > variant.launch_bound:
            raise ValueError(f"{self.name}: {threads} threads, __launch_bounds__ allows {variant.launch_bound}")
        needed = variant.static_shared_bytes + shared_bytes
        if shared_bytes < 0 or needed > MAX_SHARED_BYTES:
            raise ValueError(f"{self.name}: {needed} bytes of shared memory, a block has at most {MAX_SHARED_BYTES}")


@functools.cache
def _runtime() -> ctypes.CDLL:
    return abi.load_runtime(runtime_library(find_compiler()))


def _extents(what: str, extents: Sequence[int], limits: tuple[int, int, int]) -> tuple[int, int, int]:
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"a {what} has one to three extents, not {len(extents)}")
    x, y, z = (*extents, 1, 1)[:3]
    if any(not 0 < extent <= limit for extent, limit in zip((x, y, z), limits, strict=True)):
        raise ValueError(f"the {what} {tuple(extents)} leaves CUDA's limits of 1 to {limits}")
    return x, y, z


def load(source_path: Path, *, options: Sequence[str] = ()) -> Module:
    """The kernels of a ``.cu`` file, to run on this CPU. Raises ``FileNotFoundError``.

    Of ``options`` those count that a host compiler shares with nvcc: ``-D``, ``-U``, ``-I``.
    """
    path = Path(source_path)
    if not path.is_file():
        raise FileNotFoundError(f"no CUDA source {path}")
    return Module(path, options)
