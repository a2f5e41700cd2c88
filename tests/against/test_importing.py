"""Old modules beside new ones: whatever way they import each other, neither sees the other's."""

import sys

import pytest

from pytest_roofline.against import OldTree

PREFIX = "_roofline_old_in_tests"


@pytest.fixture
def trees(tmp_path, monkeypatch):
    """``trees(name=text, ...)`` writes the files twice, with NEW replaced by OLD in the second tree, installs that, and
    puts the first on ``sys.path``."""
    installed = []

    def make(**files):
        for version in ("new", "old"):
            for name, text in files.items():
                place, init = name.removesuffix("____init__"), name.endswith("____init__")
                path = tmp_path / version / f"{place.replace('__', '/')}{'/__init__' * init}.py"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text if version == "new" else text.replace("NEW", "OLD"))
        monkeypatch.syspath_prepend(str(tmp_path / "new"))
        installed.append(set(sys.modules))
        return OldTree(tmp_path / "old", PREFIX).install()

    finders = list(sys.meta_path)
    yield make
    sys.meta_path[:] = finders
    for name in set(sys.modules) - set.union(*installed):
        if name.startswith((PREFIX, "rl_")):
            del sys.modules[name]


HELPER = "WHO = 'NEW'\n"


@pytest.mark.parametrize(
    "how",
    [
        "from . import helper\nWHO = helper.WHO\n",
        "from .helper import WHO\n",
        "from rl_kernels import helper\nWHO = helper.WHO\n",
        "from rl_kernels.helper import WHO\n",
        "import rl_kernels.helper\nWHO = rl_kernels.helper.WHO\n",
        "import rl_kernels.helper as other\nWHO = other.WHO\n",
        "def who():\n    from rl_kernels.helper import WHO\n    return WHO\nWHO = who()\n",
        "import rl_flat\nWHO = rl_flat.WHO\n",
    ],
)
@pytest.mark.parametrize("package", [True, False])
def test_each_version_imports_its_own(trees, how, package):
    """Relative, absolute, inside a function, of a package with or without __init__.py, of a plain file."""
    files = {"rl_kernels__copy": how, "rl_kernels__helper": HELPER, "rl_flat": HELPER}
    tree = trees(**files, **({"rl_kernels____init__": ""} if package else {}))
    import rl_kernels.copy as new

    old = tree.load("rl_kernels.copy")
    assert (new.WHO, old.WHO) == ("NEW", "OLD")
    assert old.__name__ == f"{PREFIX}.rl_kernels.copy"


def test_an_import_that_happens_later_is_the_old_one_too(trees):
    """Long after loading, when the new module of that name is in sys.modules."""
    late = "def who():\n    import rl_late.helper\n    return rl_late.helper.WHO\n"
    tree = trees(rl_late__copy=late, rl_late__helper=HELPER)
    old = tree.load("rl_late.copy")
    import rl_late.copy as new

    assert (new.who(), old.who()) == ("NEW", "OLD")


def test_what_is_not_of_the_tree_is_shared(trees):
    """The harness, the standard library and installed packages: both versions run under the same ones."""
    tree = trees(
        rl_shared="import json, pytest, pytest_roofline.launch as launch\nfrom pytest_roofline.launch import Source\n",
        json="raise AssertionError\n",
        pytest_roofline__launch="raise AssertionError\n",
    )
    import json

    import pytest_roofline.launch

    old = tree.load("rl_shared")
    assert old.json is json
    assert old.pytest is pytest
    assert old.Source is pytest_roofline.launch.Source
    assert tree.renamed("pytest_roofline.launch") == "pytest_roofline.launch"
    assert tree.renamed("rl_shared.x") == f"{PREFIX}.rl_shared.x"


def test_a_folder_does_not_hide_an_installed_package(trees):
    """A directory without __init__.py that happens to be called like one is not taken for it."""
    tree = trees(hypothesis__notes="", rl_user="import hypothesis\n")
    assert tree.load("rl_user").hypothesis.__name__ == "hypothesis"


def test_old_classes_know_where_they_live(trees):
    """Type hints and pickles look a class up by its module's name."""
    import dataclasses
    import typing

    text = "from __future__ import annotations\nimport dataclasses\n"
    text += "@dataclasses.dataclass\nclass Plan:\n    rows: int\n    next: Plan | None = None\n"
    plan = trees(rl_plan=text).load("rl_plan").Plan
    assert typing.get_type_hints(plan)["rows"] is int
    assert dataclasses.replace(plan(1), rows=2).rows == 2


