"""A project of small kernels, each before and after an edit: planted regressions, and refactorings that change nothing.

``EDITS`` maps an operation to its language and its kernel's text before and after. All compute a copy or ``max(x + 1,
0)`` of a vector, or the transpose of a square matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """One kernel: what it computes, how it is launched, and its text before and after."""

    backend: str
    reference: str
    shape: str
    launch: str
    before: str
    after: str
    launch_after: str = ""
    timed: str = ""  # the counted shape where there is no other


TILE = """
extern "C" __global__ void kernel(const float* x, float* y, int n) {
    __shared__ float tile[32][PADDED];
    int row = blockIdx.y * 32, column = blockIdx.x * 32;
    tile[threadIdx.y][threadIdx.x] = x[(row + threadIdx.y) * n + column + threadIdx.x];
    __syncthreads();
    y[(column + threadIdx.y) * n + row + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
NAIVE = """
extern "C" __global__ void kernel(const float* x, float* y, int n) {
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    y[column * n + row] = x[row * n + column];
}
"""
TRANSPOSE = "KERNEL((n // 32, n // 32), (32, 32), (x, y, n))"

ONE_BY_ONE = """
extern "C" __global__ void kernel(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < n; i += 256) y[i] = x[i];
}
"""
ALL_AT_ONCE = """
extern "C" __global__ void kernel(const float* x, float* y, int n) {
    float kept[96];
    #pragma unroll
    for (int i = 0; i < 96; i++) kept[i] = threadIdx.x + 256 * i < n ? x[threadIdx.x + 256 * i] : 0;
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 96; i++) if (threadIdx.x + 256 * i < n) y[threadIdx.x + 256 * i] = kept[i];
}
"""
PACKS = """
extern "C" __global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (4 * i < n) ((float4*)y)[i] = ((const float4*)x)[i];
}
"""
SCALARS = """
extern "C" __global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (4 * i < n) {
        float a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3];
        ((float4*)y)[i] = make_float4(a, b, c, d);
    }
}
"""
FUSED = """
extern "C" __global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i] + 1, 0);
}
"""
PAIR = """
extern "C" __global__ void add(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}
extern "C" __global__ void relu(float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = fmaxf(y[i], 0);
}
"""
REWRITTEN = """
// The same copy with other words: a while loop, other names, other lines.

extern "C" __global__ void kernel(const float* from, float* to, int count) {
    int at = threadIdx.x;

    while (at < count) {
        float value = from[at];
        to[at] = value;
        at += 256;
    }
}
"""
HINTED = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, pitch, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    start = tl.multiple_of(tl.program_id(0) * pitch, 4)
    value = tl.load(x + start + offsets)
    tl.store(y + start + offsets, value)
"""
UNHINTED = HINTED.replace("tl.multiple_of(tl.program_id(0) * pitch, 4)", "tl.program_id(0) * pitch")
MASKED = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, pitch, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)
"""
RENAMED = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, pitch, BLOCK: tl.constexpr):
    # One block of BLOCK elements.
    first = tl.program_id(0) * BLOCK
    at = first + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside)
    tl.store(y + at, value, mask=inside)
