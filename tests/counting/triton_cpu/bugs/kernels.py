"""Kernels with one planted bug each; the statement that must be blamed ends in ``# BUG``."""

import triton
import triton.language as tl

# ---- outside the tensors


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
def far_read_unused(x, y, out, n, BLOCK: tl.constexpr):
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
def atomic_out_of_bounds(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + offsets, 1.0)  # BUG


@triton.jit
def wrong_pointer_of_two(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    either = tl.where(offsets % 2 == 0, x + offsets, y + offsets + n)
    tl.store(out + offsets, tl.load(either))  # BUG


@triton.jit
def _shifted(x, offsets, by):
    return tl.load(x + offsets + by)  # BUG in a device function


@triton.jit
def device_function(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, _shifted(x, offsets, n))


@triton.jit
def neighbouring_slice(x, y, out, n, BLOCK: tl.constexpr):
    tl.store(x + n + tl.arange(0, BLOCK), 1.0)  # BUG: the next slice of the same buffer is another argument


@triton.jit
def half_an_element_off(x, y, out, n, BLOCK: tl.constexpr):
    bytes_of_x = x.to(tl.pointer_type(tl.int8)) + 2
    value = tl.load(bytes_of_x.to(tl.pointer_type(tl.float32)) + tl.arange(0, BLOCK))  # BUG
    tl.store(out + tl.arange(0, BLOCK), value)


@triton.jit
def store_into_row_gap(out, columns, pitch, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0) * pitch + offsets, 1.0, mask=offsets < pitch)  # BUG


@triton.jit
def load_from_row_gap(out, columns, pitch, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    row = tl.load(out + tl.program_id(0) * pitch + offsets, mask=offsets < pitch, other=0.0)  # BUG
    tl.store(out + tl.program_id(0) * pitch + offsets, row, mask=offsets < columns)


# ---- undefined values


@triton.jit
def missing_other_in_sum(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(out, tl.sum(value, axis=0))  # BUG


@triton.jit
def missing_other_in_max(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    largest = tl.max(value, axis=0)  # BUG
    tl.store(out, largest)


# ---- false promises


@triton.jit
def false_multiple_of(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + 1 + tl.arange(0, BLOCK)
    offsets = tl.multiple_of(offsets, 16)  # BUG
    tl.store(out + offsets, 1.0, mask=offsets < n)


@triton.jit
def multiple_of_false_in_last_row(x, y, out, n, BLOCK: tl.constexpr):
    rows = tl.arange(0, 4)
    offsets = rows[:, None] * 16 + tl.where(rows == 3, 1, 0)[:, None] + tl.arange(0, 16)[None, :]
    offsets = tl.multiple_of(offsets, (1, 16))  # BUG
    tl.store(out + offsets, 1.0)


@triton.jit
def misaligned_pointer_hint(x, y, out, n, BLOCK: tl.constexpr):
    pointers = tl.multiple_of(out + 1 + tl.arange(0, BLOCK), 16)  # BUG
    tl.store(pointers, 1.0, mask=tl.arange(0, BLOCK) < n - 1)


@triton.jit
def false_contiguous(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    spread = tl.max_contiguous(offsets * 2, BLOCK)  # BUG
    tl.store(out + offsets, tl.load(x + spread, mask=spread < n, other=0.0), mask=offsets < n)


@triton.jit
def contiguous_until_it_wraps(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wrapped = tl.max_contiguous(offsets % n, BLOCK)  # BUG
    tl.store(out + offsets, tl.load(x + wrapped), mask=offsets < n)


@triton.jit
def false_constancy(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    group = tl.max_constancy(offsets // 3, 4)  # BUG
    tl.store(out + offsets, group.to(tl.float32), mask=offsets < n)
