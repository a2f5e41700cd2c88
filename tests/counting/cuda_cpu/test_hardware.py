"""Counts equal those that a GPU's hardware counters gave for the same launches (``benchmarks/ncu_h200.json``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


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
