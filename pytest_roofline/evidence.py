"""Plain data that crosses process boundaries: what to do with a case, and what was found. No torch here.

Everything in these classes is JSON: numbers, strings, lists and mappings. Stored numbers say what they are through
:class:`Provenance`.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


class Provenance(enum.Enum):
    """Where a number comes from. Numbers of different provenance are never compared as if they were the same."""

    MEASURED = "measured"
    PUBLISHED = "published"
    COUNTED = "counted"
    DERIVED = "derived"


class Outcome(enum.Enum):
    """How a case ended. Only ``OK`` evidence may carry samples."""

    OK = "ok"
    WRONG = "wrong"  # the kernel computed something else, or touched memory it must not touch
    FAULT = "fault"  # a checker stopped the kernel at a source line
    ERROR = "error"  # the launcher or its compilation raised
    CRASHED = "crashed"  # the process died
    HUNG = "hung"  # the process did not end in time
    UNAVAILABLE = "unavailable"  # this machine cannot run it; the reason is a skip
    INVALID = "invalid"  # measured, but under conditions that say nothing (throttled, clock unstable)


@dataclass(frozen=True)
class CaseSpec:
    """An order to the worker: one case, and what to do with it.

    ``module`` is the operation's import name, ``roots`` what must be on ``sys.path`` for it. ``values`` names a class
    of input data and ``seed`` its draw (``checking.values``). ``device`` is torch's name, ``cuda`` or ``cpu``. ``time``
    asks for samples after a passed check, ``count`` for the counts of one execution on a CPU instead of all checks
    (``compile_only``: of none, because the shape is too large for that),
    ``profile`` for one launch inside a profiler's range after a passed check. ``against`` is the root of another
    version of the project: its kernel and this one are timed in turn on the same buffers, and not checked again.
    ``pair_unchanged`` does so even if both compile to the same code. ``slowdown`` delays this one's kernel on the
    device by that fraction of its time. ``patience``: the fraction of its usual time limits after which a checker on a
    CPU stops a kernel.
    """

    case: str
    module: str
    roots: tuple[str, ...]
    device: str
    values: str = "random"
    seed: int = 0
    time: bool = False
    effort: str = "default"
    count: bool = False
    profile: bool = False
    against: str = ""
    slowdown: float = 0.0
    pair_unchanged: bool = False
    compile_only: bool = False
    patience: float = 1.0

    def line(self) -> str:
        """What ``--roofline-case`` takes to run exactly this check again."""
        return f"{self.case}@{self.values}#{self.seed}"


@dataclass(frozen=True)
class Environment:
    """What a measurement depends on. Two measurements compare only if their ``fingerprint`` fields are equal."""

    device: str  # the driver's name of the GPU
    driver: str
    cuda: str  # runtime version that compiled the kernels
    python: str
    packages: Mapping[str, str]  # torch, triton, cupy, numpy, pytest-benchmark
    sm_count: int
    l2_bytes: int
    ecc: bool | None = None
    mig: bool | None = None
    power_limit_w: float | None = None
    max_sm_clock_mhz: int | None = None
    machine: str = ""  # an opaque id of this start of the machine (boot id), to tell campaigns apart
    gpu: str = ""  # an opaque id of the card, for the same


@dataclass(frozen=True)
class Telemetry:
    """State of the GPU right before and after the brackets of one case, from NVML (``None``: not readable).

    ``clock_mhz`` is the SM clock while the kernel ran, median over the brackets, measured in the stream.
    """

    sm_clock_mhz: tuple[int, int] | None = None
    memory_clock_mhz: tuple[int, int] | None = None
    power_w: tuple[float, float] | None = None
    temperature_c: tuple[int, int] | None = None
    throttle_reasons: tuple[str, ...] = ()
    clock_mhz: float | None = None


def same_code(one: str, other: str) -> bool:
    """Whether two digests of what ran agree in all that both tell: one that an earlier version stored has no part after
    a dot, which is that of the numbers a kernel is given."""
    (code, _, numbers), (other_code, _, other_numbers) = one.partition("."), other.partition(".")
    return code == other_code and (numbers == other_numbers or not (numbers and other_numbers))


@dataclass(frozen=True)
class Timing:
    """Seconds per execution, one number per bracket, and how they were obtained.

    ``samples`` are bracket time / ``launches``. ``gap`` is the calibrated time between two graph nodes, contained in
    every sample, and ``kernel`` the median CUPTI duration of the kernel alone with a flushed L2; both for short kernels
    only. ``host`` is the host's cost per call of the launcher. ``code`` is a digest of the machine code that ran, of
    its launch configuration and of the numbers that it was given, where all of it is known.
    """

    samples: tuple[float, ...]
    launches: int
    copies: int
    protocol: str
    tick: float
    launch_floor: float
    gap: float | None
    kernel: float | None = None
    host: float | None = None
    linearity: float | None = None  # bracket of all launches / 2 brackets of half; below 1: overhead beside them
    discarded: int = 0
    telemetry: Telemetry = field(default_factory=Telemetry)
    code: str | None = None


@dataclass(frozen=True)
class Pair:
    """An old and a new kernel in turn on the same buffers, in one process.

    ``differences`` are ln(new / old), one per block of four brackets (old new new old, or the mirror image); ``old``
    and ``new`` are median seconds per execution, ``launches`` executions per bracket. ``old_code`` and ``new_code`` are
    digests as in :class:`Timing`; where they are equal there may be no differences: there is nothing to measure.
    """

    differences: tuple[float, ...]
    old: float
    new: float
    launches: int
    protocol: str
    old_code: str | None = None
    new_code: str | None = None
    discarded: int = 0
    telemetry: Telemetry = field(default_factory=Telemetry)


@dataclass(frozen=True)
class Evidence:
    """What the worker found out about one case.

    ``detail`` is for people: what was wrong, where, what to do; ``reason`` is its code (a value of ``verdict.Reason``),
    for ``INVALID`` evidence. ``worst`` is the largest error as a fraction of its
    bound over all outputs. ``timed_out``: the kernel was stopped because of the time it took.
    """

    case: str
    outcome: Outcome
    detail: str = ""
    worst: float | None = None
    timing: Timing | None = None
    environment: Environment | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    pair: Pair | None = None
    timed_out: bool = False


def to_plain(value: Any) -> Any:
    """Dataclasses, enums and tuples as JSON values."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(v) for v in value]
    return value


def field_types(cls: Any) -> Mapping[str, Any]:
    """The types of a dataclass's fields; evaluating them anew for each of thousands of stored runs costs seconds."""
    return _field_types(cls)


@functools.cache
def _field_types(cls: Any) -> Mapping[str, Any]:
    return get_type_hints(cls)


def from_plain(cls: type[T], data: Mapping[str, Any]) -> T:
    """A dataclass of this module from JSON values. Raises ``ValueError`` for unknown or missing fields."""
    hints = field_types(cls)
    unknown = set(data) - set(hints)
    if unknown:
        raise ValueError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
    try:
        return cls(**{name: _restore(hints[name], value) for name, value in data.items()})
    except TypeError as error:
        raise ValueError(f"{cls.__name__}: {error}") from error


def _restore(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        return _restore(next(a for a in get_args(hint) if a is not type(None)), value)
    if origin is tuple and isinstance(value, list):
        arguments = get_args(hint)
        inner = arguments[0] if len(arguments) == 2 and arguments[1] is Ellipsis else None
        return tuple(_restore(inner or arguments[i], v) for i, v in enumerate(value))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if isinstance(hint, type) and is_dataclass(hint) and isinstance(value, Mapping):
        return from_plain(hint, value)
    return value
