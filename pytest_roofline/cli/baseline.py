"""``pytest-roofline baseline``: the accepted results that runs are held against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pytest_roofline.baselines import Baseline, BaselineError, Store, cases
from pytest_roofline.cli import FAILED, console
from pytest_roofline.reports import units
from pytest_roofline.reports.styled import HEAD, Line, Segment, line
from pytest_roofline.runs import RunFileError, read
from pytest_roofline.runs.accepting import baselines_of, supersede, verify_acceptable
from pytest_roofline.verdict import FIRM

app = typer.Typer(help="Accepted results, and accepting a run.", no_args_is_help=True)

Folder = Annotated[Path, typer.Option("--baselines", help="folder of the baselines")]
DEFAULT_FOLDER = Path("baselines")


@app.command("list")
def list_baselines(folder: Folder = DEFAULT_FOLDER) -> None:
    """List devices and operations with how much is stored of each, and in how many campaigns."""
    store = _existing(folder)
    console.show([f"{'device':10} {'operation':22} {'campaigns':>9} {'timed':>6} {'published':>9} {'counted':>8}"])
    for device in store.devices():
        console.show(map(_summary, store.load_all(device)))


@app.command()
def show(
    device: Annotated[str, typer.Argument(help="folder of the device (h200)")],
    operation: Annotated[str | None, typer.Argument(help="only this operation")] = None,
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """Print what is stored: campaigns with their environment, and each case with the spread between its campaigns."""
    store = _existing(folder)
    wanted = [operation] if operation is not None else store.operations(device)
    for name in wanted:
        if not store.path(device, name).exists():
            known = ", ".join(store.operations(device)) or "nothing"
            raise BaselineError(f"{folder} holds no {name} of {device}; it has {known}")
        console.show(_content(store.load(device, name)))
    if not wanted:
        raise BaselineError(f"{folder} holds nothing of {device}; it has {', '.join(store.devices()) or 'nothing'}")


@app.command()
def verify(folder: Folder = DEFAULT_FOLDER) -> None:
    """Read every file and say what is wrong with it. Ends with 1 if anything is."""
    store, broken, read_well = _existing(folder), 0, 0
    for device in store.devices():
        for operation in store.operations(device):
            try:
                store.load(device, operation)
                read_well += 1
            except BaselineError as error:
                console.show([str(error)])
                broken += 1
    console.show([f"{read_well} files are good, {broken} are not"])
    if broken:
        raise typer.Exit(FAILED)


@app.command()
def promote(
    run: Annotated[Path, typer.Argument(help="run file (--roofline-save)")],
    folder: Folder = DEFAULT_FOLDER,
    only: Annotated[str, typer.Option("--cases", help="only cases whose id contains this")] = "",
) -> None:
    """Accept the results of a run file, as --roofline-update does at the end of a run.

    Times that are invalid or impossible, and cases whose check failed, are left out. A run with planted slowdowns is
    refused; what a killed run left is added to what is stored, and replaces nothing.
    """
    found = read(run)
    store = Store(folder)
    chosen = replace(found, cases=tuple(case for case in found.cases if only in case.id))
    try:
        verify_acceptable(found)
        accepted = baselines_of(chosen)
        for baseline in accepted:
            supersede(chosen, baseline, store.load(baseline.device, baseline.operation))
    except BaselineError:
        raise
    except ValueError as error:
        raise RunFileError(f"{run}: {error}") from error
    for baseline in accepted:
        number = len(baseline.measured) or (len(baseline.counted.cases) if baseline.counted else 0)
        console.show([f"stored {number} cases in {store.save(baseline)}"])
    if found.ended is None and accepted:
        console.show(["the run was killed before its last verdicts: what was stored before stays beside it"])
    if not accepted:
        raise RunFileError(f"{run} has nothing that could be stored")


@app.command()
def prune(
    keep: Annotated[int, typer.Option(min=1, help="so many campaigns of each case, the newest")],
    folder: Folder = DEFAULT_FOLDER,
    device: Annotated[str | None, typer.Option("--device", help="only this device")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would go, and change nothing")] = False,
) -> None:
    """Forget old campaigns. Counts and published figures stay."""
    store = _existing(folder)
    if keep < FIRM:
        console.show([f"a baseline of fewer than {FIRM} campaigns is provisional"])
    for key in store.devices() if device is None else [device]:
        for operation in store.operations(key):
            if dry_run:
                gone = _forget(store.load(key, operation), keep)
            else:
                gone = store.change(key, operation, lambda baseline: _forget(baseline, keep))
            if gone:
                verb = "would forget" if dry_run else "forgot"
                console.show([f"{verb} {gone} results of {key}/{operation}"])


def _forget(baseline: Baseline, keep: int) -> int:
    """Drop all but the newest campaigns of each case, and campaigns that nothing uses; returns how many results went.

    Names of campaigns begin with their day.
    """
    gone = 0
    for case, runs in baseline.measured.items():
        kept = sorted(runs)[-keep:]
        gone += len(runs) - len(kept)
        baseline.measured[case] = {name: runs[name] for name in kept}
    baseline.drop_unused_campaigns()
    return gone


@app.command()
def forget(
    pattern: Annotated[str, typer.Argument(help="ids of cases, with wildcards ('copy/cuda/wide/*')")],
    folder: Folder = DEFAULT_FOLDER,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would go, and change nothing")] = False,
) -> None:
    """Forget cases that no longer exist: their times, published figures and counts, on every device."""
    verb, found = "would forget" if dry_run else "forgot", 0
    store = _existing(folder)
    for device in store.devices():
        for operation in store.operations(device):
            if dry_run:
                gone = cases.forget(store.load(device, operation), pattern)
            else:
                gone = store.change(device, operation, lambda baseline: cases.forget(baseline, pattern))
            console.show([f"{verb} {case} of {device}" for case in gone])
            found += len(gone)
    if not found:
        raise BaselineError(f"{folder} holds nothing of {pattern}")


@app.command()
def rename(
    old: Annotated[str, typer.Argument(help="a case, or the first parts of ids (copy/cuda/wide)")],
    new: Annotated[str, typer.Argument(help="what stands there now (copy/cuda/vectorised)")],
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """Give cases that were renamed their history back, on every device. The operation stays the same."""
    if old.split("/")[0] != new.split("/")[0]:
        raise BaselineError(f"{old} and {new} are of two operations, which have a file each")
    store = _existing(folder)
    changed = {}
    for device in store.devices():
        for baseline in store.load_all(device):
            try:
                moved = cases.rename(baseline, old, new)
            except ValueError as error:
                raise BaselineError(f"{store.path(device, baseline.operation)}: {error}") from error
            if moved:
                changed[device] = baseline, moved
    for device, (baseline, moved) in changed.items():
        store.change(device, baseline.operation, lambda stored: cases.rename(stored, old, new))
        console.show([f"renamed {case} of {device} to {name}" for case, name in moved.items()])
    if not changed:
        raise BaselineError(f"{folder} holds nothing of {old}")


def _existing(folder: Path) -> Store:
    if not folder.is_dir():
        raise BaselineError(f"there is no folder {folder}: name it with --baselines")
    return Store(folder)


def _summary(baseline: Baseline) -> str:
    counted = len(baseline.counted.cases) if baseline.counted else 0
    return (
        f"{baseline.device:10} {baseline.operation:22} {len(baseline.campaigns):>9} {len(baseline.measured):>6} "
        f"{sum(map(len, baseline.published.values())):>9} {counted:>8}"
    )


def _content(baseline: Baseline) -> Iterable[Line]:
    yield line(Segment(f"{baseline.operation} on {baseline.device}", HEAD))
    for name, environment in sorted(baseline.campaigns.items()):
        yield line(f"  campaign {name}: {environment.device}, driver {environment.driver}, CUDA {environment.cuda}")
    for case, runs in sorted(baseline.measured.items()):
        seconds = sorted(run.summary.seconds for run in runs.values())
        spread = f"{len(runs)} campaigns within {100 * (seconds[-1] / seconds[0] - 1):.1f} %"
        middle = units.time(seconds[len(seconds) // 2])
        yield line(f"  {case}: {middle}, {spread if len(runs) > 1 else '1 campaign'}")
    for case, figures in sorted(baseline.published.items()):
        for figure in figures:
            yield line(f"  {case}: published {figure.value:g} {figure.unit} on {figure.device} [{figure.source}]")
    if baseline.counted is not None:
        kernels = {compiler: len(found) for compiler, found in baseline.counted.compiled.items()}
        yield line(f"  counted for {baseline.counted.arch}: {len(baseline.counted.cases)} cases")
        for compiler, number in sorted(kernels.items()):
            yield line(f"  compiled by {compiler}: {number} kernels")
