"""The scripts of ``benchmarks/`` measure the tree that they lie in."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_roofline.devices import identify

FOLDER = Path(__file__).parent.parent / "benchmarks"
SCRIPTS = sorted(p.name for p in FOLDER.glob("*.py") if '__name__ == "__main__"' in p.read_text(encoding="utf-8"))
OURS = {"pytest_roofline", "benchmarks", "suite", "kernels_cuda", "kernels_triton", "ncu_rows", "ncu_pattern_rows"}


def roots(node: ast.AST) -> set[str]:
    """The packages that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").split(".")[0]}
    return {alias.name.split(".")[0] for alias in node.names} if isinstance(node, ast.Import) else set()


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_puts_its_own_root_first(script):
    """Before it imports anything of ours; where an installed package were found, that one would be measured."""
    tree = ast.parse((FOLDER / script).read_text(encoding="utf-8"))
    first = min((n.lineno for n in ast.walk(tree) if roots(n) & OURS), default=None)
    placed = [n.lineno for n in tree.body if ast.unparse(n).startswith("sys.path.insert(0, ")]
    assert first is None or (placed and placed[0] < first)


@pytest.mark.skipif(
    not (FOLDER.parent / "pytest_roofline").exists(), reason="this tree holds no package, as of a wheel"
)
def test_a_clones_script_takes_the_clones_package(tmp_path):
    """Also where another one stands on ``PYTHONPATH``."""
    other = tmp_path / "pytest_roofline"
    other.mkdir()
    (other / "__init__.py").write_text("raise SystemExit('the other one')\n")
    code = f"import runpy; print(runpy.run_path({str(FOLDER / 'cuda_cpu.py')!r})['load'].__code__.co_filename)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.startswith(str(FOLDER.parent)), ran.stderr


@pytest.mark.skipif(identify.why_none() == "", reason="there is a GPU here")
@pytest.mark.parametrize("script", ["launch_cost.py", "timing_methods.py"])
def test_a_script_that_needs_a_gpu_says_so(script):
    """One line that names the reason, and no traceback."""
    done = subprocess.run([sys.executable, FOLDER / script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"{script.removesuffix('.py')} needs a GPU: {identify.why_none()}\n"


@pytest.mark.skipif(shutil.which("ncu") is not None, reason="ncu is installed here")
def test_counters_without_ncu_say_where_it_comes_from():
    """A usage error that names the other way."""
    done = subprocess.run([sys.executable, FOLDER / "ncu_counts.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "ncu is not on PATH; it comes with the CUDA toolkit" in done.stderr
