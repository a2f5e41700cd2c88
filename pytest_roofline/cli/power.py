"""``pytest-roofline power``: which slowdowns the stored baseline of a device would find."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_roofline.baselines import BaselineError, Store
from pytest_roofline.cli import console
from pytest_roofline.reports import power as report


def power(
    device: Annotated[str, typer.Argument(help="folder of the device (h200)")],
    folder: Annotated[Path, typer.Option("--baselines", help="folder of the baselines")] = Path("baselines"),
    suspects: Annotated[int, typer.Option(min=1, help="cases with changed code in a run")] = 10,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="every case as well")] = False,
) -> None:
    """Print the power curve of a device: the share of slowdowns of 1, 2, 3 and 5 % that would be found."""
    stored = Store(folder).load_all(device) if (folder / device).is_dir() else []
    try:
        console.show(report.section(stored, suspects, verbose=verbose))
    except ValueError as error:
        raise BaselineError(f"{folder / device}: {error}") from error
