"""--roofline-against on a machine without a GPU: the counts of both versions."""

import shutil

import pytest

pytest.importorskip("torch")

from pytest_roofline.counting.cuda_cpu import CompilerMissing
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler

KERNEL = 'Kernel("cuda", "plain", "kernels:negate", ("f32",), best=True),'
LAUNCHER = """
from pathlib import Path
from pytest_roofline.launch import Source, ceil_div
SOURCE = Source(Path(__file__).with_name("negate.cu"))

def negate(x, y):
    rows, columns = x.shape
    if x.numel():
        SOURCE.function("negate")(
            (ceil_div(rows * columns, 256),), (256,),
            (x, y, rows, columns, x.stride(0), x.stride(1), y.stride(0), y.stride(1)))
"""
SOURCE = """extern "C" __global__ void negate(const float* x, float* y, int rows, int columns, long long x_row,
                                 long long x_column, long long y_row, long long y_column) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const int row = ROW, column = COLUMN;
  y[row * y_row + column * y_column] = -x[row * x_row + column * x_column];
}
"""
ALONG_ROWS = SOURCE.replace("ROW", "i / columns").replace("COLUMN", "i % columns")
DOWN_COLUMNS = SOURCE.replace("ROW", "i % rows").replace("COLUMN", "i / rows")


@pytest.fixture
def versions(project):
    """``versions(old, new)`` runs the gate on a project with the new source, against a copy with the old one."""
    try:
        find_compiler()
    except CompilerMissing as reason:
        pytest.skip(str(reason))
    pytester = project(kernels=KERNEL)
    (pytester.path / "kernels.py").write_text(LAUNCHER)

    def run(old, new, *arguments):
        root = pytester.path
        (root / "negate.cu").write_text(new)
        (root / "old").mkdir(exist_ok=True)
        shutil.copytree(root / "operations", root / "old" / "operations", dirs_exist_ok=True)
        (root / "old" / "kernels.py").write_text(LAUNCHER)
        (root / "old" / "negate.cu").write_text(old)
        return pytester.runpytest_subprocess(
            "--benchmark-only", "--roofline-on=cpu", "--roofline-against=old", "-k", "7x9", *arguments
        )

    run.pytester = pytester
    return run


def test_a_kernel_that_asks_for_more_sectors_fails(versions):
    """Nothing is stored: what is compared is the old source beside the new one, each counted here."""
    found = versions(ALONG_ROWS, DOWN_COLUMNS)
    assert found.ret == 1
    found.stdout.fnmatch_lines(["*negate/cuda/plain/f32/7x9: regression: *sectors*"])


def test_the_other_way_round_is_an_improvement(versions):
    """Old and new are not mixed up."""
    found = versions(DOWN_COLUMNS, ALONG_ROWS)
    assert found.ret == 0
    found.stdout.no_fnmatch_line("*regression*")


def test_the_same_source_counts_the_same(versions):
    """A comment changes nothing."""
    found = versions(ALONG_ROWS, "// negates\n" + ALONG_ROWS)
    assert found.ret == 0
    found.stdout.no_fnmatch_line("*regression*")
    found.stdout.no_fnmatch_line("*improvement*")


def test_a_case_that_the_old_version_lacks_is_new(versions):
    """It passes, and is no regression of anything."""
    path = versions.pytester.path / "old" / "operations"
    found = versions(ALONG_ROWS, ALONG_ROWS)
    (path / "negate.py").unlink()
    (path / "other.py").write_text("")
    again = versions.pytester.runpytest_subprocess(
        "--benchmark-only", "--roofline-on=cpu", "--roofline-against=old", "-k", "7x9"
    )
    assert (found.ret, again.ret) == (0, 0)


def test_an_old_kernel_that_does_not_build_says_so(versions):
    """The message names the old kernel, not the new one."""
    found = versions("this is no C++", ALONG_ROWS)
    assert found.ret == 1
    found.stdout.fnmatch_lines(["*the old kernel cannot be counted:*"])
