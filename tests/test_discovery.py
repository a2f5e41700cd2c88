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
