"""The commands, and what their failures end with."""

from __future__ import annotations

from typing import Annotated

import typer

import pytest_roofline
from pytest_roofline.baselines import BaselineError
from pytest_roofline.cli import OK, UNUSABLE, console
from pytest_roofline.cli import baseline as baseline_commands
from pytest_roofline.cli import compare as compare_command
from pytest_roofline.cli import devices as device_commands
from pytest_roofline.cli import history as history_commands
from pytest_roofline.cli import plot as plot_commands
from pytest_roofline.cli import power as power_command
from pytest_roofline.cli import report as report_commands
from pytest_roofline.devices.ceilings import CeilingsError
from pytest_roofline.devices.record import RecordError
from pytest_roofline.history import HistoryError
from pytest_roofline.reports import ReportUnavailableError
from pytest_roofline.reports.plots import PlotError
from pytest_roofline.runs import RunFileError
from pytest_roofline.runs.comparing import IncomparableError

_UNUSABLE = (
    BaselineError,
    CeilingsError,
    HistoryError,
    IncomparableError,
    OSError,
    PlotError,
    RecordError,
    ReportUnavailableError,
    RunFileError,
)
_CLICK_USAGE = 2  # what click, and so typer, ends with on a usage error

app = typer.Typer(
    name="pytest-roofline",
    help="Results of GPU kernels: reports, comparisons, baselines and history of pytest-roofline's run files.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(device_commands.app, name="devices")
app.command("ceilings")(device_commands.ceilings)
app.command("report")(report_commands.report)
app.command("export")(report_commands.export_table)
app.command("compare")(compare_command.compare)
app.add_typer(baseline_commands.app, name="baseline")
app.command("power")(power_command.power)
app.add_typer(history_commands.app, name="history")
app.add_typer(plot_commands.app, name="plot")


def _version(wanted: bool) -> None:
    if wanted:
        console.show([f"pytest-roofline {pytest_roofline.__version__}"])
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Results of GPU kernels: reports, comparisons, baselines and history of pytest-roofline's run files."""


def run(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    try:
        app(arguments)
    except _UNUSABLE as error:
        console.complain(_said(error))
        return UNUSABLE
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else OK
        return UNUSABLE if code == _CLICK_USAGE else code
    return OK


def _said(error: Exception) -> str:
    """What is wrong, without the number that the system gives it."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename} cannot be used: {error.strerror}"
    return str(error)
