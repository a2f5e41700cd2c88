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


@pytest.mark.parametrize("unroll", [2, 8])
@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("n", [1, 3, 4, 5, 1023, 1024, 1025, 8192, 8195, 30_000])
def test_every_pack_and_every_edge_has_a_thread(launches, n, offset, unroll):
    """The grid covers all packs and all elements before and after them, with no block too many."""
    from kernels_cuda import copy

    copy.unrolled(shifted(n, offset), shifted(n, offset), unroll=unroll)
    [(name, grid, block, (_, _, length, head, packs))] = launches
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
    [(_, grid, block, (*_, n, head, packs))] = launches
    assert (head, packs) == (n, 0)
    assert grid[0] * block[0] >= n == 3000


@pytest.mark.parametrize("n", [1, 700, 5001])
@pytest.mark.parametrize("offset", [0, 1])
def test_vectors_past_32_bits_are_indexed_with_64(monkeypatch, n, offset):
    """The wide instance computes the same; the limit is lowered, because no CPU holds such a vector."""
    from kernels_cuda import copy

    monkeypatch.setattr(_packs, "NARROW", 0)
    _packs._plan.cache_clear()
    x, y = torch.randn(n), shifted(n, offset)
    try:
        copy.unrolled(x, y, unroll=2)
    except CompilerMissing as reason:
        pytest.skip(str(reason))
    finally:
        _packs._plan.cache_clear()
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


STRIDED = torch.zeros(20)[::2]
DENSE = torch.zeros(10)
ONE = torch.zeros(1)
MATRIX = torch.zeros(3, 4)

REFUSED = [
    ("copy:scalar", (STRIDED, DENSE), {}),
    ("copy:vectorised", (DENSE, STRIDED), {}),
    ("copy:grid_stride", (DENSE, ONE), {"max_blocks": 4}),
    ("copy:unrolled", (DENSE, ONE), {"unroll": 2}),
    ("copy:vectorised", (STRIDED, STRIDED), {}),
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
    ("fma:unrolled", (DENSE, ONE, DENSE), {"unroll": 2}),
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
    ("copy:vectorised", (STRIDED, STRIDED), {}),
    ("offset_copy:scalar", (DENSE, ONE), BLOCK),
    ("add_one:vectorised", (STRIDED, DENSE), {}),
    ("add_relu:unfused", (DENSE, DENSE), {"sums": ONE}),
    ("add_relu:fused", (DENSE, ONE), {}),
    ("fma:vectorised", (DENSE, DENSE, ONE), {}),
    ("vector_add:hinted", (DENSE, STRIDED), BLOCK),
    ("vector_add:unmasked", (DENSE, DENSE), BLOCK),
    ("vector_add:vectorised", (DENSE, ONE), {}),
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
