"""Correct kernels of many kinds: none may be blamed, all must compute right."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offsets = tl.max_contiguous(tl.multiple_of(offsets, BLOCK), BLOCK)
    inside = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, columns, x_pitch, out_pitch, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * x_pitch + offsets, mask=offsets < columns, other=-float("inf")).to(tl.float32)
    weights = tl.exp(row - tl.max(row, axis=0))
    result = weights / tl.sum(weights, axis=0)
    tl.store(out + tl.program_id(0) * out_pitch + offsets, result.to(out.dtype.element_ty), mask=offsets < columns)


@triton.jit
def layernorm(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * columns
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    row = tl.load(x + start + offsets, mask=inside, other=0.0)
    mean = tl.sum(row, axis=0) / columns
    centred = tl.where(inside, row - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    w, b = tl.load(weight + offsets, mask=inside), tl.load(bias + offsets, mask=inside)
    tl.store(out + start + offsets, centred * scale * w + b, mask=inside)


@triton.jit
def row_sums(x, out, rows, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * 4 + tl.arange(0, 4)
    # Rows past the end are loaded without other=: their sums are undefined, and dropped.
    values = tl.load(x + at[:, None] * columns + tl.arange(0, BLOCK)[None, :], mask=(at < rows)[:, None])
    tl.store(out + at, tl.sum(values, axis=1), mask=at < rows)


@triton.jit
def matmul(a, b, c, m, n, k, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        a_mask = (rows[:, None] < m) & (depth[None, :] < k)
        b_mask = (depth[:, None] < k) & (columns[None, :] < n)
        left = tl.load(a + rows[:, None] * am + depth[None, :] * ak, mask=a_mask, other=0.0)
        right = tl.load(b + depth[:, None] * bk + columns[None, :] * bn, mask=b_mask, other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * cm + columns[None, :] * cn, total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def transpose(x, out, m, n, x_pitch, out_pitch, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tile = tl.load(x + rows[:, None] * x_pitch + columns[None, :], mask=inside)
    tl.store(out + columns[:, None] * out_pitch + rows[None, :], tl.trans(tile), mask=tl.trans(inside))


@triton.jit
def block_sums(x, partial, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x + offsets, mask=offsets < n, other=0.0)
    tl.store(partial + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def atomic_sum(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0))


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.atomic_add(out + tl.load(x + offsets, mask=inside, other=0), 1, mask=inside, sem="relaxed")


@triton.jit
def last_block_sum(x, partial, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial + pid, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0))
    ticket = tl.atomic_add(out + 1, 1.0)
    if ticket == tl.num_programs(0) - 1:
        lanes = tl.arange(0, BLOCK)
        parts = tl.load(partial + lanes, mask=lanes < tl.num_programs(0), other=0.0)
        tl.store(out, tl.sum(parts, axis=0))


@triton.jit
def last_block_rows(x, partial, out, ticket, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(partial + tl.program_id(0) * BLOCK + lanes, tl.load(x + tl.program_id(0) * BLOCK + lanes))
    tl.debug_barrier()
    if tl.atomic_add(ticket, 1) == tl.num_programs(0) - 1:
        total = tl.zeros((BLOCK,), tl.float32)
        for i in range(tl.num_programs(0)):
            total += tl.load(partial + i * BLOCK + lanes)
        tl.store(out + lanes, total)
        # As in many libraries, the last program leaves the workspace as it found it.
        for i in range(tl.num_programs(0)):
            tl.store(partial + i * BLOCK + lanes, 0.0)


@triton.jit
def locked_sum(x, lock, out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * BLOCK + lanes
    value = tl.load(x + offsets, mask=offsets < n, other=0.0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out + lanes, tl.load(out + lanes) + value)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def chained_scan(x, flags, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    before = 0.0
    if pid > 0:
        while tl.atomic_add(flags + pid - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(out + pid - 1)
    tl.store(out + pid, before + tl.load(x + pid))
    tl.atomic_xchg(flags + pid, 1, sem="release")


@triton.jit
def reversed_behind_barrier(x, scratch, out, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(scratch + lanes, tl.load(x + lanes))
    tl.debug_barrier()
    tl.store(out + lanes, tl.load(scratch + BLOCK - 1 - lanes))


@triton.jit
def descriptor_copy(source, target, BM: tl.constexpr, BN: tl.constexpr):
    rows, columns = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([rows, columns], source.load([rows, columns]))


@triton.jit
def interleave(x, even, odd, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside)
    tl.store(even + 2 * offsets, value, mask=inside)
    tl.store(odd + 2 * offsets, -value, mask=inside)


@triton.jit
def copy_rows(x, out, columns, x_row, x_column, out_row, out_column, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * x_row + offsets * x_column, mask=offsets < columns)
    tl.store(out + tl.program_id(0) * out_row + offsets * out_column, value, mask=offsets < columns)


@triton.jit
def sum_of_tuple(tensors, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.load(tensors[0] + offsets, mask=offsets < n) + tl.load(tensors[1] + offsets, mask=offsets < n)
    tl.store(out + offsets, total, mask=offsets < n)


@triton.jit
def one_lane_other(x, out, n):
    at = tl.program_id(0) + tl.arange(0, 1)
    tl.store(out + at, tl.load(x + at, mask=at < n - 1, other=0.0))


@triton.jit
def swap_bytes(x, out, n, BLOCK: tl.constexpr):
    source, target = x.to(tl.pointer_type(tl.int8)), out.to(tl.pointer_type(tl.int8))
    offsets = tl.arange(0, BLOCK)
    flipped = offsets // 4 * 4 + 3 - offsets % 4
    tl.store(target + offsets, tl.load(source + flipped, mask=offsets < 4 * n), mask=offsets < 4 * n)


@triton.jit
def merge(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    either = tl.where(offsets % 2 == 0, x + offsets, y + offsets)
    tl.store(out + offsets, tl.load(either, mask=offsets < n), mask=offsets < n)


@triton.autotune([triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64}, num_warps=8)], key=["n"])
@triton.jit
def tuned_add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside), mask=inside)


@triton.jit
def load_three(x, out, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes, mask=lanes < 3))


@triton.jit
def largest(out):
    tl.atomic_max(out, 0)
