"""Stream K (Osama et al., 2023): every program gets the same number of steps over k, wherever tiles begin and end.

The programs first compute whole tiles, as long as all of them have one; the steps of the tiles that are left are cut
into equal pieces, one for each program or for some of them. What a piece found of a tile that others share goes to the
workspace, where a second kernel adds it up in the order of k: no waiting, no atomics, and the same result from run to
run.
"""

from __future__ import annotations

import triton
import triton.language as tl

from kernels_triton import _gemm as gemm


@triton.jit
def _start(piece, pieces, steps):
    """First step of a piece: all are equal up to one step."""
    return (piece.to(tl.int64) * steps // tl.maximum(pieces, 1)).to(tl.int32)


@triton.jit
def _matmul_ragged_stream_k(
    a, b, c_desc, c_ptr, partials_ptr, m, n, k, whole, pieces, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    UNITS: tl.constexpr, WHOLE: tl.constexpr, DESCRIBED: tl.constexpr, B_BY_COLUMNS: tl.constexpr,
    CHAINED: tl.constexpr,
):  # fmt: skip
    gemm.let_next_start(CHAINED)
    n, k = n * UNITS[0], k * UNITS[1]
    a_row, b_row, b_column, c_row = a_row * UNITS[2], b_row * UNITS[3], b_column * UNITS[4], c_row * UNITS[5]
    down, across = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    program, programs = tl.program_id(0), tl.num_programs(0)
    # Tiles up to ``whole`` belong to one program each, those from there on to pieces of steps.
    for tile in range(program, whole, programs):
        row, column = gemm.place(tile, down, across, GROUP)
        sums = gemm.part(
            a, b, row, column, 0, k, m, n, k, a_row, a_column, b_row, b_column,
            BLOCK_M, BLOCK_N, BLOCK_K, WHOLE, DESCRIBED, B_BY_COLUMNS, tl.float32, "ieee",
        )  # fmt: skip
        gemm.put(sums, row, column, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N)
    steps = tl.maximum(tl.cdiv(k, BLOCK_K), 1)
    total = (down * across - whole) * steps
    begin = _start(tl.minimum(program, pieces), pieces, total)
    end = _start(tl.minimum(program + 1, pieces), pieces, total)
    for shared in range(begin // steps, tl.cdiv(end, steps)):
        row, column = gemm.place(whole + shared, down, across, GROUP)
        first = tl.maximum(begin - shared * steps, 0)
        last = tl.minimum(end - shared * steps, steps)
        sums = gemm.part(
            a, b, row, column, first * BLOCK_K, tl.minimum(last * BLOCK_K, k), m, n, k,
            a_row, a_column, b_row, b_column,
            BLOCK_M, BLOCK_N, BLOCK_K, WHOLE, DESCRIBED, B_BY_COLUMNS, tl.float32, "ieee",
        )  # fmt: skip
        if (first == 0) & (last == steps):
            gemm.put(sums, row, column, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N)
        else:
            # A piece has at most two such tiles: one that began before it, and one that goes on after it.
            tl.store(gemm.slot(partials_ptr, 2 * program + (first == 0).to(tl.int32), BLOCK_M, BLOCK_N), sums)


@triton.jit
def _owner(step, pieces, total):
    """The piece that holds a step: the largest p with p * total // pieces <= step."""
    return (((step.to(tl.int64) + 1) * pieces - 1) // total).to(tl.int32)


@triton.jit
def _matmul_ragged_join_pieces(
    partials_ptr, c_ptr, m, n, whole, steps, pieces, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr, BAND: tl.constexpr, AT_ONCE: tl.constexpr,
    CHAINED: tl.constexpr,
):  # fmt: skip
    gemm.wait_for_previous(CHAINED)
    # Program (shared tile, band): BAND elements of a tile of c, unless one piece held all of it.
    shared, total = tl.program_id(0), tl.num_programs(0) * steps
    first = _owner(shared * steps, pieces, total)
    last = _owner(shared * steps + steps - 1, pieces, total)
    if first < last:
        within = tl.program_id(1) * BAND + tl.arange(0, BAND)
        row, column = gemm.place(whole + shared, tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP)
        rows, columns = row * BLOCK_M + within // BLOCK_N, column * BLOCK_N + within % BLOCK_N
        inside = (rows < m) & (columns < n)
        sums = tl.zeros((BAND,), tl.float32)
        for start in range(first, last + 1, AT_ONCE):
            piece = start + tl.arange(0, AT_ONCE)
            # The first piece began the tile: its second slot. The others went on with it: their first slots.
            slot = 2 * piece + (piece == first).to(tl.int32)
            at = slot.to(tl.int64)[:, None] * (BLOCK_M * BLOCK_N) + within[None, :]
            found = tl.load(partials_ptr + at, mask=(piece <= last)[:, None] & inside[None, :], other=0.0)
            sums += tl.sum(found, axis=0)
        c = c_ptr + rows.to(tl.int64) * c_row + columns.to(tl.int64) * c_column
        tl.store(c, sums.to(c_ptr.dtype.element_ty), mask=inside)
