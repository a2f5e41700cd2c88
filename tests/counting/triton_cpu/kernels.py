"""Triton kernels with one planted bug each, and correct ones that must raise nothing."""

import triton
import triton.language as tl


@triton.jit
def no_mask(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) + tl.load(y + offsets))  # BUG


@triton.jit
def no_load_mask(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets)  # BUG
    tl.store(out + offsets, value, mask=offsets < n)


@triton.jit
def no_store_mask(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(out + offsets, value)  # BUG


@triton.jit
def mask_off_by_one(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(out + offsets, value, mask=offsets <= n)  # BUG


@triton.jit
def load_off_by_one_unused(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets <= n)  # BUG
    tl.store(out + offsets, value, mask=offsets < n)


@triton.jit
def underrun(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    before = tl.load(x + offsets - 1, mask=inside)  # BUG
    tl.store(out + offsets, before, mask=inside)


@triton.jit
def far_read(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    far = tl.load(x + offsets + (1 << 20), mask=inside)  # BUG
    tl.store(out + offsets, tl.where(offsets < 0, far, 1.0), mask=inside)


@triton.jit
def index_overflow(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wrapped = (offsets + 0x7FFFFFFF).to(tl.int32)
    value = tl.load(x + wrapped, mask=offsets < n)  # BUG
    tl.store(out + offsets, value, mask=offsets < n)


@triton.jit
def overlapping_same_value(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, 1.0, mask=offsets < n)  # BUG
    if tl.program_id(0) < tl.num_programs(0) - 1:
        tl.store(out + offsets + 1, 1.0, mask=offsets + 1 < n)


@triton.jit
def racy_accumulate(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0)
    tl.store(out, tl.load(out) + total)  # BUG


@triton.jit
def in_place_shift(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(out + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.store(out + offsets, value, mask=offsets < n)  # BUG


@triton.jit
def lanes_collide(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets // 2, 1.0, mask=offsets < n)  # BUG


@triton.jit
def false_multiple_of(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + 1 + tl.arange(0, BLOCK)
    offsets = tl.multiple_of(offsets, 16)  # BUG
    tl.store(out + offsets, 1.0, mask=offsets < n)


@triton.jit
def false_contiguous(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    spread = tl.max_contiguous(offsets * 2, BLOCK)  # BUG
    tl.store(out + offsets, tl.load(x + spread, mask=spread < n, other=0.0), mask=offsets < n)


@triton.jit
def false_contiguous_late(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wrapped = tl.max_contiguous(offsets % n, BLOCK)  # BUG
    tl.store(out + offsets, tl.load(x + wrapped), mask=offsets < n)


@triton.jit
def false_constancy(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    group = tl.max_constancy(offsets // 3, 4)  # BUG
    tl.store(out + offsets, group.to(tl.float32), mask=offsets < n)


@triton.jit
def atomic_out_of_bounds(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + offsets, 1.0)  # BUG


@triton.jit
def atomic_against_plain_store(x, y, out, n, BLOCK: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(out, 0.0)
    tl.atomic_add(out, 1.0)  # BUG


@triton.jit
def relaxed_ticket(x, partial, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial + pid, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0))
    ticket = tl.atomic_add(out + 1, 1.0, sem="relaxed")
    if ticket == tl.num_programs(0) - 1:
        lanes = tl.arange(0, BLOCK)
        parts = tl.load(partial + lanes, mask=lanes < tl.num_programs(0), other=0.0)  # BUG
        tl.store(out, tl.sum(parts, axis=0))


@triton.jit
def row_with_pitch(out, columns, pitch, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0) * pitch + offsets, 1.0, mask=offsets < pitch)  # BUG


@triton.jit
def missing_other(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + offsets, mask=offsets < n), axis=0))


# ---- correct kernels


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offsets = tl.max_contiguous(tl.multiple_of(offsets, BLOCK), BLOCK)
    inside = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside), mask=inside)


@triton.jit
def atomic_sum(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0))


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
def locked_sum(x, lock, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + total)
    tl.atomic_xchg(lock, 0)


@triton.jit
def looped_sum(x, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x + offsets, mask=offsets < n, other=0.0)
    tl.store(out, tl.sum(total, axis=0))


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * columns + offsets, mask=offsets < columns, other=-float("inf"))
    weights = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * columns + offsets, weights / tl.sum(weights, axis=0), mask=offsets < columns)


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        left = tl.load(
            a + rows[:, None] * k + depth[None, :], mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0
        )
        right = tl.load(
            b + depth[:, None] * n + columns[None, :], mask=(depth[:, None] < k) & (columns[None, :] < n), other=0.0
        )
        total += tl.dot(left, right, input_precision="ieee")
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def one_lane_other(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) + tl.arange(0, 1)
    tl.store(out + at, tl.load(x + at, mask=at < n - 1, other=0.0))


@triton.jit
def interleave(x, even, odd, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside)
    tl.store(even + 2 * offsets, value, mask=inside)
    tl.store(odd + 2 * offsets, -value, mask=inside)


@triton.jit
def bf16_arithmetic(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    inside = offsets < n
    a, b = tl.load(x + offsets, mask=inside, other=0.0), tl.load(y + offsets, mask=inside, other=0.0)
    tl.store(out + offsets, tl.where(a > b, a * b + a, a - b), mask=inside)


@triton.jit
def round_to_bf16(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n).to(tl.bfloat16), mask=offsets < n)


@triton.jit
def bf16_sum(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0))
