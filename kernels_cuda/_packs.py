"""What launchers of kernels on 16-byte packs share: where the packs begin, and how many threads they need."""

from __future__ import annotations

import functools

import torch

from pytest_roofline.l2 import streamed
from pytest_roofline.launch import Function, Source, c_type, ceil_div
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
    n, shift = first.numel(), first.data_ptr() % PACK
    common: int | None = shift
    for tensor in tensors:
        if tensor.data_ptr() % PACK != shift:
            common = None
    last = streamed(len(tensors) * n * first.element_size(), first) if eviction else None
    function, grid, head, packs = _plan(source, name, first.dtype, n, common, unroll, most, last)
    function(grid, _THREADS, (*tensors, n, head, packs, *extra))


_THREADS = (BLOCK,)


@functools.lru_cache(maxsize=4096)
def _plan(
    source: Source,
    name: str,
    dtype: torch.dtype,
    n: int,
    shift: int | None,
    unroll: int | None,
    most: int | None,
    last: bool | None,
) -> tuple[Function, tuple[int], int, int]:
    """The kernel's instance, its grid, elements before the first boundary (all of them where ``shift`` says that the
    vectors have none in common), and packs from there on. Remembered, because it costs the host more than a launch.

    ``last``, unless ``None``, is an argument of the template: whether L2 evicts last what is read.
    """
    for what, number in ("packs per thread", unroll), ("blocks", most):
        if number is not None:
            require_positive(name, what, number)
    width = PACK // dtype.itemsize
    head = n if shift is None else min(n, -shift % PACK // dtype.itemsize)
    packs = (n - head) // width
    items = n - packs * (width - 1)
    blocks = ceil_div(items, BLOCK * (unroll or 1))
    index = "unsigned int" if n < NARROW else "unsigned long long"
    c_name = c_type(torch.empty(0, dtype=dtype))
    instance = [c_name, index]
    if unroll:
        instance.append(str(unroll))
    if last is not None:
        instance.append(str(last).lower())
    return (
        source.function(f"{name}<{', '.join(instance)}>"),
        (blocks if most is None else min(blocks, most),),
        head,
        packs,
    )
