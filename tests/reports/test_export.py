"""A run as a flat table."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from pytest_roofline.reports import export
from tests.runs.made import made_case, made_counted, made_run


def test_a_row_has_numbers_in_base_units():
    """Nothing has to be parsed out of a cell."""
    (row,) = json.loads(export.as_json(made_run({"copy/cuda/a/f32/8": 20e-6})))
    assert (row["operation"], row["variant"], row["shape"]) == ("copy", "a", "8")
    assert row["seconds"] == pytest.approx(20e-6, rel=0.01)
    assert row["q50"] == pytest.approx(20e-6, rel=0.01)
    assert row["bytes_per_second"] == pytest.approx(2.4e12, rel=0.01)
    assert row["bound_algorithm_seconds"] == pytest.approx(10e-6)
    assert (row["verdict"], row["ratio"]) == ("same", 1.01)
    assert row["counted_sectors"] is None


def test_counts_have_columns_of_their_own():
    """A counted figure never stands in a column of times."""
    (row,) = export.table(made_counted({"copy/cuda/a/f32/8": 160}))
    assert (row["counted_sectors"], row["counted_registers"], row["seconds"]) == (160, 32, None)


def test_csv_and_json_hold_the_same():
    """Every row with every column, an unknown value as an empty cell."""
    run = replace(made_run({}), cases=(made_case("copy/cuda/a/f32/8", 20e-6), made_case("copy/cuda/b/f32/8", 30e-6)))
    rows = list(csv.DictReader(io.StringIO(export.as_csv(run))))
    assert [list(row) for row in rows] == [list(row) for row in export.table(run)]
    assert float(rows[1]["seconds"]) == export.table(run)[1]["seconds"]
    assert rows[0]["peer_ratio"] == ""


def test_a_run_without_cases_is_an_empty_table():
    """Not a traceback."""
    assert export.as_json(made_run({})) == "[]\n"
    assert export.as_csv(made_run({})).strip() == ""


def test_no_cell_is_a_formula():
    """A spreadsheet would run what begins with an equals sign; numbers stay numbers."""
    run = made_run({"copy/cuda/a/f32/8": 20e-6}, id='=HYPERLINK("http://x")')
    (row,) = csv.DictReader(io.StringIO(export.as_csv(run)))
    assert row["run"].startswith("'=")
