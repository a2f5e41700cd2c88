"""The old kernel of a case: found where the old tree has it, and never the working tree's."""

import sys

import pytest

from pytest_roofline.against.importing import PREFIX
from pytest_roofline.against.kernels import NoOldKernel, old_kernel
from pytest_roofline.discovery import load_operation
from pytest_roofline.ids import CaseId

OPERATION = """
from pytest_roofline.contract import (
    Argument, Bound, Kernel, Operation, Pipeline, Role, Shapes, Tolerance, Traffic, Work)
from pytest_roofline.shapes import vectors

OPERATION = Operation(
    name="rl_twice",
    summary="y = 2 x",
    arguments=(Argument("x", Role.IN, lambda dims: dims), Argument("y", Role.OUT, lambda dims: dims)),
    reference=lambda x: {"y": 2 * x},
    work=lambda shape, dtype: Work({Pipeline.FP32: shape.size}, Traffic(4 * shape.size, 4 * shape.size)),
    tolerance=Tolerance(lambda c: {"y": Bound(c.outputs["y"].abs() * 0)}, "exact: a power of two"),
    shapes=Shapes(drawn=lambda tile: vectors(*tile), sweep=("64",), representative=("64",), counted=("64",)),
    kernels=(Kernel("host", "plain", "rl_launchers:run", ("f32",), best=True),),
)
"""


@pytest.fixture
def versions(tmp_path, monkeypatch):
    """``versions()`` writes two versions with launchers below ``src``, puts the first on ``sys.path``, and returns what
    gives the old launcher."""
    modules, finders = set(sys.modules), list(sys.meta_path)

    def make():
        for version in ("new", "old"):
            (tmp_path / version / "rl_operations").mkdir(parents=True)
            (tmp_path / version / "src").mkdir()
            (tmp_path / version / "rl_operations" / "rl_twice.py").write_text(OPERATION)
            (tmp_path / version / "src" / "rl_launchers.py").write_text(
                "from rl_tag import WHO\ndef run(): return WHO\n"
            )
            (tmp_path / version / "src" / "rl_tag.py").write_text(f"WHO = {version!r}\n")
        for folder in ("src", "."):
            monkeypatch.syspath_prepend(str((tmp_path / "new" / folder).resolve()))
        case = load_operation("rl_operations.rl_twice").case(CaseId.parse("rl_twice/host/plain/f32/64"))
        return lambda: old_kernel(case, "rl_operations.rl_twice", str(tmp_path / "old"))[1]

    yield make
    sys.meta_path[:] = finders
    for name in set(sys.modules) - modules:
        if name.startswith((PREFIX, "rl_")):
            del sys.modules[name]


def test_launchers_below_src_are_the_old_ones(versions):
    """With ``pythonpath = src`` as well as at the root; and what they import."""
    assert versions()()() == "old"


@pytest.mark.parametrize("lost", ["rl_launchers", "rl_tag"])
def test_what_the_old_tree_lacks_is_an_error(versions, tmp_path, lost):
    """The launcher's module, or one that it needs: named as the old files name it."""
    old = versions()
    (tmp_path / "old" / "src" / f"{lost}.py").unlink()
    with pytest.raises(ImportError, match=rf"no module.* '?{lost}'? in the other version|No module named '{lost}' in"):
        old()


def test_a_launcher_of_the_working_tree_is_refused(versions, tmp_path):
    """Whatever way it was found: a name put together at run time escapes every redirection."""
    old = versions()
    text = "import importlib\nrun = importlib.import_module('rl_' + 'launchers').run\n"
    (tmp_path / "old" / "src" / "rl_launchers.py").write_text(text)
    with pytest.raises(ImportError, match="rl_launchers:run comes from the working tree: "):
        old()


@pytest.mark.parametrize("folder", [True, False])
def test_an_operation_that_the_old_tree_lacks_has_no_old_kernel(versions, tmp_path, folder):
    """The file alone, or all of its folder."""
    old = versions()
    (tmp_path / "old" / "rl_operations" / "rl_twice.py").unlink()
    if folder:
        (tmp_path / "old" / "rl_operations").rmdir()
    with pytest.raises(NoOldKernel, match="no operation rl_twice"):
        old()
