"""Products through mma.sync: what they ask of memory, what they become for an A100, how their work is shared out."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from kernels_cuda import _mma, matmul_ragged, matmul_tensor  # noqa: E402
from kernels_cuda.matmul_ragged import sharing  # noqa: E402
from pytest_roofline.counting.compiled.occupancy import CAPABILITIES  # noqa: E402
from pytest_roofline.counting.cuda_cpu import checking  # noqa: E402
from tests.suite.compiling import compiled, launched  # noqa: E402

DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.int8)
LADDER = ("tiled", "pipelined", "tuned")


def operands(m, n, k, dtype=torch.bfloat16, *, by_columns=True, shift=0):
    """a, b and c of a product, ``shift`` elements after a boundary of 64 bytes.

    a and b hold small whole numbers: all their sums are exact, in any order.
    """
    generator = torch.Generator().manual_seed(0)

    def matrix(rows, columns, item):
        whole = torch.randint(-3, 4, (rows * columns + 64 + shift,), generator=generator, dtype=torch.int8).to(item)
        start = -whole.data_ptr() % 64 // item.itemsize + shift
        return whole[start : start + rows * columns].view(rows, columns)

    result = dtype if dtype.itemsize == 2 else torch.int32 if dtype is torch.int8 else torch.float32
    b = matrix(n, k, dtype).T if by_columns else matrix(k, n, dtype)
    return matrix(m, k, dtype), b, matrix(m, n, result)


@pytest.mark.parametrize(
    ("dtype", "by_columns", "shift", "wanted"),
    [
        (torch.bfloat16, True, 0, "ALONG_K, ALONG_K"),
        (torch.bfloat16, False, 0, "ALONG_K, ALONG_LINES"),
        (torch.bfloat16, True, 1, "REALIGNED_K, REALIGNED_K"),
        (torch.float32, False, 2, "REALIGNED_K, REALIGNED_LINES"),
        (torch.int8, True, 3, "REALIGNED_K, REALIGNED_K"),
        (torch.int8, False, 0, "ALONG_K, TURNED"),  # no instruction takes a row of bytes apart
        (torch.int8, False, 1, "REALIGNED_K, SCATTERED"),
    ],
)
def test_operands_are_read_in_the_widest_way_that_their_layout_allows(dtype, by_columns, shift, wanted):
    """Aligned pieces past the registers, misaligned ones through them, single elements where nothing else is left."""
    a, b, _ = operands(64, 64, 64, dtype, by_columns=by_columns, shift=shift)
    assert _mma.access(a, b).replace("Access::", "") == wanted


def test_one_operand_that_lies_across_k_leaves_the_other_its_pieces():
    """Only what has no pieces is read by elements."""
    a, b, _ = operands(64, 64, 64)
    across = operands(64, 64, 64)[0].T
    assert _mma.access(across, b) == "Access::SCATTERED, Access::REALIGNED_K"
    assert _mma.access(a[:, ::2].contiguous(), b[::2]) == "Access::REALIGNED_K, Access::SCATTERED"


def right(a, b, c) -> bool:
    """Whether c is the product, rounded to its format."""
    return torch.equal(c, (a.double() @ b.double()).to(c.dtype))


def layouts(matrices):
    """The product, with both operands as given, with a by columns, and with b along neither rows nor columns."""
    a, b, c = matrices
    apart = torch.zeros(b.shape[0] * 2, b.shape[1] * 2, dtype=b.dtype)[::2, ::2]
    return {"": (a, b, c), "a by columns": (a.T.contiguous().T, b, c), "b apart": (a, apart.copy_(b), c)}


def conflicts(record) -> list:
    """Lines whose accesses to shared memory take more passes than they must."""
    return [line for line in record.lines if "shared" in line.kind and line.wavefronts > line.ideal_wavefronts]


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("variant", "dtype"), [*((v, torch.bfloat16) for v in LADDER), ("tuned", torch.float32)])
@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("by_columns", [True, False])
def test_tiles_are_read_without_bank_conflicts_in_128_bit_loads(variant, dtype, by_columns, shift):
    """ldmatrix, loads of 32-bit rows, stores of shifted chunks and of results: all in as few passes as possible."""
    matrices = operands(128, 1024 if shift else 256, 512 if shift else 64, dtype, by_columns=by_columns, shift=shift)
    with checking("count") as session:
        getattr(matmul_tensor, variant)(*matrices)
    assert right(*matrices)
    [record] = session.launches
    assert conflicts(record) == []
    loads = {line.size: line.requests for line in record.lines if line.kind == "global load"}
    if not shift:
        assert set(loads) == {16}
        assert record.total("global load", "sectors") == 16 * record.total("global load")
    else:  # edges of rows are read element by element
        assert 16 * loads[16] > 0.8 * sum(size * n for size, n in loads.items())


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("by_columns", [True, False])
def test_bytes_are_read_without_bank_conflicts_in_128_bit_loads(by_columns):
    """Rows of b are turned in registers; every byte of them comes in a full sector."""
    matrices = operands(128, 256, 128, torch.int8, by_columns=by_columns)
    with checking("count") as session:
        matmul_tensor.tuned(*matrices)
    assert right(*matrices)
    [record] = session.launches
    assert conflicts(record) == []
    assert {line.size for line in record.lines if line.kind == "global load"} == {16}
    assert record.total("global load", "sectors") == 16 * record.total("global load")


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("how", ["", "a by columns", "b apart"])
@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_no_layout_has_bank_conflicts(dtype, by_columns, shift, how):
    """Elements that are read one by one are stored in chunks, too."""
    matrices = layouts(operands(128, 256, 64, dtype, by_columns=by_columns, shift=shift))[how]
    with checking("count") as session:
        matmul_tensor.tuned(*matrices)
    assert right(*matrices)
    assert [line for record in session.launches for line in conflicts(record)] == []


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("how", ["", "a by columns", "b apart"])
@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("tiling", matmul_ragged.TILINGS.values(), ids=lambda t: f"{t.rows}x{t.columns}")
def test_no_tiling_has_bank_conflicts(tiling, shift, how):
    """Rows of results that are shorter than 128 bytes are read from shared memory so that they do not meet; those of
    partial sums as well."""
    matrices = layouts(operands(tiling.rows, tiling.columns, 192, torch.float16, shift=shift))[how]
    with checking("count") as session:
        for launch, parts in (
            (matmul_ragged.launch_split, 1),
            (matmul_ragged.launch_split, 3),
            (matmul_ragged.launch_stream, 3),
        ):
            matrices[2].fill_(99)
            launch(*matrices, torch.empty(1 << 16), tiling, parts)
            assert right(*matrices)
    assert len(session.launches) == 5
    assert [line for record in session.launches for line in conflicts(record)] == []


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("m", "n", "k"), [(128, 256, 128), (70, 37, 100), (130, 144, 65), (5, 16, 3)])
@pytest.mark.parametrize("pitch", [0, 1, 16])
def test_bytes_by_rows_are_exact(m, n, k, pitch):
    """Where rows of b are turned, also at the ends of columns and of k, and where they must be gathered."""
    generator = torch.Generator().manual_seed(0)
    a = torch.randint(-128, 128, (m, k + -k % 16), dtype=torch.int8, generator=generator)[:, :k]
    b = torch.randint(-128, 128, (k, n + -n % 16 + pitch), dtype=torch.int8, generator=generator)[:, :n]
    c = torch.full((m, n), 7, dtype=torch.int32)
    with checking():
        matmul_tensor.tuned(a, b, c)
    assert torch.equal(c, a.int() @ b.int())


# Of operands: how they lie, whether b lies by columns, elements after a boundary. Where an operand begins that is read
# by elements makes no other kernel, nor does what b would be if it did not lie apart.
LAYOUTS = [("", True, 0), ("", False, 0), ("", True, 1), ("", False, 1)]
APART = [("a by columns", True, 0), ("a by columns", False, 0), ("b apart", True, 0)]
# An A100 is what these kernels are for, in any layout; on Hopper the common ones.
COMPILED = [("sm_80", *layout) for layout in (*LAYOUTS, *APART)] + [("sm_90", *layout) for layout in LAYOUTS]
# Bytes that a thread stores, of operands that lie along rows of b: the only ones.
SPILLED = {("sm_90", torch.float32, False, 0): 16}


@pytest.mark.parametrize(("arch", "how", "by_columns", "shift"), COMPILED)
@pytest.mark.parametrize(("variant", "dtype"), [*(("tuned", d) for d in DTYPES), *((v, DTYPES[0]) for v in LADDER[:2])])
def test_the_ladder_keeps_its_sums_in_registers(variant, dtype, arch, by_columns, shift, how):
    """Nothing spilled, mma in it, wide copies, and the eight warps that an A100's multiprocessor is meant to have."""
    matrices = layouts(operands(64, 64, 64, dtype, by_columns=by_columns, shift=shift))[how]
    [(function, _, block, dynamic)] = launched(lambda: getattr(matmul_tensor, variant)(*matrices))
    found = compiled(function, block, dynamic, arch)
    assert found.spills == SPILLED.get((arch, dtype, by_columns, shift), 0)
    assert found.stack <= found.spills
    assert found.excess_shared == 0
    assert found.mix.count("mma") > 0
    assert found.occupancy.warps >= 8
    if "SCATTERED" not in function.name:
        past = found.mix.count("cp.async") > 0
        assert found.mix.widest("global load") == 16 if variant == "tiled" or "REALIGNED" in function.name else past


