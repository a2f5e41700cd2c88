"""Kernels whose accesses lack an order; the statement that must be blamed ends in ``# BUG``."""

import triton
import triton.language as tl


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
def reads_neighbours_result(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, 1.0, mask=offsets < n)
    tl.load(out + offsets - BLOCK, mask=(offsets >= BLOCK) & (offsets < n), other=0.0)  # BUG


@triton.jit
def lanes_collide(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets // 2, 1.0, mask=offsets < n)  # BUG


@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(out + offsets, value, mask=offsets < n)  # BUG, if out overlaps x or itself


@triton.jit
def atomic_against_plain_store(x, y, out, n, BLOCK: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(out, 0.0)
    tl.atomic_add(out, 1.0)  # BUG


@triton.jit
def plain_load_of_an_atomic(x, y, out, n, BLOCK: tl.constexpr):
    tl.atomic_add(out, 1.0, sem="relaxed")
    if tl.program_id(0) == tl.num_programs(0) - 1:
        tl.store(y, tl.load(out))  # BUG


@triton.jit
def atomics_within_a_block(x, y, out, n, BLOCK: tl.constexpr):
    tl.atomic_add(out, 1.0, scope="cta")  # BUG


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
def release_without_acquire(x, partial, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(partial + pid, 1.0)
    ticket = tl.atomic_add(out + 1, 1.0, sem="release")
    if ticket == tl.num_programs(0) - 1:
        lanes = tl.arange(0, BLOCK)
        parts = tl.load(partial + lanes, mask=lanes < tl.num_programs(0), other=0.0)  # BUG
        tl.store(out, tl.sum(parts, axis=0))


@triton.jit
def tickets_at_different_addresses(x, partial, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(partial + pid, 1.0)
    tl.atomic_add(out + 1 + pid, 1.0)
    if pid == tl.num_programs(0) - 1:
        lanes = tl.arange(0, BLOCK)
        parts = tl.load(partial + lanes, mask=lanes < tl.num_programs(0), other=0.0)  # BUG
        tl.store(out, tl.sum(parts, axis=0))


@triton.jit
def unlocked_by_a_store(x, lock, out, n, BLOCK: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:  # BUG
        pass
    tl.store(out, tl.load(out) + 1.0)
    tl.store(lock, 0)


@triton.jit
def never_unlocked(x, lock, out, n, BLOCK: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:  # BUG
        pass
    tl.store(out, tl.load(out) + 1.0)


@triton.jit
def scan_without_release(x, flags, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    before = 0.0
    if pid > 0:
        while tl.atomic_add(flags + pid - 1, 0) == 0:
            pass
        before = tl.load(out + pid - 1)  # BUG
    tl.store(out + pid, before + tl.load(x + pid))
    tl.atomic_xchg(flags + pid, 1, sem="relaxed")


@triton.jit
def reversed_without_barrier(x, y, out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes))
    tl.store(y + lanes, tl.load(out + BLOCK - 1 - lanes))  # BUG


@triton.jit
def scalars_read_as_a_vector(x, y, out, n, BLOCK: tl.constexpr):
    for i in range(BLOCK):
        tl.store(out + i, 1.0)
    tl.store(y, tl.sum(tl.load(out + tl.arange(0, BLOCK)), axis=0))  # BUG


@triton.jit
def released_without_barrier(x, partial, out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(partial + tl.program_id(0) * BLOCK + lanes, 1.0)
    ticket = tl.atomic_add(out + BLOCK, 1.0)
    if ticket == tl.num_programs(0) - 1:
        total = tl.zeros((BLOCK,), tl.float32)
        for i in range(tl.num_programs(0)):
            total += tl.load(partial + i * BLOCK + lanes)  # BUG
        tl.store(out + lanes, total)
