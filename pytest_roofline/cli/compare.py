"""``pytest-roofline compare``: one result against another, with an exit code for a gate."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from pytest_roofline.cli import FAILED, NOTHING, OK, console, sources
from pytest_roofline.reports import export, markdown, terminal
from pytest_roofline.reports.styled import Line, line
from pytest_roofline.runs.comparing import Compared, against
from pytest_roofline.verdict import FAILING, WARNING

_NAMED = 10


class Format(str, enum.Enum):
    """How a comparison is told."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"


def compare(
    before: Annotated[
        Path, typer.Argument(help="run file, folder of run files, or baselines/DEVICE", show_default=False)
    ],
    after: Annotated[Path, typer.Argument(help="run file or baselines/DEVICE: what is judged", show_default=False)],
    form: Annotated[Format, typer.Option("--format", help="how to tell it")] = Format.TEXT,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write it to this file")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="warnings fail too, and so do missing cases")] = False,
    only: Annotated[str, typer.Option("--only", help="only cases whose id contains this")] = "",
    limit: Annotated[int, typer.Option(help="largest size of Markdown in bytes")] = markdown.SUMMARY_LIMIT,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="list every case")] = False,
) -> None:
    """Compare two results case by case.

    AFTER gets the verdicts that BEFORE as its baseline gives. Ends with 1 if any fails, with 5 if nothing was compared.
    """
    found = against(sources.newer(after), sources.stored(before)).only(only)
    if form is Format.MARKDOWN:
        title = f"{after.name} against {before.name}"
        console.deliver(markdown.render(found.run, limit=limit, title=title, notes=_facts(found)), output)
    elif form is Format.TEXT:
        console.tell(_text(found, verbose), output)
    else:
        console.deliver(export.as_json(found.run) if form is Format.JSON else export.as_csv(found.run), output)
    ends = code(found, strict=strict)
    if ends == NOTHING:
        empty = only and not found.run.cases
        why = f"no case of {after} contains {only!r}" if empty else "the two have no case in common"
        console.complain(f"nothing was compared: {why}")
    raise typer.Exit(ends)


def code(found: Compared, *, strict: bool) -> int:
    """The exit code of a comparison: nothing compared is no success."""
    kinds = {case.verdict.kind for case in found.run.cases if case.verdict is not None}
    failing = {kind.value for kind in (FAILING | WARNING if strict else FAILING)}
    broken = any(case.outcome not in ("ok", "invalid") for case in found.run.cases)
    if kinds & failing or broken or (strict and found.missing):
        return FAILED
    return OK if found.compared else NOTHING


def _text(found: Compared, verbose: bool) -> list[Line]:
    plain = console.is_ascii()
    lines = [*terminal.totals(found.run), *map(line, _facts(found))]
    lines += terminal.section(found.run, verbose=verbose, width=console.width(), plain=plain)
    return [*lines, line(), *terminal.footnotes(found.run)]


def _facts(found: Compared) -> list[str]:
    """What concerns the whole comparison; how much was compared comes first."""
    facts = [f"compared {found.compared} of {len(found.run.cases)} cases", *found.notes]
    if found.missing:
        named = ", ".join(found.missing[:_NAMED]) + (" …" if len(found.missing) > _NAMED else "")
        facts.append(f"{len(found.missing)} cases are only in the older results: {named}")
    return facts
