"""c = a * b + c over dense vectors. The rungs differ in elements per thread: block / (32 * num_warps)."""

import torch
import triton
import triton.language as tl

from ._blocks import Table, launch_blocks, pick, require_vectors

TUNED: Table = ((None, 2048, 4),)


@triton.jit
def _fma(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    # I/O: read a, b and c, write c. 64-bit offsets: program x BLOCK passes 2^31 on large GPUs.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:  # a mask that the compiler cannot prove constant over 16 bytes would split the accesses
        a = tl.load(a_ptr + offsets)
        b = tl.load(b_ptr + offsets)
        c = tl.load(c_ptr + offsets)
        tl.store(c_ptr + offsets, tl.fma(a, b, c))
    else:
        inside = offsets < n
        a = tl.load(a_ptr + offsets, mask=inside)
        b = tl.load(b_ptr + offsets, mask=inside)
        c = tl.load(c_ptr + offsets, mask=inside)
        tl.store(c_ptr + offsets, tl.fma(a, b, c), mask=inside)


def fma(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, block: int, num_warps: int) -> None:
    """One program per ``block`` elements. Raises ``ValueError`` unless all are dense vectors of one length."""
    require_vectors("fma", a, b, c)
    launch_blocks(_fma, a, b, c, block=block, num_warps=num_warps)


def tuned(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """``fma`` as ``TUNED`` says for the size at hand. Raises ``ValueError`` as ``fma`` does."""
    block, num_warps = pick(TUNED, c.nbytes)
    fma(a, b, c, block=block, num_warps=num_warps)
