"""Histories that tests of the store and of the command line share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_roofline.runs import Commit, RunRecord, render
from tests.runs.made import made_run

CASE = "copy/cuda/plain/f32/4097"


def texts_of(seconds: Sequence[float], **changes: Any) -> list[tuple[str, str]]:
    """Run files, one per time, an hour and a commit apart."""
    return [(f"{k}.json", render(run_at(k, {CASE: value}, **changes))) for k, value in enumerate(seconds)]


def run_at(place: int, cases: dict[str, float], **changes: Any) -> RunRecord:
    """The run at a place of the history."""
    started = f"2026-11-{1 + place // 24:02d}T{place % 24:02d}:00:00+00:00"
    made = made_run(
        cases, id=f"run{place:04d}", started=started, commit=Commit(f"{place:08x}" + 32 * "0", started, "main")
    )
    return replace(made, **changes)


@pytest.fixture(params=["folder", "memory"])
def where(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    """A place for a store: a folder of this machine, and an object store by way of fsspec."""
    if request.param == "folder":
        yield str(tmp_path / "store")
        return
    fsspec = pytest.importorskip("fsspec")
    yield f"memory://{tmp_path.name}/store"
    fsspec.filesystem("memory").store.clear()


@pytest.fixture
def store(where: str) -> Any:
    """An empty store in each kind of place."""
    pytest.importorskip("duckdb")
    from pytest_roofline.history.store import Store

    return Store(where)


@pytest.fixture
def history_of() -> Callable[..., list[tuple[str, str]]]:
    """``history_of(seconds)``: run files of one case."""
    return texts_of
