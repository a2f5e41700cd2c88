"""All Triton kernels of a run come from one assembler."""

import sys
from types import ModuleType

import pytest

from pytest_roofline import assembler

TASKS = "torch._inductor.runtime.compile_tasks"


@pytest.fixture
def chosen(monkeypatch):
    """A torch that would point Triton at its own assembler, and no choice of the user's."""
    monkeypatch.setenv(assembler.VARIABLE, "")  # so that it is put back
    monkeypatch.delenv(assembler.VARIABLE)
    tasks = ModuleType(TASKS)
    tasks._set_triton_ptxas_path = lambda: monkeypatch.setenv(assembler.VARIABLE, "/torch/bin/ptxas")
    monkeypatch.setitem(sys.modules, TASKS, tasks)
    return tasks


def test_what_torch_would_choose_later_is_chosen_at_once(chosen):
    """So kernels compiled before a peer of torch.compile have the machine code of those compiled after it."""
    assembler.settle()
    assert assembler.os.environ[assembler.VARIABLE] == "/torch/bin/ptxas"


def test_a_choice_of_the_users_stands(chosen, monkeypatch):
    """Whoever names an assembler gets it."""
    monkeypatch.setenv(assembler.VARIABLE, "/mine/ptxas")
    assembler.settle()
    assert assembler.os.environ[assembler.VARIABLE] == "/mine/ptxas"


def test_a_torch_without_that_function_changes_nothing(chosen):
    """It is torch's own business and may go."""
    del chosen._set_triton_ptxas_path
    assembler.settle()
    assert assembler.VARIABLE not in assembler.os.environ


def test_without_torch_nothing_is_chosen(chosen, monkeypatch):
    """Triton's own assembler is the only one then."""
    monkeypatch.setitem(sys.modules, TASKS, None)
    assembler.settle()
    assert assembler.VARIABLE not in assembler.os.environ