@pytest.mark.parametrize(("arch", "how", "by_columns", "shift"), COMPILED)
@pytest.mark.parametrize("tiling", matmul_ragged.TILINGS.values(), ids=lambda t: f"{t.rows}x{t.columns}")
def test_no_tiling_spills(tiling, arch, by_columns, shift, how):
    """In either way of sharing out k; on an A100 there are as many blocks as shared memory is meant to hold."""
    if arch == "sm_90" and tiling.elements < 64 * 128:
        pytest.skip("smaller tiles take fewer registers")
    matrices = layouts(operands(64, 64, 512, torch.float16, by_columns=by_columns, shift=shift))[how]
    limits = CAPABILITIES[arch]
    for launch in (matmul_ragged.launch_split, matmul_ragged.launch_stream):
        for function, _, block, dynamic in launched(partial(launch, *matrices, torch.empty(1 << 17), tiling, 3)):
            found = compiled(function, block, dynamic, arch)
            assert (found.spills, found.stack, found.excess_shared) == (0, 0, 0), function.name
            if dynamic and arch == "sm_80":
                assert found.occupancy.blocks == limits.shared // (dynamic + limits.shared_reserved)


def test_a_workspace_that_holds_too_little_is_refused():
    """Before anything is launched."""
    matrices = operands(64, 64, 1024, torch.float16)
    with pytest.raises(ValueError, match="need more workspace"):
        matmul_ragged.launch_split(*matrices, torch.zeros(100), matmul_ragged.tiling_for(64, 64), 4)


