"""These tests run kernels in Triton's interpreter, which must be chosen before Triton is imported."""

from __future__ import annotations

import importlib
import inspect
import os
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="session")
def interpreter() -> ModuleType:
    """The package, with the interpreter repaired and checked."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from pytest_roofline.counting import triton_cpu

    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("Triton compiles in this session: set TRITON_INTERPRET=1 to run these tests")
    triton_cpu.enable()
    return triton_cpu


@pytest.fixture(scope="session")
def bugs(interpreter: ModuleType) -> ModuleType:
    """Kernels with one bug each."""
    return importlib.import_module("tests.counting.triton_cpu.bugs.kernels")


@pytest.fixture(scope="session")
def races(interpreter: ModuleType) -> ModuleType:
    """Kernels whose accesses lack an order."""
    return importlib.import_module("tests.counting.triton_cpu.races.kernels")


@pytest.fixture(scope="session")
def correct(interpreter: ModuleType) -> ModuleType:
    """Correct kernels."""
    return importlib.import_module("tests.counting.triton_cpu.correct.kernels")


def bug_line(kernel: Any) -> int:
    """The line marked as the bug."""
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(i for i, text in enumerate(lines) if "# BUG" in text)


def blamed(kernel: Any, grid: tuple[int, ...], *arguments: Any, **constants: Any) -> Any:
    """The fault that a launch raises."""
    from pytest_roofline.counting.triton_cpu import KernelFault, checking

    with checking(), pytest.raises(KernelFault) as caught:
        kernel[grid](*arguments, **constants)
    return caught.value
