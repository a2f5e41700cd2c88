"""Correct kernels run clean, compute what a plain reference computes, in every order of threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import CudaFault, FaultKind, checking, load
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler

HERE = Path(__file__).parent
CORRECT, BASICS = load(HERE / "correct.cu"), load(HERE / "basics.cu")
RNG = np.random.default_rng(7)

ORDERS = pytest.mark.parametrize("order", ["forward", "reverse", "random"])


def run(name: str, grid: Any, block: Any, args: Any, shared: int = 0, order: str = "forward") -> None:
    with checking("check", order=order, seed=3):
        CORRECT.function(name)(grid, block, args, shared)


def uniform(*shape: int) -> Any:
    return RNG.random(shape, dtype=np.float32)


@ORDERS
def test_last_block_reduction(order: str) -> None:
    """A ticket behind a fence orders the partial sums of all blocks before the last block's reads."""
    a, out = uniform(5000), np.zeros(1, np.float32)
    run("last_block", (8,), (256,), (a, uniform(8), np.zeros(1, np.uint32), out, np.int32(5000)), order=order)
    np.testing.assert_allclose(out[0], a.sum(dtype=np.float64), rtol=1e-5)


def test_fences_of_all_threads_before_the_barrier() -> None:
    """Stores that every thread has fenced before a barrier are published by one thread's atomic after it."""
    a, out = uniform(256), np.zeros(1, np.float32)
    run("fence_by_all", (4,), (64,), (a, uniform(256), np.zeros(1, np.uint32), out))
    np.testing.assert_allclose(out[0], a.sum(dtype=np.float64), rtol=1e-5)


def test_decoupled_look_back() -> None:
    """A fenced volatile flag orders the data of the block before."""
    data = np.zeros(8, np.int32)
    run("look_back", (8,), (32,), (np.zeros(8, np.int32), data))
    np.testing.assert_array_equal(data, np.arange(1, 9))


def test_volatile_values_with_fences() -> None:
    """Volatile stores and loads of different blocks that fences order."""
    out = np.zeros(64, np.int32)
    run("volatile_with_fences", (2,), (64,), (np.zeros(64, np.int32), np.zeros(1, np.int32), out))
    np.testing.assert_array_equal(out, np.arange(64)[::-1])


def test_variables_of_the_module() -> None:
    """``__device__`` variables keep their values and are counted as global memory."""
    a, out = np.arange(8, dtype=np.float32), np.zeros(1, np.float32)
    with checking() as session:
        for _ in range(2):
            CORRECT.function("last_block_of_module")((8,), (32,), (a, out))
            assert out[0] == 28
    record = session.launches[1]
    assert record.total("global store") == 8 + 1
    assert record.total("global load") == 8 + 8
    assert record.total("global atomic") == 8


def test_aligned_structs_move_whole() -> None:
    """A struct aligned to its 16 bytes is loaded and stored by one access of a warp, 16 sectors."""
    if find_compiler().family == "clang":
        pytest.skip("clang moves the members of such a struct one by one")
    x, y = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    with checking() as session:
        CORRECT.function("reverse_structs")((1,), (32,), (x, y))
    np.testing.assert_array_equal(y.reshape(-1, 4), x.reshape(-1, 4)[:, ::-1])
    moved = [(line.kind, line.size, line.requests, line.sectors) for line in session.launches[0].lines]
    assert moved == [("global load", 16, 1, 16), ("global store", 16, 1, 16)]


@ORDERS
def test_hand_over_between_warps(order: str) -> None:
    """A flag in shared memory, set behind a block fence, orders producer and consumer warps."""
    b = np.zeros(1, np.float32)
    run("hand_over", (1,), (64,), (np.full(1, 3, np.float32), b), order=order)
    assert b[0] == 6


def test_spin_lock() -> None:
    """A lock with fences protects a plain update by several blocks."""
    b = np.zeros(1, np.float32)
    run("spin_lock", (5,), (32,), (np.zeros(1, np.int32), b))
    assert b[0] == 5


@ORDERS
def test_syncwarp_of_half_warps(order: str) -> None:
    """Lanes of a partial mask are ordered by its __syncwarp."""
    a, b = uniform(64), np.zeros(4, np.float32)
    run("syncwarp_parts", (1,), (64,), (a, b), order=order)
    np.testing.assert_allclose(b, a.reshape(4, 16).sum(1), rtol=1e-5)


