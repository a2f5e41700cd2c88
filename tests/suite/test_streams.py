"""Streams in both languages: which accesses the launchers choose, what they refuse, and what only large vectors do."""

from __future__ import annotations

import importlib

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import _packs  # noqa: E402
from pytest_roofline.counting.cuda_cpu import CompilerMissing  # noqa: E402
from pytest_roofline.launch import Source  # noqa: E402


@pytest.fixture
def launches(monkeypatch):
    """What the CUDA launchers launch, instead of launching it: (kernel, grid, block, arguments)."""
    recorded = []

    class Module:
        def function(self, name):
            return lambda grid, block, args, shared: recorded.append((name, grid, block, args))

    monkeypatch.setattr(Source, "cpu_module", property(lambda self: Module()))
    return recorded


class Recorder:
    """Stands in for a Triton kernel: (grid, sizes of the vectors, n, keywords) per launch."""

    def __init__(self):
        self.launches = []

    def __getitem__(self, grid):
        def launch(*arguments, **keywords):
            *vectors, n = arguments
            self.launches.append((grid, [v.data_ptr() % 16 for v in vectors], n, keywords))

        return launch


def shifted(n: int, offset: int, dtype=torch.float32):
    """A vector that starts ``offset`` elements after a 16-byte boundary."""
    whole = torch.zeros(n + offset + 16, dtype=dtype)
    start = -whole.data_ptr() % 16 // whole.element_size() + offset
    return whole[start : start + n]


@pytest.mark.parametrize("unroll", [1, 2, 8])
@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("n", [1, 3, 4, 5, 1023, 1024, 1025, 8192, 8195, 30_000])
def test_every_pack_and_every_edge_has_a_thread(launches, n, offset, unroll):
    """The grid covers all packs and all elements before and after them, with no block too many."""
    from kernels_cuda import copy

    copy.unrolled(shifted(n, offset), shifted(n, offset), unroll=unroll, threads=128)
    [(name, grid, block, (_, _, length, head))] = launches
    packs = (int(length) - int(head)) // 4
    assert name == f"copy_unrolled<float, {unroll}>"
    assert grid[0] * block[0] * unroll >= packs
    assert grid[0] * block[0] >= n - 4 * packs
    assert (grid[0] - 1) * block[0] * unroll < max(packs, 1)


def test_vectors_without_a_common_boundary_are_all_head(launches):
    """A 128-bit access needs all addresses aligned at once; otherwise each element has a thread of its own."""
    from kernels_cuda import fma

    fma.vectorised(shifted(3000, 1), shifted(3000, 1), shifted(3000, 2))
    [(_, grid, block, (*_, n, head))] = launches
    assert head == n == 3000
    assert grid[0] * block[0] >= n


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
    (head_grid, _, head, _), (grid, alignments, rest, _) = kernel.launches
    assert (head_grid, head, grid, alignments, rest) == ((1,), 3, (4,), [0, 0], 997)


@pytest.mark.parametrize("offsets", [(0, 0), (1, 2)])
def test_triton_gets_one_launch_where_there_is_nothing_to_gain(device, offsets):
    """Aligned vectors need no second launch, and vectors without a common boundary gain nothing by one."""
    from kernels_triton._blocks import launch_blocks

    kernel = Recorder()
    launch_blocks(kernel, *(shifted(1000, offset) for offset in offsets), block=256, num_warps=4)
    assert [(grid, n) for grid, _, n, _ in kernel.launches] == [((4,), 1000)]


def test_a_table_is_read_by_size():
    """The first row whose limit holds the vector counts; the last one has none."""
    table = ((1024, 128, 1), (4096, 256, 2), (None, 512, 4))
    assert [_packs.pick(table, nbytes) for nbytes in (0, 1024, 1025, 4096, 1 << 40)] == [
        (128, 1),
        (128, 1),
        (256, 2),
        (256, 2),
        (512, 4),
    ]


@pytest.mark.parametrize("offset", range(32))
def test_a_realigned_copy_knows_its_shift(launches, offset):
    """The instance is the number of elements between the boundary before x and x."""
    from kernels_cuda import offset_copy

    offset_copy.realigned(shifted(1000, offset), shifted(1000, 0))
    [(name, *_)] = launches
    assert name == f"offset_copy_realigned<{offset % 4}>"


STRIDED = torch.zeros(20)[::2]
DENSE = torch.zeros(10)
ONE = torch.zeros(1)
MATRIX = torch.zeros(3, 4)

