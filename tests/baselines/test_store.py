"""Baselines keep everything, whoever else writes."""

import dataclasses
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.baselines import Baseline, BaselineError, Store, campaign_id, render, run_of
from pytest_roofline.evidence import Timing
from tests.baselines.made import CASE, FIGURE, HERE, RUN


def test_what_is_saved_comes_back(store):
    """One campaign, one run, nothing lost."""
    found = store.load("h200", "sum")
    assert found.campaigns == {"2026-11-30.abcdef12": HERE}
    assert found.measured == {CASE: {"2026-11-30.abcdef12": RUN}}
    assert found.measured[CASE]["2026-11-30.abcdef12"].summary.seconds == pytest.approx(1.234e-4, rel=1e-3)
    assert (store.devices(), store.operations("h200"), found.case_ids()) == (["h200"], ["sum"], {CASE})


def test_saving_keeps_other_cases_and_campaigns(store):
    """A partial run adds to the file and takes nothing away; the same campaign replaces itself."""
    other = CASE.replace("1024", "2048")
    store.save(Baseline("h200", "sum", {"2026-12-01.ffff": HERE}, {CASE: {"2026-12-01.ffff": RUN}}))
    changed = dataclasses.replace(RUN, count=50)
    store.save(Baseline("h200", "sum", {"2026-12-01.ffff": HERE}, {other: {"2026-12-01.ffff": RUN}}))
    store.save(Baseline("h200", "sum", {"2026-12-01.ffff": HERE}, {CASE: {"2026-12-01.ffff": changed}}))
    found = store.load("h200", "sum")
    assert set(found.measured) == {CASE, other}
    assert found.measured[CASE] == {"2026-11-30.abcdef12": RUN, "2026-12-01.ffff": changed}


def test_published_figures_stand_apart(store):
    """A published figure is stored with its exact card and never among the measured ones."""
    store.save(Baseline("a100", "sum", published={CASE: [FIGURE]}))
    found = store.load("a100", "sum")
    assert (found.measured, found.published) == ({}, {CASE: [FIGURE]})


def test_the_text_is_stable_and_one_run_a_line(store):
    """Reading and writing again changes nothing, and a diff shows single runs."""
    path = store.path("h200", "sum")
    text = path.read_text()
    assert render(store.load("h200", "sum")) == text
    assert sum('"log_mean"' in line for line in text.splitlines()) == 1
    assert json.loads(text)["schema"] == 1


def test_an_absent_file_is_an_empty_baseline(tmp_path):
    """Nothing stored is no error."""
    assert Store(tmp_path / "none").load("h200", "sum").case_ids() == set()
    assert Store(tmp_path / "none").devices() == []


def test_a_failed_save_leaves_the_file_as_it_was(store, monkeypatch):
    """Writing is atomic: an error on the way loses nothing."""
    before = store.path("h200", "sum").read_text()
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        store.save(Baseline("h200", "sum", {"x": HERE}, {CASE: {"x": RUN}}))
    assert store.path("h200", "sum").read_text() == before


def test_two_toolchains_on_one_day_stay_apart(store):
    """No run is ever filed under an environment it was not measured in."""
    newer = dataclasses.replace(HERE, packages={"torch": "2.12", "triton": "3.6"})
    names = [campaign_id(environment, "2026-11-30") for environment in (HERE, newer)]
    for name, environment in zip(names, (HERE, newer), strict=True):
        store.save(Baseline("h200", "sum", {name: environment}, {CASE: {name: RUN}}))
    found = store.load("h200", "sum")
    assert [found.campaigns[name].packages["torch"] for name in names] == ["2.11", "2.12"]


