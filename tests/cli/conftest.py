"""What tests of the command line share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

pytest.importorskip("typer")


@dataclass
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """``command("compare", a, b)`` runs the command in this process, as in a pipe."""
    from pytest_roofline.cli.app import run

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def go(*arguments: object) -> Ended:
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return go
