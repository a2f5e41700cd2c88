"""What the plugin's own tests share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

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


@pytest.fixture
def project(pytester: pytest.Pytester) -> Callable[..., pytest.Pytester]:
    """A small project with one operation, ``negate``, whose kernel is the Python code given."""
    # The inner session forgets what it imported, and torch cannot be imported twice in a process.
    pytest.importorskip("torch")

    def make(launcher: str = "def negate(x, y):\n    torch.neg(x, out=y)\n", kernels: str = KERNEL) -> pytest.Pytester:
        source = OPERATION.replace("def negate(x, y):\n    torch.neg(x, out=y)\n", textwrap.dedent(launcher))
        source = source.replace("KERNELS", kernels.format(module="operations.negate"))
        pytester.mkdir("operations")
        (pytester.path / "operations" / "negate.py").write_text(source)
        pytester.makepyfile(test_suite=SUITE)
        pytester.makeini("[pytest]\naddopts = -p pytest_roofline.plugin\nroofline_operations = operations\n")
        return pytester

    return make
