"""Products by tiles that fit a shape: every way that results leave, every way of sharing, partial sums, views."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda.matmul_ragged import on_hopper  # noqa: E402
from kernels_cuda.matmul_ragged.fitted import Plan, Tile  # noqa: E402
from kernels_cuda.matmul_tensor import hopper  # noqa: E402

TILES = [
    Tile(1, 16, "NONE", 2),
    Tile(1, 48, "B"),
    Tile(1, 112, "A", 2),
    Tile(1, 256),
    Tile(2, 64, "A"),
    Tile(2, 144, "B"),
    Tile(2, 256),
    Tile(3, 96, "A"),
    Tile(3, 176, "B"),
    Tile(3, 192),
]


@pytest.fixture(autouse=True)
def on_sm_90a():
    """Skip on other GPUs."""
    if not torch.cuda.is_available() or not hopper.available(torch.device("cuda", torch.cuda.current_device())):
        pytest.skip("needs a GPU of sm_90a")


def whole_numbers(*shape):
    """Small enough for their products to add up exactly."""
    return torch.randint(-2, 3, shape, device="cuda").half()


def check(m, n, k, plan, *, by_columns, shift=0, pitch=0):
    """c is exact, and untouched beside it; its rows begin ``shift`` elements further, ``pitch`` more apart."""
    a, b = whole_numbers(m, k), whole_numbers(n, k).T if by_columns else whole_numbers(k, n)
    whole = torch.full((m, n + shift + pitch), 77.0, device="cuda").half()
    c = whole[:, shift : shift + n]
    partials = torch.full((1 << 23,), float("nan"), device="cuda")
    packed = torch.empty((m + 16) * (k + 16) + (n + 16) * (k + 16), device="cuda").half()
    on_hopper.launch(a, b, c, partials, packed, plan)
    assert torch.equal(c.float(), a.float() @ b.float())
    c.fill_(77)
    assert (whole == 77).all()


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize("tile", TILES, ids=str)
def test_tiles_and_parts(tile, by_columns, parts):
    """One past a tile and one short of it, odd rows, a k that ends within a step."""
    for m, n, k in ((tile.rows + 1, tile.columns - 1, 200), (2 * tile.rows, 3 * tile.columns, 456), (5, 7, 193)):
        check(m, n, k, Plan(tile, parts), by_columns=by_columns)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize(
    "tile",
    [Tile(1, 16, "TILE", 2, 2), Tile(1, 64, "TILE", 2, 8), Tile(2, 80, "TILE", 1, 8), Tile(3, 192, "TILE", 1, 2)],
    ids=str,
)
def test_partners(tile, by_columns, parts):
    """Blocks of a cluster that share a tile: one past it and one short of it, odd rows, parts of unequal length."""
    for m, n, k in ((tile.rows + 1, tile.columns - 1, 1100), (2 * tile.rows, 3 * tile.columns, 2056), (5, 7, 1025)):
        check(m, n, k, Plan(tile, parts), by_columns=by_columns)
        check(m, n, k, Plan(tile, parts), by_columns=by_columns, shift=1, pitch=2)


@pytest.mark.parametrize(("shift", "pitch"), [(0, 4), (0, 1), (1, 0), (2, 2), (3, 8), (4, 3)])
@pytest.mark.parametrize("n", [63, 64, 200, 257])
def test_results_at_any_address(n, shift, pitch):
    """Rows at multiples of 8, 4 and 2 bytes, alternating where rows have an odd number of elements."""
    for tile in (Tile(1, 64, "A"), Tile(3, 96)):
        check(130, n, 128, Plan(tile), by_columns=True, shift=shift, pitch=pitch)
        check(130, n, 128, Plan(tile, 2), by_columns=False, shift=shift, pitch=pitch)


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("m", [1, 16, 50])
def test_a_turned_product(m, parts):
    """Its results lie across."""
    for tile in (Tile(1, 16, "NONE", 2), Tile(2, 64, "B")):
        check(m, 333, 520, Plan(tile, parts, True), by_columns=True, pitch=3)


def test_more_tiles_than_places():
    """Blocks take tile after tile, with the ring going on."""
    check(2100, 2500, 130, Plan(Tile(1, 64, "B", 2)), by_columns=True)
    check(4000, 3000, 72, Plan(Tile(3, 80, "A")), by_columns=False)


def test_the_second_kernel_waits_for_the_first():
    """Although it may begin before: a hundred products in a row, each with other operands."""
    k, plan = 20000, Plan(Tile(1, 64), 64)
    partials, packed = torch.empty(1 << 20, device="cuda"), torch.empty(0, device="cuda").half()
    many = [
        (whole_numbers(64, k), whole_numbers(64, k).T, torch.empty(64, 64, device="cuda").half()) for _ in range(100)
    ]
    for a, b, c in many:
        on_hopper.launch(a, b, c, partials, packed, plan)
    for a, b, c in many:
        assert torch.equal(c.float(), (a.float() @ b.float()).half().float())
