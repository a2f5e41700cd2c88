"""What the kernels could reach on a device that need not be here: ``--roofline-device``. Derived, nothing measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_roofline.contract import Case
from pytest_roofline.devices.record import DeviceRecord
from pytest_roofline.roofline import Limit, assess, cached_limit, tile_quantisation, wave_quantisation

_NAME = 40


def section(
    cases: Iterable[Case], record: DeviceRecord, resident: Mapping[str, int], expected: Mapping[str, float]
) -> list[str]:
    """One line per case; ``resident`` is how many blocks one SM holds of a kernel (``operation/backend/variant``) or of
    what a case launches (its id), ``expected`` are derived seconds by case id (``across.expectations``)."""
    lines = [f"bounds on {record.name} from its datasheet; nothing was measured"]
    lines.append(
        f"  {'case':{_NAME}} {'problem':>10} {'kernel':>10} {'by':>12} {'from L2':>10} {'tiles':>6} {'waves':>6}"
        f" {'expected':>10}"
    )
    lines += [_line(case, record, resident, expected.get(str(case))) for case in cases if not case.kernel.peer]
    lines += [
        "problem: each input read once; kernel: with the traffic that its own model adds; by: what needs that long",
        "from L2: the working set fits into it, so that a warm cache has another bound",
        "tiles: work launched / useful work; waves: the same for the last, partly filled wave of blocks",
        "expected: derived, had the kernel the share of its bound that was measured elsewhere; for families whose",
        "published times that would have foretold within 15 % (rms)",
        "-: the record has no such rate, the kernel states no tile, or nothing may be expected",
    ]
    return lines


def _line(case: Case, record: DeviceRecord, resident: Mapping[str, int], expected: float | None) -> str:
    model = case.model
    found = assess(case.work, model, record)
    by = found.algorithm.by + ("" if found.algorithm.complete else "?") if found.algorithm else "-"
    times = _time(found.problem), _time(found.algorithm), _time(cached_limit(case.work, record))
    tiles, waves = _quantised(case, record, resident)
    derived = "-" if expected is None else f"{expected * 1e6:.4g} us"
    name = str(case)
    if len(name) > _NAME:
        name = f"{name[: _NAME // 2 - 2]}..{name[-_NAME // 2 :]}"
    return f"  {name:{_NAME}} {times[0]:>10} {times[1]:>10} {by:>12} {times[2]:>10} {tiles:>6} {waves:>6} {derived:>10}"


def _quantised(case: Case, record: DeviceRecord, resident: Mapping[str, int]) -> tuple[str, str]:
    dims, tile = case.shape.dims, case.kernel.tile
    if len(tile) != len(dims) or not case.shape.size:
        return "-", "-"
    tiles = f"{tile_quantisation(dims, tile):.2f}"
    blocks_per_sm = resident.get(str(case), resident.get("/".join(str(case).split("/")[:3])))
    if blocks_per_sm is None or record.sm_count is None:
        return tiles, "-"
    blocks = 1
    for axis in case.operation.arguments[-1].extents(tuple(-(-d // t) for d, t in zip(dims, tile, strict=True))):
        blocks *= axis
    return tiles, f"{wave_quantisation(blocks, record.sm_count, blocks_per_sm):.2f}"


def _time(limit: Limit | None) -> str:
    return "-" if limit is None else f"{limit.seconds * 1e6:.4g} us"
