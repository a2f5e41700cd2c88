"""What the plugin's own tests share."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import pytest_roofline

pytest_plugins = ["pytester"]

OPERATION = """
import torch
from hypothesis import strategies as st
from pytest_roofline.contract import (
    Argument, Bound, Kernel, Operation, Pipeline, Role, Shapes, Tolerance, Traffic, Work)
from pytest_roofline.ids import Shape


def negate(x, y):
    torch.neg(x, out=y)


def reference(x):
    return {"y": -x}


OPERATION = Operation(
    name="negate",
    summary="y = -x",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims, pitched=True, transposable=True),
        Argument("y", Role.OUT, lambda dims: dims, pitched=True),
    ),
    reference=reference,
    work=lambda shape, dtype: Work(
        {Pipeline.FP32: shape.size}, Traffic(shape.size * dtype.operand.itemsize, shape.size * dtype.operand.itemsize)),
    tolerance=Tolerance(lambda c: {"y": Bound(torch.zeros((), dtype=torch.float64), signed_zero=True)}, "exact"),
    shapes=Shapes(
        drawn=lambda tile: st.builds(
            lambda m, n, o, p: Shape((m, n), o, n + p if p else None),
            st.integers(0, 9), st.integers(0, 9), st.integers(0, 3), st.integers(0, 2)),
        sweep=("64x64",), representative=("32x32",), counted=("7x9", "8x8.o1", "3x5.p8")),
    kernels=(KERNELS),
)
"""

KERNEL = 'Kernel("host", "plain", "{module}:negate", ("f32",), best=True),'

SUITE = """
import pytest

@pytest.mark.roofline("drawn")
def test_drawn(roofline_case, roofline_check):
    roofline_check(roofline_case)

@pytest.mark.roofline("listed")
def test_listed(roofline_case, roofline_check):
    roofline_check(roofline_case)

@pytest.mark.roofline("timed")
def test_benchmark(roofline_case, roofline_benchmark):
    roofline_benchmark(roofline_case)
"""


@pytest.fixture(scope="session", autouse=True)
def children_are_not_distributed() -> None:
    """Sessions that a test starts are their own: pytest-benchmark takes xdist's variables for its switch."""
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST_")]:
        del os.environ[name]


@pytest.fixture(autouse=True)
def children_find_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts find the same plugin as this one, installed or in the source tree."""
    here = str(Path(pytest_roofline.__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])]))


@pytest.fixture
def operation_source() -> str:
    """The operation file of ``negate`` with one plain kernel."""
    return OPERATION.replace("KERNELS", KERNEL.format(module="negate_operation"))


@pytest.fixture(scope="session")
def imported_once() -> None:
    """Modules that an inner session of pytester would forget, but that cannot be imported twice in a process."""
    for name in ("numpy", "torch", "hypothesis"):
        pytest.importorskip(name)


@pytest.fixture
def project(imported_once: None, pytester: pytest.Pytester) -> Callable[..., pytest.Pytester]:
    """A small project with one operation, ``negate``, whose kernel is the Python code given."""

    def make(launcher: str = "def negate(x, y):\n    torch.neg(x, out=y)\n", kernels: str = KERNEL) -> pytest.Pytester:
        source = OPERATION.replace("def negate(x, y):\n    torch.neg(x, out=y)\n", textwrap.dedent(launcher))
        source = source.replace("KERNELS", kernels.format(module="operations.negate"))
        pytester.mkdir("operations")
        (pytester.path / "operations" / "negate.py").write_text(source)
        pytester.makepyfile(test_suite=SUITE)
        pytester.makeini("[pytest]\naddopts = -p pytest_roofline.plugin\nroofline_operations = operations\n")
        return pytester

    return make
