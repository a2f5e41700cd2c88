"""How the row-wise launchers choose access width, threads per row and rows per block."""

from __future__ import annotations

import functools

import torch

from pytest_roofline.l2 import streamed
from pytest_roofline.launch import Function, Source, c_bool, ceil_div

PACK = 16  # bytes of one vector access

ROW_THREADS = 128  # of a block of several rows

Plans = tuple[tuple[int, int], ...]

# Threads per row and words per thread, by elements per word; a row takes the first that holds it. The fastest of all
# powers of two on an H200, at 512 to 32768 columns of f32 and 8192 of 16 bits, softmax and layernorm: few words in many
# threads, until the barriers of a large block cost more. A thread keeps at most 32 elements, so that 1024 threads of 64
# registers each are resident.
PLANS: dict[int, Plans] = {
    4: ((8, 2), (16, 2), (32, 2), (64, 2), (128, 2), (256, 2), (512, 2), (512, 4), (1024, 4), (1024, 8)),
    8: ((8, 2), (16, 2), (32, 2), (64, 2), (128, 2), (128, 4), (256, 4), (512, 4), (1024, 4)),
    1: ((32, 8), (256, 8), (1024, 8)),
}


def layout(columns: int, x: torch.Tensor, y: torch.Tensor, *weights: torch.Tensor) -> tuple[int, int, int]:
    """Elements per access, and how many elements rows of ``x`` and of ``y`` are apart.

    An access has 16 bytes where every row of every tensor consists of aligned 16 bytes, else one element.
    """
    size, x_row, y_row = x.dtype.itemsize, x.stride()[0], y.stride()[0]
    bits = (columns | x_row | y_row) * size | x.data_ptr() | y.data_ptr()
    for weight in weights:
        bits |= weight.data_ptr()
    return (1 if bits % PACK else PACK // size), x_row, y_row


def evicts_last(x: torch.Tensor) -> str:
    """``true`` where L2 shall evict last what is read of ``x``, to write as much; as a template argument."""
    return c_bool(streamed(2 * x.nbytes, x))


def rows_per_block(threads: int) -> int:
    """What four warps hold, or one row that all threads share."""
    return ROW_THREADS // threads if threads <= 32 else 1


def plan(words: int, width: int, plans: Plans | None = None) -> tuple[int, int] | None:
    """Threads per row and words per thread for a row that is kept in registers; ``None`` where it does not fit.

    The first of ``plans`` that holds it, by default of ``PLANS``.
    """
    return next(((threads, each) for threads, each in plans or PLANS[width] if words <= threads * each), None)


@functools.lru_cache(maxsize=4096)
def in_registers(
    source: Source, kernel: str, c_name: str, columns: int, width: int, last: str, plans: Plans | None = None
) -> tuple[Function, tuple[int, int], int] | None:
    """The instance that keeps a row in registers, its block, and rows per block; ``None`` where no row fits.

    ``last`` is what :func:`evicts_last` says of the matrix. Remembered, because it costs the host more than a launch.
    """
    found = plan(columns // width, width, plans)
    if found is None:
        return None
    threads, words = found
    per_block = rows_per_block(threads)
    return source.function(f"{kernel}<{c_name}, {width}, {threads}, {words}, {last}>"), (threads, per_block), per_block


def looped_threads(words: int, each: int) -> int:
    """Threads of a row that is read twice: ``each`` words apiece, from 128 up to 512 threads.

    All words of a thread are in flight at once then. On an H200, 512 threads of two words took 193 us where 128 of
    eight took 73 (layernorm, 8192 x 8192 f16), and 84 against 72 with 256 of four (softmax).
    """
    return min(512, max(128, 1 << (ceil_div(words, each) - 1).bit_length()))
