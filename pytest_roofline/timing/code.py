"""A digest of the machine code that one execution runs, and of how it is launched.

Two versions of a kernel that compile to the same code and are launched alike cannot differ in speed: a difference in
time is then the machine's. Line tables and other sections that do not run are left out, so that moved or reformatted
source gives the same digest.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pytest_roofline.counting.compiled.cubin import CubinError, kernels
from pytest_roofline.timing.capture import Graph


@contextlib.contextmanager
def recording() -> Iterator[list[str]]:
    """Every launch of a CUDA C++ or Triton kernel in the body, as text that identifies its code and configuration."""
    from pytest_roofline.driver import LoadedKernel

    launches: list[str] = []
    plain = LoadedKernel.launch

    def launch(self: Any, grid: Any, block: Any, values: Any, shared_bytes: int, stream: int) -> None:
        launches.append(f"{_digest_of(self.image)} {grid} {block} {shared_bytes}")
        plain(self, grid, block, values, shared_bytes, stream)

    LoadedKernel.launch = launch  # type: ignore[method-assign]
    try:
        with _recording_triton(launches):
            yield launches
    finally:
        LoadedKernel.launch = plain  # type: ignore[method-assign]


@contextlib.contextmanager
def _recording_triton(launches: list[str]) -> Iterator[None]:
    """Triton asks a compiled kernel for its metadata in front of every launch."""
    try:
        from triton.compiler.compiler import CompiledKernel
    except ImportError:
        yield
        return
    plain = CompiledKernel.launch_metadata

    def launch_metadata(self: Any, grid: Any, stream: Any, *arguments: Any) -> Any:
        shared = getattr(self.metadata, "shared", 0)
        warps = getattr(self.metadata, "num_warps", 0)
        launches.append(f"{digest(self.asm['cubin'])} {tuple(grid)} {warps} {shared}")
        return plain(self, grid, stream, *arguments)

    CompiledKernel.launch_metadata = launch_metadata
    try:
        yield
    finally:
        CompiledKernel.launch_metadata = plain


def of(launches: list[str], graph: Graph) -> str | None:
    """The digest of what ``graph`` holds; ``None`` where it holds anything beside the recorded ``launches`` (a library
    routine, a memset), whose code is not known."""
    if not launches or nodes(graph) != len(launches):
        return None
    return hashlib.sha256("\n".join(launches).encode()).hexdigest()[:16]


def nodes(graph: Graph) -> int | None:
    """How many kernels, copies and memsets a graph holds; ``None`` where the driver cannot be asked."""
    count = ctypes.c_size_t(0)
    try:
        status = ctypes.CDLL("libcuda.so.1").cuGraphGetNodes(ctypes.c_void_p(graph.address), None, ctypes.byref(count))
    except (OSError, AttributeError):
        return None
    return None if status else count.value


@functools.lru_cache(maxsize=1024)
def _digest_of(image: Path) -> str:
    return digest(image.read_bytes())


@functools.lru_cache(maxsize=1024)
def digest(cubin: bytes) -> str:
    """Of the kernels' code, registers and shared memory in a cubin; of all its bytes where it cannot be read."""
    try:
        parts = [
            f"{k.symbol} {k.registers} {k.stack} {k.shared} {hashlib.sha256(k.code).hexdigest()}"
            for k in kernels(cubin).values()
        ]
    except CubinError:
        return hashlib.sha256(cubin).hexdigest()[:16]
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:16]


def code_of(call: Callable[[], object], capture_one: Callable[[], Graph]) -> str | None:
    """The digest of one execution. ``call`` compiles what is not compiled yet, ``capture_one`` captures it alone."""
    call()
    with recording() as launches:
        graph = capture_one()
    return of(launches, graph)
