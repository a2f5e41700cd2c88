"""y = softmax of each row of x, in CUDA C++. Rows are dense; the distance between them may be any."""

from __future__ import annotations

import functools
from pathlib import Path

import torch

from kernels_cuda import _rowwise as rowwise
from pytest_roofline.capability import runs_on
from pytest_roofline.launch import Source, c_type, ceil_div
from pytest_roofline.operands import row_extents
from pytest_roofline.remembered import remembered

# As the plans of all rows; with its single barrier softmax was fastest on an H200 with (1024, 2) in place of (512, 4)
# and (512, 8) of (1024, 4), 8192 and 16384 columns of f32, and with (512, 2) of (256, 4), 8192 of f16: 1, 5 and 2 %.
PLANS = {
    4: ((8, 2), (16, 2), (32, 2), (64, 2), (128, 2), (256, 2), (512, 2), (1024, 2), (512, 8), (1024, 8)),
    8: ((8, 2), (16, 2), (32, 2), (64, 2), (128, 2), (128, 4), (512, 2), (512, 4), (1024, 4)),
    1: rowwise.PLANS[1],
}
LOOPED_WORDS = 4  # of a thread
UNFUSED_THREADS = 256
LONG_THREADS = 1024
# Words per thread of a long row, and how many of them stay in registers and in shared memory: on an H200, to read a
# quarter of 16 words twice was faster than to leave the caches no room.
LONG_PLANS = ((16, 4, 8), (1 << 31, 8, 12))
LONG_RESERVED = 1 << 10  # bytes of a block's shared memory that are not for the row
LEAST_SHARED = 163 << 10  # bytes that a block may have on an A100
INT_MAX = (1 << 31) - 1  # columns that the long kernel counts
LONG_WORDS = 8 * LONG_THREADS  # of a row; up to here, a block alone was faster than a cluster

# Of a row that a cluster shares: threads of a block, words that a thread keeps in registers and in shared memory,
# blocks of an SM, and the sizes of clusters that every Hopper launches.
SHARED_THREADS, SHARED_HELD, SHARED_STORED, SHARED_BLOCKS = 256, 8, 8, 4
SHARED_WORDS = SHARED_THREADS * (SHARED_HELD + SHARED_STORED)  # of a block
CLUSTERS = (2, 4, 8)
CLUSTER_ARCH = "sm_90a"

_HERE = Path(__file__).parent
UNFUSED = Source(_HERE / "unfused.cu")
FUSED = Source(_HERE / "fused.cu")
FUSED_LOOPED = Source(_HERE / "fused_looped.cu")
FUSED_CLUSTER = Source(_HERE / "fused_cluster.cu", arch=CLUSTER_ARCH)


def unfused(x: torch.Tensor, y: torch.Tensor, *, maxima: torch.Tensor, sums: torch.Tensor) -> None:
    """Three kernels; ``maxima`` and ``sums`` are workspace, one element per row.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and both have dense rows.
    """
    rows, columns = row_extents(x, y, maxima=maxima, sums=sums)
    if not x.numel():
        return
    width, x_row, y_row = rowwise.layout(columns, x, y)
    instance, block = f"<{c_type(x)}, {width}, {UNFUSED_THREADS}>", (UNFUSED_THREADS,)
    UNFUSED.function(f"softmax_unfused_max{instance}")((rows,), block, (x, maxima, columns, x_row))
    UNFUSED.function(f"softmax_unfused_sum{instance}")((rows,), block, (x, maxima, sums, columns, x_row))
    scale = UNFUSED.function(f"softmax_unfused_scale{instance}")
    scale((rows,), block, (x, maxima, sums, y, columns, x_row, y_row))