REFUSED = [
    ("copy:scalar", (STRIDED, DENSE), {}),
    ("copy:vectorised", (DENSE, STRIDED), {}),
    ("copy:grid_stride", (DENSE, ONE), {"max_blocks": 4}),
    ("copy:unrolled", (DENSE, ONE), {"unroll": 2, "threads": 256}),
    ("copy:tuned", (STRIDED, STRIDED), {}),
    ("copy:l2_persistent", (STRIDED, STRIDED), {}),
    ("offset_copy:scalar", (STRIDED, DENSE), {}),
    ("offset_copy:realigned", (DENSE, ONE), {}),
    ("offset_copy:realigned", (shifted(8, 0), shifted(8, 1)), {}),
    ("add_one:scalar", (STRIDED, DENSE), {}),
    ("add_one:vectorised", (DENSE, ONE), {}),
    ("add_relu:unfused", (DENSE, DENSE), {"sums": ONE}),
    ("add_relu:fused_scalar", (DENSE, ONE), {}),
    ("add_relu:fused", (STRIDED, DENSE), {}),
    ("fma:scalar", (DENSE, DENSE, ONE), {}),
    ("fma:vectorised", (DENSE, STRIDED, DENSE), {}),
    ("fma:tuned", (DENSE, ONE, DENSE), {}),
    ("vector_add:hinted", (shifted(8, 1), shifted(8, 1)), {}),
    ("vector_add:unmasked", (DENSE, DENSE), {}),
    ("vector_add:unmasked", (shifted(1024, 1), shifted(1024, 1)), {}),
    ("strided_read:strided", (MATRIX, DENSE), {}),
    ("strided_read:strided", (MATRIX[:, :0], torch.zeros(3)), {}),
    ("strided_read:aos", (MATRIX, torch.zeros(3)), {}),
    ("strided_read:soa", (MATRIX, torch.zeros(3)), {}),
    ("sin_chain:precise", (STRIDED, DENSE), {"steps": 2}),
    ("exp_chain:fast", (DENSE, ONE), {"steps": 2}),
    ("divergent_select:per_lane", (ONE, MATRIX, MATRIX), {}),
    ("divergent_select:branch_free", (torch.zeros(4), MATRIX.t(), MATRIX.t()), {}),
]
BLOCK = {"block": 256, "num_warps": 4}
REFUSED_TRITON = [
    ("copy:copy", (STRIDED, DENSE), BLOCK),
    ("copy:grid_stride", (DENSE, ONE), {**BLOCK, "programs": 4}),
    ("copy:tuned", (STRIDED, STRIDED), {}),
    ("offset_copy:scalar", (DENSE, ONE), BLOCK),
    ("add_one:vectorised", (STRIDED, DENSE), {}),
    ("add_relu:unfused", (DENSE, DENSE), {"sums": ONE}),
    ("add_relu:fused", (DENSE, ONE), {}),
    ("fma:tuned", (DENSE, DENSE, ONE), {}),
    ("vector_add:hinted", (DENSE, STRIDED), BLOCK),
    ("vector_add:unmasked", (DENSE, DENSE), BLOCK),
    ("vector_add:tuned", (DENSE, ONE), {}),
    ("strided_read:strided", (MATRIX, DENSE), {"block": 256}),
    ("strided_read:aos", (MATRIX, torch.zeros(3)), {"block": 256}),
    ("strided_read:soa", (MATRIX, torch.zeros(3)), {"block": 256}),
    ("sin_chain:fast", (STRIDED, DENSE), {"steps": 2, "block": 256}),
    ("exp_chain:precise", (DENSE, ONE), {"steps": 2, "block": 256}),
    ("divergent_select:per_warp", (ONE, MATRIX, MATRIX), {"block": 128}),
]


@pytest.mark.parametrize(("launcher", "arguments", "keywords"), REFUSED, ids=[r[0] for r in REFUSED])
def test_cuda_launchers_refuse_what_does_not_fit(launches, launcher, arguments, keywords):
    """Strided vectors and shapes that do not belong together are errors, never wrong answers."""
    module, _, name = launcher.partition(":")
    with pytest.raises(ValueError, match=r"takes .*(dense|records)"):
        getattr(importlib.import_module(f"kernels_cuda.{module}"), name)(*arguments, **keywords)
    assert launches == []


@pytest.mark.parametrize(("launcher", "arguments", "keywords"), REFUSED_TRITON, ids=[r[0] for r in REFUSED_TRITON])
def test_triton_launchers_refuse_what_does_not_fit(device, launcher, arguments, keywords):
    """The same, before anything is launched."""
    module, _, name = launcher.partition(":")
    with pytest.raises(ValueError, match=r"takes .*(dense|aligned)"):
        getattr(importlib.import_module(f"kernels_triton.{module}"), name)(*arguments, **keywords)
