"""What the page knows, as compact JSON: a column per field, texts and floats once. Pure."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_roofline.counters.metrics import FIGURES, STALLS
from pytest_roofline.reports import diagnosis, figures, why
from pytest_roofline.reports.diagnosis import Finding, Status
from pytest_roofline.reports.html.beside import Beside, beside
from pytest_roofline.reports.html.facts import device_facts, run_facts
from pytest_roofline.reports.series import Series
from pytest_roofline.runs.record import CaseRecord, CountedFigures, RunRecord

_STATUS = {Status.APPLIES: "a", Status.DOES_NOT: "n", Status.UNKNOWN: "u"}


class _Texts:
    """Every text once; a column holds its index."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.values.setdefault(text, len(self.values))


def payload(run: RunRecord, history: Series | None = None, title: str = "") -> dict[str, Any]:
    """The data of one report. ``history`` may hold runs of the same cases before this one."""
    texts = _Texts()
    other = beside(run)
    columns = _columns(run, other, texts)
    return {
        "title": title or f"{run.device.name}, {run.started[:16].replace('T', ' ')}",
        "run": run_facts(run),
        "device": device_facts(run),
        "operations": {
            name: {"summary": o.summary, "protocol": o.protocol, "kernels": list(o.kernels), "absent": dict(o.absent)}
            for name, o in run.operations.items()
        },
        "rules": [
            {"claim": r.claim, "observation": r.observation, "meaning": r.meaning, "advice": r.advice}
            for r in diagnosis.RULES
        ],
        "figures": {name: {"label": f.label, "unit": f.unit} for name, f in FIGURES.items()},
        "stalls": dict(STALLS),
        "beside": {
            "name": other.name,
            "trust": [[t.family, t.pairs, _plain(t.typical), _plain(t.worst), int(t.given)] for t in other.trust],
        },
        "cases": columns,
        "history": _history(history, run),
        "texts": list(texts.values),
    }


