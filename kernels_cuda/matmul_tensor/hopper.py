"""c[m, n] = a[m, k] b[k, n] on Hopper's tensor cores: TMA, mbarrier, wgmma. For matrices that the copy engine takes.

That is rows of c, a and b dense, or columns of b, starting at multiples of 16 bytes, those of c ending there as well;
bytes and tf32 need b by columns.
Every launcher raises ``ValueError`` for others, for shapes that do not multiply, and on GPUs other than sm_90; and
``TypeError`` for a c that is not in the format of 16-bit operands, or int32 of int8, or else f32.
"""

from __future__ import annotations

import functools
from pathlib import Path

import torch

from pytest_roofline.capability import runs_on
from pytest_roofline.launch import Source, c_bool, ceil_div, require
from pytest_roofline.operands import matmul_extents, require_dtype
from pytest_roofline.tensor_map import TensorMap, refusal, store_refusal, tensor_map

ARCH = "sm_90a"

_HERE = Path(__file__).parent
WGMMA, WGMMA_SPECIALISED, WGMMA_PERSISTENT, WGMMA_CLUSTER, WGMMA_OVERLAPPED = (
    Source(_HERE / f"{name}.cu", arch=ARCH)
    for name in ("wgmma", "wgmma_specialised", "wgmma_persistent", "wgmma_cluster", "wgmma_overlapped")
)

# As in wgmma_tile.cuh and wgmma_roles.cuh.
TILE_M, TILE_N = 128, 256
LINE = 128  # bytes of a row of a tile in shared memory
STAGES = 4
WARPGROUP = 128
RESULT_ROWS = 64  # of a box of results, those of a warpgroup
NARROW_N = 64
WGMMA_NARROW = Source(_HERE / "wgmma_specialised.cu", (f"-DWGMMA_COLUMNS={NARROW_N}",), arch=ARCH)

CLUSTER, GROUP = 2, 8
LONGEST = (1 << 31) - CLUSTER * TILE_N  # rows or columns: tiles are placed, and the copy engine counts, in 32 bits

OPERANDS = {
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float32: "TF32",
    torch.int8: "I8",
    torch.float8_e4m3fn: "E4M3",
}
RESULTS = {torch.float16: torch.float16, torch.bfloat16: torch.bfloat16, torch.int8: torch.int32}  # of others f32


def shared_bytes(columns: int) -> int:
    """Of a block whose tiles have so many columns: stages, buffers of results, barriers, and room to align them."""
    return STAGES * (TILE_M + columns) * LINE + 2 * (16 << 10) + STAGES * 2 * 8 + 1024


SHARED_BYTES = shared_bytes(TILE_N)


