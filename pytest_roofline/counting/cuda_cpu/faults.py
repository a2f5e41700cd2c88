"""What can go wrong: findings in a kernel, a kernel that does not compile, a machine without a compiler. Pure."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class FaultKind(enum.Enum):
    """What a finding is about."""

    OUT_OF_BOUNDS = "out of bounds"
    INVALID_POINTER = "invalid pointer"
    MISALIGNED = "misaligned access"
    UNINITIALISED_READ = "uninitialised read"
    SHARED_RACE = "race on shared memory"
    GLOBAL_RACE = "race on global memory"
    DIVERGENT_BARRIER = "divergent barrier"
    DEADLOCK = "deadlock"
    LIVELOCK = "livelock"
    INACTIVE_LANE = "shuffle from an inactive lane"
    WRONG_MASK = "wrong lane mask"
    ASYNC_COPY = "unwaited cp.async"
    WARP_MATRIX = "matrix operation misused"
    READ_ONLY = "write to an input"
    UNDEFINED_BEHAVIOUR = "undefined behaviour"
    TRAP = "trap"
    CRASH = "crash"
    STACK_OVERFLOW = "stack overflow"
    ENDLESS_LOOP = "endless loop"
    GUARD_OVERWRITTEN = "guard bytes overwritten"
    UNSUPPORTED = "not modelled"
    TIME_LIMIT = "time limit"
    UNINITIALISED_REGISTER = "uninitialised register"


# The numbers of `Kind` in runtime/abi.hpp, in its order.
BY_NUMBER = dict(enumerate(FaultKind, start=1))


# What stops a launch because of the time that it takes.
_TIMED_OUT = (FaultKind.ENDLESS_LOOP, FaultKind.TIME_LIMIT)

# What a message says in front of the other line.
_OTHER = {
    FaultKind.SHARED_RACE: " of line",
    FaultKind.GLOBAL_RACE: " of line",
    FaultKind.LIVELOCK: "; others poll at line",
}


@dataclass(frozen=True)
class Finding:
    """One finding: where it was and what it was. ``offset`` counts bytes from the start of ``buffer``.

    ``other_line`` is the second place of a race or livelock, and where bytes are stored that depend on an unset
    variable. ``count`` is how often the same place was found.
    """

    kind: FaultKind
    kernel: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    file: str
    line: int
    buffer: str | None
    offset: int
    text: str
    other_line: int = 0
    count: int = 1

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        memory = f", {self.buffer} at byte {self.offset}" if self.buffer else ""
        other = f"{_OTHER[self.kind]} {self.other_line}" if self.other_line and self.kind in _OTHER else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return (
            f"{self.kind.value} in {self.kernel}, block {self.block} thread {self.thread}, {where}{memory}: "
            f"{self.text}{other}{times}"
        )


class CudaFault(RuntimeError):  # noqa: N818  (a fault of the kernel, not an error of this package)
    """A kernel did something that it must not; carries the first finding's fields, and all of them in ``findings``."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        first = findings[0]
        self.findings = findings
        self.kind = first.kind
        self.kernel = first.kernel
        self.block = first.block
        self.thread = first.thread
        self.file = first.file
        self.line = first.line
        self.buffer = first.buffer
        self.offset = first.offset
        self.timed_out = any(f.kind in _TIMED_OUT for f in findings)
        more = f"\n... and {len(findings) - 6} more" if len(findings) > 6 else ""
        super().__init__("\n".join(map(str, findings[:6])) + more)

    def __reduce__(self) -> tuple[type[CudaFault], tuple[tuple[Finding, ...]]]:
        return CudaFault, (self.findings,)


class CompilerMissing(RuntimeError):  # noqa: N818  (a state of the machine)
    """There is no C++ compiler that can build kernels for the CPU; the message says what to install."""


class CudaBuildError(RuntimeError):
    """A ``.cu`` file does not compile for the CPU; the message holds the compiler's output."""