def script(data: Mapping[str, Any]) -> str:
    """JSON that may stand in a ``<script>`` of a page: no text in it can end the script or begin a comment.

    Raises ``ValueError`` for NaN and infinity.
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _columns(run: RunRecord, other: Beside, texts: _Texts) -> dict[str, list[Any]]:
    known = [figures.of(case, run.device) for case in run.cases]
    judged = [diagnosis.diagnose(found) for found in known]
    columns: dict[str, list[Any]] = {"id": [case.id for case in run.cases]}
    for name, of in _FIELDS.items():
        columns[name] = [_plain(of(case)) for case in run.cases]
    for name, words in _WORDS.items():
        columns[name] = [texts(words(case)) for case in run.cases]
    columns["peer_ratio"] = [_plain(ratio) for ratio in _peer_ratios(run)]
    columns["why"] = [texts(why.sentence(case, found)) for case, found in zip(run.cases, judged, strict=True)]
    columns["rows"] = ["".join(_STATUS[f.status] for f in found) for found in judged]
    columns["findings"] = [_findings(found, texts) for found in judged]
    columns["known"] = [
        [[texts(name), _plain(f.value), texts(f.label), texts(f.unit), texts(f.origin)] for name, f in found.items()]
        for found in known
    ]
    columns["counted"] = [_counted(case.counted, texts) for case in run.cases]
    columns["published"] = [_published(case, other, texts) for case in run.cases]
    columns["there"] = [
        [_plain(there.bound), there.by, _plain(there.estimate)] if (there := other.cases.get(case.id)) else None
        for case in run.cases
    ]
    return columns


_FIELDS: Mapping[str, Callable[[CaseRecord], Any]] = {
    "order": lambda c: c.kernel.order,
    "best": lambda c: int(c.kernel.best),
    "peer": lambda c: int(c.kernel.peer),
    "dims": lambda c: list(c.dims),
    "tile": lambda c: list(c.kernel.tile),
    "seconds": lambda c: c.seconds,
    "bracket": lambda c: c.times.bracket.seconds if c.times else None,
    "quantiles": lambda c: [_plain(q) for q in c.times.bracket.quantiles] if c.times else [],
    "count": lambda c: c.times.bracket.count if c.times else 0,
    "host": lambda c: c.times.host if c.times else None,
    "floor": lambda c: c.times.bracket.launch_floor if c.times else None,
    "operations": lambda c: dict(c.operations),
    "traffic": lambda c: [[t.level, t.read, t.write] for t in c.traffic],
    "model": lambda c: [[t.level, t.read, t.write] for t in c.model],
    "intensity": lambda c: c.intensity,
    "bytes_rate": lambda c: c.bytes_per_second,
    "operations_rate": lambda c: c.operations_per_second,
    "bounds": lambda c: {n: [_plain(b.seconds), b.by, b.regime, int(b.complete)] for n, b in c.bounds.items()},
    "fraction": lambda c: c.fraction,
    "of_ceiling": lambda c: c.fraction_of_ceiling,
    "change": lambda c: [_plain(v) for v in _change(c)],
    "clocks": lambda c: list(c.telemetry.sm_clock_mhz) if c.telemetry and c.telemetry.sm_clock_mhz else [],
    "power": lambda c: list(c.telemetry.power_w) if c.telemetry and c.telemetry.power_w else [],
}
_WORDS: Mapping[str, Callable[[CaseRecord], str]] = {
    "outcome": lambda c: c.outcome,
    "detail": lambda c: c.detail,
    "regime": lambda c: c.regime,
    "verdict": lambda c: c.verdict.kind if c.verdict else c.outcome if c.outcome != "ok" else "none",
    "reason": lambda c: c.verdict.reason if c.verdict else "",
    "sentence": lambda c: c.said,
    "source": lambda c: c.times.source if c.times else "",
    "throttled": lambda c: ", ".join(c.telemetry.throttle_reasons) if c.telemetry else "",
    "options": lambda c: ", ".join(f"{k}={v}" for k, v in c.kernel.options.items()),
    "kernel_name": lambda c: str(c.ncu.get("kernel", "")),
}


def _change(case: CaseRecord) -> tuple[float | int | None, ...]:
    """Ratio to the baseline with its interval, what would have shown, and from how many campaigns."""
    found = next((v for v in (case.verdict, *case.comparisons) if v is not None and v.ratio is not None), None)
    return (found.ratio, found.low, found.high, found.detectable, found.campaigns) if found else ()


def _peer_ratios(run: RunRecord) -> Iterable[float | None]:
    """``RunRecord.peer_ratio`` of every case, in one pass."""
    fastest: dict[tuple[str, str, str], float] = {}
    for case in run.cases:
        if case.kernel.peer and case.times is not None:
            problem = _problem(case.id)
            fastest[problem] = min(fastest.get(problem, math.inf), case.times.bracket.seconds)
    for case in run.cases:
        peer = fastest.get(_problem(case.id))
        yield None if peer is None or case.kernel.peer or case.times is None else peer / case.times.bracket.seconds


def _problem(case: str) -> tuple[str, str, str]:
    operation, _, _, dtype, shape = (case.split("/", 4) + [""] * 4)[:5]
    return operation, dtype, shape


def _findings(found: Sequence[Finding], texts: _Texts) -> list[Any]:
    """Those that apply, the strongest first: the row of the table, its weight, its note, the figures behind it."""
    claims = [rule.claim for rule in diagnosis.RULES]
    return [
        [claims.index(f.claim), round(f.weight, 3), texts(f.note), [texts(str(figure)) for figure in f.figures]]
        for f in why.ranked(found)
    ]


def _counted(counted: CountedFigures | None, texts: _Texts) -> list[Any] | None:
    """Architecture, counted case, why nothing was compiled, launches, per compiled kernel what it needs, and whether
    requests are a warp's (they are a program's where no layout is known)."""
    if counted is None:
        return None
    names = ("key", "compiler", "threads", "registers", "spills", "shared", "dynamic", "occupancy", "limiter", "mix")
    kernels = [[texts(v) if isinstance(v, str) else v for v in map(k.get, names)] for k in counted.kernels]
    launches = [
        [texts(str(launch["kernel"])), launch["accesses"], launch["read"], launch["written"]]
        for launch in counted.counts["launches"]
    ]
    by_warps = int(not counted.counts["layout_free"])
    return [texts(counted.arch), texts(counted.case), texts(counted.missing), launches, kernels, by_warps]


def _published(case: CaseRecord, other: Beside, texts: _Texts) -> list[Any]:
    # A rate beside its time is the same result printed twice.
    once = {(f.device, f.source, f.seconds and float(f"{f.seconds:.3g}")): f for f in reversed(case.published)}
    return [
        [
            *(texts(t) for t in (f.device, f.metric, f.unit, f.source, f.implementation, f.method, f.confidence)),
            _plain(f.value),
            _plain(f.seconds),
            _plain(f.fraction),
            texts("; ".join(other.caveats.get((case.id, f.device), ()))),
        ]
        for f in reversed(once.values())
    ]


def _history(history: Series | None, run: RunRecord) -> dict[str, Any] | None:
    """Times of this run's cases as base64 of little-endian float32, NaN where a run did not time one: 4 bytes each."""
    if history is None or not history.runs:
        return None
    wanted = [case.id for case in run.cases if any(history.seconds.get(case.id, ()))]
    return {
        "runs": [[point.id, point.started, point.commit, point.note] for point in history.runs],
        "seconds": {case: _packed(history.seconds[case]) for case in wanted},
        "changes": {case: list(history.changes[case]) for case in wanted if history.changes.get(case)},
    }


def _packed(values: Sequence[float | None]) -> str:
    numbers = [math.nan if value is None else value for value in values]
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def _plain(value: Any) -> Any:
    """Six significant digits are more than any time has; what is not finite is unknown to the page."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    return float(f"{value:.6g}")
