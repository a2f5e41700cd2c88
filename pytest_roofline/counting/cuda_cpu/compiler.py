"""Which C++ compiler builds the kernels, and with which flags for this CPU."""

from __future__ import annotations

import functools
import os
import platform
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pytest_roofline.counting.cuda_cpu.faults import CompilerMissing, CudaBuildError

ENVIRONMENT = "PYTEST_ROOFLINE_CXX"
USUAL = "CXX"
"""What build systems read. It holds where ``ENVIRONMENT`` is not set, without its flags."""
LAUNCHERS = ("ccache", "sccache", "distcc")
OLDEST = {"gcc": 11, "clang": 14}

_ADVICE = (
    "CUDA C++ kernels run on a CPU through g++ >= 11 or clang++ >= 14: install one (Debian and Ubuntu: "
    "`apt-get install g++`, Fedora: `dnf install gcc-c++`, conda: `conda install gxx`) or name it in " + ENVIRONMENT
)
_PTX = (
    "inline PTX does not run on a CPU: the headers roofline/*.cuh have cp.async, ldmatrix, mma.sync and named barriers "
    "for both, and PYTEST_ROOFLINE_CPU is defined where a kernel needs a version of its own"
)
_COMMON = (
    "-std=c++20",
    "-fPIC",
    "-gdwarf-4",  # an assembler older than the compiler may mix up the file numbers of DWARF 5
    "-fno-strict-aliasing",  # nvcc allows the casts between element and vector types
    "-fwrapv",
    "-fsigned-char",
    "-ffp-contract=fast",  # nvcc fuses multiplications and additions
    "-fno-math-errno",
    "-fno-delete-null-pointer-checks",  # or the use of a null pointer would vanish
    "-fno-exceptions",
    "-fvisibility=hidden",
    "-fstack-clash-protection",  # a frame of megabytes must touch the guard below the stack, not step over it
)
# Shared variables of two modules must not become one, nor be addressed from one another (build.py moves them apart).
# Code between two tests of one condition stays in one place, where lanes meet. Following variables for a debugger that
# there is not takes a fifth of the time. With the last option -O1 fuses.
_GCC = (
    "-fno-var-tracking-assignments",
    "-fno-gnu-unique",
    "-fno-extern-tls-init",
    "-fno-section-anchors",
    "-fno-thread-jumps",
    "-fexpensive-optimizations",
)
# Comments in asm statements mark operations (operations.py), which clang's own assembler would drop; and a loop stays
# one, so that neighbouring loads of it have one place each.
_CLANG = (
    "-fno-integrated-as",
    "-fno-unroll-loops",
    "-mllvm",
    "-unroll-count=1",
    "-mllvm",
    "-jump-threading-threshold=0",
    "-fno-vectorize",
    "-fno-slp-vectorize",
)
_X86_V3 = {"avx2", "fma", "f16c", "bmi2"}


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: its path, ``gcc`` or ``clang``, its major version and what it says about itself."""

    path: str
    family: str
    major: int
    version: str

    @property
    def initialises(self) -> bool:
        """Whether it can fill uninitialised variables with a pattern."""
        return self.family == "clang" or self.major >= 12

    def base_flags(self) -> tuple[str, ...]:
        """Flags of every kernel build."""
        return (*_COMMON, *(_GCC if self.family == "gcc" else _CLANG), *_cpu_flags())

    def runtime_flags(self) -> tuple[str, ...]:
        """Flags of the runtime's build."""
        return ("-std=c++20", "-O3", "-g1", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", *_cpu_flags())

    def instrumentation(self) -> tuple[str, ...]:
        """Flags under which every access, barrier-free block and undefined operation calls the runtime."""
        if self.family == "gcc":
            tsan = ("--param=tsan-instrument-func-entry-exit=0", "--param=tsan-distinguish-volatile=1")
            coverage: tuple[str, ...] = ("-fsanitize-coverage=trace-pc",)
        else:
            options = (
                "-tsan-instrument-func-entry-exit=0",
                "-tsan-distinguish-volatile=1",
                "-tsan-instrument-read-before-write=1",
            )
            tsan = tuple(part for option in options for part in ("-mllvm", option))  # type: ignore[assignment]
            coverage = ("-fsanitize-coverage=bb,no-prune,trace-pc",)
        return (
            "-fsanitize=thread",
            *tsan,
            *coverage,
            "-fsanitize=bounds,shift,integer-divide-by-zero",
            "-fno-sanitize-recover=bounds,shift,integer-divide-by-zero",
        )

    def run(self, arguments: list[str], what: str) -> str:
        """Run the compiler and return its diagnostics. Raises :class:`CudaBuildError` naming ``what``."""
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            hint = f"\n{_PTX}" if "Assembler messages" in done.stderr else ""
            raise CudaBuildError(f"{what} does not compile for the CPU with {self.path}:\n{done.stderr.strip()}{hint}")
        return done.stderr


def find_compiler() -> Compiler:
    """The one that ``PYTEST_ROOFLINE_CXX`` names, else ``CXX``, else the first of g++, clang++ and c++ that is recent
    enough. Raises :class:`CompilerMissing`, also where a variable names none: another one would be a surprise."""
    variable, named = _named()
    for name in [named] if named else ["g++", "clang++", "c++"]:
        path = shutil.which(name)
        if path is None:
            continue
        compiler = _probe(path, _stamp(path))
        if compiler is not None:
            return compiler
    raise CompilerMissing(f"{_ADVICE}; {variable} names {named!r}, which is none" if named else _ADVICE)


def _named() -> tuple[str, str]:
    """The variable that names a compiler, and that compiler; empty if none does."""
    if os.environ.get(ENVIRONMENT):
        return ENVIRONMENT, os.environ[ENVIRONMENT]
    words = shlex.split(os.environ.get(USUAL, ""))
    return USUAL, next((word for word in words if Path(word).name not in LAUNCHERS), "")


def _stamp(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size


@functools.lru_cache(maxsize=8)
def _probe(path: str, _: tuple[int, int]) -> Compiler | None:
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    first = done.stdout.splitlines()[0] if done.stdout else ""
    family = "clang" if "clang" in first.lower() else "gcc"
    number = re.search(r"(\d+)\.\d+(\.\d+)?", first)
    if done.returncode or number is None or int(number[1]) < OLDEST[family]:
        return None
    return Compiler(path, family, int(number[1]), first)


@functools.cache
def _cpu_flags() -> tuple[str, ...]:
    """FMA and half conversions where the CPU has them; a CPU without runs the same kernels with separate roundings."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ()
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ()
    match = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return ("-march=x86-64-v3",) if match and set(match[1].split()) >= _X86_V3 else ()
