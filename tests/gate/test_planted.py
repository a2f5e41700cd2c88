"""Planted regressions are caught without a GPU and named by cause and source line; refactorings stay silent."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")
pytest.importorskip("cuda.bindings", reason="compiling CUDA C++ without a driver needs pytest-roofline[compiled]")

from pytest_roofline.counting.cuda_cpu import CompilerMissing
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler
from tests.gate import planted

PLUGINS = ("-p", "pytest_roofline.plugin", "-p", "no:cacheprovider", "--roofline-on=cpu")
ROOT = Path(__file__).parents[2]


def run(folder, *options):
    """One ``pytest --benchmark-only`` of the project; its report and the message of each failing case."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGINS, "--benchmark-only", "--junit-xml=result.xml", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ROOFLINE_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
    )
    failures = {}
    for case in ElementTree.parse(folder / "result.xml").iter("testcase"):
        for problem in [*case.iter("failure"), *case.iter("error")]:
            failures[case.get("name").split("[")[-1].split("/")[0]] = problem.get("message")
    return done, failures


@pytest.fixture(scope="module")
def edited(tmp_path_factory):
    """The project after its edits, held against what was stored before them."""
    try:
        find_compiler()
    except CompilerMissing as reason:
        pytest.skip(str(reason))
    folder = tmp_path_factory.mktemp("project")
    planted.write(folder, after=False)
    first, failures = run(folder, "--roofline-update")
    assert (first.returncode, failures) == (0, {}), first.stdout
    again, failures = run(folder)
    assert (again.returncode, failures) == (0, {}), again.stdout
    assert "12 same" in again.stdout
    planted.write(folder, after=True)
    return run(folder)


def line_of(name, text):
    """The line of the edited kernel that holds ``text``."""
    lines = planted.EDITS[name].after.splitlines()
    suffix = "cu" if planted.EDITS[name].backend == "cuda" else "py"
    return f"{name}.{suffix}:{next(i for i, line in enumerate(lines, 1) if text in line)}"


@pytest.mark.parametrize(
    ("name", "cause", "text"),
    [
        ("uncoalesced_store", "sectors: global store: 4096 sectors, 512 before, 512 would do", "y[column * n + row]"),
        ("removed_padding", "bank conflicts: shared load: 3968 conflicts, 0 before", "= tile[threadIdx.x]"),
        ("register_blow_up", "occupancy: occupancy", "void kernel"),
        ("scalarised_loads", "vector width: global loads of 4 x 4 bytes, 1 x 16 before", "void kernel"),
        ("scalarised_loads", "requests: global load: 32 requests, 8 before", "float a = x"),
        ("missing_fusion", "launches: 2 launches, 1 before (add, relu)", ""),
        ("large_tile", "occupancy: occupancy", "void kernel"),
        ("large_stage", "shared memory: 167936 bytes of shared memory, 1024 more than a block of sm_80", "void kernel"),
        ("large_stage", "occupancy: no block fits into an SM of sm_80, the launch fails, 100 % before", "void kernel"),
        ("lost_hint", "vector width: global loads of 8 x 4 bytes, 2 x 16 before", "tl.load"),
    ],
)
def test_a_planted_regression_is_named_by_cause_and_line(edited, name, cause, text):
    """The case fails, its message says what costs time, and where in the source."""
    _, failures = edited
    found = [part for part in failures[name].split("; ") if cause in part]
    assert found, failures[name]
    if text:
        assert any(f" at {line_of(name, text)}" in part for part in found), found


def test_refactorings_stay_silent(edited):
    """A while loop for a for loop, other names and other lines are no news."""
    done, failures = edited
    assert set(failures) == set(planted.EDITS) - {"rewritten", "renamed"}
    assert "4 same" in done.stdout  # two of them are counted shapes of what only changed for large ones
    assert done.returncode == 1


def test_nothing_is_called_a_time(edited):
    """The report says what was compared, and that nothing was timed."""
    done, _ = edited
    assert "nothing was timed" in done.stdout
    assert "counts from source: compared 10 of 10 cases" in done.stdout


def test_a_kernel_that_only_large_shapes_launch_fails_the_gate(tmp_path):
    """Nobody would see what it does to memory."""
    planted.write(tmp_path, planted.NEVER_COUNTED, after=False)
    done, failures = run(tmp_path)
    assert done.returncode == 1
    told = "uncounted: second_pass.cu:relu is launched by second_pass/cuda/edited/f32/1048576, but by no counted case"
    assert told in done.stdout
    assert set(failures) == {"roofline-baselines"}
