"""Split k: several programs share a tile of c, each over a part of k; a second kernel adds up what they found.

No atomics: the sums of a tile are added in the order of k, so the result is the same from run to run.
"""

from __future__ import annotations

import triton
import triton.language as tl

from kernels_triton import _gemm as gemm


@triton.jit
def _matmul_ragged_split_k(
    a, b, c_desc, c_ptr, partials_ptr, m, n, k, steps, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    UNITS: tl.constexpr, WHOLE: tl.constexpr, DESCRIBED: tl.constexpr, B_BY_COLUMNS: tl.constexpr, DIRECT: tl.constexpr,
    CHAINED: tl.constexpr,
):  # fmt: skip
    gemm.let_next_start(CHAINED)
    # Program (tile, part): steps of BLOCK_K from part * steps on. partials[part, tile] = its sums, a dense tile.
    n, k = n * UNITS[0], k * UNITS[1]
    a_row, b_row, b_column = a_row * UNITS[2], b_row * UNITS[3], b_column * UNITS[4]
    c_row = c_row * UNITS[5]
    row, column = gemm.place(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP)
    first = tl.program_id(1) * steps * BLOCK_K
    last = tl.minimum(first + steps * BLOCK_K, k)
    sums = gemm.part(
        a, b, row, column, first, last, m, n, k, a_row, a_column, b_row, b_column,
        BLOCK_M, BLOCK_N, BLOCK_K, WHOLE, DESCRIBED, B_BY_COLUMNS, tl.float32, "ieee",
    )  # fmt: skip
    if DIRECT:
        gemm.put(sums, row, column, c_desc, c_ptr, m, n, c_row, c_column, BLOCK_M, BLOCK_N)
    else:
        slot = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
        tl.store(gemm.slot(partials_ptr, slot, BLOCK_M, BLOCK_N), sums)


@triton.jit
def _matmul_ragged_join(
    partials_ptr, c_ptr, m, n, parts, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr, BAND: tl.constexpr, AT_ONCE: tl.constexpr,
    CHAINED: tl.constexpr,
):  # fmt: skip
    gemm.wait_for_previous(CHAINED)
    # Program (tile, band): BAND elements of a tile of c, AT_ONCE parts in flight.
    tile, tiles = tl.program_id(0), tl.num_programs(0)
    within = tl.program_id(1) * BAND + tl.arange(0, BAND)
    row, column = gemm.place(tile, tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP)
    rows, columns = row * BLOCK_M + within // BLOCK_N, column * BLOCK_N + within % BLOCK_N
    inside = (rows < m) & (columns < n)
    sums = tl.zeros((BAND,), tl.float32)
    for start in range(0, parts, AT_ONCE):
        part = start + tl.arange(0, AT_ONCE)
        at = (part.to(tl.int64) * tiles + tile)[:, None] * (BLOCK_M * BLOCK_N) + within[None, :]
        found = tl.load(partials_ptr + at, mask=(part < parts)[:, None] & inside[None, :], other=0.0)
        sums += tl.sum(found, axis=0)
    c = c_ptr + rows.to(tl.int64) * c_row + columns.to(tl.int64) * c_column
    tl.store(c, sums.to(c_ptr.dtype.element_ty), mask=inside)
