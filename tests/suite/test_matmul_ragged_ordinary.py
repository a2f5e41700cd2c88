"""Products in f32 whose steps along k are shared out among blocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from kernels_cuda.matmul.tiles import LARGE, TINY, layout  # noqa: E402
from kernels_cuda.matmul_ragged import ordinary  # noqa: E402
from kernels_cuda.matmul_ragged.ordinary import rule  # noqa: E402
from kernels_cuda.matmul_ragged.ordinary.rule import Plan  # noqa: E402
from tests.suite.compiling import compiled, launched  # noqa: E402

SMS, ROOM = 132, 1 << 23


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("tile", [LARGE, TINY], ids=lambda t: f"{t.rows}x{t.columns}")
@pytest.mark.parametrize("how", ["split", "stream"])
def test_parts_of_a_tile_add_up(tile, how):
    """Two tiles each way, the second one begun, in three parts, the last one shorter; or as pieces for two SMs."""
    m, n, k = tile.rows + 3, tile.columns + 1, 4 * tile.depth + 5
    generator = torch.Generator().manual_seed(0)
    a, b = torch.rand((m, k), generator=generator), torch.rand((k, n), generator=generator)
    c, partials = torch.full((m, n), float("nan")), torch.full((12 * tile.rows * tile.columns,), float("nan"))
    if how == "split":
        ordinary.launch_split(a, b, c, partials, tile, 3)
    else:
        ordinary.launch_stream(a, b, c, partials, tile, 1)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=k * 2**-24, atol=0)


@pytest.mark.parametrize("way", ["STEPS", "ELEMENTS"])
@pytest.mark.parametrize(
    ("tile", "arch"),
    [*((tile, "sm_80") for tile in rule.SPEED), (LARGE, "sm_90"), (TINY, "sm_90")],
    ids=lambda x: x if isinstance(x, str) else f"{x.rows}x{x.columns}",
)
def test_nothing_is_spilled_however_b_lies(tile, arch, way):
    """By columns or by rows that are not aligned, which takes the most registers; in parts, in pieces, and where these
    are added up. For sm_90 a word is, of pieces of the smallest tile, four blocks of which are to fit."""
    m, n, k = tile.rows, tile.columns, 8 * tile.depth
    a, c, partials = torch.empty(m, k), torch.empty(m, n), torch.empty(12 * m * n)
    b = torch.empty(n, k).t() if way == "STEPS" else torch.empty(k, n + (way == "ELEMENTS"))[:, :n]
    assert layout(b.t()) == way
    told = launched(lambda: ordinary.launch_split(a, b, c, partials, tile, 3))
    told += launched(lambda: ordinary.launch_stream(a, b, c, partials, tile, 3))
    assert len(told) == 4
    for function, _, block, dynamic in told:
        found = compiled(function, block, dynamic, arch)
        word = (tile, arch, way) == (TINY, "sm_90", "ELEMENTS") and "stream_k" in function.name
        assert found.spills == (4 if word else 0)


def test_parts_need_their_workspace():
    """A workspace that is too small is refused, not overrun."""
    a, b, c = torch.rand(16, 512), torch.rand(512, 32), torch.empty(16, 32)
    with pytest.raises(ValueError, match="more workspace"):
        ordinary.launch_split(a, b, c, torch.empty(16), TINY, 2)


def test_few_tiles_of_many_steps_are_split_and_many_tiles_are_not():
    """One tile for 132 SMs is worth the detour through memory, a filled device is not."""
    assert rule.split(128, 128, 131072, SMS, ROOM).parts > 20
    assert rule.split(4096, 4096, 4096, SMS, ROOM) == (LARGE, 1, False)
    assert rule.split(64, 64, 64, SMS, ROOM).parts == 1


def test_pieces_pay_where_the_last_wave_is_nearly_empty():
    """135 tiles of 128 x 128 on 132 SMs take two waves whole, and little more than one in pieces."""
    assert rule.plan(1152, 1920, 4096, SMS, ROOM).parts == 0
    whole, pieces = (rule.clocks(1152, 1920, 4096, Plan(LARGE, parts), SMS, ROOM) for parts in (1, 0))
    assert pieces < 0.9 * whole


def test_a_short_side_takes_a_narrow_tile():
    """Sixteen rows fill no tile of 128, nor do sixteen columns: then the product is turned."""
    assert rule.least_waste(16, 4096) == TINY
    assert rule.least_waste(4096, 4096) == LARGE
    assert rule.plan(512, 16, 100000, SMS, ROOM).turned
    assert not rule.plan(16, 512, 100000, SMS, ROOM).turned


def test_rows_of_b_that_are_not_aligned_turn_the_product():
    """What is copied element by element is then the narrow side of a tile."""
    assert not rule.plan(129, 129, 4096, SMS, ROOM).turned
    assert rule.plan(129, 129, 4096, SMS, ROOM, True).turned


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(0, 200_000), st.sampled_from([100, 1 << 16, ROOM]))
def test_a_plan_fits_its_workspace(m, n, k, room):
    """Parts of all tiles lie in it; pieces are as many as it holds, or the tiles stay whole."""
    tile, parts, turned = rule.plan(m, n, k, SMS, room)
    count = rule.tiles(n, m, tile) if turned else rule.tiles(m, n, tile)
    assert parts <= 1 or count * parts * tile.rows * tile.columns <= room
    assert parts <= max(1, k)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("parts", [0, 1, 3])
def test_a_turned_product_is_that_of_the_transposes(parts):
    """Sixteen columns as the rows of a narrow tile; c is written across."""
    m, n, k = 35, 16, 4 * TINY.depth + 5
    generator = torch.Generator().manual_seed(0)
    a, b = torch.rand((m, k), generator=generator), torch.rand((k, n), generator=generator)
    c, partials = torch.full((m, n), float("nan")), torch.full((20 * TINY.rows * TINY.columns,), float("nan"))
    ordinary.launch(a, b, c, partials, Plan(TINY, parts, turned=True))
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=k * 2**-24, atol=0)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("m", [ordinary.ROWS_OF_A_COPY, 5])
def test_rows_that_lie_misaligned_are_copied_where_many_rows_of_a_are_multiplied(m):
    """Of 33 columns no row but the first is aligned; the copy lies in the workspace, and few rows do without."""
    n, k = 33, 70
    generator = torch.Generator().manual_seed(0)
    a, b = torch.rand((m, k), generator=generator), torch.rand((k, n), generator=generator)
    c, packed = torch.full((m, n), float("nan")), torch.full((k * 48,), -1.0)
    ordinary.chosen(a, b, c, partials=torch.empty(1 << 16), packed=packed)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=k * 2**-24, atol=0)
    assert torch.equal(packed.view(k, 48)[:, :n], b) == (m != 5)
