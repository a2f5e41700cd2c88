"""Products in f32 whose steps along k are shared out among blocks."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda.matmul.tiles import LARGE, TINY  # noqa: E402
from kernels_cuda.matmul_ragged import ordinary  # noqa: E402
from kernels_cuda.matmul_ragged.ordinary import best_split, least_waste, stream_clocks  # noqa: E402
from pytest_roofline.counting.cuda_cpu import CompilerMissing  # noqa: E402
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler  # noqa: E402

SMS, ROOM = 132, 1 << 23


@pytest.mark.parametrize("tile", [LARGE, TINY], ids=lambda t: f"{t.rows}x{t.columns}")
@pytest.mark.parametrize("how", ["split", "stream"])
def test_parts_of_a_tile_add_up(tile, how):
    """Two tiles each way, the second one begun, in three parts, the last one shorter; or as pieces for two SMs."""
    try:
        find_compiler()
    except CompilerMissing as reason:
        pytest.skip(str(reason))
    m, n, k = tile.rows + 3, tile.columns + 1, 4 * tile.depth + 5
    generator = torch.Generator().manual_seed(0)
    a, b = torch.rand((m, k), generator=generator), torch.rand((k, n), generator=generator)
    c, partials = torch.full((m, n), float("nan")), torch.full((12 * tile.rows * tile.columns,), float("nan"))
    if how == "split":
        ordinary.launch_split(a, b, c, partials, tile, 3)
    else:
        ordinary.launch_stream(a, b, c, partials, tile, 1)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=k * 2**-24, atol=0)


def test_parts_need_their_workspace():
    """A workspace that is too small is refused, not overrun."""
    a, b, c = torch.rand(16, 512), torch.rand(512, 32), torch.empty(16, 32)
    with pytest.raises(ValueError, match="more workspace"):
        ordinary.launch_split(a, b, c, torch.empty(16), TINY, 2)


def test_few_tiles_of_many_steps_are_split_and_many_tiles_are_not():
    """One tile for 132 SMs is worth the detour through memory, a filled device is not."""
    assert best_split(128, 128, 131072, SMS, ROOM)[1] > 100
    assert best_split(4096, 4096, 4096, SMS, ROOM)[:2] == (LARGE, 1)
    assert best_split(64, 64, 64, SMS, ROOM)[1] == 1


def test_pieces_pay_where_the_last_wave_is_nearly_empty():
    """135 tiles of 128 x 128 on 132 SMs take two waves whole, and little more than one in pieces."""
    assert stream_clocks(1152, 1920, 4096, SMS) < 0.9 * best_split(1152, 1920, 4096, SMS, ROOM)[2]
    assert stream_clocks(2048, 2048, 2048, SMS) > 0.9 * best_split(2048, 2048, 2048, SMS, ROOM)[2]


def test_a_short_side_takes_a_narrow_tile():
    """Sixteen rows fill no tile of 128."""
    assert least_waste(16, 4096) == TINY
    assert least_waste(4096, 4096) == LARGE
