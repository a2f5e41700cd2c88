"""Copies of matrices that Hopper's copy engine does not take as they lie; they run on any GPU, and here on the CPU."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda.matmul_tensor import align  # noqa: E402
from pytest_roofline.counting.cuda_cpu import checking  # noqa: E402
from pytest_roofline.launch import recording  # noqa: E402

DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.int8, torch.float8_e4m3fn)
SHAPES = [(5, 7, 9), (3, 2, 3), (33, 65, 130), (16, 24, 40), (1, 70, 33), (67, 1, 5)]


def bits(matrix):
    """Of every element, so that NaN equals itself."""
    return matrix.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[matrix.element_size()])


def noise(rows, columns, dtype):
    """Any bits."""
    return torch.randint(0, 256, (rows, columns * dtype.itemsize), dtype=torch.uint8).view(dtype)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_operands_come_to_lie_as_the_copy_engine_takes_them(m, n, k, by_columns, dtype):
    """Bit by bit, in rows at multiples of 16 bytes, b along k where wgmma wants it so; what lies well stays."""
    a, b = noise(m, k, dtype), noise(n, k, dtype).T if by_columns else noise(k, n, dtype)
    with checking():
        new_a, new_b, _ = align.operands(a, b, torch.empty(1 << 15).view(dtype))
    along_k = by_columns or dtype.itemsize != 2
    for old, new in ((a, new_a), (b.T, new_b.T) if along_k else (b, new_b)):
        assert torch.equal(bits(old.contiguous()), bits(new.contiguous()))
        assert new.stride(1) == 1 or new.shape[1] == 1
        assert new.data_ptr() % 16 == new.stride(0) * dtype.itemsize % 16 == 0
        stays = old.stride(1) == 1 and old.stride(0) * dtype.itemsize % 16 == 0
        assert (new.data_ptr() == old.data_ptr()) == stays or old.shape[1] == 1


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("dtype", DTYPES[:3], ids=str)
def test_any_view_is_copied(dtype):
    """Shifted, pitched, stepped over and turned."""
    whole = noise(70, 150, dtype)
    for view in (whole[1:, 3:140], whole[:, ::2], whole.T[5:], whole[::3, 1::3]):
        to, _ = align.place(view, torch.empty(1 << 14).view(dtype))
        with checking():
            align.move((view, to))
        assert torch.equal(bits(to.matrix.contiguous()), bits(view.contiguous()))


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("columns", [1, 7, 64, 131])
def test_results_are_copied_back_and_nothing_beside_them(columns, shift):
    """Into rows at any address."""
    whole = torch.full((66, columns + 5), 77.0)
    c, found = whole[:, shift : shift + columns], torch.randn(66, columns)
    with checking():
        align.move((found, align.Place(c, True)))
    assert torch.equal(c, found)
    assert whole.eq(77).sum() == 66 * 5


def test_nothing_is_launched_for_what_lies_well():
    """And nothing is taken of the workspace."""
    told: list = []
    a, b, packed = torch.empty(64, 64).half(), torch.empty(64, 64).half(), torch.empty(100).half()
    with recording(lambda *launch: told.append(launch)):
        new_a, new_b, left = align.operands(a, b, packed)
    assert told == []
    assert (new_a.data_ptr(), new_b.data_ptr(), left.numel()) == (a.data_ptr(), b.data_ptr(), 100)


def test_a_workspace_that_is_too_small_is_refused():
    """Before anything is launched."""
    with pytest.raises(ValueError, match="does not hold a copy of 64 x 64 elements"):
        align.operands(torch.empty(64, 63).half(), torch.empty(63, 64).half(), torch.empty(100).half())


def test_what_has_to_be_copied_is_counted():
    """Elements of misaligned operands and results, and of b across k in formats that wgmma takes along k only."""
    a, b, c = torch.empty(32, 63), torch.empty(63, 64), torch.empty(32, 64)
    assert align.copied(a, b, c) == a.numel() + b.numel()
    assert align.copied(a.half(), b.half(), c.half()) == a.numel()
    assert align.copied(a[:, :32].clone(), b[:32].T.contiguous().T, torch.empty(32, 65)) == 32 * 65
