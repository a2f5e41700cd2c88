"""What launchers of kernels on 16-byte packs share: where the packs begin, and how many threads they need."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from pytest_roofline.launch import Function, Source, c_type, ceil_div, misalignment, require

BLOCK = 256
PACK = 16  # bytes of one vector access

# For vectors of at most so many bytes (None: any more): threads of a block, packs of a thread.
Table = Sequence[tuple["int | None", int, int]]


def require_vectors(name: str, *tensors: torch.Tensor) -> None:
    """Raise ``ValueError`` unless all are dense and of one shape."""
    same = all(t.shape == tensors[0].shape and t.is_contiguous() for t in tensors)
    require(same, f"{name} takes dense equal vectors")


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
    function: Function, *tensors: torch.Tensor, unroll: int = 1, threads: int = BLOCK, most: int | None = None
) -> None:
    """Launch ``function(tensors..., n, head)`` with ``unroll`` packs per thread, in at most ``most`` blocks."""
    n, head, itemsize = tensors[0].numel(), head_of(*tensors), tensors[0].element_size()
    packs = (n - head) * itemsize // PACK
    edges = n - packs * PACK // itemsize
    blocks = max(ceil_div(packs, threads * unroll), ceil_div(edges, threads))
    function((blocks if most is None else min(blocks, most),), (threads,), (*tensors, n, head))


def pick(table: Table, nbytes: int) -> tuple[int, int]:
    """Threads and packs per thread that ``table`` gives for a vector of ``nbytes``."""
    return next((threads, unroll) for limit, threads, unroll in table if limit is None or nbytes <= limit)
