"""Kernels that hand data on, run in stages or mix kinds of memory: launches, right results, and their planted bugs.

``test_handovers.py`` checks them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from pytest_roofline.counting.cuda_cpu import FaultKind as K
from tests.counting.cuda_cpu.algorithm import Algorithm, Arrays, close, f32, integers, n, rng, zeros

HERE = Path(__file__).parent
HANDOVERS, STAGES, MIXTURES = (HERE / f"{name}.cu" for name in ("handovers", "stages", "mixtures"))
I32, I64, U32 = np.int32, np.int64, np.uint32
S_RACE, G_RACE, OOB, UB, UNINIT, COPY = (
    K.SHARED_RACE, K.GLOBAL_RACE, K.OUT_OF_BOUNDS, K.UNDEFINED_BEHAVIOUR, K.UNINITIALISED_READ, K.ASYNC_COPY,
)  # fmt: skip


def cheapest(w: Any) -> Any:
    """Of every path from the first corner to an element that goes right or down, the least sum."""
    sums = np.full((w.shape[0] + 1, w.shape[1] + 1), 1 << 20, I64)
    sums[0, 1] = 0
    for r, c in np.ndindex(w.shape):
        sums[r + 1, c + 1] = w[r, c] + min(sums[r, c + 1], sums[r + 1, c])
    return sums[1:, 1:]


def tree(before: Arrays, after: Arrays) -> None:
    """Every node's sum has been taken once: the nodes below ``v`` are ``2 v`` and ``2 v + 1``, up to 15."""
    assert after[4][0] == sum(range(1, 16))


def started(total: int) -> Arrays:
    value, ready = zeros(total, kind=I32), zeros(total, kind=I32)
    value[0] = ready[0] = 1
    return value, ready, np.ones(1, I32), zeros(1, kind=I32), zeros(1, kind=I32), n(total)


def longest_chain(a: Arrays) -> Any:
    return [np.bincount(((a[0].astype(np.uint64) * 2654435769 & 0xFFFFFFFF) >> 27).astype(int)).max()]


def three_roles(a: Arrays) -> Any:
    x = a[0].reshape(-1, 32, 4)
    back = x[:, ::-1]
    parts = [x[..., 0] + x[..., 1], x[..., 2] * x[..., 3], back[..., 0] + back[..., 1], back[..., 2] * back[..., 3]]
    return np.stack(parts, -1).reshape(-1, 4)


def elected(before: Arrays, after: Arrays) -> None:
    x, counts, order = before[0], after[1], after[2]
    threes = np.flatnonzero(x % 4 == 3)
    assert sorted(order[: len(threes)]) == threes.tolist()
    assert counts.tolist() == [len(threes), *((x % 4 == k).sum() for k in (1, 0, 2))]


def kept(before: Arrays, after: Arrays) -> None:
    x, out, count = before[0], after[1], after[2][0]
    np.testing.assert_array_equal(np.sort(out[:count]), np.sort(x[x > 0]))


def summed(before: Arrays, after: Arrays) -> None:
    np.testing.assert_allclose(after[2], [before[0].sum(dtype=float)], rtol=1e-5)
    assert after[3][0] == 0


def automaton(a: Arrays) -> Any:
    following = [[0, 1, 2, 0], [1, 1, 0, 2], [2, 0, 1, 1]]
    cost = np.zeros(64)
    for t in range(64):
        state = 0
        for symbol in a[0][t::64] % 4:
            state = following[state][symbol]
            cost[t] += (state + 1) * [1, -1, 2, -2, 3, -3][state + symbol]
    return cost


def half_softmax(before: Arrays, after: Arrays) -> None:
    rows = torch.cat([before[0], torch.zeros(1).half()]).view(3, 70)[:, :69].double()
    np.testing.assert_allclose(after[1].double(), torch.softmax(rows, 1), rtol=2e-2, atol=1e-3)


def ranked(before: Arrays, after: Arrays) -> None:
    np.testing.assert_array_equal(after[1], np.argsort(before[0], kind="stable"))
    np.testing.assert_array_equal(after[2], np.bincount(before[0] % 64, minlength=64))


