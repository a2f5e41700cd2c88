"""From run files to rows: ours and pytest-benchmark's."""

from __future__ import annotations

import json

import pytest

from pytest_roofline.history import HistoryError
from pytest_roofline.history.rows import COLUMNS, rows
from pytest_roofline.runs import render
from tests.runs.made import made_counted, made_run

CASE = "copy/cuda/plain/f32/4097"


def benchmark(**changes):
    """A file of pytest-benchmark with one benchmark."""
    stats = {"median": 2e-6, "q1": 1.9e-6, "q3": 2.1e-6, "data": [2e-6, 2.1e-6]}
    entry = {"fullname": "tests/test_x.py::test_y[1]", "stats": stats, "extra_info": {}}
    data = {
        "datetime": "2026-11-30T12:00:00.500000+01:00",
        "commit_info": {"id": "abc", "time": "2026-11-30T11:00:00Z", "branch": "main", "dirty": True},
        "machine_info": {"node": "host", "python_version": "3.12.3", "cpu": {"brand_raw": "A CPU"}},
        "benchmarks": [entry],
    }
    return {**data, **changes}


def test_a_timed_case_keeps_what_it_is_compared_by():
    """Bracket time, quartiles, samples, where and on which commit; all times of day in UTC."""
    name, (row,) = rows(render(made_run({CASE: 50e-6})), "run.json")
    assert name == row.run == "20261130T120000Z-00000001"
    assert (row.case, row.operation, row.shape, row.device, row.driver) == (CASE, "copy", "4097", "h200", "580")
    assert row.q25 < row.seconds < row.q75
    assert (row.started, row.commit, row.branch) == ("2026-11-30 12:00:00", "a" * 40, "main")
    assert row.figures is None


def test_a_counted_case_has_figures_and_no_time():
    """So that no plot mixes the two."""
    _, (row,) = rows(render(made_counted({CASE: 160})), "run.json")
    assert (row.seconds, row.figures["sectors"], row.device) == (None, 160, "a100")


def test_a_benchmark_that_is_none_of_ours_keeps_its_name():
    """Any file of pytest-benchmark can be kept; its time of day is turned into UTC."""
    name, (row,) = rows(json.dumps(benchmark()), "0001.json")
    assert name.startswith("pb-")
    assert (row.case, row.samples) == ("tests/test_x.py::test_y[1]", (2e-6, 2.1e-6))
    assert (row.seconds, row.q25, row.q75) == (2e-6, 1.9e-6, 2.1e-6)
    assert (row.started, row.committed) == ("2026-11-30 11:00:00.500000", "2026-11-30 11:00:00")
    assert (row.device, row.gpu, row.dirty) == ("host", "A CPU", True)
    assert rows(json.dumps(benchmark()), "other.json")[0] == name


def test_pytest_benchmarks_file_of_our_run_is_its_twin():
    """It carries our case and the name of our run, by which the history counts it once."""
    ours = {"case": CASE, "device": "NVIDIA H200", "seconds": 1.9e-6, "verdict": "same"}
    entry = {**benchmark()["benchmarks"][0], "extra_info": {"roofline": ours}}
    name, (row,) = rows(json.dumps(benchmark(benchmarks=[entry], roofline_run="run1")), "0001.json")
    assert name == "run1.pytest-benchmark"
    assert (row.case, row.device, row.kernel_seconds, row.verdict) == (CASE, "h200", 1.9e-6, "same")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 50_000,
        json.dumps(benchmark(benchmarks=[{}])),
        json.dumps(benchmark(datetime="yesterday")),
        json.dumps(benchmark(benchmarks="none")),
        render(made_run({CASE: 50e-6})).replace('"kind": "timed"', '"kind": "dreamt"'),
        render(made_run({CASE: 50e-6}, started="yesterday")),
    ],
)
def test_what_is_no_run_is_refused_by_name(text):
    """Never a traceback, whatever the file holds."""
    with pytest.raises(HistoryError, match=r"odd\.json is no"):
        rows(text, "odd.json")


def test_every_field_has_a_column():
    """Times of day are timestamps, figures a map."""
    assert COLUMNS["started"] == COLUMNS["committed"] == "TIMESTAMP"
    assert (COLUMNS["figures"], COLUMNS["samples"], COLUMNS["seconds"]) == (
        "MAP(VARCHAR, DOUBLE)",
        "DOUBLE[]",
        "DOUBLE",
    )
