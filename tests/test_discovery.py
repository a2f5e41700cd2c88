"""Operations are found without a registry, and a broken file is a named failure."""

import pytest

from pytest_roofline.discovery import discover


@pytest.fixture
def folder(tmp_path, monkeypatch, operation_source):
    """A project root with an empty operations folder of a name of its own, so that imports never mix."""
    monkeypatch.syspath_prepend(tmp_path)
    name = f"operations_{abs(hash(tmp_path))}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "negate.py").write_text(operation_source)
    return tmp_path / name


def found(folder):
    """Discover below the folder's parent."""
    return discover(folder.parent, [folder.name])


def test_an_operation_is_found_with_the_name_other_processes_import(folder):
    """The import name leads back to the file, and private files are not operations."""
    (folder / "_shared.py").write_text("raise RuntimeError")
    catalogue = found(folder)
    assert [(e.operation.name, e.module) for e in catalogue.loaded] == [("negate", f"{folder.name}.negate")]
    assert catalogue.broken == ()
    assert [str(d) for d in catalogue.drawn()] == ["negate/host/plain/f32/drawn"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1/0", "ZeroDivisionError"),
        ("def f(:", "SyntaxError"),
        ("import nonexistent_module", "No module named 'nonexistent_module'"),
        ("x = 1", "defines no OPERATION"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("import pytest; pytest.importorskip('nonexistent_module')", "Skipped"),
    ],
)
def test_a_broken_file_is_reported_with_its_own_error(folder, source, message):
    """Whatever is wrong in a file is kept as that file's failure; the others load."""
    (folder / "broken.py").write_text(source)
    catalogue = found(folder)
    assert len(catalogue.loaded) == 1
    (failed,) = catalogue.broken
    assert failed.name == "broken"
    assert message in failed.error
    assert "importlib" not in failed.error
    with pytest.raises(ValueError, match=r"could not be loaded from .*broken\.py"):
        catalogue.operation("broken")


def test_one_name_everywhere(folder, operation_source):
    """A file whose stem is not the operation's name is broken."""
    (folder / "other.py").write_text(operation_source)
    (failed,) = found(folder).broken
    assert "one name everywhere" in failed.error


def test_an_unknown_operation_lists_the_known_ones(folder):
    """A misspelt operation in an id says what exists."""
    with pytest.raises(ValueError, match="there is no operation sum; known are negate"):
        found(folder).case("sum/cuda/atomic/f32/3")


def test_a_directory_that_does_not_exist_is_an_error(tmp_path):
    """A misspelt ini value never means 'no operations'."""
    with pytest.raises(NotADirectoryError, match="roofline_operations names 'missing'"):
        discover(tmp_path, ["missing"])


def test_timed_cases_of_our_kernels_are_compiled_where_they_cannot_run(folder, operation_source):
    """Those that are counted are not, nor are library routines and kernels that are no code for a GPU."""
    kernels = ", ".join(
        f'Kernel("{backend}", "{variant}", "negate:negate", ("f32", "f16"), peer={peer})'
        for backend, variant, peer in (("cuda", "one", False), ("triton", "two", False), ("torch", "neg", True))
    )
    start = operation_source.index("    kernels=(")
    source = operation_source[:start] + f"    kernels=({kernels},),\n)\n"
    (folder / "negate.py").write_text(source.replace('counted=("7x9",', 'counted=("32x32",'))
    (folder / "negate.py").write_text(source.replace('counted=("7x9"', 'full=("7x9", "16x16"), counted=("7x9"'))
    catalogue = found(folder)
    shapes = {"32x32"}
    for full in (False, True):
        cases = list(map(str, catalogue.compiled(full=full)))
        assert {case.split("/")[1] for case in cases} == {"cuda", "triton"}
        assert {case.split("/")[4] for case in cases} == shapes
        shapes = {"32x32", "64x64", "16x16"}
    brief = list(map(str, catalogue.compiled(brief=True)))
    assert brief == ["negate/cuda/one/f32/32x32", "negate/triton/two/f32/32x32"]


def test_what_the_functions_of_a_file_raise_is_its_failure(folder, operation_source):
    """A ``rejects`` that fails breaks its own operation, not the collection of all others."""
    source = operation_source.replace('name="negate"', 'name="broken"').replace(
        "best=True", "rejects=lambda s, d: 1 / 0"
    )
    (folder / "broken.py").write_text(source)
    catalogue = found(folder)
    assert [e.operation.name for e in catalogue.loaded] == ["negate"]
    assert "ZeroDivisionError" in catalogue.broken[0].error


def test_a_folder_outside_the_root_is_a_named_failure(tmp_path, operation_source):
    """Its files have no import name below the root."""
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "negate.py").write_text(operation_source)
    (failed,) = discover(tmp_path / "root", ["../outside"]).broken
    assert "is not in the subpath" in failed.error