def mixed(before: Arrays, after: Arrays) -> None:
    v = before[0] * 2.0 ** (np.arange(90) % 8 - 1) + 1
    np.testing.assert_allclose(after[1], v[::-1], rtol=1e-6)
    stats = after[2].view(np.float32)
    np.testing.assert_allclose(stats[:4], [v[k::4].sum() for k in range(4)], rtol=1e-5)
    assert stats.view(I32)[4] == 90


def walls(rows: int, columns: int) -> Any:
    """A third of the elements, but never the last."""
    wall = (f32(rows, columns) < 0.35).astype(np.uint8)
    wall[-1, -1] = 0
    return wall


def spread(a: Arrays) -> Any:
    """The largest index that can be reached without crossing a wall; -1 in one."""
    label = np.where(a[0] > 0, -1, np.arange(a[0].size).reshape(a[0].shape))
    for _ in range(a[0].size):
        padded = np.pad(label, 1, constant_values=-1)
        around = [padded[1:-1, :-2], padded[1:-1, 2:], padded[:-2, 1:-1], padded[2:, 1:-1]]
        label = np.where(label < 0, -1, np.maximum(label, np.max(around, 0)))
    return label


CASES = [
    Algorithm(
        HANDOVERS, "wavefront", (64,),
        lambda: (integers(9, 5, 128), zeros(5, 128, kind=I32), zeros(5, kind=I32), n(5), n(128)),
        close(1, lambda a: cheapest(a[0])), ({G_RACE}, {G_RACE}, {S_RACE}), grid=(5,), unset=(1,),
    ),
    Algorithm(
        HANDOVERS, "work_queue", (64,), lambda: (f32(500), zeros(500), zeros(1, kind=U32), n(8), n(500)),
        close(1, lambda a: 2 * a[0]), ({S_RACE, UNINIT}, {OOB}), grid=(3,), unset=(1,),
    ),
    Algorithm(HANDOVERS, "task_stack", (32,), lambda: started(15), tree, ({G_RACE}, {G_RACE}), grid=(4,)),
    Algorithm(
        HANDOVERS, "slot_ring", (128,), lambda: (integers(9, 13, 32), zeros(3, 32, kind=I32), n(13)),
        close(1, lambda a: [a[0][k::3].sum(0)[::-1] for k in range(3)]), ({S_RACE}, {UNINIT, S_RACE}, {S_RACE}),
        unset=(1,),
    ),
    Algorithm(
        HANDOVERS, "scan64", (128,),
        lambda: (integers(99, 1200), zeros(1200, kind=I64), zeros(10, kind=np.uint64), zeros(1, kind=I32), n(1200)),
        close(1, lambda a: a[0].cumsum()), ({K.INACTIVE_LANE, K.WRONG_MASK}, {S_RACE, UNINIT}), grid=(10,),
    ),
    Algorithm(
        HANDOVERS, "chains", (96,),
        lambda: (
            rng().integers(0, 2**31, 300).astype(U32), zeros(32, kind=U32), zeros(300, kind=U32), zeros(1, kind=U32),
            zeros(1, kind=U32), n(300), n(32),
        ),
        close(3, longest_chain), ({G_RACE}, {G_RACE}, {OOB}), grid=(4,), unset=(2,),
    ),
    Algorithm(
        HANDOVERS, "thread_flags", (40,),
        lambda: (integers(9, 4, 40), zeros(4, 40, kind=I32), zeros(3, 4, 40, kind=I32), zeros(4, 40, kind=I32), n(3)),
        close(1, lambda a: 3 * (a[0].cumsum(0) - a[0])),
        ({G_RACE}, {G_RACE}), grid=(4,), unset=(2,),
    ),
    Algorithm(
        HANDOVERS, "ping_pong", (64,), lambda: (integers(99, 20), zeros(20, kind=I32), n(20)),
        close(1, lambda a: a[0]), ({S_RACE}, {S_RACE}), unset=(1,),
    ),
    Algorithm(
        STAGES, "two_rings", (128,), lambda: (f32(2, 7, 64, 4), zeros(2, 64, 4), n(7)),
        close(1, lambda a: a[0].sum(1)[:, ::-1]), ({COPY}, {UNINIT, S_RACE}, {COPY, S_RACE}), unset=(1,),
    ),
    Algorithm(
        STAGES, "three_roles", (128,), lambda: (f32(7 * 32, 4), zeros(7 * 32, 4), n(7)),
        close(1, three_roles), ({K.DEADLOCK}, {COPY}, {K.DEADLOCK}), unset=(1,),
    ),
    Algorithm(
        STAGES, "gemm_tiles<float, 32, 32, 8>", (64,),
        lambda: (
            f32(2, 37, 19), f32(19, 29), zeros(2, 37, 29), n(37), n(29), n(19), I64(37 * 19), I64(37 * 29),
        ),
        close(2, lambda a: a[0] @ a[1], 1e-4), ({OOB}, {S_RACE}, {G_RACE, OOB}), grid=(1, 2, 2), unset=(2,),
    ),
    Algorithm(
        STAGES, "tile_scan", (128,), lambda: (integers(9, 19, 16), zeros(19, 16, kind=I32), n(19)),
        close(1, lambda a: a[0].cumsum(1)[:, ::-1]), ({UNINIT, S_RACE}, {K.DIVERGENT_BARRIER}), grid=(3,), unset=(1,),
    ),
    Algorithm(
        STAGES, "by_key", (128,), lambda: (integers(7, 333), integers(9, 333), zeros(7, kind=I32), n(333)),
        close(2, lambda a: np.bincount(a[0], a[1], 7)), ({K.WRONG_MASK}, {G_RACE}), grid=(3,),
    ),
    Algorithm(
        STAGES, "elections", (128,), lambda: (integers(8, 250), zeros(4, kind=I32), zeros(250, kind=I32), n(250)),
        elected, ({G_RACE}, {OOB}), grid=(2,),
    ),
    Algorithm(
        STAGES, "keep_positive", (128,), lambda: (f32(400) - 0.5, zeros(400), zeros(1, kind=I32), n(400)),
        kept, ({UNINIT}, {UNINIT, S_RACE}), grid=(4,), unset=(1,),
    ),
    Algorithm(
        STAGES, "sum_and_reset", (128,), lambda: (f32(1000), zeros(5), zeros(1), zeros(1, kind=U32), n(1000)),
        summed, ({OOB},), grid=(5,), unset=(1, 2),
    ),
    Algorithm(
        MIXTURES, "carved", (64,),
        lambda: (f32(131), zeros(11, kind=np.float64), zeros(11, kind=np.uint8), n(131), n(11)),
        close(1, lambda a: [a[0][k::11].sum(dtype=float) for k in range(11)]), ({K.MISALIGNED}, {S_RACE}, {OOB}),
        shared=528 + 11 * 9, unset=(1, 2),
    ),
    Algorithm(
        MIXTURES, "automaton", (64,), lambda: (rng().integers(0, 256, 300).astype(np.uint8), zeros(64), n(300)),
        close(1, automaton, 1e-5), ({UB}, {UB}), unset=(1,),
    ),
    Algorithm(
        MIXTURES, "half_rows", (32,),
        lambda: (torch.tensor(4 * f32(209)).half(), torch.zeros(3, 69).bfloat16(), n(69)),
        half_softmax, ({K.MISALIGNED}, {OOB}, {K.UNINITIALISED_REGISTER}), grid=(3,), unset=(1,),
    ),
    Algorithm(
        MIXTURES, "reused_room", (128,),
        lambda: (
            rng().integers(0, 256, 100).astype(np.uint8), zeros(100, kind=np.uint16), zeros(64, kind=U32), n(100),
        ),
        ranked, ({UB, OOB}, {S_RACE}, {OOB}), unset=(1, 2),
    ),
    Algorithm(
        MIXTURES, "mixed<64>", (64,), lambda: (f32(90), zeros(90), np.zeros(1, np.dtype("V20")), n(90)),
        mixed, ({UNINIT}, {UB, OOB}, {OOB}), shared=360, unset=(1,),
    ),
    Algorithm(
        MIXTURES, "spread_labels", (64,),
        lambda: (walls(9, 13), zeros(9, 13, kind=I32), n(13), n(9)),
        close(1, spread), ({S_RACE, UNINIT}, {S_RACE, UNINIT}), shared=9 * 13 * 8, unset=(1,),
    ),
]  # fmt: skip
