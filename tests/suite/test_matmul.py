"""What each rung of the product buys, by exact counts; the tuned one in all of its tiles and layouts."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import matmul  # noqa: E402
from kernels_cuda.matmul import tiles  # noqa: E402
from kernels_cuda.matmul.tiles import LARGE, MEDIUM, SMALL, THREEFOLD, TINY, choose, layout, offset  # noqa: E402
from pytest_roofline.baselines import Store  # noqa: E402
from pytest_roofline.contract import Case, Memory  # noqa: E402
from pytest_roofline.counting.cuda_cpu import LaunchRecord, checking  # noqa: E402
from pytest_roofline.dtypes import DType  # noqa: E402
from pytest_roofline.ids import Shape  # noqa: E402
from suite.operations.matmul import OPERATION  # noqa: E402
from tests.suite.compiling import compiled, launched  # noqa: E402

COUNTED = Store(Path(__file__).parents[2] / "baselines").load("a100", "matmul").counted


def matrix(rows: int, columns: int, transposed: bool = False, seed: int = 0) -> torch.Tensor:
    """Random numbers; ``transposed`` stores them by columns."""
    generator = torch.Generator().manual_seed(seed)
    shape = (columns, rows) if transposed else (rows, columns)
    stored = torch.rand(shape, generator=generator)
    return stored.t() if transposed else stored


def lying(rows: int, columns: int, way: str, *, steps_down: bool = False) -> torch.Tensor:
    """A matrix, or the b of a product with ``steps_down``, that is copied in this way."""
    elements, steps = (columns, rows) if steps_down else (rows, columns)
    cut, pitch = int(way == "CUT_PACKS"), elements + int(way == "ELEMENTS")
    found = torch.empty(elements, steps) if way == "STEPS" else torch.empty(steps, pitch)[:, : elements - cut].t()
    assert layout(found) == way
    return found.t() if steps_down else found


WAYS = ("STEPS", "PACKS", "CUT_PACKS", "ELEMENTS")


def counted(variant: str) -> LaunchRecord:
    """One product of 128 x 128 x 128, counted."""
    a, b, c = matrix(128, 128), matrix(128, 128, seed=1), torch.empty(128, 128)
    with checking("count") as session:
        getattr(matmul, variant)(a, b, c)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=128 * 2**-24, atol=0)
    return session.launches[-1]


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("columns", [61, 63, 66])
@pytest.mark.parametrize("variant", ["vectorised", "double_buffered", "tuned_128", "tuned"])
def test_aligned_rows_may_end_within_a_pack(variant, columns):
    """Rows of b and c that start at multiples of 16 bytes and end elsewhere: every element of them counts."""
    a, b, c = matrix(3, 5), matrix(5, 68, seed=1)[:, :columns], torch.empty(3, 68)[:, :columns]
    with checking():
        getattr(matmul, variant)(a, b, c)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=5 * 2**-24, atol=0)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    ("variant", "loads", "stores", "intensity"),
    [
        ("naive_uncoalesced", (32 + 1) / 2, 32, 0.25),  # a column of a and one element of b
        ("naive", (1 + 4) / 2, 4, 0.25),
        ("register_2x2", (1 + 4) / 2, 4, 0.5),
        ("shared_32", 4, 4, 8),
        ("register_tiled", 4, 4, 16),
        ("vectorised", 16, 16, 16),
        ("double_buffered", (4 * 4 + 16) / 5, 16, 16),  # four copies of 4 bytes transpose a, one of 16 takes b
        ("tuned_128", (4 * 4 + 16) / 5, 16, 32),
    ],
)
def test_global_requests_of_a_rung(variant, loads, stores, intensity):
    """Sectors of a mean load and store, and products per byte that blocks ask for; the latter rises as tiles do."""
    record = counted(variant)
    sectors = {kind: record.total(kind, "sectors") / record.total(kind) for kind in ("global load", "global store")}
    # Of a cp.async of 16 bytes the sectors of its destination count: there every other row lies 16 bytes off.
    assert sectors["global load"] == pytest.approx(loads, rel=0.07)
    assert sectors["global store"] == stores
    assert 2 * 128**3 / record.total("global load", "bytes") == intensity


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    ("variant", "ways", "wavefronts"),
    [
        ("shared_32", 1, 2 * 128**3 / 32),
        ("shared_32_transposed", 32, (32 + 1) * 128**3 / 32),
        ("shared_32_transposed_padded", 1, 2 * 128**3 / 32),
        ("register_tiled", 1, 8 * 128**3 / 16 / 32),
        ("vectorised", 1, (2 + 4) * 128**3 / 16 / 32),
        ("double_buffered", 1, (2 + 4) * 128**3 / 16 / 32),
    ],
)
def test_shared_requests_of_a_rung(variant, ways, wavefronts):
    """Conflicts and passes of shared memory: transposing b costs 32 ways, padding only brings them back."""
    record = counted(variant)
    assert max(line.max_degree for line in record.lines if line.kind.startswith("shared")) == ways
    assert record.total("shared load", "wavefronts") == wavefronts


@pytest.mark.usefixtures("compiler")
def test_every_shared_request_of_the_tuned_product_takes_two_passes():
    """Neighbouring lanes want one address of a, every second one of b, so that the quarters of each request join."""
    lines = [line for line in counted("tuned_128").lines if line.kind == "shared load"]
    assert sum(line.requests for line in lines) >= 6 * 4 * 128  # six a step of each of four warps
    assert all(line.size == 16 and line.wavefronts == 2 * line.requests for line in lines)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("a_transposed", "b_transposed"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("tile", [LARGE, THREEFOLD, MEDIUM, SMALL, TINY], ids=lambda t: f"{t.rows}x{t.columns}")
def test_every_tile_multiplies_every_layout(tile, a_transposed, b_transposed):
    """Two tiles each way, the second one begun, with steps that fill no tile: right whatever is stored by columns."""
    m, n, k = tile.rows + 4, tile.columns + 4, 2 * tile.depth + 3
    a, b, c = matrix(m, k, a_transposed), matrix(k, n, b_transposed, 1), torch.full((m, n), float("nan"))
    tiles.launch(tile, a, b, c)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=k * 2**-24, atol=0)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("b_way", ["STEPS", "PACKS", "ELEMENTS"])
@pytest.mark.parametrize(
    "variant",
    [
        "shared_32",
        "shared_32_transposed_padded",
        "register_tiled",
        "vectorised",
        "double_buffered",
        "tuned_128",
        "tuned",
    ],
)
def test_no_rung_after_the_transposed_one_has_bank_conflicts(variant, b_way):
    """Neither with packs of b nor where its words are copied one by one."""
    a, b, c = lying(64, 40, "STEPS"), lying(40, 64, b_way, steps_down=True), torch.empty(64, 64)
    with checking("count") as session:
        getattr(matmul, variant)(a, b, c)
    lines = [line for line in session.launches[-1].lines if "shared" in line.kind]
    assert len(lines) > 1
    assert [line for line in lines if line.wavefronts > line.ideal_wavefronts] == []


def test_layouts():
    """Steps side by side are transposed; elements side by side go in packs where 16 bytes align, else one by one."""
    assert layout(matrix(8, 8)) == "STEPS"
    assert layout(matrix(8, 8, transposed=True)) == "PACKS"
    assert layout(matrix(7, 8, transposed=True)) == "ELEMENTS"  # rows of 28 bytes
    assert layout(matrix(9, 8, transposed=True)[1:]) == "ELEMENTS"  # 4 bytes off
    assert layout(matrix(8, 16)[:, ::2]) == "ELEMENTS"
    assert layout(matrix(8, 12, transposed=True)[:7]) == "CUT_PACKS"  # rows of 32 bytes of which 28 are elements


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("left", [1, 2, 3, 5])
@pytest.mark.parametrize("tile", [THREEFOLD, TINY], ids=lambda t: f"{t.rows}x{t.columns}")
def test_rows_that_end_within_a_pack_are_not_read_past_their_end(tile, left):
    """``left`` columns in the second tile, and a last row of b that ends with the memory it lies in."""
    n, k = tile.columns + left, 2 * tile.depth + 3
    pitch = n + -n % 4
    memory = torch.rand(pitch * (k - 1) + n, generator=torch.Generator().manual_seed(0))
    a, b, c = matrix(9, k), memory.as_strided((k, n), (pitch, 1)), torch.full((9, n), float("nan"))
    assert layout(b.t()) == "CUT_PACKS"
    with checking():
        tiles.launch(tile, a, b, c)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=k * 2**-24, atol=0)


def test_rows_far_apart_take_wide_offsets():
    """128 rows of 2^24 elements reach just 2^31; everyday matrices stay in 32 bits."""
    near = torch.empty((1, 1)).as_strided((1, 1), (1 << 23, 1))
    far = torch.empty((1, 1)).as_strided((1, 1), (1 << 24, 1))
    assert (offset(LARGE, near, near), offset(LARGE, far, near)) == ("int", "long long")


@pytest.mark.parametrize(
    ("size", "tile"), [(256, TINY), (512, SMALL), (1024, MEDIUM), (2048, LARGE), (8192, THREEFOLD)]
)
def test_square_products_have_the_tile_that_was_fastest(size, tile):
    """The rule gives what the sweep on an H200 found for each of its sizes."""
    assert choose(size, size, 132) == tile


@pytest.mark.parametrize("b_way", WAYS)
@pytest.mark.parametrize("a_way", WAYS)
def test_a_third_block_is_asked_for_where_copies_take_few_registers(a_way, b_way):
    """Of a large product: packs of b, beside steps or whole packs of a."""
    a, b = lying(8192, 64, a_way), lying(64, 8192, b_way, steps_down=True)
    tile = tiles.choose_for(a, b, torch.empty(a.shape[0], b.shape[1]))
    assert tile == (THREEFOLD if a_way in WAYS[:2] and b_way in WAYS[1:3] else LARGE)


@pytest.mark.parametrize(
    ("size", "a_way", "b_way"),
    [
        *((8192, a, b) for a in WAYS[:2] for b in WAYS[1:3]),
        *((8192, a, b) for a in WAYS for b in ("STEPS", "ELEMENTS")),
        *((size, a, "STEPS") for size in (256, 512, 1024) for a in WAYS),
    ],
)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_no_tile_spills_however_operands_lie(arch, size, a_way, b_way):
    """And as many blocks as it was designed for find a place on a multiprocessor, but that the shared memory of an A100
    holds three of the smallest, not four."""
    a, b = lying(size, 64, a_way), lying(64, size, b_way, steps_down=True)
    c = torch.empty(a.shape[0], b.shape[1])
    tile = tiles.choose_for(a, b, c)
    [(function, _, block, dynamic)] = launched(lambda: tiles.launch(tile, a, b, c))
    found = compiled(function, block, dynamic, arch)
    assert (found.spills, found.stack) == (0, 0)
    assert found.occupancy.blocks >= (3 if arch == "sm_80" and tile == TINY else tile.resident)


def test_a_device_with_other_sms_has_other_tiles(monkeypatch):
    """512 x 512 takes 64 blocks of SMALL: one round of 132 SMs, and seven of 10, whose blocks are better large."""
    assert choose(512, 512, 10) != choose(512, 512, 132)
    monkeypatch.setattr(tiles, "multiprocessors", lambda tensor: 10)

    class OnGpu(torch.Tensor):
        device = torch.device("cuda")

    a, b, c = (torch.empty(512, 512) for _ in range(3))
    assert tiles.choose_for(a, b, c) == choose(512, 512, tiles.SMS)
    assert tiles.choose_for(a, b, c.as_subclass(OnGpu)) == choose(512, 512, 10)


@pytest.mark.parametrize("shape", ["64x64x64", "33x65x7", "48x32x64.t"])
@pytest.mark.parametrize(
    "kernel", [k for k in OPERATION.kernels if k.model and k.backend == "cuda"], ids=lambda k: k.variant
)
def test_a_model_claims_no_more_than_the_kernel_was_counted_to_move(kernel, shape):
    """Passes of 128 bytes through shared memory, or sectors where there is none; sectors for what comes from L2.

    A model that claims more makes a true time look impossible.
    """
    case = Case(OPERATION, kernel, DType.parse("f32"), Shape.parse(shape))
    launches = COUNTED.cases[str(case)].counts.launches
    accesses = [access for launch in launches for access in launch.accesses]
    through_shared = 128 * sum(a.wavefronts for a in accesses if a.kind == "shared load")
    from_memory = 32 * sum(a.sectors for a in accesses if a.kind == "global load")
    for traffic in case.model:
        moved = through_shared if traffic.level is Memory.SHARED and through_shared else from_memory
        assert traffic.read <= moved
