"""c[m, n] = a[m, k] b[k, n] in f32 on the ordinary cores, in CUDA C++, for any strides.

The launchers are the rungs of a ladder, in its order; each raises ``ValueError`` for shapes that do not multiply,
``TypeError`` for other elements than f32.
"""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_bool, ceil_div, misalignment
from pytest_roofline.operands import matmul_extents, require_dtype

from . import tiles

_HERE = Path(__file__).parent
NAIVE_UNCOALESCED = Source(_HERE / "naive_uncoalesced.cu")
NAIVE = Source(_HERE / "naive.cu")
REGISTER_2X2 = Source(_HERE / "register_2x2.cu")
SHARED_32 = Source(_HERE / "shared_32.cu")
SHARED_32_TRANSPOSED = Source(_HERE / "shared_32_transposed.cu")
SHARED_32_TRANSPOSED_PADDED = Source(_HERE / "shared_32_transposed_padded.cu")
REGISTER_TILED = Source(_HERE / "register_tiled.cu")
VECTORISED = Source(_HERE / "vectorised.cu")
DOUBLE_BUFFERED = Source(_HERE / "double_buffered.cu")
PACK = 16  # bytes of one vector access


def naive_uncoalesced(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """One element of ``c`` per thread, neighbouring threads below each other."""
    _launch(NAIVE_UNCOALESCED, "matmul_naive_uncoalesced", (32, 8), (32, 8), a, b, c)


def naive(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """One element of ``c`` per thread, neighbouring threads side by side."""
    _launch(NAIVE, "matmul_naive", (8, 32), (32, 8), a, b, c)


def register_2x2(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Four elements of ``c`` per thread, without shared memory."""
    _launch(REGISTER_2X2, "matmul_register_2x2", (16, 64), (32, 8), a, b, c)


def shared_32(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Tiles of 32 x 32 in shared memory."""
    _launch(SHARED_32, "matmul_shared_32", (32, 32), (32, 32), a, b, c)


def shared_32_transposed(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``shared_32`` with the tile of ``b`` transposed."""
    _launch(SHARED_32_TRANSPOSED, "matmul_shared_32_transposed", (32, 32), (32, 32), a, b, c)


def shared_32_transposed_padded(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``shared_32_transposed`` with padded rows."""
    _launch(SHARED_32_TRANSPOSED_PADDED, "matmul_shared_32_transposed_padded", (32, 32), (32, 32), a, b, c)


def register_tiled(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Tiles of 64 x 64, 4 x 4 elements of ``c`` per thread."""
    _launch(REGISTER_TILED, "matmul_register_tiled", (64, 64), (256,), a, b, c)


def vectorised(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``register_tiled`` with 16-byte accesses, to global memory where rows are aligned."""
    wide = all(map(_wide, (a, b, c)))
    _launch(VECTORISED, f"matmul_vectorised<{c_bool(wide)}>", (64, 64), (256,), a, b, c)


def double_buffered(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``vectorised`` with asynchronous copies into the other of two pairs of tiles."""
    wide = _wide(b) and _wide(c) and c.shape[1] * c.element_size() % PACK == 0  # rows of whole packs, too
    _launch(DOUBLE_BUFFERED, f"matmul_double_buffered<{c_bool(wide)}>", (64, 64), (256,), a, b, c)


def tuned_128(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Tiles of 128 x 128, 16 x 8 elements of ``c`` per thread."""
    tiles.launch(tiles.LARGE, a, b, c)


def tuned(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """As ``tuned_128`` with the tile that suits the size of ``c``, and how the operands lie."""
    tiles.launch(tiles.choose_for(a, b, c), a, b, c)


def _launch(
    source: Source,
    kernel: str,
    tile: tuple[int, int],
    block: tuple[int, ...],
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    shared_bytes: int = 0,
) -> None:
    """One block per tile of ``c``, all of them along the grid's first axis, which alone has no limit of 65535."""
    m, n, k = matmul_extents(a, b, c)
    require_dtype("this product", torch.float32, a, c)
    grid = (ceil_div(m, tile[0]) * ceil_div(n, tile[1]),)
    arguments = (a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
    source.function(kernel)(grid, block, arguments, shared_bytes)


def _wide(matrix: torch.Tensor) -> bool:
    """Whether every row starts at a multiple of 16 bytes and its elements lie side by side."""
    rows, columns = matrix.stride()
    return columns == 1 and rows * matrix.element_size() % PACK == 0 and misalignment(matrix, PACK) == 0
