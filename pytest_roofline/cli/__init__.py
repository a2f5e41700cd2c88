"""The command ``pytest-roofline``: looks at files, needs neither a GPU nor its libraries.

Exit codes: 0 all well; 1 a failing verdict; 4 a usage error or a file that cannot be used, as for pytest; 5 nothing
could be compared. See ``docs/cli.md``.
"""

from __future__ import annotations

import os
import sys

OK, FAILED, UNUSABLE, NOTHING, INTERRUPTED = 0, 1, 4, 5, 130
"""What the command ends with."""


def main() -> None:
    """Entry point of the script."""
    if sys.stdout is None:  # closed by whoever started it
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (for the life of the process)
    try:
        sys.exit(_run())
    except KeyboardInterrupt:  # also while the libraries are imported
        sys.exit(INTERRUPTED)


def _run() -> int:
    try:
        from pytest_roofline.cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        help_ = "pip install 'pytest-roofline[cli]' brings it"
        print(f"pytest-roofline: {error.name} is not installed: {help_}", file=sys.stderr)
        return UNUSABLE
    return run()
