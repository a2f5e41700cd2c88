"""The client of the process that compiles: answers by case, and a process that dies is an error."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("torch")

from pytest_roofline.counting.compiled.client import Compiler, CompilingError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def compiler():
    client = Compiler("sm_80", [str(ROOT)])
    yield client
    client.close()


def test_answers_are_found_by_case(compiler):
    """Whatever the order in which they are asked for."""
    cases = [f"vector_add/triton/nonsense/f32/{n}" for n in (1, 2)]
    for case in cases:
        compiler.ask(case, "suite.operations.vector_add")
    assert [compiler.answer(case)["case"] for case in reversed(cases)] == cases[::-1]
    with pytest.raises(KeyError):
        compiler.answer("vector_add/triton/nonsense/f32/3")


def test_each_language_has_a_process(compiler):
    """They share no kernel, and a machine has more than one core; none is started for nothing."""
    assert not compiler._processes
    for language in ("triton", "cuda", "triton"):
        compiler.ask(f"vector_add/{language}/nonsense/f32/1", "suite.operations.vector_add")
    assert set(compiler._processes) == {"triton", "cuda"}
    for language in ("cuda", "triton"):
        assert compiler.answer(f"vector_add/{language}/nonsense/f32/1")["case"].split("/")[1] == language


def test_a_process_that_dies_is_an_error(compiler):
    """Nobody waits for ever."""
    compiler.ask("vector_add/triton/nonsense/f32/1", "suite.operations.vector_add")
    os.kill(compiler._processes["triton"].pid, signal.SIGKILL)
    with pytest.raises(CompilingError, match="died"):
        compiler.answer("vector_add/triton/nonsense/f32/1")
