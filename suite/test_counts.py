"""What the documents say about memory requests, bank conflicts, barriers and intensity, settled by exact counting.

The kernels run on the CPU, also where there is a GPU. The test of a claim that does not hold says what does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import matmul, transpose, vector_add  # noqa: E402
from kernels_cuda import sum as sums  # noqa: E402
from pytest_roofline.counting.cuda_cpu import (  # noqa: E402
    CompilerMissing,
    CudaFault,
    FaultKind,
    LaunchRecord,
    checking,
)
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler  # noqa: E402
from pytest_roofline.launch import Source, c_bool, ceil_div  # noqa: E402

DEMONSTRATIONS = Path(__file__).parent / "demonstrations"
COALESCING, BANKS, INTENSITY, CONTROL = (
    Source(DEMONSTRATIONS / f"{name}.cu") for name in ("coalescing", "banks", "intensity", "control")
)
N = 4096


@pytest.fixture(autouse=True, scope="module")
def _compiler():
    try:
        find_compiler()
    except CompilerMissing as reason:
        pytest.skip(str(reason))


def numbers(*shape: int) -> torch.Tensor:
    """Random numbers, the same in every test."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(0))


def count(source: Source, kernel: str, grid, block, args) -> LaunchRecord:
    """One launch of a demonstration kernel, counted."""
    with checking("count") as session:
        source.function(kernel)(grid, block, args)
    return session.launches[0]


def counted(launcher, *args, **options) -> LaunchRecord:
    """One launch of a kernel of ours, counted; the last one if it makes several."""
    with checking("count") as session:
        launcher(*args, **options)
    return session.launches[-1]


def per_request(record: LaunchRecord, kind: str, figure: str = "sectors") -> float:
    """Sectors or wavefronts of a mean request."""
    return record.total(kind, figure) / record.total(kind)


def loaded_bytes(record: LaunchRecord) -> int:
    """Bytes that the threads ask global memory for."""
    return record.total("global load", "bytes")


def moved(record: LaunchRecord) -> int:
    """Bytes that the threads load and store."""
    return loaded_bytes(record) + record.total("global store", "bytes")


# Coalescing.


@pytest.mark.parametrize("offset", range(0, 32, 3))
def test_coal_1_a_shift_costs_one_sector_in_four(offset):
    """coal-1 holds: 4 sectors where the warp starts at a multiple of 32 bytes, 5 (+25 %) anywhere else."""
    record = count(COALESCING, "shifted", (16,), (256,), (numbers(N + 32), numbers(N), N, offset))
    assert per_request(record, "global load") == (4.0 if offset % 8 == 0 else 5.0)
    assert per_request(record, "global store") == 4.0


@pytest.mark.parametrize("offset", [0, 1])
def test_coal_1_for_our_vector_add(offset):
    """The scalar kernel pays the fifth sector for every request, the vectorised one only moves its first pack."""
    x, y = numbers(N + 1)[offset:], numbers(N + 1)[offset:]
    record = counted(vector_add.scalar, x, y)
    aligned = x.data_ptr() % 32 == 0
    assert aligned == (offset == 0)
    last = (len(x) - 1) % 32 == 0  # a tail of one element: one request of one sector
    full = record.total("global load") - 2 * last
    assert record.total("global load", "sectors") - 2 * last == full * (4 if aligned else 5)


def test_coal_2_structures_of_arrays():
    """coal-2 holds: one field of 32-byte structures takes 32 sectors for 128 useful bytes, as an array 4."""
    record = count(COALESCING, "array_of_structures", (16,), (256,), (numbers(N * 8), numbers(N), N))
    assert per_request(record, "global load") == 32.0
    assert loaded_bytes(record) == 128 * record.total("global load")
    assert (
        per_request(count(COALESCING, "shifted", (16,), (256,), (numbers(N), numbers(N), N, 0)), "global load") == 4.0
    )


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 8, 16, 32])
def test_coal_3_strides(stride):
    """coal-3 holds only up to a stride of 8 words: from there on every lane has a sector of its own, and no more."""
    record = count(COALESCING, "strided", (4,), (256,), (numbers(1024 * stride), numbers(1024), 1024, stride))
    assert per_request(record, "global load") == min(4 * stride, 32)


