"""What a report says of the run and its device, with the source of each figure. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_roofline.evidence import to_plain
from pytest_roofline.runs.record import RunRecord

PUBLISHED, DERIVED, MEASURED = "datasheet", "derived", "measured"


def run_facts(run: RunRecord) -> dict[str, Any]:
    """Identity, time, commit, toolchain and environment of the run."""
    return {
        "id": run.id,
        "kind": run.kind,
        "started": run.started,
        "ended": run.ended,
        "version": run.version,
        "commit": to_plain(run.commit) if run.commit else None,
        "toolchain": dict(run.toolchain),
        "options": to_plain(run.options),
        "environment": to_plain(run.environment) if run.environment else None,
        "ceilings_date": run.ceilings.date if run.ceilings else "",
    }


def device_facts(run: RunRecord) -> dict[str, Any]:
    """The device and its roofs: ``[kind, name, rate, provenance, source]``, rates per second in base units."""
    device = run.device
    return {
        "key": device.key,
        "name": device.name,
        "record": device.record,
        "capability": device.compute_capability,
        "limits": dict(device.limits),
        "sources": dict(device.sources),
        "empty_launch": run.ceilings.empty_launch if run.ceilings else None,
        "roofs": [list(roof) for roof in _roofs(run)],
    }


def _roofs(run: RunRecord) -> Iterator[tuple[str, str, float, str, str]]:
    device, ceilings = run.device, run.ceilings
    for kind, rates in (("memory", device.bandwidths), ("compute", device.peaks)):
        for name, rate in rates.items():
            source = device.sources.get(name, "")
            yield kind, name, rate, DERIVED if source.startswith(DERIVED) else PUBLISHED, source
    if ceilings is None:
        return
    for name, rate in (("copy", ceilings.copy), ("read", ceilings.read)):
        yield "memory", f"device ({name})", rate, MEASURED, ceilings.how.get(name, "")
    for name, rate in ceilings.peaks.items():
        yield "compute", name, rate, MEASURED, ceilings.how.get(name, "")
