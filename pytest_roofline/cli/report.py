"""``pytest-roofline report`` and ``export``: a run file for people, and for programs."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from pytest_roofline.cli import console
from pytest_roofline.history import HistoryError
from pytest_roofline.reports import export, markdown, terminal
from pytest_roofline.reports.series import Series
from pytest_roofline.reports.styled import Line, line
from pytest_roofline.runs import RunFileError, RunRecord, read

Run = Annotated[Path, typer.Argument(help="run file (--roofline-save), or the journal of a run that was killed")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="write it to this file")]


Kind = TypeVar("Kind")


class Format(str, enum.Enum):
    """What a report is written in."""

    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"


_FORMATS = {".html": Format.HTML, ".htm": Format.HTML, ".md": Format.MARKDOWN, ".txt": Format.TEXT, ".log": Format.TEXT}


class Table(str, enum.Enum):
    """What a table is written in."""

    CSV = "csv"
    JSON = "json"


def report(
    run: Run,
    form: Annotated[Format | None, typer.Option("--format", help="default: by the ending of OUTPUT, else text")] = None,
    output: Output = None,
    history: Annotated[str | None, typer.Option("--history", help="store whose runs the HTML report shows too")] = None,
    title: Annotated[str, typer.Option(help="heading of the report")] = "GPU kernels",
    limit: Annotated[int, typer.Option(help="largest size of Markdown in bytes")] = markdown.SUMMARY_LIMIT,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="text: list every case")] = False,
) -> None:
    """Report a run as an HTML page, Markdown or text."""
    form = form or _of_ending(output, _FORMATS, Format.TEXT)
    found = read(run)
    if history is not None and form is not Format.HTML:
        raise HistoryError("--history is shown in an HTML report only: -o FILE.html")
    if form is Format.MARKDOWN:
        console.deliver(_markdown(found, limit, title), output)
    elif form is Format.TEXT:
        console.tell(_text(found, verbose), output)
    else:
        from pytest_roofline.reports.html import page

        console.deliver(page.render(found, _history(found, history), title), output)


def export_table(
    run: Run,
    form: Annotated[Table | None, typer.Option("--format", help="default: by the ending of OUTPUT, else csv")] = None,
    output: Output = None,
) -> None:
    """Write a run as a table, CSV or JSON.

    A row per case; times are in seconds.
    """
    found = read(run)
    form = form or _of_ending(output, {".json": Table.JSON, ".csv": Table.CSV}, Table.CSV)
    console.deliver(export.as_json(found) if form is Table.JSON else export.as_csv(found), output)


def _of_ending(output: Path | None, endings: Mapping[str, Kind], otherwise: Kind) -> Kind:
    """The format that the name of the output asks for; an ending that none has is refused, not filled with another."""
    ending = "" if output is None else output.suffix.lower()
    if ending not in endings and ending != "":
        raise typer.BadParameter(
            f"no format has the ending {ending}: choose {', '.join(endings)}, or name one with --format",
            param_hint="--output",
        )
    return endings.get(ending, otherwise)


def _markdown(run: RunRecord, limit: int, title: str) -> str:
    try:
        return markdown.render(run, limit=limit, title=title)
    except ValueError as error:
        raise RunFileError(f"--limit: {error}") from error


def _text(run: RunRecord, verbose: bool) -> list[Line]:
    lines = [*terminal.totals(run), line(_origin(run))]
    lines += terminal.section(run, verbose=verbose, width=console.width(), plain=console.is_ascii())
    return [*lines, line(), *terminal.footnotes(run)]


def _origin(run: RunRecord) -> str:
    """Where and when the run was, and of which commit."""
    parts = [run.device.name, f"{run.started[:16].replace('T', ' ')} UTC"]
    if run.commit is not None:
        parts.append(f"commit {run.commit.id[:12]}" + (" with changes" if run.commit.dirty else ""))
    return ", ".join(parts)


def _history(run: RunRecord, where: str | None) -> Series | None:
    """The history of the run's device; ``None`` where none was asked for."""
    if where is None:
        return None
    from pytest_roofline.history import changes, queries
    from pytest_roofline.history.store import Store

    found = queries.table(Store(where), run.device.key)
    if not found.runs:
        raise HistoryError(f"{where} holds no runs of {run.device.key}")
    marked, why = changes.with_changes_or_why(found)
    if why:
        console.complain(why)
    return marked
