"""What a compiled kernel needs of an SM, as plain data. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_roofline.counting.compiled import cubin
from pytest_roofline.counting.compiled.occupancy import CAPABILITIES, Occupancy, occupancy
from pytest_roofline.counting.compiled.sass import Mix, mix

_ASSEMBLER = re.compile(rb"Cuda compilation tools, release [\d.]+, (V[\d.]+)")


@dataclass(frozen=True)
class Resources:
    """One kernel, compiled for ``arch`` and launched with blocks of ``threads``. Sizes in bytes.

    ``stack`` is one thread's frame, ``spills`` what of its registers one thread stores to it; ``shared`` is static
    and ``dynamic`` dynamic shared memory of a block. ``compiler`` names every tool whose version may change the code,
    ``code`` is a digest of the machine code.
    """

    arch: str
    compiler: str
    threads: int
    registers: int
    stack: int
    spills: int
    shared: int
    dynamic: int
    barriers: int
    occupancy: Occupancy
    mix: Mix
    code: str

    @property
    def excess_shared(self) -> int:
        """Bytes of shared memory beyond what one block may have; the compiler does not check the dynamic part."""
        return max(0, self.shared + self.dynamic - CAPABILITIES[self.arch].shared_per_block)


def assembler(binary: bytes) -> str:
    """The version of ptxas that wrote a cubin, which it notes inside; empty if it did not."""
    found = _ASSEMBLER.search(binary)
    return found[1].decode() if found else ""


def resources(
    binary: bytes, symbol: str, arch: str, compiler: str, threads: int, dynamic: int, spills: int | None = None
) -> Resources:
    """The figures of kernel ``symbol`` of a cubin.

    Where the compiler does not say how much it spilled, all local stores are spills: that is so where the language has
    no local arrays. Raises :class:`cubin.CubinError`, ``KeyError`` for an unknown architecture.
    """
    kernel = cubin.kernel(binary, symbol)
    instructions = mix(kernel.code)
    return Resources(
        arch=arch,
        compiler=compiler,
        threads=threads,
        registers=kernel.registers,
        stack=kernel.stack,
        spills=instructions.bytes("local store") if spills is None else spills,
        shared=kernel.shared,
        dynamic=dynamic,
        barriers=kernel.barriers,
        occupancy=occupancy(arch, threads, kernel.registers, kernel.shared + dynamic),
        mix=instructions,
        code=hashlib.sha256(kernel.code).hexdigest()[:16],
    )


def to_plain(found: Resources) -> dict[str, Any]:
    """JSON values; the architecture and the compiler stand beside them, and occupancy follows from the rest."""
    instructions = {f"{kind} {width}": n for kind, widths in found.mix.memory.items() for width, n in widths.items()}
    return {
        "threads": found.threads,
        "registers": found.registers,
        "stack": found.stack,
        "spills": found.spills,
        "shared": found.shared,
        "dynamic": found.dynamic,
        "barriers": found.barriers,
        "occupancy": found.occupancy.fraction,
        "limiter": found.occupancy.limiter,
        "mix": {**instructions, **found.mix.others, "instructions": found.mix.instructions},
        "code": found.code,
    }


def from_plain(data: Mapping[str, Any], arch: str, compiler: str) -> Resources:
    """The reverse. Raises ``ValueError`` for what is not of that form."""
    names = ("threads", "registers", "stack", "spills", "shared", "dynamic", "barriers")
    try:
        figures = {name: _count(data[name]) for name in names}
        instructions = mix_from_plain(data["mix"])
        occupied = occupancy(arch, figures["threads"], figures["registers"], figures["shared"] + figures["dynamic"])
        code = str(data["code"])
    except (KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
        raise ValueError(f"no figures of compiled code: {type(error).__name__} {error}") from error
    return Resources(arch=arch, compiler=compiler, occupancy=occupied, mix=instructions, code=code, **figures)


def mix_from_plain(data: Mapping[str, Any]) -> Mix:
    """``{"global load 16": 2, "mma": 4, "instructions": 40}`` as a mix. Raises ``ValueError``."""
    memory: dict[str, dict[int, int]] = {}
    others: dict[str, int] = {}
    for name, number in data.items():
        kind, _, width = name.rpartition(" ")
        if width.isdigit():
            memory.setdefault(kind, {})[int(width)] = _count(number)
        elif name != "instructions":
            others[name] = _count(number)
    return Mix(memory, others, _count(data["instructions"]))


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value
