"""What launchers of kernels on 16-byte packs share: where the packs begin, and how many threads they need."""

from __future__ import annotations

import functools

import torch

from pytest_roofline.l2 import streamed
from pytest_roofline.launch import Function, Source, c_bool, c_type, ceil_div
from pytest_roofline.operands import require_positive

# Threads of a block, as in the header. Sweeps over 64 to 512 threads and 1 to 8 packs per thread of copy, add_one,
# vector_add and fma from 4 KiB to 512 MiB on an H200 (no other device was measured) left nothing to a table: 256
# threads of one pack each are within 1 % of the best at every size.
BLOCK = 256
PACK = 16  # bytes of one vector access
NARROW = 1 << 31  # vectors with fewer elements are indexed with 32 bits, which small ones notice


def launch_scalar(source: Source, name: str, *tensors: torch.Tensor) -> None:
    """Launch ``name<T>(tensors..., n)`` with one element per thread."""
    n = tensors[0].numel()
    source.function(f"{name}<{c_type(tensors[0])}>")((ceil_div(n, BLOCK),), (BLOCK,), (*tensors, n))


def launch_packs(
    source: Source,
    name: str,
    *tensors: torch.Tensor,
    unroll: int | None = None,
    most: int | None = None,
    eviction: bool = False,
    extra: tuple[int, ...] = (),
) -> None:
    """Launch ``name<T, Index>(tensors..., n, head, packs, extra...)``, or ``name<T, Index, unroll>``, in at most
    ``most`` blocks. With ``eviction`` it is ``name<T, Index, STREAMED>``.

    A thread has one item, or ``unroll``: the packs, and the elements before and after them. Raises ``ValueError`` for
    no items of a thread and for no blocks.
    """
    first = tensors[0]
    n, dtype, shift = first.numel(), first.dtype, first.data_ptr() % PACK
    itemsize = dtype.itemsize
    common: int | None = shift
    for tensor in tensors[1:]:
        if tensor.data_ptr() % PACK != shift:
            common = None
    last = streamed(len(tensors) * n * itemsize, first) if eviction else None
    function = _instance(source, name, dtype, n < NARROW, unroll, last)
    grid, head, packs = _geometry(name, n, itemsize, common, unroll or 1, most)
    function(grid, _THREADS, (*tensors, n, head, packs, *extra))


_THREADS = (BLOCK,)


# Both are remembered, because they cost the host more than a launch.
@functools.lru_cache(maxsize=4096)
def _instance(
    source: Source, name: str, dtype: torch.dtype, narrow: bool, unroll: int | None, last: bool | None
) -> Function:
    """The kernel for elements of ``dtype``, counted with 32 bits where they are ``narrow``, with ``unroll`` items per
    thread, and with what L2 shall evict ``last``; ``None`` for what is no argument of its template."""
    parameters = [c_type(torch.empty(0, dtype=dtype)), "unsigned int" if narrow else "unsigned long long"]
    if unroll is not None:
        require_positive(name, "packs per thread", unroll)
        parameters.append(str(unroll))
    if last is not None:
        parameters.append(c_bool(last))
    return source.function(f"{name}<{', '.join(parameters)}>")


@functools.lru_cache(maxsize=4096)
def _geometry(
    name: str, n: int, itemsize: int, shift: int | None, each: int, most: int | None
) -> tuple[tuple[int], int, int]:
    """The grid, elements before the first boundary of 16 bytes (all of them where ``shift`` says that the vectors have
    none in common), and packs from there on; a thread has ``each`` items, and the grid at most ``most`` blocks."""
    if most is not None:
        require_positive(name, "blocks", most)
    width = PACK // itemsize
    head = n if shift is None else min(n, -shift % PACK // itemsize)
    packs = (n - head) // width
    blocks = ceil_div(n - packs * (width - 1), BLOCK * each)
    return (blocks if most is None else min(blocks, most),), head, packs
