"""Compile one kernel of a ``.cu`` file for the CPU: translation unit, flags, cache.

A build holds one kernel, because then its shared variables are the only ones in the module. Between compilation and
linking the assembly is edited: every shared variable gets a red zone behind it, the dynamic array its storage, and a
table says which floating-point operations each basic block holds. The package's headers are compiled once per set of
flags (GCC's precompiled headers): of a small kernel's build that saves two thirds.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_roofline.counting.cuda_cpu import cache, fills, operations
from pytest_roofline.counting.cuda_cpu.compiler import Compiler, find_compiler

HERE = Path(__file__).parent
RUNTIME, INCLUDE, PUBLIC_INCLUDE = HERE / "runtime", HERE / "include", HERE / "device_include"
MAX_SHARED_BYTES = 227 * 1024
RED_ZONE = 4096
ROW_OF_BANKS = 128  # shared variables start at the first bank, as the first one does on a GPU
INSTRUMENTED, PLAIN = "instrumented", "plain"
PATTERNED, ZEROED = "patterned", "zeroed"  # what uninitialised variables hold
RAISED = "raised"  # patterned with another pattern, see fills.py
HEADER = "rl/cuda.hpp"

_ENDING = [f"-Wl,--wrap={name}" for name in ("abort", "exit", "_exit", "_Exit", "quick_exit")]  # callbacks.hpp
_INCLUDES = (f"-I{INCLUDE}", f"-I{PUBLIC_INCLUDE}")
_DEFERRED = ".DEFERRED_INIT"  # in GCC's listings: the value of an uninitialised variable
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
_TLS_VARIABLE = re.compile(r"(\.section\s+\.tbss[^\n]*\n(?:\s+\.[^\n]*\n)*)([^\s:]+:\n\s+\.zero\s+\d+\n)")
_TLS_REFERENCE = re.compile(r"([\w.$]+)@(?:tlsgd|gottpoff|tpoff|tlsdesc|TLSGD)\b|:tlsdesc(?:_lo12)?:([\w.$]+)")
_BOUND = r"(?:template\s*<(?P<template>[^<>]*)>\s*)?(?:extern\s+\"C\"\s+)?__global__\s+(?:static\s+)?(?:void\s+)?"
_BYTES: dict[str, str] = {"encoding": "utf-8", "errors": "surrogateescape"}  # clang writes constants as raw bytes
_NOWHERE = re.compile(r"^\s+\.loc\s+\d+\s+0\b[^\n]*\n", re.MULTILINE)  # clang's mark of code that two lines share
# A struct of more than its members' alignment moves as a whole, like a vector; the compiler would move each member.
_ALIGNED = re.compile(r"\b(?:struct|union|class)\s+(?:alignas|__align__|__builtin_align__|__attribute__)\s*\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Build:
    """A compiled kernel: the module, and what the compiler said about uninitialised variables."""

    module: Path
    warnings: str


@dataclass(frozen=True)
class Code:
    """What a compiler without instrumentation makes of a kernel.

    ``unset`` is false where no instruction depends on the value of an uninitialised variable; true is a suspicion.
    """

    assembly: Path
    digest: str
    warnings: str
    unset: bool


@dataclass(frozen=True)
class _Order:
    """One compilation: a kernel of a file in one of its variants."""

    path: Path
    expression: str
    variant: str
    unit: str
    compiler: Compiler
    base: tuple[str, ...]
    flags: tuple[str, ...]  # ``base`` and what this file needs
    runtime: Path

    @property
    def what(self) -> str:
        return f"{self.path.name}: {self.expression}"

    @property
    def key(self) -> str:
        return _digest(
            self.variant, self.unit, source_digest(self.path), _headers_digest(), *self.flags, self.compiler.path,
            self.compiler.version,
            *(_text_digest(HERE / name) for name in ("build.py", "fills.py", "operations.py")),
        )  # fmt: skip

    def compile(self, folder: Path, *options: str) -> tuple[Path, str]:
        """The assembly, in ``folder``, and the compiler's warnings."""
        source, assembly = folder / "kernel.cpp", folder / "kernel.s"
        source.write_text(self.unit, encoding="utf-8")
        includes = [*_precompiled(self.compiler, self.base), *_INCLUDES, f"-I{self.path.parent}"]
        command = [*self.flags, *options, *includes, "-S", "-o", str(assembly), str(source)]
        return assembly, self.compiler.run(command, self.what)

    def link(self, assembly: Path, folder: Path) -> None:
        """Make ``folder / "kernel.so"`` of edited assembly."""
        module = str(folder / "kernel.so")
        link = ["-shared", "-Wl,-Bsymbolic", "-Wl,-z,now", *_ENDING, "-o", module, str(assembly), str(self.runtime)]
        self.compiler.run(link, self.what)


