"""The process that compiles: what a case's launcher launches, compiled and never executed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

ROOT = Path(__file__).parents[3]


def ask(*cases, arch="sm_80"):
    """Answers to orders for cases of this repository's own catalogue."""
    orders = [
        json.dumps({"case": case, "module": f"suite.operations.{case.split('/')[0]}", "roots": [str(ROOT)]})
        for case in cases
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest_roofline.counting.compiled.process", arch],
        input="\n".join(orders),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)},
    )
    mark = "pytest-roofline compiled: "
    return [json.loads(line[len(mark) :]) for line in done.stdout.splitlines() if line.startswith(mark)]


def test_triton_is_compiled_although_the_session_interprets():
    """The specialisation follows the arguments: an aligned length, one that is not, and a pointer off by an element."""
    aligned, odd, shifted = ask(*(f"vector_add/triton/block_1024/f32/{shape}" for shape in ("1024", "1000", "1024.o1")))
    assert "n:i32/16" in aligned["launches"][0]
    assert aligned["kernels"][aligned["launches"][0]]["mix"]["global load 16"] > 0
    assert "n:i32/16" not in odd["launches"][0]
    assert len(shifted["launches"]) >= 1


def test_an_unknown_case_is_an_answer():
    """The process survives, and says what was wrong."""
    wrong, right = ask("vector_add/triton/nonsense/f32/1024", "vector_add/triton/block_1024/f32/1024")
    assert "nonsense" in wrong["error"]
    assert right["launches"]


def test_cuda_launches_are_recorded_in_order():
    """Two kernels of a two-stage sum, with threads and what torch was asked for."""
    [reply] = ask("sum/cuda/vectorised/f32/1000")
    if reply.get("missing"):
        pytest.skip(reply["error"])
    assert reply["launches"] == ["vectorised.cu:sum_vectorised<float, float, 256> threads=256"]
    assert reply["calls"] == ["aten::zero_"]
