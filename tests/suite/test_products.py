"""Matrix products in Triton: how k is shared out, and which operands are copied first."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from pytest_roofline.ids import Shape  # noqa: E402
from suite.operations import matmul, matmul_ragged, matmul_tensor  # noqa: E402

SMS = 132
EXTENTS = st.integers(1, 5000)
FITTED = (*matmul_ragged.SKINNY, *matmul_ragged.DEEP, *matmul_ragged.ONE_PAST, *matmul_ragged.LAST_WAVE)
CUT_SHORT = "2432x2048x3072"  # in 264 pieces of the last wave, of which the workspace holds 256
LISTED = (*FITTED, *(text for text in matmul_ragged.HELD_OUT if text != CUT_SHORT))


@pytest.fixture(scope="module")
def rule(device):
    from kernels_triton.matmul_ragged import rule

    return rule


@pytest.fixture(scope="module")
def realign(device):
    from kernels_triton import _realign

    return _realign


def test_every_plan_covers_the_product_once(rule):
    """Parts are at least one; whole tiles come in full rounds, and every other tile has a piece of a program."""

    @settings(max_examples=300, deadline=None, database=None)
    @given(m=EXTENTS, n=EXTENTS, k=st.integers(0, 200_000), size=st.sampled_from((2, 4)), sms=st.integers(1, 200))
    def holds(m: int, n: int, k: int, size: int, sms: int) -> None:
        tile, parts, whole, pieces = rule.chosen(m, n, k, size, sms)
        tiles, programs = tile.count(m, n), tile.resident * sms
        if parts:
            assert whole == pieces == 0
            assert parts == 1 or parts * tiles <= programs
            assert parts == 1 or k // parts >= rule.DEPTH
        else:
            assert whole % programs == 0
            assert 0 <= tiles - whole < programs
            assert tiles == whole or 0 < pieces <= programs

    holds()


@pytest.mark.parametrize("text", LISTED)
@pytest.mark.parametrize("size", [2, 4])
def test_the_workspace_holds_what_the_plan_of_a_listed_shape_stores(rule, text, size):
    """Otherwise the launcher would silently use fewer parts than the rule says."""
    shape = Shape.parse(text)
    [partials] = matmul_ragged.workspace(shape, matmul_ragged.DType.parse("f16_f32" if size == 2 else "f32"))
    m, n, k = shape.dims
    tile, parts, _, pieces = rule.chosen(m, n, k, size, SMS)
    stored = parts * tile.count(m, n) * tile.elements if parts > 1 else 2 * pieces * tile.elements
    assert stored <= partials.extent


def test_a_plan_that_stores_too_much_loses_few_pieces(rule):
    """The launcher makes as many as fit, all but 8 of one for each of 264 programs."""
    m, n, k = Shape.parse(CUT_SHORT).dims
    tile, _, _, pieces = rule.chosen(m, n, k, 2, SMS)
    assert (pieces, matmul_ragged.WORKSPACE // (2 * tile.elements)) == (264, 256)


def test_a_rule_is_also_timed_on_shapes_that_it_was_not_fitted_to():
    """None of them is one of the 24, and all are in the full list."""
    assert len(FITTED) == 24
    assert len(set(matmul_ragged.HELD_OUT) - set(FITTED)) == 20
    assert set(matmul_ragged.HELD_OUT) <= set(matmul_ragged.OPERATION.shapes.full)


def test_deep_products_are_split_and_long_tails_are_cut(rule):
    """A plan for each kind of shape: k much larger than m and n, a last wave that is nearly empty, and short k."""
    assert rule.chosen(128, 128, 131072, 2, SMS).parts > 8
    assert rule.chosen(1664, 2688, 8192, 2, SMS).pieces > 8
    assert rule.chosen(2304, 3840, 1024, 2, SMS).parts == 1


def test_tiles_suit_how_results_are_stored(rule):
    """Twice the warps where short sums leave most of the time to the stores, wide tiles where rows of c lie misaligned,
    and narrow ones where they spare the detour through the workspace."""
    assert rule.chosen(1025, 1025, 1025, 2, SMS).tile == rule.SHORT
    assert rule.chosen(4000, 4001, 1024, 2, SMS).tile == rule.WIDE != rule.chosen(4000, 4000, 1024, 2, SMS).tile
    narrow = rule.chosen(32, 8192, 8192, 2, SMS)
    assert (narrow.tile.block_n, narrow.parts) == (32, 1)
    assert rule.chosen(32, 4096, 8192, 2, SMS).parts > 1


LAYOUTS = [
    "64x64x64",
    "40x24x56",
    "40x24x56.t",
    "9x7x5",
    "9x7x5.t",
    "1x70x33.t",
    "70x1x33.o1",
    "33x65x7.p72",
    "8x8x8.o1.t",
]


@pytest.mark.parametrize("text", LAYOUTS)
@pytest.mark.parametrize("b_along_k", [None, True, False])
def test_realigned_operands_are_the_same_and_can_be_described(realign, device, text, b_along_k):
    """Whatever lay wrong has been copied into the room that the operation reserves for it."""
    from kernels_triton import _operands as operands

    a, b, _, packed = problem(text, device, b_along_k)
    new_a, new_b = realign.realigned(a, b, packed, b_along_k=b_along_k)
    assert torch.equal(new_a, a)
    assert torch.equal(new_b, b)
    assert operands.describable(new_a)
    assert operands.describable(new_b.T if b_along_k else new_b) or b_along_k is None
    assert operands.describable(new_b) or operands.describable(new_b.T)


@pytest.mark.parametrize("text", LAYOUTS)
def test_products_by_rows_are_the_product_or_its_transpose(realign, device, text):
    """Of a b by columns the smaller operand is turned."""
    a, b, c, packed = problem(text, device, False)
    new_a, new_b, new_c = realign.by_rows(a, b, c, packed)
    new_c.copy_(new_a @ new_b)
    torch.testing.assert_close(c, a @ b)
    assert new_a.stride(1) == new_b.stride(1) == 1


def test_aligned_operands_are_not_copied(realign, device):
    """They come back as they are, and need no workspace."""
    a, b, _, packed = problem("64x64x64.t", device, None)
    assert packed.numel() == 0
    new_a, new_b = realign.realigned(a, b, packed)
    assert (new_a.data_ptr(), new_b.data_ptr()) == (a.data_ptr(), b.data_ptr())


def test_a_workspace_that_is_too_small_is_refused(realign, device):
    """Before anything is launched."""
    a, b, _, _ = problem("9x7x5", device, None)
    with pytest.raises(ValueError, match="does not hold 9 x 16 elements"):
        realign.realigned(a, b, torch.empty(10, device=device))


def problem(text: str, device: str, b_along_k: bool | None):
    """a, b and c laid out as a case of that shape has them, and the workspace that the operation gives it."""
    from pytest_roofline.checking.buffers import guarded
    from pytest_roofline.contract import Case
    from suite import gemm

    operation = matmul.OPERATION
    dtype = matmul_ragged.DType.parse("f32")
    case = Case(operation, operation.kernel("torch", "mm"), dtype, Shape.parse(text))
    a, b, c = (guarded(argument, case, device, tag).view for tag, argument in enumerate(operation.arguments))
    for tensor in (a, b):
        tensor.copy_(torch.randn(tensor.shape, device=device))
    extent = gemm.packed(case.shape, dtype, b_along_k=b_along_k).extent
    return a, b, c, torch.empty(extent, device=device)


def test_both_kinds_of_workspace_are_declared():
    """A launcher that copies operands has room for it in every format."""
    for operation in (matmul.OPERATION, matmul_tensor.OPERATION, matmul_ragged.OPERATION):
        best = next(kernel for kernel in operation.kernels if kernel.backend == "triton" and kernel.best)
        for text in best.dtypes:
            buffers = best.workspace(Shape((65, 33, 7)), matmul_ragged.DType.parse(text))
            assert "packed" in {buffer.name for buffer in buffers}
