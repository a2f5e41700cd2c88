"""The command ``pytest-roofline``: looks at files, needs neither a GPU nor its libraries.

Exit codes: 0 all well; 1 a failing verdict; 4 a usage error or a file that cannot be used, as for pytest; 5 nothing
could be compared. See ``docs/cli.md``.
"""

from __future__ import annotations

import sys

OK, FAILED, UNUSABLE, NOTHING = 0, 1, 4, 5
"""What the command ends with."""


def main() -> None:
    """Entry point of the script."""
    try:
        from pytest_roofline.cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        help_ = "pip install 'pytest-roofline[cli]' brings it"
        print(f"pytest-roofline: {error.name} is not installed: {help_}", file=sys.stderr)
        sys.exit(UNUSABLE)
    sys.exit(run())