def test_a_campaign_never_changes_its_environment(store):
    """Runs that stay in the file would come to stand under an environment that was never theirs."""
    before = store.path("h200", "sum").read_text()
    newer = dataclasses.replace(HERE, driver="581")
    with pytest.raises(BaselineError, match=r"2026-11-30.abcdef12 was measured in another environment \(driver 580 ->"):
        store.save(Baseline("h200", "sum", {"2026-11-30.abcdef12": newer}, {CASE: {"2026-11-30.abcdef12": RUN}}))
    assert store.path("h200", "sum").read_text() == before


def test_replacing_writes_exactly_the_content(store):
    """Unlike saving, it takes away what is no longer there."""
    store.replace(Baseline("h200", "sum", {"c": HERE}))
    assert store.load("h200", "sum") == Baseline("h200", "sum", {"c": HERE})


@given(
    samples=st.lists(st.floats(1e-8, 10.0), min_size=2, max_size=40),
    kernel=st.none() | st.floats(1e-8, 10.0),
    gap=st.none() | st.floats(-1e-6, 1e-6),
)
def test_whatever_was_measured_can_be_stored_and_read(samples, kernel, gap):
    """No honest measurement makes a file that is refused later."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        run = run_of(Timing(tuple(samples), 1, 1, "graph_cold", 3e-8, 1e-6, gap, kernel))
        store.save(Baseline("h200", "sum", {"c": HERE}, {CASE: {"c": run}}))
        assert store.load("h200", "sum").measured == {CASE: {"c": run}}


def test_an_accepted_change_supersedes_what_it_was_compared_with(store):
    """Only the campaigns named go, of that case alone; a campaign that nothing refers to is forgotten."""
    other = CASE.replace("f32", "f64")
    path = store.path("h200", "sum")
    path.unlink()
    environments = {name: dataclasses.replace(HERE, machine=name) for name in ("a", "b", "c")}
    store.save(Baseline("h200", "sum", environments, {CASE: {"a": RUN, "b": RUN, "c": RUN}, other: {"a": RUN}}))
    new = Baseline("h200", "sum", {"d": HERE}, {CASE: {"d": RUN}}, superseded={CASE: {"a", "b"}})
    store.save(new)
    found = store.load("h200", "sum")
    assert set(found.measured[CASE]) == {"c", "d"}
    assert set(found.measured[other]) == {"a"}
    assert set(found.campaigns) == {"a", "c", "d"}


def test_a_change_is_written_if_there_was_one(store):
    """Of the file as it is then; what a killed process left of it goes, what is of another file stays."""
    path = store.path("h200", "sum")
    for name in (".sum.json.abc.tmp", ".copy.json.abc.tmp"):
        (path.parent / name).write_text("{")
    before = path.stat().st_mtime_ns
    assert store.change("h200", "sum", lambda _: 0) == 0
    assert path.stat().st_mtime_ns == before
    assert store.change("h200", "sum", lambda found: len(found.measured.pop(CASE))) == 1
    assert store.load("h200", "sum").measured == {}
    assert sorted(found.name for found in path.parent.iterdir()) == [".copy.json.abc.tmp", "sum.json"]


def test_nobody_saves_while_a_file_is_changed(store, tmp_path):
    """Its folder is locked from reading to writing, for processes with any cache."""
    import subprocess
    import sys

    code = (
        "import fcntl, os, sys\ndescriptor = os.open(sys.argv[1], os.O_RDONLY)\n"
        "try:\n    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n    print('free')\n"
        "except BlockingIOError:\n    print('busy')\n"
    )

    def asked():
        command = [sys.executable, "-c", code, str(tmp_path / "h200")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert store.change("h200", "sum", lambda _: asked()) == "busy"
    assert asked() == "free"


def test_a_folder_that_cannot_be_written_is_found_before_anything_is_stored(tmp_path):
    """That of the device may be a file; neither needs to exist, and no empty one is made of a device."""
    Store(tmp_path / "new").verify_writable("h200")
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "new" / "h200").write_text("")
    with pytest.raises(OSError, match="h200"):
        Store(tmp_path / "new").verify_writable("h200")
