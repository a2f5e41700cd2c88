"""``pytest-roofline history``."""

from __future__ import annotations

import random
import sys
from dataclasses import replace

import pytest

from pytest_roofline.runs import render, save
from tests.history.conftest import CASE, run_at
from tests.runs.made import made_counted, made_run

pytest.importorskip("duckdb")


@pytest.fixture
def files(tmp_path):
    """Run files in a folder: forty runs, from the twentieth on 10 % slower."""
    source = random.Random(3)
    folder = tmp_path / "runs"
    folder.mkdir()
    for place in range(40):
        seconds = 50e-6 * (1.1 if place >= 20 else 1.0) * (1 + source.gauss(0, 0.003))
        (folder / f"{place}.json").write_text(render(run_at(place, {CASE: seconds})))
    return folder


@pytest.fixture
def store(command, files, tmp_path, monkeypatch):
    """A history of them, which the environment names."""
    monkeypatch.setenv("PYTEST_ROOFLINE_HISTORY", str(tmp_path / "store"))
    command("history", "ingest", files)
    return tmp_path / "store"


def test_ingesting_is_idempotent(command, files, tmp_path):
    """Files and folders; what was there is counted as such."""
    store = ("--store", tmp_path / "store")
    assert command("history", "ingest", files, *store).out == "added 40 runs, 0 were there already\n"
    assert command("history", "ingest", files / "0.json", *store).out == "added 0 runs, 1 were there already\n"
    (files / "notes.json").write_text("{}")
    ended = command("history", "ingest", files, *store)
    assert (ended.code, ended.out) == (4, "added 0 runs, 40 were there already\n")
    assert "notes.json is no run file" in ended.err
    ended = command("history", "ingest", tmp_path / "nothing", *store)
    assert (ended.code, "there is no " in ended.err) == (4, True)


def test_runs_and_cases_are_listed(command, store):
    """The newest first, so many as wanted."""
    lines = command("history", "list", "-n", "2").out.splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["run0039", "run0038"]
    assert command("history", "list", "--cases=plain").out.split() == ["h200", "40", "runs", CASE]
    for arguments, said in (
        (("--device=b9000",), "no runs of device b9000"),
        (("--branch=x", "--device=h200"), "no runs of device h200 and branch x"),
        (("--cases=nothing",), "no case whose id contains 'nothing'"),
        (("--store=nowhere",), "the history in nowhere is empty"),
    ):
        ended = command("history", "list", *arguments)
        assert (ended.code, ended.out, said in ended.err) == (4, "", True)


def test_a_case_is_plotted_with_its_change(command, store):
    """The change, its commits, and the latest points below; by commit as well."""
    out = command("history", "show", CASE, "-n", "3").out
    assert "change of +10." in out
    assert f"from {19:08x}0000 to {20:08x}0000" in out
    assert out.count("●") == 40
    assert len([line for line in out.splitlines() if line.startswith("  2026-")]) == 3
    assert "40 commits of" in command("history", "show", CASE, "--by-commit").out
    ended = command("history", "show", "copy/cuda/plan/f32/4097")
    assert (ended.code, "near it are" in ended.err) == (4, True)


def test_without_ruptures_a_case_is_shown_without_its_changes(command, store, monkeypatch, tmp_path):
    """Python 3.14 has none: the runs are there all the same, and what is missing is said."""
    monkeypatch.setitem(sys.modules, "ruptures", None)
    ended = command("history", "show", CASE)
    assert (ended.code, ended.out.count("\u25cf"), "change of" in ended.out) == (0, 40, False)
    assert "changes of level are not marked: ruptures is not installed" in ended.err
    assert command("history", "changes").code == 4
    pytest.importorskip("matplotlib")
    ended = command("plot", "history", CASE, "-o", tmp_path / "x.svg")
    assert (ended.code, (tmp_path / "x.svg").exists(), "ruptures" in ended.err) == (0, True, True)


def test_counted_figures_are_shown_without_a_unit(command, store, tmp_path):
    """Of the device that has them."""
    path = save(made_counted({CASE: 160}), tmp_path / "counted.json")
    command("history", "ingest", path)
    assert "160" in command("history", "show", CASE, "--figure=sectors", "--device=a100").out


def test_changes_of_all_cases_can_fail_a_job(command, store):
    """A slower latest level ends with 1 if asked for; one that was repaired would not."""
    ended = command("history", "changes")
    assert ended.code == 0
    assert "+10." in ended.out
    assert "1 changes in 40 runs of 1 cases" in ended.out
    assert command("history", "changes", "--fail").code == 1
    assert command("history", "changes", "--fail", "-n", "10").code == 0
    assert "0 changes" in command("history", "changes", "--cases=other").out


def test_packing_leaves_one_file(command, store):
    """The answers are the same."""
    assert command("history", "pack").out == "wrote 1 packs\n"
    assert len(list((store / "runs").iterdir())) == 0
    assert command("history", "list", "--cases=").out.split()[1] == "40"


@pytest.mark.parametrize(("seconds", "code"), [(1e-6, 0), (2e-6, 1)])
def test_a_step_ends_as_git_bisect_wants_it(command, tmp_path, seconds, code):
    """0 good, 1 bad, 125 where the commit cannot be measured."""
    made = save(made_run({CASE: seconds}), tmp_path / "made.json")
    copy = [sys.executable, "-c", "import shutil, sys; shutil.copy(*sys.argv[1:])", made, "{file}"]
    step = ("history", "step", CASE, "--good-value=1e-6", "--bad-value=2e-6", "--")
    assert command(*step, *copy).code == code
    assert command(*step, "false").code == 125


@pytest.mark.parametrize(
    "command_line", [("bisect", CASE, "a", "b"), ("step", CASE, "--good-value=1", "--bad-value=2")]
)
def test_a_figure_that_does_not_exist_is_refused(command, command_line):
    """Before anything is measured, with those that do."""
    ended = command("history", *command_line, "--figure=nosuch")
    assert ended.code == 4
    assert "there is no nosuch: choose seconds or launches" in " ".join(ended.err.split())


def test_a_bisection_outside_a_repository_is_refused(command, tmp_path, monkeypatch):
    """Exit code 4."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    ended = command("history", "bisect", CASE, "a", "b")
    assert ended.code == 4


def test_an_interrupted_run_is_part_of_the_history(command, tmp_path, store):
    """Named explicitly: what was finished counts."""
    from pytest_roofline.runs import JOURNAL, Journal
    from tests.runs.made import made_case

    journal = Journal(tmp_path / f"x{JOURNAL}", replace(run_at(99, {}), ended=None))
    journal.add(made_case(CASE, 1e-6))
    assert command("history", "ingest", journal.path).out == "added 1 runs, 0 were there already\n"
