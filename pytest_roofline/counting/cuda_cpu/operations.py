"""Floating-point operations: found in the assembly of a build, one entry per instruction and basic block. Pure.

How often a block ran is counted while the kernel runs, so an entry only says which operation belongs to which block.
Checks of bounds split blocks that have a counter already: a piece without one belongs to the block that leads there.
Arithmetic of this package's own headers stands for something else (a half is added as a float and rounded); those
headers mark what they mean with a comment in the assembly, and their instructions count nothing.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

SECTION = ".rl_operations"
KINDS = ("add", "mul", "fma", "div", "special", "conversion")
PIPELINES = ("fp32", "fp64", "fp16", "bf16")
FLOPS = {"add": 1, "mul": 1, "fma": 2, "div": 1, "special": 1, "conversion": 0}

_ENTRY = struct.Struct("<QQQ")
_BLOCK = re.compile(r"\s+(?:callq?|bl)\s+__sanitizer_cov_trace_pc\b")
_LABEL = re.compile(r"([\w.$]+):")
_JUMP = re.compile(r"\s+(j\w+|b|b\.?\w\w|cbn?z|tbn?z)\s+(?:.*,\s*)?(\.L\w+)\s*$")
_END = re.compile(
    r"\s+(?:retq?\b|jmpq?\b|br\b|(?:callq?|bl)\s+__ubsan_handle_\w+_abort\b)"
)  # control does not come past it
_FILE = re.compile(r'\s+\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOCATION = re.compile(r"\s+\.loc\s+(\d+)\s")
_MARK = re.compile(r"/\* rl_op (\w+) (\w+) \*/")
_MARKED_TYPES = {"__half": "fp16", "__nv_bfloat16": "bf16", "float": "fp32", "double": "fp64"}
_CALL = re.compile(r"\s+(?:callq?|bl|jmp|b)\s+(?P<name>\w+)(?:@PLT)?\s*$")
_SPECIAL = re.compile(
    r"(?:__)?(?:sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|exp|exp2|exp10|expm1|log|log2|log10|"
    r"log1p|pow|cbrt|hypot|erf|erfc|tgamma|lgamma|sincos)(?P<single>f?)(?:_finite)?"
)
# AT&T syntax of x86 and the scalar instructions of aarch64, each with what is in front of the type.
_X86 = re.compile(
    r"\s+v?(?P<name>add|sub|mul|div|sqrt|fn?m(?:add|sub)(?:132|213|231)|addsub)(?P<type>[sp][sd])\s+(?P<operands>.*)"
)
_X86_CONVERSION = re.compile(r"\s+v?cvtt?(?:si2s[sd]|s[sd]2si|ss2sd|sd2ss|ps2dq|dq2ps|pd2dq|dq2pd)[lq]?\s")
_ARM = re.compile(r"\s+f(?P<name>add|sub|mul|nmul|div|sqrt|n?madd|n?msub)\s+(?P<register>[sd])\d+,")
_ARM_CONVERSION = re.compile(r"\s+(?:[su]cvtf|fcvt(?:z[su])?)\s")
_NAMES = {"add": "add", "sub": "add", "addsub": "add", "mul": "mul", "nmul": "mul", "div": "div", "sqrt": "special"}


@dataclass(frozen=True)
class Operation:
    """One operation of a block: ``block`` and ``place`` are return addresses in the module, ``count`` per execution."""

    block: int
    place: int
    pipeline: str
    kind: str
    count: int


def add_table(assembly: str, own_headers: str) -> str:
    """Assembly with a section that lists the operations of every instrumented block.

    ``own_headers`` is the folder whose instructions count nothing.
    """
    lines: list[str] = []
    found: list[tuple[str, str, int]] = []  # block or label, place, code
    flow = _Flow()
    ours: set[str] = set()
    in_ours = False
    for number, line in enumerate(assembly.splitlines()):
        lines.append(line)
        if file := _FILE.match(line):
            path = f"{file[2]}/{file[3]}" if file[3] else file[2]
            if path.startswith(own_headers):
                ours.add(file[1])
        elif location := _LOCATION.match(line):
            in_ours = location[1] in ours
        elif _BLOCK.match(line):
            flow.here = f".Lrl_block{number}"
            lines.append(f"{flow.here}:")
        elif flow.here and (operation := _operation(line, in_ours)):
            pipeline, kind, count = operation
            place = f".Lrl_place{number}"
            lines.append(f"{place}:")
            found.append((flow.here, place, KINDS.index(kind) | PIPELINES.index(pipeline) << 8 | count << 16))
        flow.follow(line)
    table = [
        f"\t.quad {block}, {place}, {code}" for where, place, code in found if (block := flow.block(where)) is not None
    ]
    section = f'\t.section {SECTION},"",%progbits\n'
    return "\n".join([*lines, section, *table]) + "\n" if table else assembly


class _Flow:
    """Which instrumented block control comes from, wherever it stands."""

    def __init__(self) -> None:
        self.here: str | None = None  # a block, or a label that inherits from where control comes from
        self._sources: dict[str, list[str]] = {}

    def follow(self, line: str) -> None:
        """Go past a line of assembly."""
        if label := _LABEL.match(line):
            if self.here:
                self._sources.setdefault(label[1], []).append(self.here)
            self.here = label[1]
        elif self.here and (jump := _JUMP.match(line)):
            self._sources.setdefault(jump[2], []).append(self.here)
            if jump[1] in ("jmp", "b"):
                self.here = None
        elif _END.match(line):
            self.here = None

    def block(self, where: str) -> str | None:
        """The block that a place belongs to; ``None`` before the first one of a function."""
        waiting, seen = [where], {where}
        while waiting:
            here = waiting.pop(0)
            if here.startswith(".Lrl_block"):
                return here
            new = [source for source in self._sources.get(here, ()) if source not in seen]
            seen.update(new)
            waiting += new
        return None


def read_table(data: bytes) -> list[Operation]:
    """The operations listed in the section's content."""
    return [
        Operation(block, place, PIPELINES[code >> 8 & 255], KINDS[code & 255], code >> 16)
        for block, place, code in _ENTRY.iter_unpack(data)
    ]


def _operation(line: str, in_ours: bool) -> tuple[str, str, int] | None:
    """Pipeline, kind and number of the operations of one line of assembly."""
    if mark := _MARK.search(line):
        return _MARKED_TYPES[mark[1]], mark[2], 1
    return None if in_ours else _x86(line) or _arm(line) or _call(line)


def _x86(line: str) -> tuple[str, str, int] | None:
    if _X86_CONVERSION.match(line):
        return "fp32", "conversion", 1
    if not (match := _X86.match(line)):
        return None
    double = match["type"][1] == "d"
    packed = match["type"][0] == "p"
    width = (32 if "%ymm" in match["operands"] else 16) // (8 if double else 4) if packed else 1
    return "fp64" if double else "fp32", _NAMES.get(match["name"], "fma"), width


def _arm(line: str) -> tuple[str, str, int] | None:
    if _ARM_CONVERSION.match(line):
        return "fp32", "conversion", 1
    if not (match := _ARM.match(line)):
        return None
    return "fp64" if match["register"] == "d" else "fp32", _NAMES.get(match["name"], "fma"), 1


def _call(line: str) -> tuple[str, str, int] | None:
    if not (match := _CALL.match(line)):
        return None
    if match["name"] in ("fma", "fmaf"):
        return "fp32" if match["name"] == "fmaf" else "fp64", "fma", 1
    function = _SPECIAL.fullmatch(match["name"])
    return ("fp32" if function["single"] else "fp64", "special", 1) if function else None
