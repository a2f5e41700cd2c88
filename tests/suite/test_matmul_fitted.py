"""Tiles that fit a shape on Hopper: what is picked, what is launched, what it compiles to. None of it runs here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from kernels_cuda import matmul_ragged  # noqa: E402
from kernels_cuda.matmul_ragged import fitted, on_hopper  # noqa: E402
from kernels_cuda.matmul_ragged.fitted import Plan, Tile  # noqa: E402
from tests.suite.compiling import compiled, launched  # noqa: E402

SMS, ROOM = 132, 1 << 23
EXTENTS = st.one_of(st.integers(1, 300), st.sampled_from([1024, 4097, 14336]))


def operands(m, n, k, *, by_columns=True):
    """a, b and c of f16, and room to split k."""
    b = torch.empty(n, k).half().T if by_columns else torch.empty(k, n).half()
    return torch.empty(m, k).half(), b, torch.empty(m, n).half(), torch.empty(1 << 20), torch.empty(1 << 20).half()


@given(EXTENTS, EXTENTS, st.integers(1, 100_000), st.booleans())
def test_a_plan_can_be_launched(m, n, k, by_columns):
    """Boxes within the copy engine's limits, four stages in shared memory, partial sums in the workspace, no empty part
    of k, no warpgroup without a row."""
    tile, parts, turned = fitted.plan(m, n, k, by_columns, SMS, ROOM)
    m, n = (n, m) if turned else (m, n)
    assert not turned or by_columns
    assert tile.columns <= fitted.MOST_COLUMNS[tile.warpgroups]
    assert tile.columns % 16 == 0
    assert tile.rows - 64 < m
    assert tile.columns - 16 < n or tile.columns == 16
    stages = tile.stages(by_columns)
    assert stages >= 4
    assert tile.resident * (stages * (tile.rows + tile.b_lines(by_columns)) * 128 + 2048) <= fitted.SHARED_BYTES
    assert 1 <= parts <= max(1, -(-k // 64))
    blocks = tile.clusters(m, n) * tile.cluster // tile.partners
    assert parts * tile.partners <= max(1, -(-k // 64))
    assert blocks * tile.rows * tile.columns >= m * n
    assert parts == 1 or blocks * parts * tile.rows * tile.columns <= ROOM


@pytest.mark.parametrize(
    ("m", "n", "k", "what"),
    [
        (64, 64, 65536, "few tiles, long sums: parts of k for everyone"),
        (4096, 4096, 4096, "many tiles: none"),
        (2304, 3840, 1024, "two waves, almost full: none"),
        (16, 16, 64, "a single step: none"),
    ],
)
def test_k_is_split_where_c_does_not_fill_the_device(m, n, k, what):
    """Parts for many of the multiprocessors, and no detour through the workspace without need."""
    plan = fitted.plan(m, n, k, True, SMS, ROOM)
    blocks = plan.tile.clusters(m, n) * plan.tile.cluster * plan.parts
    assert (plan.parts > 1) == what.endswith("everyone")
    assert plan.parts == 1 or SMS / 3 < blocks <= SMS * plan.tile.resident


@pytest.mark.parametrize("extent", [1152, 1536, 2176])
def test_waves_are_fuller_than_with_the_widest_tile(extent):
    """Results per place of all waves, of which the last one is mostly empty with tiles of 128 x 256."""

    def fill(tile):
        at_once = SMS * tile.resident // tile.cluster
        waves = -(-tile.clusters(extent, extent) // at_once)
        places = waves * at_once * tile.cluster / tile.resident
        return extent**2 / (places * tile.rows * tile.columns / tile.partners)

    picked = fitted.plan(extent, extent, 8192, True, SMS, ROOM)
    assert picked.parts == 1
    assert fill(picked.tile) > fill(Tile(2, 256))


def test_a_workspace_that_holds_less_gets_fewer_parts():
    """Down to none, so that the launch is never refused."""
    parts = [fitted.plan(64, 64, 65536, True, SMS, room).parts for room in (ROOM, 64 * 64 * 9, 100)]
    assert parts[0] > 9 >= parts[1] > 1 == parts[2]


@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize(
    "plan",
    [
        Plan(Tile(1, 64)),
        Plan(Tile(1, 16, "B", 2), 3),
        Plan(Tile(2, 80, "A"), 2),
        Plan(Tile(3, 176, "B")),
        Plan(Tile(2, 256)),
        Plan(Tile(1, 64, "TILE", 2, 8)),
        Plan(Tile(2, 80, "TILE", 1, 2), 3),
    ],
    ids=lambda plan: f"{plan.tile.rows}x{plan.tile.columns}{plan.tile.shared}{plan.parts}",
)
def test_blocks_cover_c_and_all_parts(plan, by_columns):
    """Whole clusters, a row of the grid for each part, and a second kernel where there are several."""
    matrices = operands(300, 400, 512, by_columns=by_columns)
    (main, grid, block, dynamic), *join = launched(lambda: on_hopper.launch(*matrices, plan))
    tile = plan.tile
    whole = plan.parts == tile.partners == 1
    assert grid[:2] == (grid[0] if whole else tile.clusters(300, 400) * tile.cluster, plan.parts)
    assert grid[0] % tile.cluster == 0
    assert block[0] == 128 * (tile.warpgroups + 1)
    assert dynamic <= fitted.SHARED_BYTES // tile.resident
    assert len(join) == (plan.parts > 1)
    assert not main.chained
    assert all(function.chained and step[0] == grid[0] // tile.partners for function, step, *_ in join)


def test_a_turned_product_is_that_of_the_transposes():
    """Rows of c become columns; both operands lie along k either way."""
    matrices = operands(16, 4096, 512)
    [(_, grid, _, _)] = launched(lambda: on_hopper.launch(*matrices, Plan(Tile(1, 16), turned=True)))
    assert grid[0] <= 4096 // 64


def test_more_parts_than_the_workspace_holds_are_refused():
    """Before anything is launched."""
    matrices = operands(2048, 2048, 512)
    with pytest.raises(ValueError, match="8 parts need more workspace"):
        on_hopper.launch(*matrices, Plan(Tile(1, 64), 8))


def test_more_parts_than_steps_are_refused():
    """Partners among them: somebody would have nothing to add up."""
    matrices = operands(64, 64, 512)
    with pytest.raises(ValueError, match="8 steps are fewer than 2 x 8 parts"):
        on_hopper.launch(*matrices, Plan(Tile(1, 64, "TILE", 1, 8), 2))


def test_partners_find_a_place_at_once_and_room_for_their_sums():
    """Whoever waits for a partner that has no place would wait for ever; two of them fill the device, eight nearly."""
    assert Tile(1, 64, "TILE", 1, 2).at_once(SMS) == 132
    assert Tile(1, 64, "TILE", 2, 8).at_once(SMS) == 240
    shared = [t for tile in fitted.tiles(500, 500, True) for t in fitted.together(tile, 4, 4096, True, SMS)]
    assert {tile.partners for tile in shared} == {2, 8}
    for tile in shared:
        assert tile.rows * (tile.columns + 8) * 4 <= tile.stages(True) * (tile.rows + tile.columns) * 128
    assert not list(fitted.together(Tile(1, 64), 67, 4096, True, SMS))


def test_nothing_is_multiplied_for_empty_matrices():
    """c is zero for k = 0, and nothing is launched."""
    for m, n, k in ((5, 5, 0), (0, 5, 5), (5, 0, 5)):
        a, b, c, partials, packed = operands(m, n, k)
        c.fill_(1)
        assert launched(lambda: matmul_ragged.wgmma_fitted(a, b, c, partials=partials, packed=packed)) == []  # noqa: B023
        assert not c.any()


@pytest.mark.parametrize(
    ("tile", "by_columns"),
    [
        (Tile(1, 16, "NONE", 2), True),
        (Tile(1, 128, "A", 2), True),
        (Tile(2, 256), False),
        (Tile(2, 144, "B"), True),
        (Tile(3, 96, "A"), False),
        (Tile(3, 192, "B"), False),
        (Tile(1, 64, "TILE", 2, 8), True),
        (Tile(3, 192, "TILE", 1, 2), True),
    ],
    ids=str,
)
def test_sums_stay_in_registers(tile, by_columns):
    """wgmma in it, and as many blocks to an SM as designed. Of the 128 registers that three
    warpgroups leave to each, a few words are spilled around the loop."""
    matrices = operands(300, 300, 2048, by_columns=by_columns)
    for function, _, block, dynamic in launched(lambda: on_hopper.launch(*matrices, Plan(tile, 2))):
        found = compiled(function, block, dynamic, "sm_90a")
        assert found.spills <= (32 if tile.warpgroups == 3 else 0)
        assert found.excess_shared == 0
        if dynamic:
            assert found.mix.count("wgmma") > 0
            assert found.occupancy.blocks >= tile.resident
