"""``pytest-roofline plot``: roofline, ladder and history as SVG or PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pytest_roofline.cli import console
from pytest_roofline.cli.history import DEFAULT_STORE, Where
from pytest_roofline.reports import plots
from pytest_roofline.runs import read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = typer.Typer(help="Plots of a run or of the history, as SVG or PNG by the ending of OUTPUT.", no_args_is_help=True)

Run = Annotated[Path, typer.Argument(help="run file (--roofline-save)")]
Output = Annotated[Path, typer.Option("--output", "-o", help="file to write: .svg or .png")]


@app.command()
def roofline(
    run: Run,
    output: Output,
    operation: Annotated[str | None, typer.Option(help="only this operation")] = None,
    level: Annotated[str, typer.Option(help="memory level whose bytes count: device, l2, shared, host")] = "device",
) -> None:
    """Every timed case below the roofs of its device."""
    _write(plots.roofline(read(run), operation, level), output)


@app.command()
def ladder(run: Run, operation: Annotated[str, typer.Argument(help="name of an operation")], output: Output) -> None:
    """Share of its roof that each kernel of an operation reaches."""
    _write(plots.ladder(read(run), operation), output)


@app.command()
def history(
    case: Annotated[str, typer.Argument(help="id of a case")],
    output: Output,
    store: Where = DEFAULT_STORE,
    device: Annotated[str, typer.Option("--device", help="the device")] = "h200",
) -> None:
    """Times of a case over the stored runs, with the points where its level changed."""
    from pytest_roofline.history import changes, queries
    from pytest_roofline.history.store import Store

    found, why = changes.with_changes_or_why(queries.table(Store(store), device))
    if why:
        console.complain(why)
    _write(plots.history(found, case), output)


def _write(figure: Figure, output: Path) -> None:
    console.show([f"wrote {plots.save(figure, output)}"])
