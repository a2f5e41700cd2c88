"""The store: one immutable Parquet file per run, packed from time to time, queried with DuckDB.

``runs/<run>.parquet`` holds one run. Opening thousands of files is slow, so :meth:`Store.pack` writes many runs into
one ``packs/<digest>.parquet``, then ``packs/<digest>.json`` that lists them, and only then removes the single files.
A pack counts from the moment its list stands; a run that several files hold counts once. So nothing that a reader or
a second runner does at the same time loses or doubles a run, whatever dies in between.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pytest_roofline.history import HistoryError, require
from pytest_roofline.history.places import Place, open_place
from pytest_roofline.history.rows import COLUMNS, TWIN, Row, rows

LOOSE = 64
"""Single files from which on an ingest packs them."""
FANOUT = 16
"""Packs of one size class that are merged into one of the next."""
_ATTEMPTS = 3


@dataclass(frozen=True)
class Pack:
    """A file of many runs."""

    name: str
    runs: frozenset[str]

    @property
    def level(self) -> int:
        """Size class: 0 up to ``LOOSE * FANOUT`` runs, 1 up to that times ``FANOUT``, and so on."""
        level, limit = 0, LOOSE * FANOUT
        while len(self.runs) >= limit:
            level, limit = level + 1, limit * FANOUT
        return level


@dataclass(frozen=True)
class Contents:
    """What a store holds at one moment: single files by run, and packs."""

    loose: dict[str, str]
    packs: tuple[Pack, ...]

    @property
    def runs(self) -> set[str]:
        """The names of all runs."""
        return {*self.loose, *(run for pack in self.packs for run in pack.runs)}


@dataclass
class Ingested:
    """What became of run files: names of runs that were added or were there already, and why others were refused."""

    added: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


class Store:
    """A history of runs. Raises :class:`HistoryError` without DuckDB, or for a place that cannot be opened."""

    def __init__(self, where: str | Path) -> None:
        self.place: Place = open_place(where)
        self._duckdb = require("duckdb")

    def contents(self) -> Contents:
        """What the store holds now. Raises :class:`HistoryError` for a list of a pack that is none."""
        for _ in range(_ATTEMPTS):
            # Single files first: what is packed away after that is found in its pack.
            loose = {_stem(name): name for name in self.place.names("runs") if name.endswith(".parquet")}
            lists = [name for name in self.place.names("packs") if name.endswith(".json")]
            try:
                packs = [Pack(f"packs/{_stem(name)}.parquet", self._listed(name)) for name in lists]
            except FileNotFoundError:
                continue  # merged into another pack meanwhile
            return Contents(loose, tuple(packs))
        raise HistoryError(f"packs of {self.place} vanish while they are read")

    def add(self, files: Iterable[tuple[str, str]]) -> Ingested:
        """Ingest run files, given as (name, text). A file that is no run is refused, and the others are stored."""
        known = self.contents().runs
        found = Ingested()
        for name, text in files:
            try:
                run, of_run = rows(text, name)
                _verify_name(run, name)
            except HistoryError as error:
                found.refused.append(str(error))
                continue
            if run in known:
                found.there.append(run)
                continue
            self._write_run(run, of_run)
            known.add(run)
            found.added.append(run)
        if found.added:
            self.pack()
        return found

    def pack(self, *, all_loose: bool = False) -> list[str]:
        """Write single files into packs where there are many, and small packs into larger ones; returns what was
        written. ``all_loose`` packs single files however few there are."""
        written = []
        contents = self.contents()
        if len(contents.loose) >= LOOSE or (all_loose and contents.loose):
            written.append(self._write_pack(list(contents.loose.values()), set(contents.loose)))
        packs = self.contents().packs
        for level in range(max((p.level for p in packs), default=-1) + 1):
            alike = [pack for pack in self.contents().packs if pack.level == level]
            if len(alike) >= FANOUT:
                written.append(self._merge(alike))
        return written

    def connect(self) -> Any:
        """A connection of DuckDB with the view ``history``: a row per case and run (:data:`rows.COLUMNS`).

        Raises :class:`HistoryError` for an empty store.
        """
        contents = self.contents()
        if not contents.runs:
            raise HistoryError(f"the history in {self.place} is empty: pytest-roofline history ingest FILE adds runs")
        connection = self._connection()
        connection.execute(f"CREATE VIEW history AS {self._select(contents)}")
        return connection

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query over ``history``; once more where a file was packed away in between.

        Raises :class:`HistoryError` for an empty store and for files that cannot be read.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                found: list[tuple[Any, ...]] = self.connect().execute(sql, list(parameters)).fetchall()
                return found
            except (self._duckdb.Error, FileNotFoundError) as error:
                gone = isinstance(error, self._duckdb.IOException | FileNotFoundError)
                if not gone or attempt == _ATTEMPTS:
                    # DuckDB adds the statement, with every file of the store.
                    said = str(error).partition("\n")[0]
                    hint = "" if gone else "; remove a damaged file and ingest its runs again"
                    raise HistoryError(f"the history in {self.place} cannot be read: {said}{hint}") from error
        raise AssertionError("unreachable")

    def _listed(self, name: str) -> frozenset[str]:
        try:
            return frozenset(map(str, json.loads(self.place.read(name))["runs"]))
        except (ValueError, KeyError, TypeError) as error:
            problem = f"{name} in {self.place} is no list of runs ({type(error).__name__})"
            raise HistoryError(f"{problem}: remove it with its pack and ingest those runs again") from error

    def _select(self, contents: Contents) -> str:
        """One statement over all files in which every run occurs once."""
        twins = {run for run in contents.runs if run.endswith(TWIN) and run.removesuffix(TWIN) in contents.runs}
        seen: set[str] = set()
        whole: list[tuple[str, frozenset[str]]] = []
        parts: list[tuple[str, frozenset[str]]] = []
        for pack in sorted(contents.packs, key=lambda p: (-len(p.runs), p.name)):
            again = pack.runs & (seen | twins)
            seen |= pack.runs
            if again == pack.runs:
                continue
            (parts if again else whole).append((pack.name, again))
        whole += [(name, frozenset()) for run, name in contents.loose.items() if run not in seen and run not in twins]
        selects = [f"SELECT * FROM {self._read([name for name, _ in whole])}"] if whole else []
        for name, again in parts:
            left_out = ", ".join(map(_text, sorted(again)))
            selects.append(f"SELECT * FROM {self._read([name])} WHERE run NOT IN ({left_out})")
        return " UNION ALL BY NAME ".join(selects)

    def _read(self, names: Sequence[str]) -> str:
        files = ", ".join(_text(self.place.address(name)) for name in names)
        return f"read_parquet([{files}], union_by_name = true)"

    def _merge(self, packs: Sequence[Pack]) -> str:
        runs = {run for pack in packs for run in pack.runs}
        again = sum(len(pack.runs) for pack in packs) > len(runs)
        names = [pack.name for pack in packs]
        return self._write_pack(names, runs, [_list_of(name) for name in names], again=again)

    def _write_pack(
        self, names: Sequence[str], runs: set[str], lists: Sequence[str] = (), *, again: bool = False
    ) -> str:
        """Write ``runs``, which ``names`` hold (some of them ``again``), into one file; then list them; then remove
        what it replaces."""
        digest = hashlib.sha256("\n".join(sorted(runs)).encode()).hexdigest()[:16]
        target = f"packs/{digest}.parquet"
        once = 'DISTINCT ON (run, "case") ' if again else ""
        # Sorted, so that a question about one case reads a small part of the file.
        self._write_parquet(target, f'SELECT {once}* FROM {self._read(names)} ORDER BY device, "case", started')
        self.place.write(_list_of(target), json.dumps({"runs": sorted(runs)}).encode())
        keep = {target, _list_of(target)}
        self.place.remove([name for name in (*lists, *names) if name not in keep])
        return target

    def _write_run(self, run: str, found: Sequence[Row]) -> None:
        columns = ", ".join(f"\"{name}\": '{kind}'" for name, kind in COLUMNS.items())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.jsonl"
            path.write_text("".join(json.dumps(asdict(row)) + "\n" for row in found), encoding="utf-8")
            source = f"read_json({_text(str(path))}, format = 'newline_delimited', columns = {{{columns}}})"
            self._write_parquet(f"runs/{run}.parquet", f"SELECT * FROM {source}")

    def _write_parquet(self, name: str, sql: str) -> None:
        """The result of a query as a file of the store."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            try:
                self._connection().execute(f"COPY ({sql}) TO {_text(str(path))} (FORMAT parquet, COMPRESSION zstd)")
            except self._duckdb.Error as error:
                raise HistoryError(f"{name} cannot be written into {self.place}: {error}") from error
            self.place.put(name, path)

    def _connection(self) -> Any:
        connection = self._duckdb.connect()
        self.place.introduce(connection)
        return connection


def _verify_name(run: str, name: str) -> None:
    """A run's name becomes a file's: it comes from a file that anybody may have written."""
    if not run or not all(c.isascii() and (c.isalnum() or c in "._-") for c in run) or run.startswith("."):
        raise HistoryError(f"{name}: {run!r} cannot be the name of a run")


def _list_of(pack: str) -> str:
    return pack.removesuffix(".parquet") + ".json"


def _stem(name: str) -> str:
    return name.rsplit("/", 1)[-1].rpartition(".")[0]


def _text(value: str) -> str:
    """A string literal of SQL."""
    return "'" + value.replace("'", "''") + "'"
