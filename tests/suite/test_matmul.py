"""The tuned product in all of its tiles and layouts, which drawn shapes only meet in part."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda.matmul import tiles  # noqa: E402
from kernels_cuda.matmul.tiles import LARGE, MEDIUM, SMALL, TINY, choose, layout, offset  # noqa: E402
from pytest_roofline.counting.cuda_cpu import CompilerMissing  # noqa: E402
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler  # noqa: E402


def matrix(rows: int, columns: int, transposed: bool = False, seed: int = 0) -> torch.Tensor:
    """Random numbers; ``transposed`` stores them by columns."""
    generator = torch.Generator().manual_seed(seed)
    shape = (columns, rows) if transposed else (rows, columns)
    stored = torch.rand(shape, generator=generator)
    return stored.t() if transposed else stored


@pytest.mark.parametrize(("a_transposed", "b_transposed"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("tile", [LARGE, MEDIUM, SMALL, TINY], ids=lambda t: f"{t.rows}x{t.columns}")
def test_every_tile_multiplies_every_layout(tile, a_transposed, b_transposed):
    """Two tiles each way, the second one begun, with steps that fill no tile: right whatever is stored by columns."""
    try:
        find_compiler()
    except CompilerMissing as reason:
        pytest.skip(str(reason))
    m, n, k = tile.rows + 4, tile.columns + 4, 2 * tile.depth + 3
    a, b, c = matrix(m, k, a_transposed), matrix(k, n, b_transposed, 1), torch.full((m, n), float("nan"))
    tiles.launch(tile, a, b, c)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=k * 2**-24, atol=0)


def test_layouts():
    """Steps side by side are transposed; elements side by side go in packs where 16 bytes align, else one by one."""
    assert layout(matrix(8, 8)) == "STEPS"
    assert layout(matrix(8, 8, transposed=True)) == "PACKS"
    assert layout(matrix(7, 8, transposed=True)) == "ELEMENTS"  # rows of 28 bytes
    assert layout(matrix(9, 8, transposed=True)[1:]) == "ELEMENTS"  # 4 bytes off
    assert layout(matrix(8, 16)[:, ::2]) == "ELEMENTS"


def test_rows_far_apart_take_wide_offsets():
    """128 rows of 2^24 elements reach just 2^31; everyday matrices stay in 32 bits."""
    near = torch.empty((1, 1)).as_strided((1, 1), (1 << 23, 1))
    far = torch.empty((1, 1)).as_strided((1, 1), (1 << 24, 1))
    assert (offset(LARGE, near, near), offset(LARGE, far, near)) == ("int", "long long")


@pytest.mark.parametrize(("size", "tile"), [(256, TINY), (512, SMALL), (1024, MEDIUM), (2048, LARGE), (8192, LARGE)])
def test_square_products_have_the_tile_that_was_fastest(size, tile):
    """The rule gives what the sweep on an H200 found for each of its sizes."""
    assert choose(size, size) == tile
