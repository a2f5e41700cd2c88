"""The fixed set of hardware counters that is asked for, and the figures that they make. Pure.

Names are those of Nsight Compute (``ncu --query-metrics``). A counter that a chip does not have is left out of the
figures, never guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_LOCAL = "l1tex__t_{}_pipe_lsu_mem_local_op_{}.sum"
_USED = "smsp__sass_average_data_bytes_per_sector_mem_global_op_{}.pct"
_WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
_LATENCY = "smsp__average_warp_latency_per_inst_issued.ratio"

STALLS = {
    "long_scoreboard": "waiting for global or local memory",
    "short_scoreboard": "waiting for shared memory or a special function",
    "barrier": "waiting at a barrier",
    "membar": "waiting at a memory fence",
    "mio_throttle": "the queue of shared memory and special functions is full",
    "lg_throttle": "the queue of global and local memory is full",
    "tex_throttle": "the queue of the L1 cache is full",
    "math_pipe_throttle": "the arithmetic pipeline is busy",
    "wait": "a fixed latency between instructions",
    "no_instruction": "waiting for instructions",
    "drain": "waiting for stores to leave",
    "branch_resolving": "waiting for a branch",
    "dispatch_stall": "the dispatcher holds the warp back",
    "sleeping": "asleep",
    "imc_miss": "waiting for a constant",
    "not_selected": "ready, but another warp was chosen",
}
"""Reasons why a warp does not issue, as the warp scheduler reports them (Nsight Compute, warp state statistics)."""

METRICS = (
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__t_sector_hit_rate.pct",
    *(_GLOBAL.format(what, op) for what in ("requests", "sectors") for op in ("ld", "st", "red", "atom")),
    *(_USED.format(op) for op in ("ld", "st")),
    *(_LOCAL.format("requests", op) for op in ("ld", "st")),
    *(_WAVES.format(op) for op in ("ld", "st")),
    *(_CONFLICTS.format(op) for op in ("ld", "st")),
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.per_cycle_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__warps_eligible.avg.per_cycle_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "launch__registers_per_thread",
    "launch__grid_size",
    "launch__block_size",
    "launch__waves_per_multiprocessor",
    _LATENCY,
    *(_STALLED.format(reason) for reason in STALLS),
)
"""Everything that one profile collects, in one list so that two profiles always compare."""


@dataclass(frozen=True)
class Counters:
    """One kernel launch. ``figures`` are by the names of :data:`FIGURES`, ``stalls`` the percentage of a warp's time
    between two instructions by reason."""

    kernel: str
    figures: Mapping[str, float]
    stalls: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Figure:
    unit: str
    label: str
    of: Callable[[Mapping[str, float]], float]


def _metric(name: str, scale: float = 1.0) -> Callable[[Mapping[str, float]], float]:
    return lambda raw: raw[name] * scale


def _sum(*names: str) -> Callable[[Mapping[str, float]], float]:
    return lambda raw: sum(raw[name] for name in names)


def _ratio(above: str, below: str) -> Callable[[Mapping[str, float]], float]:
    return lambda raw: raw[above] / raw[below] if raw[below] else math.nan


def _where(count: str, share: str) -> Callable[[Mapping[str, float]], float]:
    """A share of something of which there is some: ncu prints 0 % of nothing."""
    return lambda raw: raw[share] if raw[count] else math.nan


FIGURES: Mapping[str, _Figure] = {
    "duration": _Figure("s", "duration under the profiler", _metric("gpu__time_duration.sum", 1e-9)),
    "dram_bytes": _Figure("B", "bytes through DRAM", _sum("dram__bytes_read.sum", "dram__bytes_write.sum")),
    "dram_share": _Figure("%", "DRAM throughput", _metric("dram__throughput.avg.pct_of_peak_sustained_elapsed")),
    "l2_hits": _Figure("%", "L2 hit rate", _metric("lts__t_sector_hit_rate.pct")),
    "load_requests": _Figure("", "global load requests", _metric(_GLOBAL.format("requests", "ld"))),
    "store_requests": _Figure("", "global store requests", _metric(_GLOBAL.format("requests", "st"))),
    "load_sectors_per_request": _Figure(
        "", "sectors per load request", _ratio(_GLOBAL.format("sectors", "ld"), _GLOBAL.format("requests", "ld"))
    ),
    "store_sectors_per_request": _Figure(
        "", "sectors per store request", _ratio(_GLOBAL.format("sectors", "st"), _GLOBAL.format("requests", "st"))
    ),
    "load_sectors": _Figure("", "loaded sectors", _metric(_GLOBAL.format("sectors", "ld"))),
    "store_sectors": _Figure("", "stored sectors", _metric(_GLOBAL.format("sectors", "st"))),
    "load_used": _Figure(
        "%", "bytes used of each loaded sector", _where(_GLOBAL.format("sectors", "ld"), _USED.format("ld"))
    ),
    "store_used": _Figure(
        "%", "bytes used of each stored sector", _where(_GLOBAL.format("sectors", "st"), _USED.format("st"))
    ),
    "atomic_requests": _Figure(
        "", "global atomic requests", _sum(_GLOBAL.format("requests", "red"), _GLOBAL.format("requests", "atom"))
    ),
    "local_requests": _Figure(
        "", "local memory requests", _sum(_LOCAL.format("requests", "ld"), _LOCAL.format("requests", "st"))
    ),
    "shared_passes": _Figure("", "passes of shared memory", _sum(_WAVES.format("ld"), _WAVES.format("st"))),
    "shared_conflicts": _Figure(
        "", "passes lost to bank conflicts", _sum(_CONFLICTS.format("ld"), _CONFLICTS.format("st"))
    ),
    "fma_share": _Figure("%", "FMA pipeline", _metric("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active")),
    "tensor_share": _Figure(
        "%", "tensor pipeline", _metric("sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active")
    ),
    "resident_warps": _Figure("", "resident warps per SM", _metric("sm__warps_active.avg.per_cycle_active")),
    "occupancy": _Figure("%", "achieved occupancy", _metric("sm__warps_active.avg.pct_of_peak_sustained_active")),
    "eligible_warps": _Figure("", "eligible warps per scheduler", _metric("smsp__warps_eligible.avg.per_cycle_active")),
    "issue_share": _Figure("%", "cycles that issue", _metric("smsp__issue_active.avg.pct_of_peak_sustained_active")),
    "registers": _Figure("", "registers per thread", _metric("launch__registers_per_thread")),
    "grid": _Figure("", "blocks", _metric("launch__grid_size")),
    "block": _Figure("", "threads per block", _metric("launch__block_size")),
    "waves": _Figure("", "waves of blocks", _metric("launch__waves_per_multiprocessor")),
}


def counters(kernel: str, raw: Mapping[str, float]) -> Counters:
    """The figures of one launch from the counters that ncu printed; what a chip lacks is left out."""
    found = {}
    for name, figure in FIGURES.items():
        try:
            value = figure.of(raw)
        except KeyError:
            continue
        # The passes of a profile see different executions: for kernels of few requests a hit rate came out at 209 %.
        if math.isfinite(value) and not (name == "l2_hits" and value > 100):
            found[name] = value
    return Counters(kernel, found, _stalls(raw))


def _stalls(raw: Mapping[str, float]) -> dict[str, float]:
    """Percent of a warp's time between two of its instructions, by reason, the largest first."""
    latency = raw.get(_LATENCY, 0.0)
    if not latency > 0:
        return {}
    shares = {reason: 100 * raw.get(_STALLED.format(reason), 0.0) / latency for reason in STALLS}
    return {reason: share for reason, share in sorted(shares.items(), key=lambda item: -item[1]) if share >= 1}


def dominant(launches: tuple[Counters, ...]) -> Counters | None:
    """The launch that took longest under the profiler; ``None`` without launches."""
    return max(launches, key=lambda found: found.figures.get("duration", 0.0), default=None)


def plain(counters: Counters) -> dict[str, Any]:
    """JSON values: the figures by name, ``stall.<reason>`` for each share of stalled time, and ``kernel``."""
    stalls = {f"stall.{reason}": share for reason, share in counters.stalls.items()}
    return {"kernel": counters.kernel, **counters.figures, **stalls}


def from_plain(data: Mapping[str, Any]) -> Counters:
    """The reverse; what is no number is left out, so that files of another version can be read."""
    numbers = {k: float(v) for k, v in data.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    stalls = {k.removeprefix("stall."): v for k, v in numbers.items() if k.startswith("stall.")}
    figures = {k: v for k, v in numbers.items() if not k.startswith("stall.")}
    return Counters(str(data.get("kernel", "")), figures, stalls)
