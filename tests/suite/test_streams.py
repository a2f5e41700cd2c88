"""Streams in both languages: which accesses the launchers choose, what they refuse, and what only large vectors do."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import _packs  # noqa: E402
from pytest_roofline.counting.cuda_cpu import CompilerMissing  # noqa: E402
from tests.suite.vectors import shifted  # noqa: E402


class Recorder:
    """Stands in for a Triton kernel: (grid, sizes of the vectors, n, keywords) per launch."""

    def __init__(self):
        self.launches = []

    def __getitem__(self, grid):
        def launch(*arguments, **keywords):
            *vectors, n = arguments
            self.launches.append((grid, [v.data_ptr() % 16 for v in vectors], n, keywords))

        return launch


@pytest.mark.parametrize("unroll", [2, 8])
@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("n", [1, 3, 4, 5, 1023, 1024, 1025, 8192, 8195, 30_000])
def test_every_pack_and_every_edge_has_a_thread(launches, n, offset, unroll):
    """The grid covers all packs and all elements before and after them, with no block too many."""
    from kernels_cuda import copy

    copy.unrolled(shifted(n, offset), shifted(n, offset), unroll=unroll)
    [(name, grid, block, (_, _, length, head, packs), _)] = launches
    items = int(packs) + int(length) - 4 * int(packs)
    assert name == f"copy_unrolled<float, unsigned int, {unroll}>"
    assert head == n or head == -offset % 4
    assert packs == (n - head) // 4
    assert block == (_packs.BLOCK, 1, 1)
    assert (grid[0] - 1) * block[0] * unroll < items <= grid[0] * block[0] * unroll


def test_vectors_without_a_common_boundary_are_all_head(launches):
    """A 128-bit access needs all addresses aligned at once; otherwise each element has a thread of its own."""
    from kernels_cuda import fma

    fma.vectorised(shifted(3000, 1), shifted(3000, 1), shifted(3000, 2))
    [(_, grid, block, (*_, n, head, packs), _)] = launches
    assert (head, packs) == (n, 0)
    assert grid[0] * block[0] >= n == 3000


@pytest.mark.parametrize("n", [1, 700, 5001])
@pytest.mark.parametrize("offset", [0, 1])
def test_vectors_past_32_bits_are_indexed_with_64(monkeypatch, n, offset):
    """The wide instance computes the same; the limit is lowered, because no CPU holds such a vector."""
    from kernels_cuda import copy

    monkeypatch.setattr(_packs, "NARROW", 0)
    x, y = torch.randn(n), shifted(n, offset)
    try:
        copy.unrolled(x, y, unroll=2)
    except CompilerMissing as reason:
        pytest.skip(str(reason))
    assert torch.equal(x, y)


@pytest.mark.parametrize("n", [1, 256, 700])
def test_triton_indexes_vectors_past_32_bits_with_64(device, monkeypatch, n):
    """The same in Triton."""
    from kernels_triton import _blocks, copy

    monkeypatch.setattr(_blocks, "NARROW", 0)
    x = torch.randn(n, device=device)
    y = torch.full_like(x, 99)
    copy.copy(x, y, block=256, num_warps=4)
    assert torch.equal(x, y)


def test_a_grid_stride_copy_never_uses_more_blocks_than_allowed(launches):
    """More would not be resident at once."""
    from kernels_cuda import copy

    for n in (1, 5000, 1_000_000):
        copy.grid_stride(shifted(n, 0), shifted(n, 0), max_blocks=7)
    assert [grid[0] for _, grid, *_ in launches] == [1, 5, 7]


@pytest.mark.parametrize("n", [1, 700, 70_000])
def test_a_grid_stride_copy_walks_over_many_tiles(n):
    """With fewer blocks than tiles every element is still copied, also where no boundary is common."""
    from kernels_cuda import copy

    for offset in (0, 1):
        x, y = torch.randn(n), shifted(n, offset)
        try:
            copy.grid_stride(x, y, max_blocks=2)
        except CompilerMissing as reason:
            pytest.skip(str(reason))
        assert torch.equal(x, y)


def test_a_triton_grid_stride_copy_walks_over_many_blocks(device):
    """The same in Triton."""
    from kernels_triton.copy import grid_stride

    for n in (1, 700, 5000):
        x = torch.randn(n, device=device)
        y = torch.full_like(x, 99)
        grid_stride(x, y, block=256, num_warps=4, programs=2)
        assert torch.equal(x, y)


def test_triton_gets_pointers_that_it_can_specialise_on(device):
    """Elements before the first common boundary have a launch of their own, and the rest starts at the boundary."""
    from kernels_triton._blocks import launch_blocks

    kernel = Recorder()
    launch_blocks(kernel, shifted(1000, 1), shifted(1000, 1), block=256, num_warps=4)
    (head_grid, _, head, _), (grid, alignments, rest, keywords) = kernel.launches
    assert (head_grid, head, grid, alignments, rest) == ((1,), 3, (4,), [0, 0], 997)
    assert keywords == {"BLOCK": 256, "WIDE": False, "WHOLE": False, "num_warps": 4}


def test_whole_blocks_are_promised_where_there_are_only_such(device):
    """The mask, and the branch around it, then vanish at compile time."""
    from kernels_triton._blocks import launch_blocks

    kernel = Recorder()
    for n in (512, 513):
        launch_blocks(kernel, shifted(n, 0), shifted(n, 0), block=256, num_warps=4)
    assert [keywords["WHOLE"] for *_, keywords in kernel.launches] == [True, False]


@pytest.mark.parametrize("offsets", [(0, 0), (1, 2)])
def test_triton_gets_one_launch_where_there_is_nothing_to_gain(device, offsets):
    """Aligned vectors need no second launch, and vectors without a common boundary gain nothing by one."""
    from kernels_triton._blocks import launch_blocks

    kernel = Recorder()
    launch_blocks(kernel, *(shifted(1000, offset) for offset in offsets), block=256, num_warps=4)
    assert [(grid, n) for grid, _, n, _ in kernel.launches] == [((4,), 1000)]


@pytest.mark.parametrize("offset", range(32))
def test_a_realigned_copy_knows_its_shift(launches, offset):
    """The instance is the number of elements between the boundary before x and x."""
    from kernels_cuda import offset_copy

    offset_copy.realigned(shifted(1000, offset), shifted(1000, 0))
    [(name, *_)] = launches
    assert name == f"offset_copy_realigned<{offset % 4}>"
