"""Counts equal those that a GPU's hardware counters gave for the same launches (``benchmarks/ncu_h200.json``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from pytest_roofline.counting.cuda_cpu import checking

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"


def test_every_figure_equals_the_hardwares(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Requests, sectors, wavefronts and instructions of all stored launches; none is skipped because it was renamed."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import ncu_counts

    stored = json.loads((BENCHMARKS / "ncu_h200.json").read_text(encoding="utf-8"))["rows"]
    rows = [row for row in ncu_counts.ROWS if row.name in stored]
    assert len(rows) == len(stored)
    differing = ncu_counts.compare(rows, [stored[row.name] for row in rows], ncu_counts.MEMORY)
    text = capsys.readouterr().out
    assert not differing, "\n".join(line for line in text.splitlines() if not line.startswith(" ") or "DIFF" in line)
    assert "compared 1660 of" in text


def test_rows_that_no_model_was_fitted_to(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Other patterns, widths and masks, and whole programs: what differs is a known limit, and each still is one."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import ncu_counts

    stored = json.loads((BENCHMARKS / "ncu_h200_patterns.json").read_text(encoding="utf-8"))["rows"]
    rows = [row for row in ncu_counts.PATTERN_ROWS if row.name in stored]
    assert len(rows) == len(stored)
    differing = ncu_counts.compare(rows, [stored[row.name] for row in rows], ncu_counts.MEMORY)
    assert differing == ncu_counts.KNOWN.keys() & stored.keys()
    assert "compared 0" not in capsys.readouterr().out


def test_scattered_global_atomics(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sectors of atomics of one warp on scattered, shared and repeated lines, by the lanes' indices."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import torch
    from ncu_pattern_rows import KERNELS

    stored = json.loads((BENCHMARKS / "ncu_h200_atomics.json").read_text(encoding="utf-8"))
    function = KERNELS.function(stored["kernel"])
    with checking("count") as session:
        for launch in stored["launches"]:
            index = torch.tensor(launch["index"], dtype=torch.int32)
            arguments = (index, torch.zeros(4096, dtype=torch.int32), torch.zeros(32, dtype=torch.int32))
            function((1,), (32,), arguments)
    counted = [record.total("global atomic", "sectors") for record in session.launches]
    assert counted == [launch[SECTORS] for launch in stored["launches"]]
    assert len(counted) == 525
