"""``pytest-roofline report`` and ``export``."""

from __future__ import annotations

import csv
import io
import json

import pytest

from pytest_roofline.runs import JOURNAL, Journal, render, save
from tests.runs.made import made_case, made_run

CASE = "copy/cuda/a/f32/8"


@pytest.fixture
def run(tmp_path):
    """A run file."""
    return save(made_run({CASE: 20e-6}), tmp_path / "run.json")


def test_text_is_the_section_of_pytest(command, run):
    """The same table as at the end of a run, and -v lists all with their sentences."""
    out = command("report", run).out
    first, second, *_ = out.splitlines()
    assert first == "1 cases timed: 1 same"
    assert second.startswith("NVIDIA H200, 2026-11-")
    assert len(second) <= 80
    assert "    cuda/a" in out
    assert "same: copy" not in out
    assert "same: copy/cuda/a/f32/8: same, as made" in command("report", run, "-v").out


@pytest.mark.parametrize(
    ("ending", "begins"), [("md", "## Nightly"), ("html", "<!doctype html>"), ("txt", "1 cases timed")]
)
def test_the_ending_of_the_file_decides(command, run, tmp_path, ending, begins):
    """Unless --format does."""
    if ending == "html":
        pytest.importorskip("jinja2")
    output = tmp_path / f"out.{ending}"
    ended = command("report", run, "-o", output, "--title=Nightly")
    assert (ended.code, ended.out) == (0, f"wrote {output}\n")
    assert output.read_text().lower().startswith(begins.lower())
    command("report", run, "-o", output, "--format=markdown")
    assert output.read_text().startswith("## ")


@pytest.mark.parametrize(("name", "offered"), [("report", ".html, .htm, .md, .txt"), ("export", ".json, .csv")])
def test_an_ending_of_no_format_is_refused(command, run, tmp_path, name, offered):
    """Else a file called out.pdf would hold text; --format writes into it all the same."""
    output = tmp_path / "out.pdf"
    ended = command(name, run, "-o", output)
    assert ended.code == 4
    assert f"no format has the ending .pdf: choose {offered}" in " ".join(ended.err.split())
    assert not output.exists()
    chosen = "text" if name == "report" else "csv"
    assert command(name, run, "-o", output, f"--format={chosen}").code == 0


def test_markdown_keeps_its_limit(command, run):
    """One that nothing fits into is a usage error."""
    assert command("report", run, "--format=markdown", "--limit=900").code == 0
    ended = command("report", run, "--format=markdown", "--limit=10")
    assert ended.code == 4
    assert "--limit: 10 bytes are too few" in ended.err


def test_a_killed_run_can_be_reported(command, tmp_path):
    """From the journal that it left."""
    journal = Journal(tmp_path / f"run{JOURNAL}", made_run({}, ended=None))
    journal.add(made_case(CASE, 20e-6))
    assert "1 cases timed" in command("report", journal.path).out
    assert "the run did not end" in command("report", journal.path, "--format=markdown").out


def test_a_history_goes_into_the_html_report(command, run, tmp_path):
    """Times of the device over earlier runs."""
    pytest.importorskip("duckdb")
    pytest.importorskip("jinja2")
    store = tmp_path / "store"
    earlier = made_run({CASE: 21e-6}, id="earlier", started="2026-11-29T12:00:00+00:00")
    (tmp_path / "earlier.json").write_text(render(earlier))
    command("history", "ingest", run, tmp_path / "earlier.json", "--store", store)
    output = tmp_path / "out.html"
    assert command("report", run, "-o", output, "--history", store).code == 0
    assert "earlier" in output.read_text()
    ended = command("report", run, "--history", store)
    assert (ended.code, "in an HTML report only" in ended.err) == (4, True)


def test_tables_are_csv_or_json(command, run, tmp_path):
    """CSV to standard output; the ending of the file decides."""
    (row,) = csv.DictReader(io.StringIO(command("export", run).out))
    assert row["case"] == CASE
    command("export", run, "-o", tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text())[0]["case"] == CASE
    assert json.loads(command("export", run, "--format=json").out)[0]["case"] == CASE