def test_neighbouring_halves_and_bytes_do_not_race() -> None:
    """Threads that write different bytes of one word do not conflict."""
    a, b = uniform(64), np.zeros(64, np.float16)
    run("half_neighbours", (1,), (64,), (a, b))
    np.testing.assert_array_equal(b, a[::-1].astype(np.float16))
    source, target = RNG.integers(0, 255, 77, np.uint8), np.zeros(77, np.uint8)
    run("bytes_of_a_word", (3,), (32,), (source, target, np.int32(77)))
    np.testing.assert_array_equal(target, source[::-1])


def test_cooperative_groups() -> None:
    """Tiles shuffle and reduce among their own lanes; coalesced groups contain exactly the lanes of a branch."""
    a, b = uniform(64), np.zeros(8, np.float32)
    run("tiles", (1,), (64,), (a, b))
    np.testing.assert_allclose(b, np.tile(a.reshape(4, 16).sum(1), 2), rtol=1e-5)
    values, count = RNG.integers(-5, 5, 64, np.int32), np.zeros(1, np.int32)
    run("aggregated", (1,), (64,), (values, count))
    assert count[0] == (values > 0).sum()


@ORDERS
def test_warp_collectives(order: str) -> None:
    """Shuffles, votes, matches and reductions return what CUDA's definitions say."""
    v, out = RNG.integers(0, 50, 32, np.int32), np.zeros((8, 32), np.int32)
    run("collectives", (1,), (32,), (v, out), order=order)
    lanes = np.arange(32)
    bits = lambda flags: np.uint32(sum(1 << int(k) for k in np.flatnonzero(flags))).astype(np.int32)  # noqa: E731
    np.testing.assert_array_equal(out[0], v[np.where(lanes < 1, 0, lanes - 1)])
    np.testing.assert_array_equal(out[1], v[lanes ^ 5])
    assert (out[2] == bits(v & 1)).all()
    assert (out[3] == 2).all()
    assert (out[4] == v.sum()).all()
    assert (out[5] == v.max() - v.min()).all()
    np.testing.assert_array_equal(out[6], [bits((v & 3) == (x & 3)) for x in v])
    np.testing.assert_array_equal(out[7], v[lanes // 8 * 8 + 3])


def test_staged_copies() -> None:
    """Double-buffered cp.async with the right waits and barriers is clean."""
    a, b = uniform(4 * 128), np.zeros(4 * 128, np.float32)
    run("staged_copy", (1,), (32,), (a, b, np.int32(4)))
    np.testing.assert_array_equal(b.reshape(4, 128), a.reshape(4, 128)[:, ::-1])


@pytest.mark.parametrize(("m", "n"), [(16, 16), (32, 8), (8, 32)])
def test_wmma_shapes(m: int, n: int) -> None:
    """All three 16-deep shapes multiply, whatever the layout of the operands."""
    a, b, c = uniform(m, 16).astype(np.float16), uniform(n, 16).astype(np.float16), np.zeros((m, n), np.float32)
    run(f"wmma_shape<{m}, {n}, 16>", (1,), (32,), (a, b, c))
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32).T, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["__half", "__nv_bfloat16"])
def test_short_floats_round_once(dtype: str) -> None:
    """Fused, added and multiplied 16-bit floats equal the exact result rounded once to nearest even."""
    import torch

    kind = torch.float16 if dtype == "__half" else torch.bfloat16
    x, y, z = (torch.from_numpy(uniform(4000) * 4 - 2) for _ in range(3))
    out = torch.zeros(3, 4000)
    run(f"fused<{dtype}>", (16,), (256,), (x, y, z, out, np.int32(4000)))
    x, y, z = (t.to(kind).double() for t in (x, y, z))
    for got, exact in zip(out, (x * y + z, x + y, x * y), strict=True):
        # Double holds sums and products of such numbers exactly, so one conversion rounds once.
        assert torch.equal(got, exact.to(kind).float())


def test_integer_intrinsics() -> None:
    """Bit and integer intrinsics return what CUDA's reference says."""
    v, w = 0x00F0_1234, 0x89AB_CDEF
    out = np.zeros(10, np.uint32)
    run("integers", (1,), (1,), (np.array([v, w], np.uint32), out))
    signed = lambda b: b - 256 if b > 127 else b  # noqa: E731
    products = sum(signed(v >> 8 * i & 255) * signed(w >> 8 * i & 255) for i in range(4)) + 3
    expected = [
        bin(v).count("1"), 8, int(f"{v:032b}"[::-1], 2), v * w >> 32, ((w << 32 | v) << 7 >> 32) & 0xFFFFFFFF,
        0xABCDF012, 3, bin(v).count("1") + bin(w).count("1"), products & 0xFFFFFFFF, (2 - 2**31) & 0xFFFFFFFF,
    ]  # fmt: skip
    np.testing.assert_array_equal(out, np.array(expected, np.uint64).astype(np.uint32))