def test_coal_3_for_our_transposes():
    """The naive transpose stores 32 sectors a request, the one through a padded tile 4; both load 4."""
    x, y = numbers(64, 96), torch.empty(96, 64)
    for launcher, sectors in ((transpose.naive, 32.0), (transpose.shared_padded, 4.0)):
        record = counted(launcher, x, y)
        assert (per_request(record, "global load"), per_request(record, "global store")) == (4.0, sectors)
        assert torch.equal(y, x.T)


@pytest.mark.parametrize(("k", "fault"), [(8, None), (7, FaultKind.MISALIGNED), (9, FaultKind.MISALIGNED)])
def test_vec_1_float4_needs_aligned_rows(k, fault):
    """vec-1 holds: rows of 8 elements work; with 7 or 9 the second row is a misaligned access, an error on a GPU."""
    x, totals = numbers(32, k), torch.zeros(32)
    launch = lambda: COALESCING.function("row_sums_float4")((1,), (32,), (x, totals, 32, k))  # noqa: E731
    if fault is None:
        launch()
        torch.testing.assert_close(totals, x.sum(1))
    else:
        with pytest.raises(CudaFault) as caught:
            launch()
        assert caught.value.kind is fault


def test_vec_2_fewer_and_wider_requests():
    """vec-2 holds: 16 bytes per lane are 16 sectors a request and a quarter of the requests; the bytes are the same."""
    records = [counted(launcher, numbers(N), numbers(N)) for launcher in (vector_add.scalar, vector_add.vectorised)]
    scalar, wide = (record.total("global load") for record in records)
    assert scalar == 4 * wide == 2 * N // 32
    assert per_request(records[1], "global load") == 16.0
    assert records[0].total("global load", "sectors") == records[1].total("global load", "sectors")


# Banks of shared memory.


@pytest.mark.parametrize("stride", range(1, 33))
def test_bank_1_stride(stride):
    """bank-1 holds: the bank is the word address modulo 32; a stride conflicts as its common divisor with 32 says."""
    record = count(BANKS, "stride_of", (1,), (32,), (numbers(1024), numbers(32), stride))
    assert record.total("shared load", "wavefronts") == min(stride & -stride, 32)


def test_bank_1_column_and_broadcast():
    """bank-1 holds: a column of tile[32][32] is a 32-way conflict; one word for all lanes is none."""
    record = count(BANKS, "column<0>", (1,), (32, 32), (numbers(1024), numbers(1024)))
    assert per_request(record, "shared load", "wavefronts") == 32
    record = count(BANKS, "broadcast", (1,), (32, 32), (numbers(32), numbers(1024)))
    assert per_request(record, "shared load", "wavefronts") == 1


def test_bank_2_padding():
    """bank-2 holds: tile[32][33] has no conflict, for 128 of 4224 bytes; so has our transpose."""
    record = count(BANKS, "column<1>", (1,), (32, 32), (numbers(1024), numbers(1024)))
    assert per_request(record, "shared load", "wavefronts") == per_request(record, "shared store", "wavefronts") == 1
    ours = counted(transpose.shared_padded, numbers(64, 64), torch.empty(64, 64))
    assert per_request(ours, "shared load", "wavefronts") == per_request(ours, "shared store", "wavefronts") == 1