def runtime_library(compiler: Compiler) -> Path:
    """The runtime, built on first use. Raises :class:`CudaBuildError` when the compiler cannot.

    Kernels find it by its name, loaded before them; the name says which compiler it is for, not which version of the
    runtime it is, so that a build of a kernel outlives those.
    """
    flags = (*compiler.runtime_flags(), "-shared")
    key = _digest(_folder_digest(RUNTIME), compiler.path, compiler.version, *flags)
    name = _digest(compiler.path, compiler.version, *flags)

    def build(folder: Path) -> None:
        out = folder / "libroofline_cuda.so"
        soname = f"-Wl,-soname,libroofline_cuda_{name}.so"
        source = str(RUNTIME / "runtime.cpp")
        compiler.run([*flags, soname, "-o", str(out), source, "-ldl", "-lrt"], "the runtime")

    return cache.fetch(f"runtime-{key}", build) / "libroofline_cuda.so"


def build_kernel(path: Path, expression: str, options: Sequence[str], variant: str) -> Build:
    """Compile ``expression`` of the file ``path``; ``variant`` is one of the constants above.

    Raises :class:`CompilerMissing`, :class:`CudaBuildError` and ``FileNotFoundError``.
    """
    order = _order(path, expression, options, variant)

    def build(folder: Path) -> None:
        if variant in (PATTERNED, ZEROED, RAISED):
            text, warnings = filled(path, expression, options, variant)
        else:
            assembly, warnings = order.compile(folder)
            text = assembly.read_text(**_BYTES)
        text = _NOWHERE.sub("", text)
        counted = operations.add_table(text, str(INCLUDE)) if variant == INSTRUMENTED else text
        edited = folder / "kernel.s"
        edited.write_text(lay_out_shared(counted), **_BYTES)
        order.link(edited, folder)
        edited.unlink()
        (folder / "warnings").write_text(warnings, encoding="utf-8")

    folder = cache.fetch(f"kernel-{order.key}", build)
    return Build(folder / "kernel.so", (folder / "warnings").read_text(encoding="utf-8"))