def test_structs_copy_as_their_members() -> None:
    """Copying a struct of words that is aligned to 4 bytes is no misaligned 8-byte access."""
    kind = np.dtype([("value", np.float32), ("index", np.int32)])
    a = np.zeros(9, kind)
    a["index"] = np.arange(9)
    raw, b = a.view(np.float32), np.zeros(18, np.float32)
    run("pairs", (1,), (32,), (raw[:18], b, np.int32(9)))
    np.testing.assert_array_equal(b.view(kind)["index"], np.arange(9)[::-1])


@pytest.mark.parametrize("mode", ["check", "count", "plain"])
def test_modes_agree(mode: str) -> None:
    """The same numbers come out of every mode."""
    a, b, c = uniform(65, 65), uniform(65, 65), np.zeros((65, 65), np.float32)
    size = np.int32(65)
    with checking(mode):
        BASICS.function("sgemm_tiled<16>")((5, 5), (16, 16), (a, b, c, size, size, size))
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_overlapping_views_share_memory() -> None:
    """An input and an output over the same storage see each other's bytes."""
    import torch

    storage = torch.arange(64, dtype=torch.float32)
    BASICS.function("vadd")((1,), (32,), (storage[:32], storage[:32], storage[:32], np.int32(32), np.int32(0)))
    assert torch.equal(storage[:32], 2 * torch.arange(32, dtype=torch.float32))
    assert torch.equal(storage[32:], torch.arange(32, 64, dtype=torch.float32))


def test_empty_tensor() -> None:
    """A tensor without elements is a valid argument that nothing may touch."""
    empty = np.zeros(0, np.float32)
    with checking() as session:
        BASICS.function("vadd")((1,), (32,), (empty, empty, empty, np.int32(0), np.int32(0)))
        assert session.launches[0].lines == ()
        with pytest.raises(CudaFault) as caught:
            BASICS.function("vadd")((1,), (32,), (empty, empty, empty, np.int32(1), np.int32(0)))
    assert (caught.value.kind, caught.value.buffer, caught.value.offset) == (FaultKind.OUT_OF_BOUNDS, "a", 0)


def test_packed_integers() -> None:
    """Four bytes or two short integers in a register, as NumPy computes them."""
    a, out = RNG.integers(0, 2**32, 2, np.uint32), np.zeros(9, np.uint32)
    run("packed", (1,), (1,), (a, out))
    v, w = a[:1].view(np.uint8).astype(int), a[1:].view(np.uint8).astype(int)
    signed = [x.view(np.int8).astype(int) for x in (a[:1], a[1:])]
    v2, w2 = a[:1].view(np.uint16).astype(int), a[1:].view(np.uint16).astype(int)
    s2, t2 = a[:1].view(np.int16).astype(int), a[1:].view(np.int16).astype(int)

    def join(parts: Any, kind: Any) -> int:
        return int(np.asarray(parts).astype(np.int64).astype(kind).view(np.uint32)[0])

    assert out.tolist() == [
        join(v + w, np.uint8),
        join(np.maximum(v - w, 0), np.uint8),
        join(np.maximum(s2, t2), np.int16),
        join(abs(v - w), np.uint8),
        join(np.where(v2 > w2, 0xFFFF, 0), np.uint16),
        join((v + w + 1) >> 1, np.uint8),
        join(np.clip(signed[0] + signed[1], -128, 127), np.int8),
        int(abs(v - w).sum()),
        int(7 + s2[0] * signed[1][0] + s2[1] * signed[1][1]) % 2**32,
    ]


def test_functions_of_halves() -> None:
    """Pairs, saturation and comparisons agree with NumPy's halves."""
    x = (RNG.random(64) * 4 - 2).astype(np.float16)
    y = np.zeros((6, 64), np.float16)
    run("half_functions", (1,), (32,), (x, y))
    low, high = x[::2], x[1::2]
    np.testing.assert_array_equal(y[0], abs(x))
    np.testing.assert_array_equal(y[1], np.floor(x))
    np.testing.assert_array_equal(y[2], (x > -x).astype(np.float16))
    both = (low > high) & (high > low)
    np.testing.assert_array_equal(y[3], np.where(np.repeat(both, 2), x, -x))
    np.testing.assert_array_equal(y[4][::2], np.clip(low + high, 0, 1))
    fused = (low.astype(np.float64) * high + low).astype(np.float16)
    np.testing.assert_array_equal(y[4][1::2], np.where(np.signbit(fused), 0, fused))
    root = np.sqrt(abs(x).astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(y[5], np.where(np.repeat(np.signbit(high), 2), 1, root))
