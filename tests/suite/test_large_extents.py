"""What launchers choose where an extent nears 2^31; that the kernels then compute right is for tests/gpu."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import softmax as cuda_softmax  # noqa: E402
from kernels_cuda import transpose as cuda_transpose  # noqa: E402

INT_MAX = (1 << 31) - 1


def matrix(rows: int, columns: int) -> torch.Tensor:
    """A matrix without memory."""
    return torch.empty(rows, columns, dtype=torch.float16, device="meta")


@pytest.mark.parametrize(
    ("columns", "kernel"), [(INT_MAX - 7, "softmax_fused_long"), (INT_MAX + 9, "softmax_fused_loop")]
)
def test_a_row_longer_than_int_counts_is_looped_over(launches, columns, kernel):
    """The kernel that keeps part of a long row counts columns in ``int``."""
    x = matrix(1, columns)
    cuda_softmax.fused(x, x)
    [(name, _, _, arguments, _)] = launches
    assert name.startswith(kernel)
    assert arguments[2] == columns


@pytest.mark.parametrize("variant", ["naive", "shared", "shared_padded", "shared_swizzled", "vectorised"])
@pytest.mark.parametrize("extents", [(1, INT_MAX), (1, INT_MAX + 9), (INT_MAX + 9, 1)])
def test_transposes_take_extents_past_int(launches, variant, extents):
    """A parameter of type ``int`` refuses them, and its kernel would overflow at the end of the last tile."""
    getattr(cuda_transpose, variant)(matrix(*extents), matrix(*extents[::-1]))
    [(name, grid, *_)] = launches
    assert "realigned" not in name
    assert grid[0] < 1 << 31


@pytest.mark.parametrize("columns", [INT_MAX - 1023, INT_MAX])
def test_triton_rows_are_met_in_64_bits_where_the_next_block_needs_them(columns):
    """32 bits, which are faster, everywhere else."""
    pytest.importorskip("triton")
    from kernels_triton import _rowwise

    assert _rowwise.looped(columns, 1024)["WIDE"]
    assert not _rowwise.looped(1 << 30, 1024)["WIDE"]


@pytest.mark.parametrize(("extents", "wide"), [((1, INT_MAX), True), ((INT_MAX, 1), True), ((1 << 13, 1 << 13), False)])
def test_triton_tiles_are_placed_in_64_bits_where_extents_need_them(monkeypatch, extents, wide):
    """The first row of a tile is a product that 32 bits do not hold."""
    pytest.importorskip("triton")
    from kernels_triton import transpose

    launched = []
    monkeypatch.setattr(transpose, "launch", lambda *arguments, **options: launched.append(options))
    transpose.tiled(matrix(*extents), matrix(*extents[::-1]))
    assert [options["WIDE"] for options in launched] == [wide]


def test_more_programs_than_a_launch_has_are_refused():
    """A Triton program per row of 2^31 rows."""
    pytest.importorskip("triton")
    from kernels_triton import transpose

    with pytest.raises(ValueError, match="a launch has up to 2147483647"):
        transpose.naive(matrix(1 << 31, 1), matrix(1, 1 << 31), block=256)