@remembered
def fused(x: torch.Tensor, y: torch.Tensor) -> None:
    """One kernel that keeps a row in registers, a longer one in shared memory, too, as far as it fits there.

    On Hopper, rows that it fits go through ``fused_cluster`` if they are longer than an SM keeps. Rows of more than
    8192 elements that no 16-byte load fits, and those of more than 2^31 - 1 elements, go through ``fused_looped``.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and both have dense rows.
    """
    rows, columns = row_extents(x, y)
    if not rows or not columns:
        return None
    width, x_row, y_row = rowwise.layout(columns, x, y)
    chosen = rowwise.in_registers(
        FUSED, "softmax_fused", c_type(x), columns, width, rowwise.evicts_last(x), PLANS[width]
    )
    if chosen is None:
        if width == 1 or columns > INT_MAX:
            return fused_looped(x, y)
        words = columns // width
        shared = LONG_WORDS < words <= CLUSTERS[-1] * SHARED_WORDS and _has_clusters(x.device)
        return fused_cluster(x, y) if shared else _fused_long(x, y, x_row, y_row)
    function, block, per_block = chosen
    function((ceil_div(rows, per_block),), block, (x, y, rows, columns, x_row, y_row))


def _fused_long(x: torch.Tensor, y: torch.Tensor, x_row: int, y_row: int) -> None:
    rows, columns = x.shape
    words = ceil_div(columns * x.element_size(), rowwise.PACK * LONG_THREADS)
    held, stored = next(plan for most, *plan in LONG_PLANS if words <= most)
    function = FUSED.function(f"softmax_fused_long<{c_type(x)}, {LONG_THREADS}, {held}>")
    stored = min(stored, _words_in_shared(x.device))
    shared = stored * LONG_THREADS * rowwise.PACK
    function((rows,), (LONG_THREADS,), (x, y, columns, x_row, y_row, stored), shared)


def fused_cluster(x: torch.Tensor, y: torch.Tensor) -> None:
    """One row per cluster of blocks, which keeps all of it in registers and shared memory.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and all rows consist of aligned 16-byte words, at most
    512 KiB of them; on other GPUs than sm_90; and ``GpuNeeded`` on a CPU.
    """
    rows, columns = row_extents(x, y)
    if not rows or not columns:
        return
    width, x_row, y_row = rowwise.layout(columns, x, y)
    words = columns // width
    cluster = next((blocks for blocks in CLUSTERS if words <= blocks * SHARED_WORDS), None)
    if width == 1 or cluster is None:
        raise ValueError(f"a cluster shares rows of whole 16-byte words, up to {CLUSTERS[-1] * SHARED_WORDS} of them")
    plan = f"{cluster}, {SHARED_THREADS}, {SHARED_HELD}, {SHARED_STORED}, {SHARED_BLOCKS}, {rowwise.evicts_last(x)}"
    function = FUSED_CLUSTER.function(f"softmax_fused_cluster<{c_type(x)}, {plan}>")
    shared_bytes = SHARED_STORED * SHARED_THREADS * rowwise.PACK
    function((rows * cluster,), (SHARED_THREADS,), (x, y, columns, x_row, y_row), shared_bytes)


@functools.cache
def _words_in_shared(device: torch.device) -> int:
    """Of a thread of ``LONG_THREADS``, in what a block may have; without a GPU as many as an A100 has room for."""
    most = LEAST_SHARED
    if device.type == "cuda":
        most = torch.cuda.get_device_properties(device).shared_memory_per_block_optin
    return int((most - LONG_RESERVED) // (LONG_THREADS * rowwise.PACK))


@functools.cache
def _has_clusters(device: torch.device) -> bool:
    return device.type == "cuda" and runs_on(CLUSTER_ARCH, torch.cuda.get_device_capability(device))


def fused_looped(x: torch.Tensor, y: torch.Tensor) -> None:
    """One block per row of any length, which is read twice.

    Raises ``ValueError`` unless ``y`` has the shape of ``x`` and both have dense rows.
    """
    rows, columns = row_extents(x, y)
    if not x.numel():
        return
    width, x_row, y_row = rowwise.layout(columns, x, y)
    threads = rowwise.looped_threads(columns // width, LOOPED_WORDS)
    function = FUSED_LOOPED.function(f"softmax_fused_looped<{c_type(x)}, {width}, {threads}>")
    function((rows,), (threads,), (x, y, columns, x_row, y_row))
