"""A digest of the machine code that one execution runs, of how it is launched, and of the numbers that it is given.

Two versions of a kernel that compile to the same code and are launched alike with the same numbers do not differ in
speed: a difference in time is then the machine's. Line tables and other sections that do not run are left out, so that
moved or reformatted source gives the same digest; addresses, which differ from process to process, are, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pytest_roofline.counting.compiled.cubin import CubinError, data, kernels
from pytest_roofline.timing.capture import Graph


class Launch(NamedTuple):
    """One launch as text: its code and configuration, and the numbers that it works with."""

    code: str
    numbers: str


@contextlib.contextmanager
def recording() -> Iterator[list[Launch]]:
    """Every launch of a CUDA C++ or Triton kernel in the body."""
    from pytest_roofline.driver import LoadedKernel

    launches: list[Launch] = []
    plain = LoadedKernel.launch

    def launch(self: Any, grid: Any, block: Any, values: Any, shared_bytes: int, stream: int) -> None:
        code, constants = _digests_of(self.image)
        numbers = [value for value, number in zip(values, self.numbers, strict=True) if number]
        launches.append(Launch(f"{code} {grid} {block} {shared_bytes}", f"{constants} {numbers}"))
        plain(self, grid, block, values, shared_bytes, stream)

    LoadedKernel.launch = launch  # type: ignore[method-assign]
    try:
        with _recording_triton(launches):
            yield launches
    finally:
        LoadedKernel.launch = plain  # type: ignore[method-assign]


@contextlib.contextmanager
def _recording_triton(launches: list[Launch]) -> Iterator[None]:
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
        cubin = self.asm["cubin"]
        numbers = [value for value in arguments if isinstance(value, (int, float))]
        launches.append(Launch(f"{digest(cubin)} {tuple(grid)} {warps} {shared}", f"{digest_of_data(cubin)} {numbers}"))
        return plain(self, grid, stream, *arguments)

    CompiledKernel.launch_metadata = launch_metadata
    try:
        yield
    finally:
        CompiledKernel.launch_metadata = plain


def of(launches: list[Launch], graph: Graph) -> str | None:
    """The digest of what ``graph`` holds, code and numbers with a dot between them; ``None`` where it holds anything
    beside the recorded ``launches`` (a library routine, a memset), whose code is not known."""
    if not launches or nodes(graph) != len(launches):
        return None
    code, numbers = ("\n".join(texts) for texts in zip(*launches, strict=True))
    return f"{hashlib.sha256(code.encode()).hexdigest()[:16]}.{hashlib.sha256(numbers.encode()).hexdigest()[:8]}"


def nodes(graph: Graph) -> int | None:
    """How many kernels, copies and memsets a graph holds; ``None`` where the driver cannot be asked."""
    count = ctypes.c_size_t(0)
    try:
        status = ctypes.CDLL("libcuda.so.1").cuGraphGetNodes(ctypes.c_void_p(graph.address), None, ctypes.byref(count))
    except (OSError, AttributeError):
        return None
    return None if status else count.value


@functools.lru_cache(maxsize=1024)
def _digests_of(image: Path) -> tuple[str, str]:
    cubin = image.read_bytes()
    return digest(cubin), digest_of_data(cubin)


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


@functools.lru_cache(maxsize=1024)
def digest_of_data(cubin: bytes) -> str:
    """Of the constants and initialised variables in a cubin; empty where it has none, or cannot be read."""
    try:
        found = data(cubin)
    except CubinError:
        return ""
    parts = [f"{name} {hashlib.sha256(content).hexdigest()}" for name, content in found]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16] if parts else ""


def code_of(call: Callable[[], object], capture_one: Callable[[], Graph]) -> str | None:
    """The digest of one execution. ``call`` compiles what is not compiled yet, ``capture_one`` captures it alone."""
    call()
    with recording() as launches:
        graph = capture_one()
    return of(launches, graph)