@pytest.mark.parametrize(("layout", "store", "load"), [(0, 1, 1), (1, 32, 32), (2, 1, 1)])
def test_bank_3_transposing_b(layout, store, load):
    """bank-3 does not hold: b as it is has no conflict (a broadcast and a row); transposed, its store and its loads
    conflict 32 ways, and padding only brings back what there was."""
    a, b, c = numbers(32, 32), numbers(32, 32), torch.empty(32, 32)
    record = count(BANKS, f"matmul<{layout}>", (1,), (32, 32), (a, b, c))
    torch.testing.assert_close(c, a @ b)
    of_b = max(line.max_degree for line in record.lines if line.kind == "shared load")
    assert max(line.max_degree for line in record.lines if line.kind == "shared store") == store
    assert of_b == load


# Barriers, branches, shuffles.


@pytest.mark.parametrize(("before", "after"), [(True, True), (False, True), (True, False)])
def test_sync_1_both_barriers_are_needed(before, after):
    """sync-1 holds: without the first a thread reads what nobody has written, without the second it is overwritten."""
    a, b, c = numbers(32, 64), numbers(64, 32), torch.empty(32, 32)
    kernel = CONTROL.function(f"two_barriers<{c_bool(before)}, {c_bool(after)}>")
    if before and after:
        kernel((1,), (32, 32), (a, b, c))
        torch.testing.assert_close(c, a @ b)
        return
    with pytest.raises(CudaFault) as caught:
        kernel((1,), (32, 32), (a, b, c))
    assert caught.value.kind in {FaultKind.SHARED_RACE, FaultKind.UNINITIALISED_READ}
    assert after or caught.value.kind is FaultKind.SHARED_RACE


@pytest.mark.parametrize(("run", "executions"), [(1, 2), (16, 2), (32, 1), (256, 1)])
def test_div_1_both_sides_of_a_branch(run, executions):
    """div-1 holds only if the lanes of a warp disagree: then it executes both sides; whole warps lose nothing."""
    record = count(CONTROL, f"branch<{run}, 10>", (4,), (256,), (numbers(1024), torch.empty(1024)))
    assert record.executed("fma") == 10 * 1024
    assert record.executed("fma", what="requests") == 10 * executions * 1024 // 32
    assert (record.lane_use == 1.0) == (executions == 1)


def test_red_2_butterfly_and_tree():
    """red-2 holds: a butterfly leaves the sum in every lane, a tree in lane 0 alone."""
    x, butterfly, tree = torch.arange(1.0, 33.0), torch.empty(32), torch.empty(32)
    CONTROL.function("warp_sums")((1,), (32,), (x, butterfly, tree))
    assert (butterfly == x.sum()).all()
    assert (tree == x.sum()).nonzero().flatten().tolist() == [0]


# Intensity: FLOPs per byte.


def test_ai_1_naive_matmul():
    """ai-1 holds for what threads ask for, 0.25; a warp shares its element of a, so that it is 0.4 by sectors."""
    a, b, c = numbers(64, 64), numbers(64, 64), torch.empty(64, 64)
    for record in (
        count(INTENSITY, "from_global<1>", (2, 8), (32, 8), (a, b, c, 64)),
        counted(matmul.naive, a, b, c),
    ):
        assert record.flops == {"fp32": 2 * 64**3}
        assert record.flops["fp32"] / loaded_bytes(record) == 0.25
        assert record.flops["fp32"] / (32 * record.total("global load", "sectors")) == pytest.approx(0.4)


def test_ai_2_four_results_per_thread():
    """ai-2 holds: 2 x 2 results per thread make 0.5 FLOP per byte."""
    a, b, c = numbers(64, 64), numbers(64, 64), torch.empty(64, 64)
    record = count(INTENSITY, "from_global<2>", (1, 4), (32, 8), (a, b, c, 64))
    assert record.flops["fp32"] / loaded_bytes(record) == 0.5