def test_nothing_is_written_into_the_old_tree(trees):
    """It may be a directory of somebody's."""
    tree = trees(rl_bytes=HELPER)
    tree.load("rl_bytes")
    assert not list(tree.root.rglob("__pycache__"))


def test_another_tree_of_the_same_prefix_replaces_the_first(trees, tmp_path):
    """Modules of the first are forgotten."""
    tree = trees(rl_again=HELPER)
    assert tree.load("rl_again").WHO == "OLD"
    assert OldTree(tmp_path / "new", PREFIX).install().load("rl_again").WHO == "NEW"


def test_a_missing_module_is_missing(trees):
    """Also if the new tree has it."""
    tree = trees(rl_there=HELPER)
    (tree.root / "rl_there.py").unlink()
    with pytest.raises(ModuleNotFoundError, match="rl_there"):
        tree.load("rl_there")


@pytest.fixture
def beside(trees, tmp_path):
    """The same, with the first tree known as the working tree."""

    def make(**files):
        trees(**files)
        return OldTree(tmp_path / "old", PREFIX, beside=tmp_path / "new").install()

    return make


def test_a_folder_of_the_path_is_looked_for_in_the_old_tree(beside, tmp_path, monkeypatch):
    """``pythonpath = src``: the old kernel and what it imports come from the old ``src``."""
    monkeypatch.syspath_prepend(str(tmp_path / "new" / "src"))
    tree = beside(src__rl_srckernels="from rl_srchelper import WHO\n", src__rl_srchelper=HELPER)
    import rl_srckernels

    assert (rl_srckernels.WHO, tree.load("rl_srckernels").WHO) == ("NEW", "OLD")


def test_an_editable_install_is_looked_for_in_the_old_tree(beside, tmp_path, monkeypatch):
    """One that has a finder of its own in place of an entry of the path."""
    import importlib.util

    class Editable:
        """As setuptools installs it."""

        def find_spec(self, name, path=None, target=None):
            """Where one package lies."""
            place = tmp_path / "new" / "lib" / "rl_editable"
            if name != "rl_editable":
                return None
            return importlib.util.spec_from_file_location(
                name, place / "__init__.py", submodule_search_locations=[str(place)]
            )

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Editable()])
    tree = beside(
        lib__rl_editable____init__="", lib__rl_editable__copy=HELPER, rl_asks="import rl_editable.copy as c\n"
    )
    import rl_editable.copy as new

    assert (new.WHO, tree.load("rl_asks").c.WHO) == ("NEW", "OLD")


@pytest.mark.parametrize("package", [True, False])
def test_what_only_the_working_tree_has_is_missing(beside, tmp_path, monkeypatch, package):
    """A module below ``src`` that the old tree lacks, or has as a folder without ``__init__.py``: never the new one."""
    monkeypatch.syspath_prepend(str(tmp_path / "new" / "src"))
    tree = beside(src__rl_fresh____init__=HELPER, rl_wants="from rl_fresh import WHO\n")
    (tree.root / "src" / "rl_fresh" / "__init__.py").unlink()
    if not package:
        (tree.root / "src" / "rl_fresh").rmdir()
    with pytest.raises(ImportError, match=r"rl_fresh|WHO"):
        tree.load("rl_wants")


def test_an_environment_in_the_project_is_shared(beside, tmp_path, monkeypatch):
    """Packages installed below the working tree are no kernels of it."""
    site = tmp_path / "new" / ".venv" / "lib" / "site-packages"
    monkeypatch.syspath_prepend(str(site))
    tree = beside(rl_uses="import rl_installed\n")
    site.mkdir(parents=True)
    (site / "rl_installed.py").write_text(HELPER)
    assert tree.load("rl_uses").rl_installed.WHO == "NEW"
    assert not tree.is_new(site / "rl_installed.py")


def test_a_built_in_module_is_of_no_tree(beside, tmp_path, monkeypatch):
    """Where pytest was started says nothing about it."""
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    monkeypatch.setattr(sys, "stdlib_module_names", frozenset())
    tree = beside(rl_builtin="import _imp\n")
    assert tree.load("rl_builtin")._imp is sys.modules["_imp"]
