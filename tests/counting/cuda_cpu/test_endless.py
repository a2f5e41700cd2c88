"""A kernel that loops for ever, in the drawn check of a project: told soon, small, and without hypothesis' warning."""

from __future__ import annotations

import pytest

from pytest_roofline import cache
from pytest_roofline.counting.cuda_cpu import session
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler

ENDLESS = """
__global__ void endless(const float* x, float* y, long long n) {
    if (n > 2)
        while (true) {}
    if (threadIdx.x < n) y[threadIdx.x] = -x[threadIdx.x];
}
"""
LAUNCHER = """
from pathlib import Path
from pytest_roofline.launch import Source
SOURCE = Source(Path(__file__).with_name("endless.cu"))

def negate(x, y):
    rows = y.new_empty(y.numel())
    SOURCE.function("endless")((1,), (128,), (x.contiguous().view(-1), rows, x.numel()))
    y.copy_(rows.view(y.shape))
"""
CACHE = cache.folder()  # before pytester changes the home folder: nothing need be compiled anew
KERNEL = 'Kernel("cuda", "plain", "{module}:negate", ("f32",), best=True),'


@pytest.fixture
def endless(project, pytester, monkeypatch):
    """A project of that kernel, whose threads have a second."""
    if find_compiler().family == "clang":
        pytest.skip("clang takes a loop without effects to end, and drops it")
    monkeypatch.setattr(session, "TIME_LIMIT", 1.0)
    monkeypatch.setenv(cache.ENVIRONMENT, str(CACHE))
    made = project(LAUNCHER, KERNEL)
    (pytester.path / "operations" / "endless.cu").write_text(ENDLESS, encoding="utf-8")
    return made


def test_drawn_check_of_an_endless_kernel_is_short(endless, monkeypatch):
    """Two launches have the whole limit, the first and the reported one, however many hypothesis asks for."""
    limits = []
    checking = session.Session.__init__

    def noted(self, *args, **settings):
        checking(self, *args, **settings)
        limits.append(self.time_limit)

    monkeypatch.setattr(session.Session, "__init__", noted)
    result = endless.runpytest("--roofline-on=cpu", "--roofline-profile=ci", "--correctness-only", "-k", "drawn")
    result.assert_outcomes(failed=1, deselected=6)
    result.stdout.fnmatch_lines(["*endless loop in endless*endless.cu:4: no end in sight after 1.* s"])
    for unwanted in ("*PLEASE REPORT*", "*add @seed*", "*no end in sight after 0.*"):
        result.stdout.no_fnmatch_line(unwanted)
    first = limits.index(0.05) - 1
    assert limits[first] == limits[-1] == 1.0
    assert set(limits[first + 1 : -1]) == {0.05}
    result.stdout.fnmatch_lines(["reproduce: pytest '--roofline-case=negate/cuda/plain/f32/*"])
