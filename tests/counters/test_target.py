"""The process that is profiled, and the option that starts it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_roofline import worker
from pytest_roofline.counters import target
from pytest_roofline.evidence import CaseSpec, Evidence, Outcome, to_plain

CPU = "--roofline-on=cpu"
USAGE = 4


def order(case: str) -> CaseSpec:
    return CaseSpec(case, "operations.negate", (), "cuda", profile=True)


def test_cases_that_fail_are_noted_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A wrong kernel is not profiled, and takes no other case with it."""
    found = {
        "a": Evidence("a", Outcome.OK),
        "b": Evidence("b", Outcome.WRONG, "y[0] is 1, not 2"),
        "c": Evidence("c", Outcome.OK),
    }
    monkeypatch.setattr(worker, "run", lambda spec: found[spec.case])
    orders, result = tmp_path / "orders.json", tmp_path / "result.json"
    orders.write_text(json.dumps(to_plain([order(case) for case in found])))
    assert target.main(orders, result) == 0
    assert json.loads(result.read_text()) == {"profiled": ["a", "c"], "problems": {"b": "wrong: y[0] is 1, not 2"}}


@pytest.mark.parametrize(("kernel", "profiled"), [("torch.neg(x, out=y)", 1), ("y.zero_()", 0)])
def test_only_a_checked_kernel_is_profiled(project: Any, monkeypatch: pytest.MonkeyPatch, kernel: str, profiled: int):
    """The check comes first, and a red one ends it; nothing is timed."""
    path = project(f"def negate(x, y):\n    {kernel}\n").path
    seen: list[str] = []
    monkeypatch.setattr(target, "profile_once", lambda prepared: seen.append(str(prepared.case)))
    spec = CaseSpec("negate/host/plain/f32/3x3", "operations.negate", (str(path),), "cpu", profile=True)
    evidence = worker.run(spec)
    assert (evidence.outcome is Outcome.OK) == bool(profiled)
    assert evidence.timing is None
    assert len(seen) == profiled


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--roofline-ncu=flagged"], "*--roofline-ncu profiles timed cases: it needs --benchmark-only*"),
        (["--roofline-ncu=flagged", "--benchmark-only"], "*--roofline-ncu reads the counters of a GPU*"),
    ],
)
def test_profiling_what_is_not_timed_is_a_usage_error(project: Any, options: list[str], message: str):
    """It needs a benchmark run, and that needs a GPU."""
    result = project().runpytest(CPU, *options)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([message])