def compile_code(path: Path, expression: str, options: Sequence[str], variant: str) -> Code:
    """The code of a kernel, ``PATTERNED`` or ``ZEROED``. Raises as :func:`build_kernel`."""
    order = _order(path, expression, options, variant)

    def build(folder: Path) -> None:
        dump = folder / "optimised"
        # What GCC has not been able to optimise away; clang has no such list.
        listed = [f"-fdump-tree-optimized={dump}"] if order.compiler.family == "gcc" else []
        assembly, diagnostics = order.compile(folder, *listed)
        unset = not listed or _DEFERRED in dump.read_text(**_BYTES)
        dump.unlink(missing_ok=True)
        digest = _digest(_code_only(assembly.read_text(**_BYTES)))
        facts = {"digest": digest, "warnings": diagnostics, "unset": unset}
        (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")

    folder = cache.fetch(f"code-{order.key}", build)
    return Code(assembly=folder / "kernel.s", **json.loads((folder / "facts.json").read_text(encoding="utf-8")))


def filled(path: Path, expression: str, options: Sequence[str], variant: str) -> tuple[str, str]:
    """Assembly of one of the variants that differ in what uninitialised variables hold, and the warnings about them."""
    code = compile_code(path, expression, options, PATTERNED if variant == RAISED else variant)
    text = code.assembly.read_text(**_BYTES)
    if variant == RAISED:
        text = fills.raised(text, filled(path, expression, options, ZEROED)[0])
    return text, code.warnings


def _order(path: Path, expression: str, options: Sequence[str], variant: str) -> _Order:
    compiler = find_compiler()
    base = (*compiler.base_flags(), *_variant_flags(compiler, variant))
    flags = (*base, *_host_options(options))
    if compiler.family == "gcc" and any(_ALIGNED.search(text) for text in _sources(path).values()):
        flags += ("-fno-tree-sra",)
    unit = translation_unit(path, expression)
    return _Order(path, expression, variant, unit, compiler, base, flags, runtime_library(compiler))


def _precompiled(compiler: Compiler, flags: tuple[str, ...]) -> list[str]:
    """Options under which the compiler finds the package's headers precompiled, which it reads instead."""
    if compiler.family != "gcc":
        return []
    key = _digest(_headers_digest(), compiler.path, compiler.version, *flags)

    def build(folder: Path) -> None:
        (folder / HEADER).parent.mkdir(parents=True)
        target = ["-x", "c++-header", "-o", str(folder / f"{HEADER}.gch"), str(INCLUDE / HEADER)]
        compiler.run([*flags, *_INCLUDES, *target], "the headers")

    return [f"-I{cache.fetch(f'headers-{key}', build)}"]


def translation_unit(path: Path, expression: str) -> str:
    """The C++ text that compiles ``expression`` of a ``.cu`` file into one module."""
    template, bound = launch_bound(path.read_text(encoding="utf-8"), expression)
    arguments = expression[expression.index("<") :] if "<" in expression and template else ""
    header = f"template <{template}> " if template else ""
    return (
        f'#include "{HEADER}"\n'
        f'#include "{path.resolve()}"\n'
        f"{header}constexpr uint32_t rl_bound_of_kernel() {{ return {bound}; }}\n"
        f"RL_EXPORT((rl_bound_of_kernel{arguments}()), {expression})\n"
    )


def launch_bound(source: str, expression: str) -> tuple[str, str]:
    """Template parameters and the first argument of ``__launch_bounds__`` of a kernel; 1024 where it has none."""
    name = re.escape(expression.split("<")[0].strip())
    text = _COMMENT.sub(" ", source)
    bounds = r"__launch_bounds__\s*\((?P<bound>(?:[^(),]|\([^()]*\))+)(?:,[^()]*)?\)\s*(?:void\s+)?"
    match = re.search(_BOUND + bounds + name + r"\s*\(", text)
    return (match["template"] or "", match["bound"].strip()) if match else ("", "1024")


def lay_out_shared(assembly: str) -> str:
    """Assembly with a red zone behind every shared variable and storage for ``extern __shared__`` arrays."""
    edited = _TLS_VARIABLE.sub(lambda m: f"{m[1]}\t.balign {ROW_OF_BANKS}\n{m[2]}\t.zero\t{RED_ZONE}\n", assembly)
    names = {a or b for a, b in _TLS_REFERENCE.findall(assembly)}
    dynamic = sorted(name for name in names if not re.search(rf"^{re.escape(name)}:", assembly, re.MULTILINE))
    if not dynamic:
        return edited
    # All of them start at the same address, as in CUDA.
    labels = "".join(f"\t.globl {n}\n\t.hidden {n}\n\t.type {n}, %object\n" for n in dynamic)
    places = "".join(f"{n}:\n" for n in dynamic)
    sizes = "".join(f"\t.size {n}, {MAX_SHARED_BYTES}\n" for n in dynamic)
    section = '\t.section .tbss,"awT",%nobits\n\t.balign 1024\n'
    return f"{edited}\n{section}{labels}{places}\t.zero {MAX_SHARED_BYTES}\n{sizes}"


def source_digest(path: Path) -> str:
    """A digest of a source file and of all files that it includes with quotes, directly or not."""
    return _digest(*(part for source, text in _sources(path).items() for part in (str(source.resolve()), text)))


def _sources(path: Path) -> dict[Path, str]:
    found: dict[Path, str] = {}
    waiting = [path]
    while waiting:
        source = waiting.pop()
        if source in found or not source.is_file():
            continue
        found[source] = source.read_text(encoding="utf-8")
        waiting += [source.parent / name for name in _INCLUDE.findall(found[source])]
    return found


def _variant_flags(compiler: Compiler, variant: str) -> tuple[str, ...]:
    fill = "zero" if variant == ZEROED else "pattern"
    initialise: tuple[str, ...] = (f"-ftrivial-auto-var-init={fill}",) if compiler.initialises else ()
    if compiler.family == "clang" and compiler.major < 16:
        initialise += ("-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang",)
    if variant == INSTRUMENTED:
        return ("-O1", "-w", *initialise, *compiler.instrumentation())
    if variant == PLAIN:
        return ("-O1", "-w", *initialise)
    if compiler.family == "clang":
        return ("-O1", "-g0", "-Wuninitialized", *initialise)
    # These two passes would choose whatever value of an uninitialised variable makes the code simplest.
    kept = ("-fno-tree-ccp", "-fno-tree-fre")
    return ("-O1", "-g0", *kept, *initialise, "-Wuninitialized", "-Wmaybe-uninitialized")


def _host_options(options: Sequence[str]) -> tuple[str, ...]:
    """The options that mean the same to a host compiler; the others are about the GPU's code."""
    return tuple(o for o in options if o.startswith(("-D", "-U", "-I")))


def _code_only(assembly: str) -> str:
    """The instructions and data of an assembly text, without what differs between equal builds."""
    code = assembly.split("\t.section\t.debug_info")[0]
    lines = (line for line in code.splitlines() if not re.match(r"\s*\.(loc|file|ident|cfi|section\s+\.debug)", line))
    return "\n".join(re.sub(r"\.L(VL|BB|FB|FE|BI|LVL|ST)?\d+", ".L", line) for line in lines)


@functools.cache
def _folder_digest(folder: Path) -> str:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return _digest(*(f"{p.relative_to(folder)}\n{p.read_text(encoding='utf-8')}" for p in files))


def _headers_digest() -> str:
    """Of what they say and where they lie: debug information names their folder, by which frames in them are told from
    the kernel's, so another checkout needs builds of its own."""
    return _folder_digest(INCLUDE) + _folder_digest(PUBLIC_INCLUDE) + str(INCLUDE)


@functools.cache
def _text_digest(file: Path) -> str:
    return _digest(file.read_text(encoding="utf-8"))


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode(**_BYTES) + b"\0")
    return digest.hexdigest()[:24]