def whole_numbers(*shape):
    """Small enough for their products to add up exactly."""
    return torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(sum(shape))).half()


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("tiling", matmul_ragged.TILINGS.values(), ids=lambda t: f"{t.rows}x{t.columns}")
def test_every_tiling_shares_out_k(tiling):
    """In equal parts and in pieces, past the edges of a tile; sums of whole numbers are exact."""
    m, n, k = tiling.rows + 3, tiling.columns + 5, 200
    a, b, c, partials = whole_numbers(m, k), whole_numbers(n, k).T, torch.empty(m, n).half(), torch.empty(1 << 19)
    for launch in (matmul_ragged.launch_split, matmul_ragged.launch_stream):
        c.fill_(float("nan"))
        with checking():
            launch(a, b, c, partials, tiling, 3)
        assert torch.equal(c, (a.float() @ b.float()).half())


@given(st.integers(1, 2000), st.integers(1, 500), st.integers(1, 200), st.integers(0, 500))
def test_steps_are_shared_out_once_each(tiles, steps, blocks, slots):
    """Whole tiles by rounds of all blocks, the rest in pieces that the workspace has slots for, more than tiles."""
    share = sharing.shared_out(tiles, steps, blocks, slots)
    assert share.whole + share.shared == share.tiles == tiles
    assert share.blocks <= blocks
    if share.shared:
        assert share.whole % blocks == 0
        assert share.shared < share.pieces <= min(blocks, share.shared * steps)
        assert share.pieces + share.shared <= slots
        assert share.blocks == (blocks if share.whole else share.pieces)


@pytest.mark.parametrize("k", [1, 64, 1000, 65536])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (16, 4096), (300, 700), (4096, 24)])
def test_parts_of_k_leave_nothing_out(m, n, k):
    """However many parts there are, their steps cover k; one part alone needs nobody to add it up."""
    a, b, c = torch.empty(m, k).half(), torch.empty(k, n).half(), torch.empty(m, n).half()
    launches = launched(lambda: matmul_ragged.split_k(a, b, c, partials=torch.empty(1 << 22)))
    _, (tiles, parts, _), _, _ = launches[0]
    assert tiles * matmul_ragged.tiling_for(m, n).elements >= m * n
    assert len(launches) == (2 if parts > 1 else 1)
    assert parts <= max(1, k)