def wgmma(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """One tile of 128 x 256 per block."""
    _launch_tiles(WGMMA, "matmul_tensor_wgmma", 2 * WARPGROUP, a, b, c)


def wgmma_specialised(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``wgmma`` with a warpgroup that only loads."""
    _launch_tiles(WGMMA_SPECIALISED, "matmul_tensor_wgmma_specialised", 3 * WARPGROUP, a, b, c)


def wgmma_narrow(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``wgmma_specialised`` with tiles of 128 x 64, four times as many."""
    _launch_tiles(WGMMA_NARROW, "matmul_tensor_wgmma_specialised", 3 * WARPGROUP, a, b, c, NARROW_N)


def wgmma_persistent(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``wgmma_specialised`` with a block per SM that takes tile after tile."""
    m, n, k = matmul_extents(a, b, c)
    if not empty(c, k):
        function = WGMMA_PERSISTENT.function(f"matmul_tensor_wgmma_persistent<{_instance(a, b)}>")
        blocks = min(_multiprocessors(c.get_device()), ceil_div(m, TILE_M) * ceil_div(n, TILE_N))
        function((blocks,), (3 * WARPGROUP,), (*_maps(a, b, c, TILE_N), m, n, k), SHARED_BYTES)


def wgmma_cluster(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, cluster: int, group: int) -> None:
    """As ``wgmma_persistent`` with clusters of so many blocks along m that share b, and ``group`` of their rows walked
    column by column."""
    _launch_clusters(WGMMA_CLUSTER, "matmul_tensor_wgmma_cluster", a, b, c, cluster, group)


def wgmma_overlapped(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, cluster: int, group: int) -> None:
    """As ``wgmma_cluster``, storing one tile while the next is multiplied. Operands have 16 bits."""
    require(a.element_size() == 2, f"results of {a.dtype} do not fit into registers beside the next tile's")
    _launch_clusters(WGMMA_OVERLAPPED, "matmul_tensor_wgmma_overlapped", a, b, c, cluster, group)


def best(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, free_gaps: bool = False) -> None:
    """The rung that is fastest on an H200. With ``free_gaps`` what lies between the rows of c may be written as well.

    As long as all narrow tiles run at a time, each takes a quarter as long as a wide one, and no SM would have had two
    of those. Beyond that the wide ones win: for the same work they read half as much shared memory.
    """
    wide = ceil_div(a.shape[0], TILE_M) * ceil_div(b.shape[1], TILE_N)
    if wide * TILE_N // NARROW_N <= _multiprocessors(c.get_device()):
        name, threads = "matmul_tensor_wgmma_specialised", 3 * WARPGROUP
        _launch_tiles(WGMMA_NARROW, name, threads, a, b, c, NARROW_N, free_gaps=free_gaps)
    elif a.element_size() == 2:
        name = "matmul_tensor_wgmma_overlapped"
        _launch_clusters(WGMMA_OVERLAPPED, name, a, b, c, CLUSTER, GROUP, free_gaps=free_gaps)
    else:
        _launch_clusters(WGMMA_CLUSTER, "matmul_tensor_wgmma_cluster", a, b, c, CLUSTER, GROUP, free_gaps=free_gaps)


@functools.cache
def available(device: torch.device) -> bool:
    """Whether a device is a GPU that runs these kernels."""
    return device.type == "cuda" and runs_on(ARCH, torch.cuda.get_device_capability(device))


def problem(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> str:
    """Why these launchers cannot take matrices that are not empty; nothing if they can."""
    if a.dtype not in OPERANDS:
        return f"wgmma does not multiply {a.dtype}"
    if c.dtype is not result_type(a):
        return f"wgmma's products of {a.dtype} are stored as {result_type(a)}, not {c.dtype}"
    if max(*a.shape, *c.shape) > LONGEST:
        return f"the copy engine takes up to {LONGEST} rows and columns"
    if not by_columns(b) and a.element_size() != 2:
        return f"wgmma takes {a.dtype} only with b by columns"
    lies = b.stride()[::-1] if by_columns(b) else b.stride()
    for name, matrix, columns, strides, refused in (
        ("a", a, a.shape[1], a.stride(), refusal),
        ("b", b, b.shape[0 if by_columns(b) else 1], lies, refusal),
        ("c", c, c.shape[1], c.stride(), store_refusal),
    ):
        found = refused(matrix.data_ptr(), matrix.element_size(), columns, strides)
        if found:
            return f"the copy engine cannot take {name}: {found}"
    return ""


def result_type(a: torch.Tensor) -> torch.dtype:
    """What the kernels store."""
    return RESULTS.get(a.dtype, torch.float32)


def by_columns(b: torch.Tensor) -> bool:
    """Whether b lies by columns, along k."""
    return b.stride(1) != 1


def empty(c: torch.Tensor, k: int) -> bool:
    """Whether nothing is to be multiplied; c is then zero."""
    if k == 0:
        c.zero_()
    return k == 0 or c.numel() == 0


@functools.cache
def _multiprocessors(device: int) -> int:
    """SMs of a GPU; without one, where a launch is only compiled, any number of clusters will do."""
    return 16 if device < 0 else int(torch.cuda.get_device_properties(device).multi_processor_count)


def _launch_tiles(
    source: Source,
    name: str,
    threads: int,
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    columns: int = TILE_N,
    *,
    free_gaps: bool = False,
) -> None:
    m, n, k = matmul_extents(a, b, c)
    if not empty(c, k):
        function = source.function(f"{name}<{_instance(a, b)}>")
        blocks = ceil_div(m, TILE_M) * ceil_div(n, columns)
        function((blocks,), (threads,), (*_maps(a, b, c, columns, free_gaps=free_gaps), n, k), shared_bytes(columns))


def _launch_clusters(
    source: Source,
    name: str,
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    cluster: int,
    group: int,
    *,
    free_gaps: bool = False,
) -> None:
    m, n, k = matmul_extents(a, b, c)
    if not empty(c, k):
        function = source.function(f"{name}<{_instance(a, b)}, {cluster}>")
        tiles = ceil_div(m, TILE_M * cluster) * ceil_div(n, TILE_N)
        clusters = min(_multiprocessors(c.get_device()) // cluster, tiles)
        maps = _maps(a, b, c, TILE_N // cluster, free_gaps=free_gaps)
        function((clusters * cluster,), (3 * WARPGROUP,), (*maps, m, n, k, group), SHARED_BYTES)


def _instance(a: torch.Tensor, b: torch.Tensor) -> str:
    """The template arguments Operand and B_BY_COLUMNS."""
    return f"{OPERANDS[a.dtype]}, {c_bool(by_columns(b))}"


def _maps(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, columns: int, *, free_gaps: bool = False
) -> tuple[TensorMap, TensorMap, TensorMap]:
    """Of a, b and c; a block copies so many columns of b itself."""
    require(by_columns(b) or a.element_size() == 2, f"wgmma takes {a.dtype} only with b by columns")
    require_dtype(f"a product of {a.dtype}", result_type(a), c)
    longest = max(*a.shape, *c.shape)
    require(longest <= LONGEST, f"the copy engine takes up to {LONGEST} rows and columns, not {longest}")
    refused = store_refusal(c.data_ptr(), c.element_size(), c.shape[1], c.stride())
    require(free_gaps or not refused, f"the copy engine cannot take c: {refused}")
    line, results = LINE // a.element_size(), LINE // c.element_size()
    return (
        tensor_map(a, (TILE_M, line)),
        tensor_map(b.T, (columns, line)) if by_columns(b) else tensor_map(b, (line, line)),
        tensor_map(c, (RESULT_ROWS, results)),
    )