@pytest.mark.parametrize(
    ("rows", "columns", "side", "intensity"), [(32, 32, 1, 8), (64, 64, 4, 16), (32, 64, 4, 32 / 3)]
)
def test_ai_3_and_4_shared_tiles(rows, columns, side, intensity):
    """ai-3 and ai-4 hold: B_M B_N / (2 (B_M + B_N)), 8 for tiles of 32 and 16 for tiles of 64."""
    assert intensity == pytest.approx(rows * columns / (2 * (rows + columns)))
    a, b, c = numbers(64, 64), numbers(64, 64), torch.empty(64, 64)
    kernel = f"from_shared<{rows}, {columns}, 16, {side}>"
    threads = rows * columns // side**2
    record = count(INTENSITY, kernel, (64 // columns, 64 // rows), (threads,), (a, b, c, 64))
    torch.testing.assert_close(c, a @ b)
    assert record.flops["fp32"] / loaded_bytes(record) == pytest.approx(intensity)


def test_ai_3_for_our_tiled_matmul():
    """Ours with tiles of 32 asks for exactly as much; per byte that must move at all, a product makes n / 6 FLOPs."""
    n = 64
    record = counted(matmul.shared_32, numbers(n, n), numbers(n, n), torch.empty(n, n))
    assert record.flops["fp32"] / loaded_bytes(record) == 8
    unique = sum(record.unique_read_bytes.values()) + sum(record.unique_written_bytes.values())
    assert record.flops["fp32"] / unique == pytest.approx(n / 6)


def test_ai_5_and_6_vectors():
    """ai-5 holds (2 FLOP over 16 bytes); ai-6 does not: y = x + y makes 1 FLOP of 12 bytes, 0.083 and not 1."""
    record = count(INTENSITY, "multiply_add", (16,), (256,), (numbers(N), numbers(N), numbers(N), N))
    assert record.flops["fp32"] / moved(record) == 2 / 16
    assert record.executed("fma") == N
    record = counted(vector_add.scalar, numbers(N), numbers(N))
    assert record.flops["fp32"] / moved(record) == 1 / 12


def test_reg_1_register_tiles():
    """reg-1 holds: 2 x 2 results per thread need 4 shared loads per step, one result each would need 8."""
    requests = {}
    for side in (1, 2):
        args = (numbers(32, 32), numbers(32, 32), torch.empty(32, 32), 32)
        record = count(INTENSITY, f"from_shared<32, 32, 32, {side}>", (1, 1), (1024 // side**2,), args)
        requests[side] = record.total("shared load", "lanes") / (32 * 32 * 32)  # per result and step
    assert (4 * requests[1], 4 * requests[2]) == (8, 4)


def test_tile_1_padding_of_tiles():
    """tile-1 holds for threads: 65 x 65 in tiles of 32 launches 2.18 times as many. With the padded depth the FLOPs are
    3.22 times the useful ones."""
    n = 65
    record = counted(matmul.shared_32, numbers(n, n), numbers(n, n), torch.empty(n, n))
    assert record.grid[0] * record.grid[1] == 9
    assert record.threads / n**2 == pytest.approx(2.18, abs=0.005)
    assert record.flops["fp32"] / (2 * n**3) == pytest.approx((96 / 65) ** 3)


def test_vadd_3_the_grid():
    """vadd-3 does not hold: 1e8 elements in blocks of 1024 take 97657 blocks; one fewer leaves 256 elements out."""
    assert ceil_div(10**8, 1024) == 97657
    assert 10**8 - 97656 * 1024 == 256


# Sums.


def test_red_ladder_atomics_and_conflicts():
    """red-ladder holds: one atomic per element falls to one per block; tree and shuffles are free of conflicts."""
    x, total = numbers(N), torch.zeros(1)
    atomics = {}
    for name, launcher, options in (
        ("atomic", sums.atomic, {}),
        ("grid_stride", sums.grid_stride, {"max_blocks": 4}),
        ("vectorised", sums.vectorised, {"max_blocks": 4}),
    ):
        record = counted(launcher, x, total, **options)
        torch.testing.assert_close(total[0], x.sum())
        atomics[name] = record.total("global atomic", "lanes")
        assert record.total("shared load", "wavefronts") == record.total("shared load")
    assert atomics == {"atomic": N, "grid_stride": 4, "vectorised": 1}