"""

TILES = """
template <int KEPT>
__global__ void kernel(const float* x, float* y, int n) {
    float kept[KEPT];
    int first = blockIdx.x * 256 * KEPT + threadIdx.x;
    #pragma unroll
    for (int i = 0; i < KEPT; i++) kept[i] = first + 256 * i < n ? x[first + 256 * i] : 0;
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < KEPT; i++) if (first + 256 * i < n) y[first + 256 * i] = kept[i];
}
"""
STAGED = """
extern "C" __global__ void kernel(const float* x, float* y, int n) {
    extern __shared__ float stage[];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) stage[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) y[i] = stage[threadIdx.x];
}
"""
TILED = "kept = LARGE if n > 4096 else 1; "
TILED += "SOURCE.function(f'kernel<{kept}>')((-(-n // (256 * kept)),), (256,), (x, y, n))"
SHARED = "KERNEL((-(-n // 256),), (256,), (x, y, n), LARGE << 10 if n > 4096 else 1 << 10)"
OTHER = PAIR.replace("void add", "void kernel").replace("x[i] + 1", "x[i]")

FLAT = "KERNEL((-(-n // 1024),), (256,), (x, y, n))"

EDITS = {
    "uncoalesced_store": Edit("cuda", "x.T", "64x64", TRANSPOSE, TILE.replace("PADDED", "33"), NAIVE),
    "removed_padding": Edit(
        "cuda", "x.T", "64x64", TRANSPOSE, TILE.replace("PADDED", "33"), TILE.replace("PADDED", "32")
    ),
    "register_blow_up": Edit("cuda", "x", "1000", "KERNEL((1,), (256,), (x, y, n))", ONE_BY_ONE, ALL_AT_ONCE),
    "scalarised_loads": Edit("cuda", "x", "1024", FLAT, PACKS, SCALARS),
    "missing_fusion": Edit(
        "cuda",
        "(x + 1).relu()",
        "1000",
        "KERNEL((4,), (256,), (x, y, n))",
        FUSED,
        PAIR,
        "(SOURCE.function('add')((4,), (256,), (x, y, n)), SOURCE.function('relu')((4,), (256,), (y, n)))",
    ),
    "lost_hint": Edit("triton", "x", "1024", "KERNEL[(1,)](x, y, n, 1004, BLOCK=1024)", HINTED, UNHINTED),
    "large_tile": Edit(
        "cuda", "x", "1000", TILED.replace("LARGE", "8"), TILES, TILES, TILED.replace("LARGE", "96"), "1048576"
    ),
    "large_stage": Edit(
        "cuda", "x", "1000", SHARED.replace("LARGE", "8"), STAGED, STAGED, SHARED.replace("LARGE", "164"), "1048576"
    ),
    "rewritten": Edit("cuda", "x", "1000", "KERNEL((1,), (256,), (x, y, n))", ONE_BY_ONE, REWRITTEN),
    "renamed": Edit("triton", "x", "1000", "KERNEL[(1,)](x, y, n, 1004, BLOCK=1024)", MASKED, RENAMED),
}

NEVER_COUNTED = {
    "second_pass": Edit(
        "cuda",
        "x",
        "1000",
        "KERNEL((4,), (256,), (x, y, n)); n > 4096 and SOURCE.function('relu')((4,), (256,), (y, n))",
        OTHER,
        OTHER,
        timed="1048576",
    )
}
"""A project whose second kernel only large shapes launch."""

OPERATION = """
from pytest_roofline.contract import Argument, Bound, Kernel, Operation, Role, Shapes, Tolerance, Traffic, Work
from pytest_roofline.shapes import vectors

OPERATION = Operation(
    name="{name}",
    summary="a planted edit",
    arguments=(Argument("x", Role.IN, lambda dims: dims), Argument("y", Role.OUT, lambda dims: dims)),
    reference=lambda x: {{"y": {reference}}},
    work=lambda shape, dtype: Work({{}}, Traffic(4 * shape.size, 4 * shape.size)),
    tolerance=Tolerance(lambda computed: {{"y": Bound(computed.outputs["y"].abs() * 1e-6)}}, "roundings"),
    shapes=Shapes(lambda tile: vectors(*tile), ("{timed}",), ("{timed}",), ("{shape}",)),
    kernels=(Kernel("{backend}", "edited", "kernels.{name}:launch", ("f32",)),),
)
"""
CUDA_LAUNCHER = """
from pathlib import Path
from pytest_roofline.launch import Source

SOURCE = Source(Path(__file__).with_suffix(".cu"))
KERNEL = SOURCE.function("kernel")


def launch(x, y):
    n = x.shape[0]
    {launch}
"""
TRITON_LAUNCHER = """

KERNEL = kernel


def launch(x, y):
    n = x.shape[0]
    {launch}
"""


def write(root: Path, edits: Mapping[str, Edit] = EDITS, *, after: bool) -> None:
    """The whole project, before or after the edits."""
    for folder in ("operations", "kernels"):
        (root / folder).mkdir(exist_ok=True)
        (root / folder / "__init__.py").write_text("")
    (root / "pytest.ini").write_text("[pytest]\nroofline_operations = operations\n")
    (root / "test_gate.py").write_text(
        "import pytest\n\n@pytest.mark.roofline('timed')\n"
        "def test_benchmark(roofline_case, roofline_benchmark):\n    roofline_benchmark(roofline_case)\n"
    )
    for name, edit in edits.items():
        timed = edit.timed or edit.shape
        operation = OPERATION.format(
            name=name, reference=edit.reference, shape=edit.shape, timed=timed, backend=edit.backend
        )
        (root / "operations" / f"{name}.py").write_text(operation)
        text = edit.after if after else edit.before
        launch = (edit.launch_after if after else "") or edit.launch
        if edit.backend == "cuda":
            (root / "kernels" / f"{name}.cu").write_text(text)
            (root / "kernels" / f"{name}.py").write_text(CUDA_LAUNCHER.format(launch=launch))
        else:
            (root / "kernels" / f"{name}.py").write_text(text + TRITON_LAUNCHER.format(launch=launch))
