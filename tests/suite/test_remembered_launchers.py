"""Launchers that are remembered do nothing but launch: anything else would happen in the first of equal calls only."""

from pathlib import Path

import pytest

from pytest_roofline.baselines import Store
from pytest_roofline.checking.check import load_launcher
from pytest_roofline.discovery import discover

ROOT = Path(__file__).parent.parent.parent
KERNELS = [
    pytest.param(entry.operation.name, kernel, id=f"{entry.operation.name}/{kernel.backend}/{kernel.variant}")
    for entry in discover(ROOT, ["suite/operations"]).loaded
    for kernel in entry.operation.kernels
    if hasattr(load_launcher(kernel.launcher), "__wrapped__")
]


def test_there_are_such_launchers():
    """Else the test below would hold of nothing."""
    assert len(KERNELS) >= 20


@pytest.mark.parametrize(("operation", "kernel"), KERNELS)
def test_what_a_remembered_launcher_was_counted_to_do_are_launches(operation, kernel):
    """The counts of its cases know every call of torch."""
    counted = Store(ROOT / "baselines").load("a100", operation).counted.cases
    entries = [entry for case, entry in counted.items() if case.split("/")[1:3] == [kernel.backend, kernel.variant]]
    assert entries
    assert not [entry.calls for entry in entries if entry.calls]
