"""``pytest-roofline devices`` and ``ceilings``: what the plugin knows of GPUs, and of the one that is here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_roofline import cache
from pytest_roofline.cli import FAILED, console
from pytest_roofline.contract import Memory, Pipeline
from pytest_roofline.devices import ceilings as stored_ceilings
from pytest_roofline.devices import describe, identify
from pytest_roofline.devices.record import DeviceRecord, all_records, load

app = typer.Typer(help="Device records: datasheet figures with their sources.", no_args_is_help=True)


@app.command("list")
def list_devices() -> None:
    """List every device record with its memory bandwidth and float32 peak."""
    console.show([f"{'key':18} {'compute':>7} {'TB/s':>6} {'fp32 TFLOP/s':>13}  name"])
    console.show(map(_line, all_records()))


@app.command("show")
def show_device(key: Annotated[str, typer.Argument(help="key of a record, such as h200")]) -> None:
    """Print everything a record knows, each figure with its source."""
    console.show(describe.record_lines(load(key)))


@app.command("identify")
def identify_devices() -> None:
    """Say which GPUs are here and which record belongs to each. Ends with 1 if there is none."""
    found = identify.gpus()
    for gpu in found:
        console.show(describe.gpu_lines(gpu))
    if not found:
        console.show([f"no GPU: {identify.why_none()}"])
        raise typer.Exit(FAILED)


def ceilings(
    measure: Annotated[bool, typer.Option("--measure", help="measure this GPU now and store what it reaches")] = False,
) -> None:
    """Print what this GPU was measured to reach.

    Ends with 1 if that is stored for none.
    """
    if measure:
        _measure()
    paths = sorted((cache.folder() / "ceilings").glob("*.json"))
    for path in paths:
        console.show(_ceilings(path))
    if not paths:
        console.show([f"no ceilings are stored in {cache.folder() / 'ceilings'}: --measure takes those of this GPU"])
        raise typer.Exit(FAILED)


def _measure() -> None:
    if not identify.gpu_count():
        raise stored_ceilings.CeilingsError(f"--measure needs a GPU: {identify.why_none()}")
    from pytest_roofline.devices.measure_ceilings import measure

    stored_ceilings.save(measure())


def _ceilings(path: Path) -> list[str]:
    found = stored_ceilings.read(path)
    rates = {"copy": found.copy / 1e12, "read": found.read / 1e12}
    lines = [f"{found.environment.device}, driver {found.environment.driver}, measured {found.date} ({path})"]
    lines += [f"  {name:14} {rate:8.3f} TB/s     {found.how.get(name, '')}" for name, rate in rates.items()]
    lines += [
        f"  {name:14} {rate / 1e12:8.1f} TFLOP/s  {found.how.get(name, '')}"
        for name, rate in sorted(found.peaks.items())
    ]
    return [*lines, f"  {'empty launch':14} {found.empty_launch * 1e6:8.3f} us"]


def _line(record: DeviceRecord) -> str:
    bandwidth, peak = record.bandwidth(Memory.DEVICE), record.peak(Pipeline.FP32)
    rate = "-" if bandwidth is None else f"{bandwidth / 1e12:.2f}"
    operations = "-" if peak is None else f"{peak / 1e12:.1f}"
    return f"{record.key:18} {record.compute_capability:>7} {rate:>6} {operations:>13}  {record.name}"
