"""The store: nothing is lost, nothing counts twice."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest

from pytest_roofline.history import HistoryError
from pytest_roofline.runs import render
from tests.history.conftest import CASE, run_at, texts_of
from tests.runs.made import made_counted

pytest.importorskip("duckdb")

from pytest_roofline.history import store as stores
from pytest_roofline.history.store import Ingested, Store

COUNT = "SELECT count(*), count(DISTINCT run), sum(seconds) FROM history"


def test_runs_are_added_once(store):
    """Ingesting the same files again changes nothing, in whatever order and company."""
    texts = texts_of([1e-6, 2e-6])
    assert store.add(texts) == Ingested(["run0000", "run0001"])
    assert store.add(reversed(texts)) == Ingested([], ["run0001", "run0000"])
    ((rows, runs, _),) = store.query(COUNT)
    assert (rows, runs) == (2, 2)


def test_an_empty_store_says_how_to_fill_it(store):
    """Not an empty answer."""
    with pytest.raises(HistoryError, match="is empty: pytest-roofline history ingest FILE"):
        store.query(COUNT)


def test_packing_keeps_every_row(store, monkeypatch):
    """Also over several levels of packs, with single files beside them; old files are gone."""
    monkeypatch.setattr(stores, "LOOSE", 3)
    monkeypatch.setattr(stores, "FANOUT", 2)
    for text in texts_of([1e-6 * (k + 1) for k in range(17)]):
        store.add([text])
    ((rows, runs, total),) = store.query(COUNT)
    assert (rows, runs) == (17, 17)
    assert total == pytest.approx(1e-6 * 153, rel=0.01)
    contents = store.contents()
    assert len(contents.loose) < 3
    assert len(contents.packs) < 5
    assert len(store.place.names("packs")) == 2 * len(contents.packs)


def test_a_run_in_a_pack_and_in_a_file_counts_once(store, monkeypatch):
    """Whoever dies between writing a pack and removing its files, or adds a run again meanwhile, doubles nothing."""
    removed = []
    monkeypatch.setattr(store.place, "remove", lambda names: removed.extend(names))
    store.add(texts_of([1e-6, 2e-6, 3e-6]))
    store.pack(all_loose=True)
    assert len(removed) == 3
    assert store.query(COUNT)[0][:2] == (3, 3)


def test_two_runners_that_pack_at_the_same_time_double_nothing(store):
    """Their packs overlap: a run that both hold counts once, and merging them leaves each row once."""
    store.add(texts_of([1e-6, 2e-6, 3e-6]))
    names = store.contents().loose
    files = {name: store.place.read(name) for name in names.values()}
    store._write_pack([names["run0000"], names["run0001"]], {"run0000", "run0001"})
    for name, content in files.items():
        store.place.write(name, content)
    store._write_pack(list(names.values()), set(names))
    assert len(store.contents().packs) == 2
    assert store.query(COUNT)[0][:2] == (3, 3)
    store._merge(store.contents().packs)
    assert len(store.contents().packs) == 1
    assert store.query(COUNT)[0][:2] == (3, 3)


def test_a_pack_whose_list_was_never_written_does_not_count(store):
    """Its runs are still in their own files."""
    store.add(texts_of([1e-6, 2e-6]))
    store.place.write("packs/0123.parquet", b"cut off")
    assert store.query(COUNT)[0][:2] == (2, 2)


def test_runners_that_ingest_at_once_lose_nothing(where):
    """Eight of them with overlapping runs."""
    texts = texts_of([1e-6 * (k + 1) for k in range(20)])
    errors = []

    def ingest(first):
        try:
            Store(where).add(texts[first : first + 10])
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=ingest, args=(first,)) for first in (0, 2, 5, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert Store(where).query(COUNT)[0][:2] == (20, 20)


def test_a_file_packed_away_while_it_was_read_is_read_from_its_pack(store, monkeypatch):
    """The list of files was older than the pack: the question is asked again."""
    store.add(texts_of([1e-6, 2e-6]))
    old, calls = store.contents(), []

    def contents():
        calls.append(1)
        return old if len(calls) == 1 else Store.contents(store)

    store.pack(all_loose=True)
    monkeypatch.setattr(store, "contents", contents)
    assert store.query(COUNT)[0][:2] == (2, 2)


def test_a_pack_merged_away_while_lists_are_read_is_found_in_its_successor(store, monkeypatch):
    """Its runs are not missing for a moment."""
    store.add(texts_of([1e-6]))
    store.pack(all_loose=True)
    store.add([texts_of([1e-6, 2e-6])[1]])
    store.pack(all_loose=True)
    old, calls = store.place.names("packs"), []
    store._merge(store.contents().packs)
    names = store.place.names

    def stale(folder):
        calls.append(folder)
        return old if calls.count("packs") == 1 and folder == "packs" else names(folder)

    monkeypatch.setattr(store.place, "names", stale)
    assert store.contents().runs == {"run0000", "run0001"}
    assert calls.count("packs") == 2


def test_pytest_benchmarks_file_of_our_run_counts_once(store):
    """In either order, single or packed; alone it counts."""
    stats = {"median": 1e-6, "q1": 1e-6, "q3": 1e-6}
    extra = {"roofline": {"case": CASE, "device": "NVIDIA H200"}}
    twin = {
        "datetime": "2026-11-01T00:00:00+00:00",
        "roofline_run": "run0000",
        "machine_info": {},
        "commit_info": {},
        "benchmarks": [{"fullname": "x", "stats": stats, "extra_info": extra}],
    }
    store.add([("theirs.json", json.dumps(twin))])
    assert store.query(COUNT)[0][0] == 1
    store.add(texts_of([1e-6]))
    assert store.query("SELECT run FROM history") == [("run0000",)]
    store.pack(all_loose=True)
    assert store.query("SELECT run FROM history") == [("run0000",)]


def test_counted_and_timed_runs_lie_side_by_side(store):
    """Columns that one of them lacks are empty, packed or not."""
    store.add([*texts_of([1e-6]), ("counted.json", render(made_counted({CASE: 160})))])
    sql = "SELECT kind, seconds IS NULL, map_extract(figures, 'sectors')[1] FROM history ORDER BY kind"
    expected = [("counted", True, 160.0), ("timed", False, None)]
    assert store.query(sql) == expected
    store.pack(all_loose=True)
    assert store.query(sql) == expected


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "ü", "a b", "x" * 8 + "\n"])
def test_a_run_whose_name_is_no_file_name_is_refused(store, name):
    """It comes from a file that anybody may have written."""
    found = store.add([("evil.json", render(replace(run_at(0, {CASE: 1e-6}), id=name)))])
    assert found.added == []
    assert "cannot be the name of a run" in found.refused[0]
    assert store.contents().runs == set()


def test_a_file_that_is_no_run_does_not_keep_others_out(store):
    """It is refused by name."""
    found = store.add([*texts_of([1e-6]), ("notes.json", "{}"), *texts_of([1e-6, 2e-6])])
    assert (found.added, found.there) == (["run0000", "run0001"], ["run0000"])
    assert found.refused[0].startswith("notes.json is no run file")


@pytest.mark.parametrize("name", ["runs/run0000.parquet", "packs/0123.json"])
def test_a_damaged_store_says_which_file(store, name):
    """Also while packing; never a traceback of DuckDB."""
    store.add(texts_of([1e-6]))
    store.place.write(name, b"damaged")
    with pytest.raises(HistoryError, match=name.rpartition("/")[2]) as caught:
        store.query(COUNT)
    assert "\n" not in str(caught.value), "the statement is no help"
    with pytest.raises(HistoryError):
        store.pack(all_loose=True)


def test_quotes_in_names_are_data(tmp_path):
    """Neither a folder nor a case can break out of a query."""
    store = Store(tmp_path / "it's")
    store.add(texts_of([1e-6]))
    assert store.query('SELECT count(*) FROM history WHERE "case" = $1', ("'; DROP VIEW history; --",)) == [(0,)]
