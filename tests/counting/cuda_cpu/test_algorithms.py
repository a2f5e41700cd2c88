"""Algorithms as people write them: correct ones are clean and right in every order of threads, planted bugs are found.

A bug ``n`` is compiled in with ``-DBUG=n``; the finding must point at a line marked ``// BUG n``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import CudaFault, FaultKind
from tests.counting.cuda_cpu.algorithm import (
    ORDERS,
    Algorithm,
    Arrays,
    close,
    f32,
    integers,
    n,
    planted,
    rng,
    softmax,
    sparse,
    spmv,
    zeros,
)

HERE = Path(__file__).parent
BLOCK, GRID, PIPELINE = (HERE / f"algorithms_{name}.cu" for name in ("block", "grid", "pipeline"))
K = FaultKind
RACE = {K.SHARED_RACE, K.GLOBAL_RACE, K.UNINITIALISED_READ}


def stencil(x: Any) -> Any:
    y = x.copy()
    y[1:-1, 1:-1] = 0.25 * (x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1])
    return y


def sweeps(x: Any, count: int) -> Any:
    x = x.astype(np.float64)
    for _ in range(count):
        x = np.concatenate([x[:1], 0.5 * (x[:-2] + x[2:]), x[-1:]])
    return x


def moments(x: Any) -> Any:
    return np.stack([x.mean(1, dtype=np.float64), x.var(1, dtype=np.float64)], 1)


def positive_definite() -> Any:
    a = f32(32, 32).astype(np.float64)
    return (a @ a.T + 32 * np.eye(32)).astype(np.float32)


def attention(q: Any, k: Any, v: Any) -> Any:
    score = k @ q
    weight = np.exp(score - score.max())
    return weight @ v / weight.sum()


def compacted(before: Arrays, after: Arrays) -> None:
    wanted = np.sort(before[0][before[0] > 0])
    assert after[2][0] == len(wanted)
    np.testing.assert_array_equal(np.sort(after[1][: len(wanted)]), wanted)


def entries(count: int) -> tuple[Any, Any]:
    return rng().choice(10000, count, replace=False).astype(np.int32), integers(99, count)


def inserted(before: Arrays, after: Arrays) -> None:
    found = dict(zip(after[2][after[2] >= 0].tolist(), after[3][after[2] >= 0].tolist(), strict=True))
    assert found == dict(zip(before[0].tolist(), before[1].tolist(), strict=True))


def explored(before: Arrays, after: Arrays) -> None:
    starts, edges, level, frontier = before[:4]
    seen = {int(e) for f in frontier for e in edges[starts[f] : starts[f + 1]] if level[e] == -1}
    assert set(after[4][: after[5][0]].tolist()) == seen
    assert after[5][0] == len(seen)


def graph() -> Arrays:
    starts = np.arange(0, 65 * 4, 4, dtype=np.int32)
    level = np.full(64, -1, np.int32)
    level[:8] = 0
    frontier = np.arange(8, dtype=np.int32)
    return starts, integers(64, 256), level, frontier, zeros(64, kind=np.int32), zeros(1, kind=np.int32), n(8), n(1)


def convolved(x: Any) -> Any:
    weights, padded = np.array([1, 2, 3, 4, 5, 4, 3, 2, 1], np.float64), np.pad(x.astype(np.float64), 4, "edge")
    return [padded[i : i + 9] @ weights for i in range(len(x))]


def shifted(x: Any, by: Any) -> Any:
    following = np.concatenate([x[1:], [0]]).astype(np.uint64)
    return ((((x.astype(np.uint64) << np.uint64(32)) | following) << by.astype(np.uint64)) >> np.uint64(32)).astype(
        np.uint32
    )


I32 = np.int32
ALGORITHMS = [
    Algorithm(
        BLOCK, "scan_doubling", (256,), lambda: (integers(9, 200), zeros(200, kind=I32), n(200)),
        close(1, lambda a: a[0].cumsum()), ({K.SHARED_RACE},),
    ),
    Algorithm(
        BLOCK, "scan_sweeps", (256,), lambda: (integers(9, 512), zeros(512, kind=I32)),
        lambda before, after: np.testing.assert_array_equal(
            after[1][1::2], (before[0].cumsum() - before[0])[1::2]
        ),
        ({K.OUT_OF_BOUNDS, K.UNDEFINED_BEHAVIOUR, K.SHARED_RACE}, {K.SHARED_RACE}),
    ),
    Algorithm(
        BLOCK, "bitonic_sort", (256,), lambda: (f32(256),), close(0, lambda a: np.sort(a[0])), ({K.SHARED_RACE},),
    ),
    Algorithm(
        BLOCK, "stencil_tile", (16, 16), lambda: (f32(40, 50), zeros(40, 50), n(40), n(50)),
        close(1, lambda a: stencil(a[0])), ({K.UNINITIALISED_READ}, {K.UNINITIALISED_READ, K.UNDEFINED_BEHAVIOUR}),
        grid=(4, 3),
    ),
    Algorithm(
        BLOCK, "jacobi_sweeps", (128,), lambda: (f32(130), zeros(130), n(5)),
        lambda before, after: np.testing.assert_allclose(after[1][1:-1], sweeps(before[0], 5)[1:-1], rtol=1e-5),
        ({K.SHARED_RACE},),
    ),
    Algorithm(
        BLOCK, "row_moments", (256,), lambda: (f32(3, 1000), zeros(3, 2), n(1000)), close(1, lambda a: moments(a[0])),
        ({K.SHARED_RACE}, {K.UNDEFINED_BEHAVIOUR, K.OUT_OF_BOUNDS}), grid=(3,),
    ),
    Algorithm(
        BLOCK, "cholesky_warp", (32,), lambda: (positive_definite(), zeros(32, 32)),
        close(1, lambda a: np.linalg.cholesky(a[0].astype(np.float64))), ({K.SHARED_RACE},),
    ),
    Algorithm(
        BLOCK, "attention_row", (128,), lambda: (f32(32), f32(20, 32), f32(20, 32), zeros(32), n(20)),
        close(3, lambda a: attention(a[0], a[1], a[2])), ({K.SHARED_RACE}, RACE), shared=20 * 65 * 4,
    ),
    Algorithm(
        GRID, "histogram_private", (64,), lambda: (integers(16, 500), zeros(16, kind=np.uint32), n(500), n(16)),
        close(1, lambda a: np.bincount(a[0], minlength=16)), ({K.OUT_OF_BOUNDS}, {K.SHARED_RACE}),
        grid=(3,), shared=64,
    ),
    Algorithm(
        GRID, "scan_look_back", (128,),
        lambda: (integers(9, 1000), zeros(1000, kind=I32), zeros(24, kind=I32), n(1000)),
        close(1, lambda a: a[0].cumsum()), ({K.GLOBAL_RACE}, RACE), grid=(8,),
    ),
    Algorithm(
        GRID, "mean_last_block", (128,), lambda: (f32(3000), zeros(5), zeros(1, kind=np.uint32), zeros(1), n(3000)),
        close(3, lambda a: [a[0].mean(dtype=np.float64)]), ({K.GLOBAL_RACE},), grid=(5,),
    ),
    Algorithm(
        GRID, "compact_positive", (64,), lambda: (f32(200) - 0.5, zeros(200), zeros(1, kind=I32), n(200)), compacted,
        ({K.OUT_OF_BOUNDS, K.UNINITIALISED_REGISTER, K.INVALID_POINTER},), grid=(4,),
    ),
    Algorithm(
        GRID, "spmv_warp", (64,), lambda: (*sparse(7, 50), f32(50), zeros(7), n(7)),
        close(4, lambda a: spmv(*a[:4])), ({K.OUT_OF_BOUNDS}, {K.GLOBAL_RACE}), grid=(4,),
    ),
    Algorithm(
        GRID, "transpose_in_place", (16, 16), lambda: (f32(48, 48), n(48)), close(0, lambda a: a[0].T),
        ({K.GLOBAL_RACE},), grid=(3, 3),
    ),
    Algorithm(
        GRID, "hash_insert", (32,),
        lambda: (*entries(120), np.full(128, -1, I32), zeros(128, kind=I32), n(120), n(128)),
        inserted, ({K.GLOBAL_RACE}, {K.OUT_OF_BOUNDS}), grid=(4,),
    ),
    Algorithm(GRID, "bfs_level", (32,), graph, explored, ({K.GLOBAL_RACE},)),
    Algorithm(
        GRID, "axpy_unrolled", (64,), lambda: (f32(1000), f32(1000), np.float32(2), n(1000)),
        close(1, lambda a: a[1] + 2 * a[0]), ({K.OUT_OF_BOUNDS},), grid=(2,),
    ),
    Algorithm(
        GRID, "shift_rows", (64,),
        lambda: (rng().integers(0, 2**32, 90, np.uint32), zeros(90, kind=np.uint32), integers(4, 90), n(90)),
        close(1, lambda a: shifted(a[0], a[2])), ({K.UNDEFINED_BEHAVIOUR},), grid=(2,),
    ),
    Algorithm(
        GRID, "convolve_constant", (64,), lambda: (f32(150), zeros(150), n(150), n(4)),
        close(1, lambda a: convolved(a[0])), ({K.OUT_OF_BOUNDS}, {K.OUT_OF_BOUNDS, K.UNDEFINED_BEHAVIOUR}), grid=(3,),
    ),
    Algorithm(
        PIPELINE, "producer_consumer", (128,), lambda: (f32(5 * 96), zeros(5 * 96), n(5)),
        close(1, lambda a: 2 * a[0].reshape(5, 96)[:, ::-1].ravel()), (RACE, RACE),
    ),
    Algorithm(
        PIPELINE, "gemm_two_stages", (64,), lambda: (f32(64, 40), f32(40, 64), zeros(64, 64), n(64), n(40)),
        close(2, lambda a: a[0] @ a[1]), ({K.ASYNC_COPY}, {K.SHARED_RACE, K.ASYNC_COPY}), grid=(2, 2),
    ),
    Algorithm(
        PIPELINE, "softmax_online", (64,), lambda: (f32(5, 20), zeros(5, 20), n(5), n(20)),
        close(1, lambda a: softmax(a[0])), ({K.DEADLOCK, K.INACTIVE_LANE}, {K.OUT_OF_BOUNDS, K.GLOBAL_RACE}), grid=(3,),
    ),
    Algorithm(
        PIPELINE, "argmax", (96,), lambda: (f32(500), zeros(1, kind=I32), n(500)),
        close(1, lambda a: [a[0].argmax()]), ({K.UNINITIALISED_READ}, {K.WRONG_MASK, K.INACTIVE_LANE}),
    ),
    Algorithm(
        PIPELINE, "tile_rows", (64,), lambda: (f32(64), zeros(8)),
        close(1, lambda a: a[0].reshape(8, 8).sum(0)), (RACE,),
    ),
    Algorithm(
        PIPELINE, "grid_wide", (64,), lambda: (f32(128),), close(0, lambda a: a[0] + 1), ({K.UNSUPPORTED},), grid=(2,),
    ),
]  # fmt: skip


def marked(path: Path, bug: int) -> set[int]:
    """The lines of a file that carry a bug's mark."""
    return {k for k, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if f"// BUG {bug}" in text}


def kernel_lines(path: Path, kernel: str) -> range:
    """The lines of a kernel."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next(k for k, text in enumerate(lines) if f" {kernel}(" in text)
    return range(start + 1, next(k for k in range(start, len(lines)) if lines[k] == "}") + 1)


@pytest.mark.parametrize("case", ALGORITHMS, ids=lambda case: case.kernel)
def test_correct_algorithm_is_clean_and_right(case: Algorithm) -> None:
    """No finding in any order of threads, and the result agrees with NumPy."""
    for order in ORDERS:
        case.assert_right(order)


@pytest.mark.parametrize(("case", "bug"), planted(ALGORITHMS))
def test_planted_bug_is_found(case: Algorithm, bug: int) -> None:
    """The first finding has an expected kind and points at a line that carries the bug's number."""
    with pytest.raises(CudaFault) as caught:
        case.launch(bug)
    finding = caught.value.findings[0]
    assert finding.kind in case.bugs[bug - 1], str(finding)
    lines = marked(case.path, bug) & set(kernel_lines(case.path, case.kernel))
    assert {finding.line, finding.other_line} & lines, str(finding)
