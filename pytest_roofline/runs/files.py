"""Run files: written atomically at the end, and a journal beside it while the run goes on. Pure but for the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_roofline import cache
from pytest_roofline.evidence import to_plain
from pytest_roofline.ids import CaseId
from pytest_roofline.runs import plain
from pytest_roofline.runs.record import COUNTED, SCHEMA, TIMED, CaseRecord, RunRecord

FORMAT = "pytest-roofline run"
JOURNAL = ".unfinished.jsonl"


class RunFileError(ValueError):
    """A run file cannot be used; the message names the file, the place and what to do."""


def render(run: RunRecord) -> str:
    """The file's text: one case per line. Raises ``ValueError`` for NaN and infinity, which are not JSON."""
    head = _header(run)
    lines = [f" {_json(name)}: {_json(value)}," for name, value in head.items()]
    cases = ",\n".join(f"  {_json(to_plain(case))}" for case in run.cases)
    return "\n".join(["{", *lines, ' "cases": [' + (f"\n{cases}" if cases else "") + "]", "}"]) + "\n"


def save(run: RunRecord, path: Path) -> Path:
    """Write a run file so that any reader finds all of it or none; creates its folder. Raises ``OSError``."""
    cache.write_atomically(path, render(run).encode())
    return path


class Journal:
    """Keeps what is finished of a run that is still going on: a line per case, in the operating system's hands at once.

    Only the death of the machine can take it, not that of the process. :meth:`discard` it when the run file stands.
    """

    def __init__(self, path: Path, run: RunRecord) -> None:
        """Begin the journal of ``run``, whose cases are not written. Raises ``OSError``."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_json(_header(run)) + "\n", encoding="utf-8")

    def add(self, case: CaseRecord) -> None:
        """Append a case that is finished; a later line for the same case replaces it."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_json(to_plain(case)) + "\n")

    def discard(self) -> None:
        """Remove the journal."""
        self.path.unlink(missing_ok=True)


def read(path: Path) -> RunRecord:
    """Read a run file, or the journal that a killed run left (``ended`` is ``None`` then).

    Raises :class:`RunFileError` naming the file, what is wrong where, and what to do.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RunFileError(f"{path} is no run file: it is no text") from error
    except IsADirectoryError as error:
        raise RunFileError(f"{path} is a folder: name a run file in it") from error
    except OSError as error:
        raise RunFileError(f"{path} cannot be read: {error.strerror or error}") from error
    return read_text(text, str(path))


def read_text(text: str, name: str) -> RunRecord:
    """The same from the text of a file called ``name``."""
    if not text.strip():
        raise RunFileError(f"{name} is no run file: it is empty")
    try:
        data = _journal(text) if name.endswith(JOURNAL) else json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise RunFileError(f"{name} is no run file: {where}; it was cut or edited: take the run again") from error
    try:
        return from_plain(data)
    except ValueError as error:
        raise RunFileError(f"{name} is no run file: {error}") from error


def from_plain(data: Any) -> RunRecord:
    """A run from the JSON of its file. Raises ``ValueError``."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        kind = "it is pytest-benchmark's own" if isinstance(data, dict) and "benchmarks" in data else "it has no format"
        raise ValueError(f"{kind}; --roofline-save=PATH writes one")
    if data.get("schema") != SCHEMA:
        raise ValueError(
            f"schema {data.get('schema')!r} is not {SCHEMA}: another version of pytest-roofline wrote it; use that one"
        )
    run = plain.read(RunRecord, data, "run")
    if run.kind not in (TIMED, COUNTED):
        raise ValueError(f"run.kind is {run.kind!r}, neither {TIMED!r} nor {COUNTED!r}")
    seen = set()
    for case in run.cases:
        CaseId.parse(case.id)
        if case.id in seen:
            raise ValueError(f"{case.id} stands in it twice")
        seen.add(case.id)
        if case.times is not None and not case.times.seconds > 0:
            raise ValueError(f"{case.id}: {case.times.seconds} is no time")
        if case.times is not None and case.times.bracket.launch_floor < 0:
            raise ValueError(f"{case.id}: a launch floor of {case.times.bracket.launch_floor} s is no time")
    return run


def _header(run: RunRecord) -> dict[str, Any]:
    facts = to_plain(run)
    del facts["cases"]
    return {"format": FORMAT, "schema": SCHEMA, **facts}


def _journal(text: str) -> Any:
    """The header, and the last state of each case; a last line that was cut off is left out."""
    head, *lines = text.splitlines()
    data = json.loads(head)
    cases: dict[str, Any] = {}
    for number, line in enumerate(lines):
        try:
            case = json.loads(line)
        except json.JSONDecodeError:
            if number == len(lines) - 1:
                break
            raise
        cases[str(case.get("id"))] = case
    return {**data, "cases": list(cases.values())} if isinstance(data, dict) else data


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)
