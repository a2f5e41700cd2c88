"""Compile CUDA C++ with NVRTC under options of our own, and keep the result.

CuPy's ``RawModule`` always adds ``-ftz=true``: subnormal numbers would become zero, which neither nvcc nor the
references do. So the source is compiled here, with nvcc's defaults, and CuPy only loads the cubin.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_roofline import cache
from pytest_roofline.counting.cuda_cpu import include_directory

DEFAULTS = ("-std=c++17",)


class CudaCompileError(RuntimeError):
    """A ``.cu`` file does not compile; the message holds the compiler's log."""


@dataclass(frozen=True)
class Compiled:
    """A cubin on disk and the name of the kernel in it."""

    path: Path
    symbol: str


def compile_kernel(source: Path, text: str, name: str, options: Sequence[str], arch: str, fingerprint: str) -> Compiled:
    """Compile kernel ``name`` of ``source`` for ``arch`` (``sm_90``), or find it compiled before.

    ``fingerprint`` stands for everything that the text includes, so that the same files in another folder (an older
    revision, exported) need no compiler. Raises :class:`CudaCompileError`.
    """
    from cupy.cuda import nvrtc

    arguments = [f"--gpu-architecture={arch}", *DEFAULTS, *options]
    key = hashlib.sha256(json.dumps([text, name, arguments, nvrtc.getVersion(), fingerprint]).encode()).hexdigest()
    cubin, symbol = (cache.folder() / "cubin" / f"{key}.{suffix}" for suffix in ("cubin", "symbol"))
    if not (cubin.is_file() and symbol.is_file()):
        arguments += [f"-I{folder}" for folder in (source.parent, include_directory(), *include_folders())]
        binary, mangled = _compile(nvrtc, source, text, name, arguments)
        cache.write_atomically(cubin, binary)
        cache.write_atomically(symbol, mangled.encode())
    return Compiled(cubin, symbol.read_text())


def _compile(nvrtc: Any, source: Path, text: str, name: str, arguments: Sequence[str]) -> tuple[bytes, str]:
    program = nvrtc.createProgram(text, source.name, [], [])
    try:
        nvrtc.addNameExpression(program, name)
        try:
            nvrtc.compileProgram(program, list(arguments))
        except nvrtc.NVRTCError as error:
            log = nvrtc.getProgramLog(program)
            raise CudaCompileError(f"{source}: {name} does not compile:\n{log.strip() or error}") from error
        return bytes(nvrtc.getCUBIN(program)), str(nvrtc.getLoweredName(program, name))
    finally:
        nvrtc.destroyProgram(program)


@functools.cache
def include_folders() -> tuple[Path, ...]:
    """The folders of CUDA's own headers (``cuda_fp16.h``): of a toolkit, of NVIDIA's wheels, or CuPy's copies.

    With the first that there is goes its ``cccl``, which cooperative groups include.
    """
    found = [folder for folder in _candidates() if (folder / "cuda_fp16.h").is_file()][:1]
    return (*found, *(folder / "cccl" for folder in found if (folder / "cccl").is_dir()))


def _candidates() -> Iterator[Path]:
    import cupy

    compiler = shutil.which("nvcc")
    toolkits = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), cupy.cuda.get_cuda_path(), "/usr/local/cuda"]
    if compiler is not None:
        toolkits.append(str(Path(compiler).resolve().parent.parent))
    yield from (Path(toolkit) / "include" for toolkit in toolkits if toolkit)
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        yield from sorted(Path(folder).glob("cu*/include"), reverse=True)  # cu13, cuda_runtime
    yield from sorted((Path(cupy.__file__).parent / "_core/include/cupy/_cuda").glob("cuda-*"), reverse=True)
