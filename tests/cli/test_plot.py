"""``pytest-roofline plot``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.runs import save
from tests.runs.made import made_run

CASE = "copy/cuda/a/f32/8"

pytest.importorskip("matplotlib")


@pytest.fixture
def run(tmp_path):
    """A run file of two kernels."""
    return save(made_run({CASE: 20e-6, "copy/triton/b/f32/8": 30e-6}), tmp_path / "run.json")


@pytest.mark.parametrize("what", [("roofline",), ("ladder", "copy")])
@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_run_is_drawn_as_the_ending_says(command, run, tmp_path, what, ending, begins):
    """And the command names what it wrote."""
    output = tmp_path / f"plot.{ending}"
    ended = command("plot", what[0], run, *what[1:], "-o", output)
    assert (ended.code, ended.out) == (0, f"wrote {output}\n")
    assert output.read_bytes().startswith(begins)


def test_a_case_is_drawn_over_the_stored_runs(command, tmp_path):
    """From the store that history filled."""
    pytest.importorskip("duckdb")
    for day in (1, 2, 3):
        made = replace(made_run({CASE: 20e-6}), id=f"run-{day}", started=f"2026-11-{day:02}T12:00:00+00:00")
        save(made, tmp_path / "runs" / f"{day}.json")
    store, output = tmp_path / "store", tmp_path / "history.svg"
    assert command("history", "ingest", tmp_path / "runs", "--store", store).code == 0
    assert command("plot", "history", CASE, "--store", store, "-o", output).code == 0
    assert "2026-11-01" in output.read_text()


@pytest.mark.parametrize(
    ("what", "name", "message"),
    [
        (("ladder", "transpose"), "plot.svg", "known are copy"),
        (("roofline",), "plot.pdf", "a plot is written as .svg or .png"),
        (("roofline", "--operation=sum"), "plot.svg", "no timed case of sum"),
    ],
)
def test_what_cannot_be_drawn_ends_with_4(command, run, tmp_path, what, name, message):
    """The message says what there would be, and no file is left."""
    ended = command("plot", what[0], run, *what[1:], "-o", tmp_path / name)
    assert ended.code == 4
    assert message in ended.err
    assert not (tmp_path / name).exists()
