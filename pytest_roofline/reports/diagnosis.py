"""From counters to advice: the seven rows "observation, what it likely means, where to look first". Pure.

The rows are those of the LCPU Infra Seminars, part 2 (memory abstraction; FP32 GEMM), claims ``diag-1`` to ``diag-7``.
Three more stand beside the table, from what the documents say of atomics in a reduction (``red-ladder``), of kernels in
a row (``fuse-1``) and of short kernels (``roof-3``). The documents give no numbers; the thresholds here are ours, each
with its reason. A row is only judged where all its figures are known, and every finding carries the figures that
triggered it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

# A stream that is bound by DRAM reaches 85 to 90 % of its peak (copy ceiling of an H200: 4.2 of 4.8 TB/s); below 60 %
# something else holds it back, from 75 % on DRAM is the first thing to relieve.
DRAM_LOW, DRAM_HIGH = 60.0, 75.0
LONG_SCOREBOARD = 30.0  # % of a warp's time: the largest single reason where there are four and more
FMA_LOW, FMA_HIGH = 25.0, 70.0  # %; cuBLAS' SGEMM keeps the pipeline of an H200 at 75 to 80 %
SECTORS_USED = 80.0  # % of the bytes of a sector; a warp shifted by one float has 4 / 5 of them
SECTORS_MATTER = 0.1  # of all sectors a kernel moves: what is less cannot be what holds it back
CONFLICTS = 10.0  # % of the passes of shared memory; below it padding buys nothing that can be measured
RESIDENT = 40.0  # % of the warps an SM can hold: enough to hide latency where they are independent
ELIGIBLE = 1.0  # warps per scheduler: below one there are cycles in which nothing can be issued
KERNELS_TRAFFIC = 1.3  # bytes of all kernels of a case over those of its largest: beyond it fusing is worth a try
LAUNCH = 10.0  # % of the time that an empty launch would take; beyond it the launch shows in every comparison
ATOMICS = 0.25  # per element of the problem: more than one addition in four goes through the memory system


class Status(enum.Enum):
    """Whether a row of the table applies."""

    APPLIES = "applies"
    DOES_NOT = "does not apply"
    UNKNOWN = "no figure"


@dataclass(frozen=True)
class Figure:
    """A number a rule looked at: what it is, its value in ``unit``, and what kind of number (``origin``: measured by
    ncu, or counted without a GPU at a named shape)."""

    label: str
    value: float
    unit: str
    origin: str

    def __str__(self) -> str:
        number = f"{self.value:.3g}" if abs(self.value) < 1000 else f"{self.value:,.0f}".replace(",", "\u202f")
        return f"{self.label}: {number}{' ' + self.unit if self.unit else ''}"


@dataclass(frozen=True)
class Finding:
    """One row of the table for one case. ``weight`` (0 to 1) says how far beyond its threshold the worst figure is, so
    that findings can be put in order; ``missing`` names the figures that nobody took."""

    claim: str
    status: Status
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()
    weight: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Rule:
    """A row: what is observed, what it likely means, and what to look at first. ``judge`` gets the known figures and
    says how strongly it applies (0: it does not) with a note, or which figures it lacks."""

    claim: str
    observation: str
    meaning: str
    advice: str
    judge: Callable[[Mapping[str, Figure]], _Judged]


@dataclass(frozen=True)
class _Judged:
    weight: float = 0.0
    used: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    note: str = ""


def diagnose(figures: Mapping[str, Figure]) -> list[Finding]:
    """All rows held against what is known of a case, in the order of the table.

    ``figures`` are by the names of ``counters.metrics.FIGURES``, ``stall.<reason>``, and those that
    ``reports.figures`` makes of counts.
    """
    return [_finding(rule, rule.judge(figures), figures) for rule in RULES]


def _finding(rule: Rule, judged: _Judged, figures: Mapping[str, Figure]) -> Finding:
    used = tuple(figures[name] for name in judged.used)
    if judged.missing:
        return Finding(rule.claim, Status.UNKNOWN, used, judged.missing)
    status = Status.APPLIES if judged.weight > 0 else Status.DOES_NOT
    return Finding(rule.claim, status, used, (), min(judged.weight, 1.0), judged.note)


def _needs(*names: str) -> Callable[[Callable[..., _Judged]], Callable[[Mapping[str, Figure]], _Judged]]:
    """A rule over figures that must all be there; it receives their values."""

    def decorate(rule: Callable[..., _Judged]) -> Callable[[Mapping[str, Figure]], _Judged]:
        def judge(figures: Mapping[str, Figure]) -> _Judged:
            missing = tuple(name for name in names if name not in figures)
            known = tuple(name for name in names if name in figures)
            if missing:
                return _Judged(used=known, missing=missing)
            found = rule(*(figures[name].value for name in names))
            return _Judged(found.weight, names, note=found.note)

        return judge

    return decorate


@_needs("dram_share", "stall.long_scoreboard")
def _few_requests(dram: float, waiting: float) -> _Judged:
    if dram >= DRAM_LOW or waiting < LONG_SCOREBOARD:
        return _Judged()
    return _Judged(min(1 - dram / 100, waiting / 100 + 0.3))


@_needs("dram_share", "fma_share")
def _low_intensity(dram: float, fma: float) -> _Judged:
    return _Judged(dram / 100 - 0.3 if dram >= DRAM_HIGH and fma <= FMA_LOW else 0.0)


def _scattered(figures: Mapping[str, Figure]) -> _Judged:
    """Loads and stores apart, where they are a noticeable part of what is moved."""
    kinds = [kind for kind in ("load", "store") if f"{kind}_used" in figures and f"{kind}_sectors" in figures]
    if not kinds:
        return _Judged(missing=("load_used", "store_used"))
    sectors = {kind: figures[f"{kind}_sectors"].value for kind in kinds}
    matter = [kind for kind in kinds if sectors[kind] >= SECTORS_MATTER * sum(sectors.values())]
    worst = min(matter, key=lambda kind: figures[f"{kind}_used"].value)
    used = tuple(name for name in (f"{worst}_used", f"{worst}_sectors_per_request") if name in figures)
    share = figures[f"{worst}_used"].value
    return _Judged(1 - share / 100 if share < SECTORS_USED else 0.0, used)


@_needs("shared_conflicts", "shared_passes")
def _conflicts(conflicts: float, passes: float) -> _Judged:
    share = conflicts / passes if passes else 0.0
    note = f"{100 * share:.0f} % of the passes of shared memory are lost to them" if share else ""
    return _Judged(share if 100 * share >= CONFLICTS else 0.0, note=note)


@_needs("occupancy", "eligible_warps")
def _few_eligible(occupancy: float, eligible: float) -> _Judged:
    applies = occupancy >= RESIDENT and eligible < ELIGIBLE
    return _Judged(0.5 * (1 - eligible / ELIGIBLE) + 0.1 if applies else 0.0)


def _all_wait(figures: Mapping[str, Figure]) -> _Judged:
    """Few warps are eligible; beside it stands what most of them wait for."""
    found = _few_eligible(figures)
    if found.missing:
        return found
    stalls = [name for name in figures if name.startswith("stall.")]
    top = [max(stalls, key=lambda name: figures[name].value)] if stalls else []
    extra = (name for name in (*top, "atomic_requests") if name in figures and figures[name].value > 0)
    return replace(found, used=(*found.used, *extra))


def _spills(figures: Mapping[str, Figure]) -> _Judged:
    known = tuple(name for name in ("local_requests", "spills") if name in figures)
    if not known:
        return _Judged(missing=("local_requests", "spills"))
    return _Judged(0.7 if any(figures[name].value > 0 for name in known) else 0.0, known)


@_needs("fma_share", "fraction")
def _compute_bound(fma: float, fraction: float) -> _Judged:
    applies = fma >= FMA_HIGH and fraction < 95
    return _Judged(0.3 if applies else 0.0)


@_needs("atomics_per_element")
def _contended(atomics: float) -> _Judged:
    return _Judged(min(0.5 + atomics / 2, 1.0) if atomics >= ATOMICS else 0.0)


@_needs("kernels_traffic")
def _unfused(factor: float) -> _Judged:
    return _Judged(1 - 1 / factor if factor >= KERNELS_TRAFFIC else 0.0)


@_needs("launch_share")
def _short(share: float) -> _Judged:
    return _Judged(min(1.0, share / 100 + 0.2) if share >= LAUNCH else 0.0)


RULES = (
    Rule(
        "diag-1",
        "DRAM throughput low, long scoreboard high",
        "Too few requests in flight, or a chain of dependent loads",
        "Is the grid large enough? Can independent loads be unrolled, so that several are under way at once?",
        _few_requests,
    ),
    Rule(
        "diag-2",
        "DRAM throughput high, FMA pipeline low",
        "Arithmetic intensity is low: close to memory-bound",
        "Is there reuse of data that is not exploited? Can it be fused with its neighbours, or use a smaller format?",
        _low_intensity,
    ),
    Rule(
        "diag-3",
        "More sectors per request than the data needs",
        "Addresses of a warp are not contiguous, or not aligned",
        "How lanes map to addresses; array of structures or structure of arrays; the leading dimension",
        _scattered,
    ),
    Rule(
        "diag-4",
        "Many bank conflicts in shared memory",
        "Several lanes of a warp hit different addresses of one bank",
        "Strides, transposed access, padding by one column",
        _conflicts,
    ),
    Rule(
        "diag-5",
        "Many resident warps, few eligible",
        "All warps wait for the same dependency or queue",
        "Pressure on shared memory and its queue, synchronisation, data dependencies, atomics on one address",
        _all_wait,
    ),
    Rule(
        "diag-6",
        "Local memory traffic",
        "Registers spill, or a local array has been placed there",
        "The compiler's report, how local arrays are indexed, the degree of unrolling, the size of the micro-tile",
        _spills,
    ),
    Rule(
        "diag-7",
        "FMA pipeline busy, target still missed",
        "The arithmetic pipeline is close to being the bottleneck",
        "Instruction scheduling, pipelining, and whether a reasonable bound has been reached already",
        _compute_bound,
    ),
    Rule(
        "red-ladder",
        "About one global atomic per element",
        "Threads queue for the same address",
        "Add within the thread, the warp and the block first; then one atomic per block",
        _contended,
    ),
    Rule(
        "fuse-1",
        "Several kernels in a row, each over the data",
        "Intermediate results go through memory between kernels",
        "Fuse them, so that what one kernel made stays in registers or shared memory",
        _unfused,
    ),
    Rule(
        "roof-3",
        "An empty launch is a large part of the time",
        "Short: launching and filling the GPU cost as much as the work",
        "More work per launch: batch it, fuse it with its neighbours, or put it into a CUDA graph",
        _short,
    ),
)
IN_TABLE = 7
"""How many of :data:`RULES`, from the first, are rows of the table itself."""
