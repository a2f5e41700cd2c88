"""Which compiler runs CUDA C++ on a CPU: the one that is asked for, or none."""

from __future__ import annotations

import pytest

from pytest_roofline.counting.cuda_cpu.compiler import CompilerMissing, find_compiler


@pytest.fixture
def own(tmp_path, monkeypatch):
    """``own(name)``: a compiler of that name that says that it is g++ 13, with no variable set."""
    for variable in ("PYTEST_ROOFLINE_CXX", "CXX"):
        monkeypatch.delenv(variable, raising=False)

    def make(name: str) -> str:
        path = tmp_path / name
        path.write_text("#!/bin/sh\necho 'g++ (own) 13.2.0'\n")
        path.chmod(0o755)
        return str(path)

    return make


@pytest.mark.parametrize("value", ["{}", "ccache {}", "{} -m64"])
def test_cxx_names_the_compiler(own, monkeypatch, value):
    """As for build systems, with a launcher before it and flags behind it, which are not ours to take."""
    path = own("some-cxx")
    monkeypatch.setenv("CXX", value.format(path))
    assert find_compiler().path == path


def test_our_own_variable_comes_first(own, monkeypatch):
    """A project that is built by one compiler can have its kernels run by another."""
    path = own("ours")
    monkeypatch.setenv("CXX", own("theirs"))
    monkeypatch.setenv("PYTEST_ROOFLINE_CXX", path)
    assert find_compiler().path == path


@pytest.mark.parametrize("variable", ["PYTEST_ROOFLINE_CXX", "CXX"])
def test_a_compiler_that_is_not_there_is_no_other_one(own, monkeypatch, variable):
    """The message names the variable."""
    monkeypatch.setenv(variable, "/nonexistent")
    with pytest.raises(CompilerMissing, match=f"{variable} names '/nonexistent', which is none"):
        find_compiler()
