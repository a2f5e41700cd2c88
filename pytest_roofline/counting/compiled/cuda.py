"""Compile CUDA C++ for an architecture without a GPU or its driver: NVRTC through NVIDIA's own bindings.

CuPy compiles only where there is a driver. The options are those of :mod:`pytest_roofline.nvrtc`, so the code is the
same that a GPU would run, provided that the version of NVRTC is; ``-lineinfo`` adds lines and changes no instruction.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_roofline import cache
from pytest_roofline.counting.cuda_cpu import include_directory
from pytest_roofline.nvrtc import DEFAULTS, CudaCompileError

_SPILLS = re.compile(r"(\d+) bytes spill stores")
_BLANK = "\0 \n"
_FUNCTION = re.compile(r"Function properties for (\S+)")


class CompilerMissing(RuntimeError):  # noqa: N818  (a state of the installation)
    """A compiler, or CUDA's headers, are not installed; the message says what to do."""


@dataclass(frozen=True)
class Program:
    """One compiled kernel: cubin, the kernel's symbol in it, the bytes it spills per thread, the compiler's version."""

    binary: bytes
    symbol: str
    spills: int
    compiler: str


def compile_kernel(source: Path, text: str, name: str, options: Sequence[str], arch: str, fingerprint: str) -> Program:
    """Compile kernel ``name`` of ``source`` for ``arch``, or find it compiled before.

    ``fingerprint`` stands for everything that the text includes. Raises :class:`CompilerMissing`,
    :class:`CudaCompileError`.
    """
    nvrtc = _nvrtc()
    arguments = [f"--gpu-architecture={arch}", *DEFAULTS, f"-I{source.parent}", *options]
    key = hashlib.sha256(json.dumps([text, name, arguments, version(), fingerprint]).encode()).hexdigest()
    binary, notes = (cache.folder() / "compiled" / f"{key}.{suffix}" for suffix in ("cubin", "json"))
    if not (binary.is_file() and notes.is_file()):
        arguments += [f"-I{folder}" for folder in (include_directory(), headers())]
        arguments += ["-lineinfo", "--ptxas-options=-v"]
        compiled, symbol, log = _compile(nvrtc, source, text, name, arguments)
        cache.write_atomically(binary, compiled)
        cache.write_atomically(notes, json.dumps([symbol, _spilled(log, symbol)]).encode())
    symbol, spills = json.loads(notes.read_text())
    return Program(binary.read_bytes(), symbol, spills, f"nvrtc {version()}")


@functools.cache
def version() -> str:
    """Of NVRTC, such as ``13.0``. Raises :class:`CompilerMissing`."""
    _, major, minor = _nvrtc().nvrtcVersion()
    return f"{major}.{minor}"


@functools.cache
def headers() -> Path:
    """The folder of CUDA's own headers: of NVIDIA's wheels, or of a toolkit. Raises :class:`CompilerMissing`."""
    for folder in _header_folders():
        if (folder / "cuda_fp16.h").is_file():
            return folder
    raise CompilerMissing(f"CUDA's headers are not installed: {_HELP}")


_HELP = "pip install 'pytest-roofline[compiled]' brings all that compiling without a GPU needs"


def _header_folders() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        yield from sorted(Path(folder).glob("cu*/include"), reverse=True)
    for toolkit in (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if toolkit:
            yield Path(toolkit) / "include"


@functools.cache
def _nvrtc() -> Any:
    try:
        nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")
        nvrtc.nvrtcVersion()  # loads the library, which is a package of its own
    except (ImportError, RuntimeError) as error:
        raise CompilerMissing(f"NVRTC cannot be used ({error}): {_HELP}") from error
    return nvrtc


def _compile(nvrtc: Any, source: Path, text: str, name: str, arguments: Sequence[str]) -> tuple[bytes, str, str]:
    program = _checked(nvrtc.nvrtcCreateProgram(text.encode(), source.name.encode(), 0, [], []))
    try:
        _checked(nvrtc.nvrtcAddNameExpression(program, name.encode()))
        status = nvrtc.nvrtcCompileProgram(program, len(arguments), [a.encode() for a in arguments])[0]
        log = _read(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).decode(errors="replace")
        if int(status):
            raise CudaCompileError(f"{source}: {name} does not compile:\n{log.strip(_BLANK)}")
        binary = _read(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        symbol = _checked(nvrtc.nvrtcGetLoweredName(program, name.encode()))
        return binary, symbol.decode(), log
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _read(program: Any, size: Any, content: Any) -> bytes:
    buffer = b" " * int(_checked(size(program)))
    _checked(content(program, buffer))
    return buffer


def _checked(result: tuple[Any, ...]) -> Any:
    if int(result[0]):
        raise CudaCompileError(f"NVRTC failed: {result[0]}")
    return result[1] if len(result) > 1 else None


def _spilled(log: str, symbol: str) -> int:
    """What ptxas says about one function, after its name; device functions that it did not inline have their own."""
    parts = _FUNCTION.split(log)
    told = dict(zip(parts[1::2], parts[2::2], strict=True))
    found = _SPILLS.search(told.get(symbol, ""))
    return int(found[1]) if found else 0
