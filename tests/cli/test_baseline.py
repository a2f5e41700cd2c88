"""``pytest-roofline baseline``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.baselines import Store
from pytest_roofline.runs import save
from tests.runs.made import HERE, made_counted, made_run

CASE = "copy/cuda/a/f32/8"


@pytest.fixture
def folder(tmp_path):
    """Where baselines go."""
    return tmp_path / "baselines"


@pytest.fixture
def promoted(command, folder, tmp_path):
    """Three campaigns of two operations, and counts of one."""
    for day in (1, 2, 3):
        run = made_run(
            {CASE: 50e-6, "fma/cuda/a/f32/8": 20e-6},
            started=f"2026-11-0{day}T00:00:00+00:00",
            environment=replace(HERE, machine=f"start{day}"),
        )
        command("baseline", "promote", save(run, tmp_path / f"run{day}.json"), "--baselines", folder)
    command("baseline", "promote", save(made_counted({CASE: 100}), tmp_path / "c.json"), "--baselines", folder)
    return folder


def test_promoting_a_run_stores_what_an_update_would(command, folder, tmp_path):
    """One file per operation, each named; a part of the run with --cases."""
    run = save(made_run({CASE: 50e-6, "fma/cuda/a/f32/8": 20e-6}), tmp_path / "run.json")
    ended = command("baseline", "promote", run, "--baselines", folder, "--cases=copy/")
    assert (ended.code, ended.out) == (0, f"stored 1 cases in {folder / 'h200' / 'copy.json'}\n")
    assert set(Store(folder).load("h200", "copy").measured) == {CASE}
    assert Store(folder).operations("h200") == ["copy"]


@pytest.mark.parametrize(("kind", "campaigns"), [("improvement", 1), ("same", 2)])
def test_accepting_another_kernel_drops_what_was_stored_of_the_old_one(command, folder, tmp_path, kind, campaigns):
    """As an update does: its campaigns measured something else."""
    first = made_run({CASE: 50e-6}, started="2026-11-01T00:00:00+00:00")
    command("baseline", "promote", save(first, tmp_path / "a.json"), "--baselines", folder)
    second = made_run({CASE: 40e-6}, environment=replace(HERE, machine="other"))
    verdict = replace(second.cases[0].verdict, kind=kind, reason="faster_than_baseline", ratio=0.8, low=0.79, high=0.81)
    second = replace(second, cases=(replace(second.cases[0], verdict=verdict),))
    command("baseline", "promote", save(second, tmp_path / "b.json"), "--baselines", folder)
    assert len(Store(folder).load("h200", "copy").measured[CASE]) == campaigns


def _coded(run, code):
    case = run.cases[0]
    return replace(run, cases=(replace(case, kernel=replace(case.kernel, code=code)),))


def test_accepting_other_code_drops_what_was_stored_of_the_old_one(command, folder, tmp_path):
    """Whatever its time says; the same code stays beside what there is. The date tells which is the latest."""
    for name, code, campaigns in (("a", "old", 1), ("b", "old", 2), ("c", "new", 1)):
        run = _coded(made_run({CASE: 50e-6}, environment=replace(HERE, machine=name)), code)
        command("baseline", "promote", save(run, tmp_path / f"{name}.json"), "--baselines", folder)
        stored = Store(folder).load("h200", "copy").measured[CASE]
        assert len(stored) == campaigns
    assert [(run.code, run.date) for run in stored.values()] == [("new", run.ended)]


def test_what_a_killed_run_left_replaces_nothing(command, folder, tmp_path):
    """Its verdicts are those before any retest."""
    first = made_run({CASE: 50e-6}, started="2026-11-01T00:00:00+00:00", ended="2026-11-01T00:01:00+00:00")
    command("baseline", "promote", save(_coded(first, "old"), tmp_path / "a.json"), "--baselines", folder)
    killed = made_run({CASE: 40e-6}, environment=replace(HERE, machine="other"), ended=None)
    verdict = replace(killed.cases[0].verdict, kind="improvement", ratio=0.8, low=0.79, high=0.81)
    killed = replace(killed, cases=(replace(killed.cases[0], verdict=verdict),))
    ended = command("baseline", "promote", save(_coded(killed, "new"), tmp_path / "b.json"), "--baselines", folder)
    assert "the run was killed" in ended.out
    stored = Store(folder).load("h200", "copy").measured[CASE]
    assert {run.code: run.date for run in stored.values()} == {"old": first.ended, "new": killed.started}


def test_planted_slowdowns_are_never_accepted(command, folder, tmp_path):
    """Not even of cases that no pattern matched."""
    run = made_run({CASE: 50e-6}, options={"retest": {"slow": [["fma/*", 0.02]]}})
    ended = command("baseline", "promote", save(run, tmp_path / "run.json"), "--baselines", folder)
    assert ended.code == 4
    assert "planted slowdowns in it (fma/* by 2 %): they are never stored" in ended.err
    assert not folder.exists()


def test_a_run_with_nothing_to_store_is_an_error(command, folder, tmp_path):
    """Impossible times are never accepted."""
    run = made_run({CASE: 50e-6})
    case = replace(run.cases[0], verdict=replace(run.cases[0].verdict, kind="impossible"))
    path = save(replace(run, cases=(case,)), tmp_path / "run.json")
    ended = command("baseline", "promote", path, "--baselines", folder)
    assert ended.code == 4
    assert "has nothing that could be stored" in ended.err
    assert not folder.exists()


def test_the_list_says_how_much_there_is(command, promoted):
    """Campaigns, timed, published and counted cases per file."""
    lines = [line.split() for line in command("baseline", "list", "--baselines", promoted).out.splitlines()]
    assert lines[1:] == [
        ["a100", "copy", "0", "0", "0", "1"],
        ["h200", "copy", "3", "1", "0", "0"],
        ["h200", "fma", "3", "1", "0", "0"],
    ]


def test_content_is_shown_with_its_campaigns(command, promoted):
    """Of one operation or of all; what is not there is named with what is."""
    out = command("baseline", "show", "h200", "copy", "--baselines", promoted).out
    assert out.count("campaign 2026-11-0") == 3
    assert f"{CASE}: 50.05 us, 3 campaigns within 0.0 %" in out
    assert "counted for sm_80: 1 cases" in command("baseline", "show", "a100", "--baselines", promoted).out
    assert "it has copy, fma" in command("baseline", "show", "h200", "sum", "--baselines", promoted).err
    assert "it has a100, h200" in command("baseline", "show", "b200", "--baselines", promoted).err


def test_verifying_finds_a_damaged_file(command, promoted):
    """Every file is read; one that is not right is told and ends with 1."""
    assert command("baseline", "verify", "--baselines", promoted).out == "3 files are good, 0 are not\n"
    (promoted / "h200" / "fma.json").write_text("{}")
    ended = command("baseline", "verify", "--baselines", promoted)
    assert ended.code == 1
    assert "fma.json is no baseline" in ended.out
    assert "2 files are good, 1 are not" in ended.out


def test_pruning_keeps_the_newest_campaigns(command, promoted):
    """Only says so in a dry run; counts stay; a baseline that becomes provisional is told."""
    ended = command("baseline", "prune", "--keep=1", "--dry-run", "--baselines", promoted)
    assert "would forget 2 results of h200/copy" in ended.out
    assert len(Store(promoted).load("h200", "copy").campaigns) == 3
    ended = command("baseline", "prune", "--keep=1", "--device=h200", "--baselines", promoted)
    assert "a baseline of fewer than 5 campaigns is provisional" in ended.out
    kept = Store(promoted).load("h200", "copy")
    assert [name[:10] for name in kept.campaigns] == ["2026-11-03"]
    assert set(kept.measured[CASE]) == set(kept.campaigns)
    assert Store(promoted).load("a100", "copy").counted is not None


def test_forgetting_drops_a_case_everywhere(command, promoted):
    """On every device and in every block, and campaigns that nothing uses then; a dry run changes nothing."""
    ended = command("baseline", "forget", f"{CASE[:-3]}*", "--dry-run", "--baselines", promoted)
    assert f"would forget {CASE} of h200" in ended.out
    assert CASE in Store(promoted).load("h200", "copy").measured
    assert f"forgot {CASE} of h200" in command("baseline", "forget", f"{CASE[:-3]}*", "--baselines", promoted).out
    left = Store(promoted).load("h200", "copy")
    assert (left.measured, left.campaigns) == ({}, {})
    ended = command("baseline", "forget", CASE, "--baselines", promoted)
    assert (ended.code, f"holds nothing of {CASE}" in ended.err) == (4, True)


def test_renaming_keeps_the_history(command, promoted):
    """All campaigns lie under the new name; another operation, a name that is taken and an unknown one are refused."""
    new = CASE.replace("/f32/", "/f64/")
    before = Store(promoted).load("h200", "copy").measured[CASE]
    ended = command("baseline", "rename", CASE, new, "--baselines", promoted)
    assert f"renamed {CASE} of h200 to {new}" in ended.out
    assert Store(promoted).load("h200", "copy").measured == {new: before}
    assert "two operations" in command("baseline", "rename", new, "fma/cuda", "--baselines", promoted).err
    ended = command("baseline", "rename", CASE, new, "--baselines", promoted)
    assert (ended.code, f"holds nothing of {CASE}" in ended.err) == (4, True)


def test_a_folder_that_is_not_there_is_named(command, folder):
    """Exit code 4 for every question about it."""
    for name in ("list", "verify"):
        ended = command("baseline", name, "--baselines", folder)
        assert (ended.code, f"there is no folder {folder}" in ended.err) == (4, True)
