"""Kernels on bfloat16."""

import triton
import triton.language as tl


@triton.jit
def arithmetic(x, y, out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    inside = lanes < n
    a, b = tl.load(x + lanes, mask=inside, other=0.0), tl.load(y + lanes, mask=inside, other=0.0)
    tl.store(out + lanes, a + b, mask=inside)
    tl.store(out + BLOCK + lanes, a - b, mask=inside)
    tl.store(out + 2 * BLOCK + lanes, a * b, mask=inside)
    tl.store(out + 3 * BLOCK + lanes, (a / b).to(tl.bfloat16), mask=inside)
    tl.store(out + 4 * BLOCK + lanes, tl.where(a > b, a, b), mask=inside)
    tl.store(out + 5 * BLOCK + lanes, tl.abs(a), mask=inside)


@triton.jit
def convert(x, half, double, integer, back, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    value = tl.load(x + lanes)
    tl.store(half + lanes, value.to(tl.float16))
    tl.store(double + lanes, value.to(tl.float64))
    tl.store(integer + lanes, value.to(tl.int32))
    tl.store(back + lanes, value.to(tl.int32).to(tl.bfloat16))


@triton.jit
def sums(x, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tl.store(out + row, tl.sum(tl.load(x + row * BLOCK + tl.arange(0, BLOCK)), axis=0))


@triton.jit
def axis_sums(x, rows, columns, total):
    tile = tl.load(x + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :])
    tl.store(rows + tl.arange(0, 8)[:, None], tl.sum(tile, axis=1, keep_dims=True))
    tl.store(columns + tl.arange(0, 16), tl.sum(tile, axis=0))
    tl.store(total, tl.sum(tile))


@triton.jit
def extremes(x, out, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK))
    tl.store(out, tl.max(value, axis=0))
    tl.store(out + 1, tl.min(value, axis=0))


@triton.jit
def count(out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, 1), tl.full((1,), 1.5, tl.bfloat16))
    half = tl.full((BLOCK,), 0.5, tl.bfloat16)
    tl.atomic_add(out + tl.zeros((BLOCK,), tl.int32), half)
