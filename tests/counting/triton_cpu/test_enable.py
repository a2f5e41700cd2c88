"""enable() says what to do, or refuses an interpreter that it does not know."""

import os
import subprocess
import sys

import pytest

from pytest_roofline.counting import triton_cpu

pytest.importorskip("torch")
pytest.importorskip("triton")


def python(code, **environment):
    """Output of a fresh process."""
    variables = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"} | environment
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables, check=True)
    return done.stdout.strip()


REFUSED = """
from pytest_roofline.counting import triton_cpu
try:
    triton_cpu.enable()
except triton_cpu.InterpreterUnavailable as error:
    print(error)
"""


def test_importing_the_package_imports_neither_triton_nor_torch():
    """They are slow, and the environment must be set before."""
    modules = "'triton' in sys.modules or 'torch' in sys.modules"
    assert python(f"import sys, pytest_roofline.counting.triton_cpu; print({modules})") == "False"


def test_without_the_variable_it_says_what_to_set():
    """The message is an instruction."""
    assert "set TRITON_INTERPRET=1 before the first import of triton" in python(REFUSED)


def test_the_variable_set_too_late_is_noticed():
    """Triton's own library functions are compiled ones then."""
    late = "import triton, os; os.environ['TRITON_INTERPRET'] = '1'\n" + REFUSED
    assert "set TRITON_INTERPRET=1 before the first import of triton" in python(late)


@pytest.mark.parametrize(
    "change",
    [
        "del interpreter.GridExecutor._init_args_hst",
        "interpreter._implicit_cvt_renamed = interpreter.__dict__.pop('_implicit_cvt')",
        "interpreter.InterpreterBuilder.create_masked_load = lambda self, *a, **k: interpreter._C_load(*a)",
        "def store(self, p, v, m, *r): m.data.fill(False); return real(self, p, v, m, *r)\n"
        "real, interpreter.InterpreterBuilder.create_masked_store = "
        "interpreter.InterpreterBuilder.create_masked_store, store",
    ],
    ids=["method gone", "function renamed", "load goes elsewhere", "stores lost"],
)
def test_an_unknown_interpreter_is_refused_with_its_version(change):
    """Rather than checking nothing silently; a second call says the same."""
    code = (
        f"import triton\nfrom triton.runtime import interpreter\n{change}\n{REFUSED}{REFUSED}print(triton.__version__)"
    )
    first, second, version = python(code, TRITON_INTERPRET="1").splitlines()
    assert first == second
    assert f"does not know the interpreter of Triton {version}" in first


def test_enable_is_idempotent(interpreter):
    """A second call hooks nothing a second time."""
    from triton.runtime import interpreter as tritons

    before = tritons._interpreter
    interpreter.enable()
    assert tritons._interpreter is before


def test_checking_before_enable_is_an_error(monkeypatch):
    """It would check nothing."""
    monkeypatch.setattr(triton_cpu._State, "enabled", False)
    with pytest.raises(RuntimeError, match="enable"):
        triton_cpu.checking()
