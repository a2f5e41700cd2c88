"""Launchers choose kernel and grid from the tensors, and refuse what their kernel cannot do."""

from __future__ import annotations

import inspect

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import sum, transpose, vector_add  # noqa: E402
from pytest_roofline.counting.cuda_cpu import CompilerMissing  # noqa: E402
from tests.suite.vectors import shifted  # noqa: E402


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("offset", range(8))
@pytest.mark.parametrize("n", [1, 3, 7, 8, 15, 16, 17, 1023, 1024, 4099])
def test_vector_loads_start_at_an_aligned_element(launches, n, offset, dtype):
    """The head ends at a 16-byte boundary, and every pack and every edge element has a thread."""
    x, y = shifted(n, offset, dtype), shifted(n, offset, dtype)
    vector_add.vectorised(x, y)
    [(name, grid, block, (_, _, length, head, packs), _)] = launches
    width = 16 // y.element_size()
    threads = grid[0] * block[0]
    assert "vectorised" in name
    assert head == n or (y.data_ptr() + int(head) * y.element_size()) % 16 == 0
    assert head < width
    assert packs == (length - head) // width
    assert threads >= packs + n - packs * width


def test_vectors_that_no_shift_aligns_are_added_one_by_one(launches):
    """A 128-bit access needs both addresses aligned at once."""
    vector_add.vectorised(shifted(1000, 1), shifted(1000, 2))
    [(name, grid, block, (_, _, n, head, packs), _)] = launches
    assert name == "vector_add_vectorised<float, unsigned int>"
    assert (head, packs) == (n, 0)  # everything is head
    assert grid[0] * block[0] >= n


def test_matrices_choose_their_transpose_by_alignment(launches):
    """Rows that start off a 16-byte boundary are realigned, strided rows go through tiles element by element."""
    whole = torch.zeros(64, 72)
    y = torch.zeros(64, 64)
    for x in (whole[:, :64], whole[:, 1:65], torch.zeros(64, 65)[:, :64], whole.t()[:64, :64]):
        transpose.vectorised(x, y)
    names = [name.split("<")[0] for name, *_ in launches]
    assert names == ["transpose_vectorised"] + 2 * ["transpose_realigned"] + ["transpose_shared_padded"]


@pytest.mark.parametrize("launch", [sum.grid_stride, sum.warp_shuffle, sum.vectorised, sum.butterfly])
def test_sums_never_use_more_blocks_than_allowed(launches, launch):
    """More blocks would only queue up for the one result."""
    for n in (0, 1, 5000, 100_000):
        launch(torch.zeros(n), torch.zeros(1), max_blocks=7)
    grids = [grid[0] for _, grid, *_ in launches]
    assert max(grids) == 7


def test_a_sum_in_one_block_needs_no_second_stage(launches):
    """One block writes the result itself; several leave theirs in the workspace."""
    total, partials = torch.zeros(1), torch.zeros(9)
    sum.two_stage(torch.zeros(100), total, partials=partials)
    assert [name for name, *_ in launches] == ["sum_blocks<float, float, 256>"]
    assert launches[0].arguments[3] is total
    sum.two_stage(torch.zeros(10_000), total, partials=partials)
    assert [name for name, *_ in launches[1:]] == ["sum_blocks<float, float, 256>", "sum_partials<float>"]
    assert launches[1].arguments[3] is partials


def test_a_chain_of_additions_without_an_error_bound_is_refused(launches):
    """Past 2^23 elements one f32 chain may lose everything that is added; integers lose nothing."""
    x = torch.zeros(1).expand((1 << 23) + 1)
    with pytest.raises(ValueError, match="one chain of more than 8388608"):
        sum.atomic(x, torch.zeros(1))
    assert launches == []


def integers(n: int, dtype, device: str):
    """Small whole numbers, whose sums are exact in any order: one element lost or added twice shows."""
    generator = torch.Generator().manual_seed(n)
    return torch.randint(-8, 9, (n,), generator=generator).to(device=device, dtype=dtype)


LONG = pytest.mark.parametrize("n", [4096, 8192, 8193, 30_000, 65_539])
DTYPES = pytest.mark.parametrize(
    ("dtype", "accumulator"),
    [(torch.float32, torch.float32), (torch.float16, torch.float32), (torch.int32, torch.int64)],
    ids=["f32", "f16_f32", "i32_i64"],
)


@LONG
@DTYPES
@pytest.mark.parametrize("stage", ["_SMALL", "_LARGE"])
def test_a_triton_program_walks_over_many_blocks(device, monkeypatch, stage, n, dtype, accumulator):
    """With fewer programs than blocks every block is still added once: what only huge vectors do otherwise."""
    from kernels_triton import sum as kernels

    monkeypatch.setattr(kernels, stage, getattr(kernels, stage)._replace(block=1024))
    monkeypatch.setattr(kernels, "_SMALL_ELEMENTS", 1 << 22 if stage == "_SMALL" else -1)
    x = integers(n, dtype, device)
    total, partials = (torch.full((size,), 99, dtype=accumulator, device=device) for size in (1, 3))
    inspect.unwrap(kernels.two_stage)(x, total, num_warps=4, partials=partials)  # not what the other stage left behind
    assert total.item() == x.long().sum().item()


@LONG
@DTYPES
@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("variant", ["grid_stride", "warp_shuffle", "vectorised", "butterfly", "two_stage"])
def test_a_cuda_block_walks_over_many_tiles(device, variant, offset, n, dtype, accumulator):
    """With fewer blocks than tiles every element is still added once, the last partial tile and the edges included."""
    x = integers(n, dtype, device)[offset:]
    total, partials = (torch.full((size,), 99, dtype=accumulator, device=device) for size in (1, 3))
    keywords = {"partials": partials} if variant == "two_stage" else {"max_blocks": 3}
    try:
        getattr(sum, variant)(x, total, **keywords)
    except CompilerMissing as reason:
        pytest.skip(str(reason))
    assert total.item() == x.long().sum().item()


@pytest.mark.parametrize("variant", ["atomic", "grid_stride", "vectorised", "two_stage"])
def test_integers_are_added_up_in_64_bits_as_by_torch(device, variant):
    """Eight times 2^29 is 2^32, which is 0 in 32 bits; negative sums keep their sign."""
    options = {"atomic": {}, "two_stage": {"partials": torch.zeros(3, dtype=torch.int64, device=device)}}
    total = torch.full((1,), 99, dtype=torch.int64, device=device)
    for value in (2**29, -(2**29)):
        x = torch.full((8,), value, dtype=torch.int32, device=device)
        try:
            getattr(sum, variant)(x, total, **options.get(variant, {"max_blocks": 3}))
        except CompilerMissing as reason:
            pytest.skip(str(reason))
        assert total.item() == x.sum().item() == 8 * value


@pytest.mark.parametrize("variant", ["atomic", "grid_stride", "two_stage"])
def test_triton_adds_integers_up_in_64_bits_as_torch_does(device, variant):
    """The same sums."""
    from kernels_triton import sum as kernels

    total, partials = (torch.full((n,), 99, dtype=torch.int64, device=device) for n in (1, 3))
    options = {
        "atomic": {"block": 1024},
        "grid_stride": {"block": 1024, "num_warps": 4, "max_programs": 3},
        "two_stage": {"num_warps": 4, "partials": partials},
    }
    for value in (2**29, -(2**29)):
        x = torch.full((8,), value, dtype=torch.int32, device=device)
        getattr(kernels, variant)(x, total, **options[variant])
        assert total.item() == x.sum().item() == 8 * value
