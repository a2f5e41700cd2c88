"""What launchers of kernels on 16-byte packs share: where the packs begin, and how many threads they need."""

from __future__ import annotations

import torch

from pytest_roofline.launch import Source, c_type, ceil_div, misalignment, require

BLOCK = 256
PACK = 16  # bytes of one vector access
NARROW = 1 << 31  # vectors with fewer elements are indexed with 32 bits, which small ones notice

# Threads of a block by bytes of a vector, from a sweep over 128 to 1024 threads and 1 to 8 packs per thread of copy,
# add_one, vector_add and fma from 4 KiB to 512 MiB on an H200; no other device was measured. One pack per thread won
# everywhere; only where the whole vector is a handful of blocks are smaller ones faster, because more SMs share it.
FEW_THREADS, FEW_BYTES = 128, 1 << 14


def require_vectors(name: str, *tensors: torch.Tensor) -> None:
    """Raise ``ValueError`` unless all are dense and of one shape."""
    same = all(t.shape == tensors[0].shape and t.is_contiguous() for t in tensors)
    require(same, f"{name} takes dense equal vectors")


def best_threads(tensor: torch.Tensor) -> int:
    """Threads of a block for a vector of that size."""
    return FEW_THREADS if tensor.nbytes <= FEW_BYTES else BLOCK


def head_of(*tensors: torch.Tensor) -> int:
    """Elements before the first 16-byte boundary, the same in all tensors; all of them where there is none."""
    first, n = tensors[0], tensors[0].numel()
    shift = misalignment(first, PACK)
    if any(misalignment(t, PACK) != shift for t in tensors[1:]):
        return n
    return min(n, -shift % PACK // first.element_size())


def launch_scalar(source: Source, name: str, *tensors: torch.Tensor) -> None:
    """Launch ``name<T>(tensors..., n)`` with one element per thread."""
    n = tensors[0].numel()
    source.function(f"{name}<{c_type(tensors[0])}>")((ceil_div(n, BLOCK),), (BLOCK,), (*tensors, n))


def launch_packs(
    source: Source,
    name: str,
    *tensors: torch.Tensor,
    unroll: int | None = None,
    threads: int = BLOCK,
    most: int | None = None,
) -> None:
    """Launch ``name<T, Index>(tensors..., n, head, packs)``, or ``name<T, Index, unroll>``, in at most ``most`` blocks.

    A thread has one item, or ``unroll``: the packs, and the elements before and after them.
    """
    n, head, width = tensors[0].numel(), head_of(*tensors), PACK // tensors[0].element_size()
    packs = (n - head) // width
    items = n - packs * (width - 1)
    blocks = ceil_div(items, threads * (unroll or 1))
    index = "unsigned int" if n < NARROW else "unsigned long long"
    arguments = f"{c_type(tensors[0])}, {index}" + (f", {unroll}" if unroll else "")
    grid = (blocks if most is None else min(blocks, most),)
    source.function(f"{name}<{arguments}>")(grid, (threads,), (*tensors, n, head, packs))
