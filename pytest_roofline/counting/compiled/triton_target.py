"""Compile Triton kernels without a GPU or its driver, in a process that does not interpret.

A driver that only names its target takes the place of the real one, and launches become compilations; so the
specialisation (types, divisibility by 16, constants) is derived from the very arguments that the launcher passes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

Told = Callable[[Any, str], None]


def install(arch: str, told: Told) -> None:
    """Compile whatever is launched from now on for ``arch``; ``told`` receives Triton's kernel and its key.

    Raises ``ModuleNotFoundError`` without Triton, ``RuntimeError`` where it was imported to interpret.
    """
    import triton

    if triton.knobs.runtime.interpret:
        raise RuntimeError("Triton was imported to interpret; it compiles only without TRITON_INTERPRET")
    triton.runtime.driver.set_active(_driver(int(arch.removeprefix("sm_").rstrip("a"))))
    record(told)


def record(told: Told) -> None:
    """Compile whatever is launched from now on for Triton's active driver, and launch nothing."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    original = JITFunction.run

    def run(self: Any, *arguments: Any, grid: Any, warmup: bool, **keywords: Any) -> Any:
        kernel = original(self, *arguments, grid=grid, warmup=True, **keywords)
        told(kernel, key(kernel))
        return kernel

    JITFunction.run = run
    # Nothing can be timed: all configurations count as equal and the first is taken, as in the interpreter.
    Autotuner._bench = lambda self, *arguments, config, **keywords: [0.0, 0.0, 0.0]


@functools.cache
def compiler() -> str:
    """The tools whose version may change the code."""
    import triton

    return f"triton {triton.__version__}, ptxas {triton.knobs.nvidia.ptxas.version}"


def key(kernel: Any) -> str:
    """Name and specialisation of a compiled kernel: ``_copy(x_ptr:*fp32/16, n:i32, BLOCK=1024) warps=4 stages=3``."""
    source, options = kernel.src, kernel.metadata
    parts = []
    for index, (name, kind) in enumerate(source.signature.items()):
        if (index,) in source.constants:
            parts.append(f"{name}={_constant(source.constants[(index,)])}")
        else:
            parts.append(f"{name}:{kind}{_divisible(source.attrs.get((index,), ()))}")
    return f"{source.name}({', '.join(parts)}) warps={options.num_warps} stages={options.num_stages}"


_LOCATION = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_ACCESS = re.compile(r"\b(ld|st)\.(?:\w+\.)*?(global|shared)(?:\.\w+)*?(?:\.v(\d))?\.[busf](\d+)\b")


def places(kernel: Any) -> dict[str, tuple[str, int]]:
    """Where the kernel begins (``""``), and where its narrowest access of each kind comes from, by the PTX's lines."""
    function = kernel.src.fn.fn
    found = {"": (function.__code__.co_filename, function.__code__.co_firstlineno)}
    text = kernel.asm["ptx"]
    files = {number: "/".join(filter(None, names)) for number, *names in _FILE.findall(text)}
    narrowest: dict[str, int] = {}
    file, line = found[""]
    for statement in text.splitlines():
        location = _LOCATION.match(statement)
        if location:
            file, line = files.get(location[1], file), int(location[2])
        for verb, space, vector, bits in _ACCESS.findall(statement):
            kind, width = f"{space} {'load' if verb == 'ld' else 'store'}", int(vector or 1) * int(bits)
            if width < narrowest.get(kind, width + 1):
                narrowest[kind], found[kind] = width, (file, line)
    return found


def _divisible(attributes: Any) -> str:
    return "".join(f"/{value}" for name, value in attributes if name == "tt.divisibility")


def _constant(value: Any) -> str:
    """Functions and types by their name, which is the same in every process."""
    value = getattr(value, "value", value)
    return str(getattr(value, "__name__", value))


def _driver(capability: int) -> Any:
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    class CompileOnlyDriver(DriverBase):  # type: ignore[misc]
        """Knows its target and nothing else."""

        def __init__(self) -> None:
            self.target = GPUTarget("cuda", capability, 32)

        @classmethod
        def is_active(cls) -> bool:
            return True

        def map_python_to_cpp_type(self, ty: str) -> str:
            return ty

        def get_current_target(self) -> Any:
            return self.target

        def get_current_device(self) -> int:
            return 0

        def get_current_stream(self, device: int) -> int:
            return 0

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cpu")

        def get_benchmarker(self) -> Any:
            raise RuntimeError("nothing can be timed without a GPU")

    return CompileOnlyDriver()
