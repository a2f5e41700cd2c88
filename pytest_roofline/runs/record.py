"""What one run of the suite found, as plain data: the content of a run file. Pure.

A run file stands on its own: whoever reads it needs neither the kernels nor a GPU library. Times are in seconds, rates
per second, sizes in bytes. Figures of different provenance have fields of their own and are never mixed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_roofline.evidence import Environment, Telemetry
from pytest_roofline.ids import CaseId

SCHEMA = 1
TIMED, COUNTED = "timed", "counted"


@dataclass(frozen=True)
class Commit:
    """The commit whose kernels ran; ``time`` is its committer's, in ISO 8601. ``dirty``: with changes on top."""

    id: str
    time: str
    branch: str | None = None
    dirty: bool = False


@dataclass(frozen=True)
class Device:
    """What the figures hold for.

    ``key`` is the folder of its baselines (``h200``, ``a100``), ``record`` the key of its device record (``None``
    without one), ``name`` what the driver calls the GPU, for a counted run the architecture. ``bandwidths`` (bytes/s by
    memory level), ``peaks`` (operations/s by pipeline) and ``limits`` (``sm_count``, ``smem_per_sm_kib`` …) are the
    datasheet's; ``sources`` says which datasheet, by the names of those figures.
    """

    key: str
    name: str
    record: str | None = None
    compute_capability: str = ""
    bandwidths: Mapping[str, float] = field(default_factory=dict)
    peaks: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MeasuredCeilings:
    """What this GPU was measured to reach; ``how`` names the best way that was found to each."""

    date: str
    copy: float
    read: float
    empty_launch: float
    peaks: Mapping[str, float] = field(default_factory=dict)
    how: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OperationFacts:
    """What is computed. ``kernels`` are ``backend/variant`` in the order of the ladder; ``absent`` gives the reason for
    each one that a language cannot express."""

    summary: str
    protocol: str
    kernels: tuple[str, ...]
    absent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KernelFacts:
    """The kernel of a case; ``order`` is its place on the operation's ladder, from 0. ``code`` is a digest of its
    machine code, where that is known."""

    order: int
    best: bool = False
    peer: bool = False
    tile: tuple[int, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    code: str | None = None


@dataclass(frozen=True)
class Moved:
    """Bytes across one memory level (``device``, ``l2``, ``shared``, ``register``, ``host``) in one execution."""

    level: str
    read: int
    write: int


@dataclass(frozen=True)
class Bracket:
    """The primary time: brackets of ``launches`` executions. ``seconds`` is the typical one, ``quantiles`` stand at
    :data:`pytest_roofline.statistics.QUANTILES`; ``samples`` are all of them, empty where they were not kept.
    ``launch_floor`` is the time of an empty launch, 0 where it is not known."""

    seconds: float
    log_mean: float
    quantiles: tuple[float, ...]
    count: int
    launches: int
    copies: int
    protocol: str
    tick: float
    launch_floor: float
    gap: float | None = None
    linearity: float | None = None
    discarded: int = 0
    samples: tuple[float, ...] = ()


@dataclass(frozen=True)
class Times:
    """``seconds`` is what the roofline uses and ``source`` says which that is: ``cupti`` (the kernel's own duration,
    for short kernels) or ``bracket``. ``host`` is the host's cost per call of the launcher."""

    seconds: float
    source: str
    bracket: Bracket
    cupti: float | None = None
    host: float | None = None


@dataclass(frozen=True)
class Bound:
    """The least time that a device needs, and what needs it; not ``complete`` where a pipeline of unknown rate might
    need longer, so that nothing is a share of it."""

    seconds: float
    by: str
    regime: str
    complete: bool = True


@dataclass(frozen=True)
class Comparison:
    """One verdict: against the ``baseline``, the ``roof``, the old kernel in a ``retest``, the stored ``counts``, or
    ``all`` of them together.

    ``ratio`` is new over old time with its interval; ``detectable`` the smallest slowdown, as a fraction, that would
    have shown.
    """

    against: str
    kind: str
    reason: str
    sentence: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    campaigns: int = 0


@dataclass(frozen=True)
class CountedFigures:
    """Exact figures without a time: ``counts`` as :func:`pytest_roofline.counting.counts.from_plain` reads them, and
    what each launched kernel compiles to (``key``, ``compiler`` and the fields of
    :func:`pytest_roofline.counting.compiled.resources.to_plain`). ``case`` is the counted case: a small shape.
    ``launched`` are the keys of its kernels in the order of their launches, ``calls`` what the launcher asks torch for.
    """

    arch: str
    case: str
    counts: Mapping[str, Any]
    kernels: tuple[Mapping[str, Any], ...] = ()
    missing: str = ""
    launched: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class PublishedFigure:
    """What somebody published for exactly this case, on an exact variant of a card."""

    device: str
    metric: str
    value: float
    unit: str
    source: str
    seconds: float | None = None
    fraction: float | None = None
    implementation: str = ""
    method: str = ""
    confidence: str = ""


@dataclass(frozen=True)
class CaseRecord:
    """One case. ``outcome`` is ``ok``, or how its check failed (``detail`` tells): then nothing of it was timed.

    ``verdict`` is the one that counts, ``comparisons`` what it was made of. ``bounds`` have the names ``problem``,
    ``algorithm``, ``ceiling`` (see :class:`pytest_roofline.roofline.Assessment`) and ``cached``. ``counted`` are the
    figures of this run or, in a timed run, the stored ones of the same kernel for an A100. ``ncu`` are counters of
    the hardware as :func:`pytest_roofline.counters.metrics.from_plain` reads them.
    """

    id: str
    dims: tuple[int, ...]
    kernel: KernelFacts
    outcome: str = "ok"
    detail: str = ""
    operations: Mapping[str, int] = field(default_factory=dict)
    traffic: tuple[Moved, ...] = ()
    model: tuple[Moved, ...] = ()
    intensity: float | None = None
    times: Times | None = None
    bytes_per_second: float | None = None
    operations_per_second: float | None = None
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    regime: str = "unknown"
    fraction: float | None = None
    fraction_of_ceiling: float | None = None
    verdict: Comparison | None = None
    comparisons: tuple[Comparison, ...] = ()
    telemetry: Telemetry | None = None
    counted: CountedFigures | None = None
    published: tuple[PublishedFigure, ...] = ()
    ncu: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> CaseId:
        """The id taken apart."""
        return CaseId.parse(self.id)

    @property
    def problem(self) -> tuple[str, str, str]:
        """Operation, dtype and shape: what kernels compete in."""
        operation, _, _, dtype, shape = self.id.split("/")
        return operation, dtype, shape

    @property
    def said(self) -> str:
        """One line: what its verdict says, or how its check failed (of a traceback the exception)."""
        if self.outcome in ("ok", "invalid") and self.verdict is not None:
            return self.verdict.sentence
        lines = self.detail.strip().splitlines() or [""]
        return lines[-1] if lines[0].startswith("Traceback ") else lines[0]

    @property
    def seconds(self) -> float | None:
        """The time that the roofline uses; ``None`` where nothing was timed."""
        return None if self.times is None else self.times.seconds


@dataclass(frozen=True)
class RunRecord:
    """One process: what ran where, on which commit, and every case. ``ended`` is ``None`` if it was killed.

    ``kind`` is :data:`TIMED` or :data:`COUNTED`; a counted run has no environment of a GPU and no time in it.
    ``toolchain`` are versions by name. Times of day are UTC in ISO 8601.
    """

    id: str
    started: str
    kind: str
    device: Device
    version: str
    ended: str | None = None
    environment: Environment | None = None
    ceilings: MeasuredCeilings | None = None
    commit: Commit | None = None
    toolchain: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    operations: Mapping[str, OperationFacts] = field(default_factory=dict)
    cases: tuple[CaseRecord, ...] = ()

    def case(self, case_id: str) -> CaseRecord:
        """The case of that id. Raises ``KeyError``."""
        for case in self.cases:
            if case.id == case_id:
                return case
        raise KeyError(case_id)

    def peer_ratio(self, case: CaseRecord) -> float | None:
        """Time of the fastest library routine on the same problem over this time, both from brackets; above 1: faster
        than it. ``None`` for a library routine, and where there is none."""
        if case.kernel.peer or case.times is None or case.problem not in self._peers:
            return None
        return self._peers[case.problem] / case.times.bracket.seconds

    @functools.cached_property
    def _peers(self) -> dict[tuple[str, str, str], float]:
        """Seconds of the fastest library routine by problem."""
        found: dict[tuple[str, str, str], float] = {}
        for case in self.cases:
            if case.kernel.peer and case.times is not None:
                seconds = case.times.bracket.seconds
                found[case.problem] = min(seconds, found.get(case.problem, seconds))
        return found
