"""The table of compiled resources: what a driver says of each kernel beside what is compiled without one."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from benchmarks import compiled_resources
from pytest_roofline.discovery import discover

CUDA, TRITON = "sum sum.cu:total<float> threads=256", "sum _total(x:*fp32/16, n:i32) warps=4 stages=3"
FIGURES = {"registers": 32, "local": 0, "shared": 128, "code": "a"}


def test_equal_figures_are_counted_by_language():
    """Nothing differs, and both languages are told."""
    lines, different = compiled_resources.table({CUDA: FIGURES, TRITON: FIGURES}, {CUDA: FIGURES, TRITON: FIGURES})
    assert different == 0
    assert lines == [
        "2 kernels on both sides, of 2 there and 2 here",
        "  CUDA C++: 1 kernels, equal: registers 1, local 1, shared 1, code 1",
        "  Triton: 1 kernels, equal: registers 1, local 1, shared 1, code 1",
    ]


@pytest.mark.parametrize("figure", ["registers", "local", "shared"])
def test_one_figure_that_differs_is_shown(figure):
    """With both sides' figures, and it makes the table fail."""
    other = FIGURES | {figure: 7}
    lines, different = compiled_resources.table({CUDA: FIGURES}, {CUDA: other})
    assert different == 1
    assert lines[-3:] == [f"  {CUDA}", f"    there {FIGURES}", f"    here  {other}"]


def test_a_kernel_of_one_side_alone_is_named():
    """It is not compared, and not silently left out."""
    lines, different = compiled_resources.table({CUDA: FIGURES}, {TRITON: FIGURES})
    assert different == 0
    assert f"  there alone: {CUDA}" in lines
    assert f"  here alone: {TRITON}" in lines


def test_every_kernel_of_the_catalogue_is_walked(request):
    """Each counted case once, by kernel and dtype; of peers there is no code to look at."""
    groups = compiled_resources.wanted()
    counted = [str(case) for case in discover(request.config.rootpath, ["suite/operations"]).counted()]
    cases = [case for group in groups for case, _ in group]
    assert len(cases) == len(set(cases))
    assert set(cases) == {case for case in counted if case.split("/")[1] in ("cuda", "triton")}
    assert all(len({case.rpartition("/")[0] for case, _ in group}) == 1 for group in groups)


@pytest.mark.parametrize(("registers", "code"), [(32, 0), (33, 1)])
def test_the_exit_code_says_whether_all_are_equal(tmp_path, monkeypatch, capsys, registers, code):
    """And both sides' compilers and sources are printed."""
    report = tmp_path / "report.json"
    report.write_text(
        json.dumps({"arch": "sm_90", "compilers": ["nvrtc 13.0"], "sources": "b", "kernels": {CUDA: FIGURES}})
    )
    found = (CUDA, FIGURES | {"registers": registers}, "nvrtc 13.0")
    monkeypatch.setattr(compiled_resources, "compiled_here", lambda arch: iter([found]))
    assert compiled_resources.compare(report) == code
    told = capsys.readouterr().out
    assert "there: nvrtc 13.0; sources b" in told
    assert f"here:  nvrtc 13.0; sources {compiled_resources.sources()}" in told
