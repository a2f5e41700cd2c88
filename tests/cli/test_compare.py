"""``pytest-roofline compare``: what it ends with, and what it can compare."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_roofline.baselines import Store
from pytest_roofline.runs import save
from pytest_roofline.runs.accepting import baselines_of
from tests.runs.made import HERE, made_counted, made_run

CASES = {f"copy/cuda/v{k}/f32/8": 50e-6 for k in range(5)}
SLOW = {**CASES, "copy/cuda/v0/f32/8": 200e-6}


def run_file(folder, name, cases, **changes):
    """A run file of these times."""
    return save(made_run(cases, id=name, **changes), folder / f"{name}.json")


@pytest.fixture
def before(tmp_path):
    """The older run."""
    return run_file(tmp_path, "before", CASES)


def test_a_regression_ends_with_1(command, before, tmp_path):
    """And says how much was compared; the same run again ends with 0."""
    ended = command("compare", before, run_file(tmp_path, "after", SLOW))
    assert ended.code == 1
    assert "compared 5 of 5 cases" in ended.out
    assert "regression: copy/cuda/v0/f32/8:\n    +30" in ended.out
    assert command("compare", before, before).code == 0


def test_nothing_compared_ends_with_5(command, before, tmp_path):
    """It must not pass for success; a selection that leaves nothing neither."""
    other = run_file(tmp_path, "other", {"fma/cuda/a/f32/8": 1e-6})
    ended = command("compare", before, other)
    assert (ended.code, "nothing was compared: the two have no case in common" in ended.err) == (5, True)
    ended = command("compare", before, before, "--only=nothing")
    assert (ended.code, "contains 'nothing'" in ended.err) == (5, True)


def test_strict_fails_warnings_and_missing_cases(command, before, tmp_path):
    """Without it a case that is gone is told, not failed."""
    part = run_file(tmp_path, "part", dict(list(CASES.items())[:4]))
    ended = command("compare", before, part)
    assert ended.code == 0
    assert "1 cases are only in the older results: copy/cuda/v4/f32/8" in ended.out
    assert command("compare", before, part, "--strict").code == 1


def test_only_a_part_may_be_judged(command, before, tmp_path):
    """A regression elsewhere does not matter then."""
    after = run_file(tmp_path, "after", SLOW)
    assert command("compare", before, after, "--only=v1/").code == 0
    assert command("compare", before, after, "--only=v0/").code == 1


def test_baselines_and_folders_of_runs_are_sources(command, before, tmp_path):
    """A file of baselines, the folder of a device, a folder of run files; also two baselines."""
    store = Store(tmp_path / "baselines")
    for baseline in baselines_of(made_run(CASES)):
        store.save(baseline)
    runs = tmp_path / "runs"
    run_file(runs, "one", CASES, started="2026-11-28T00:00:00+00:00")
    run_file(runs, "two", CASES, started="2026-11-29T00:00:00+00:00", environment=replace(HERE, machine="other"))
    after = run_file(tmp_path, "after", SLOW)
    for source in (store.root / "h200", store.path("h200", "copy"), runs):
        assert command("compare", source, after).code == 1, source
        assert command("compare", source, before).code == 0, source
    assert command("compare", store.root / "h200", store.root / "h200").code == 0
    assert "against 2 stored runs" in command("compare", runs, after, "-v").out


def test_formats_carry_the_new_verdicts(command, before, tmp_path):
    """Markdown for a pull request, JSON and CSV for programs; the exit code is the same."""
    after = run_file(tmp_path, "after", SLOW)
    ended = command("compare", before, after, "--format=markdown", "-o", tmp_path / "x.md")
    assert ended.code == 1
    text = (tmp_path / "x.md").read_text()
    assert text.startswith("## after.json against before.json")
    assert "- compared 5 of 5 cases" in text
    ended = command("compare", before, after, "--format=json")
    assert ended.code == 1
    assert {row["variant"]: row["verdict"] for row in json.loads(ended.out)}["v0"] == "regression"
    assert command("compare", before, after, "--format=csv").out.startswith("run,")


def test_counts_gate_without_a_gpu(command, tmp_path):
    """One sector more fails."""
    old = save(made_counted({"copy/cuda/a/f32/8": 100}), tmp_path / "old.json")
    new = save(made_counted({"copy/cuda/a/f32/8": 101}), tmp_path / "new.json")
    assert command("compare", old, new).code == 1
    assert command("compare", old, old).code == 0


def test_what_cannot_be_compared_ends_with_4(command, before, tmp_path):
    """Times with counts, a folder of nothing, a folder of devices, a file that is none."""
    counted = save(made_counted({"copy/cuda/a/f32/8": 100}), tmp_path / "counted.json")
    assert "never compared as if they were the same" in command("compare", before, counted).err
    (tmp_path / "empty").mkdir()
    ended = command("compare", tmp_path / "empty", before)
    assert (ended.code, "neither baselines nor run files" in ended.err) == (4, True)
    store = Store(tmp_path / "baselines")
    for baseline in baselines_of(made_run(CASES)):
        store.save(baseline)
    assert "it has folders of h200: name one of them" in command("compare", store.root, before).err
    (store.root / "h200" / "sum.json").write_text('{"campaigns": {')
    ended = command("compare", store.root / "h200", before)
    assert (ended.code, "sum.json is no baseline" in ended.err) == (4, True)
    (tmp_path / "odd.json").write_text('{"campaigns": 1}')
    assert command("compare", tmp_path / "odd.json", before).code == 4
