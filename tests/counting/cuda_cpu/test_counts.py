"""Counts equal what theory says, and what the H200's hardware counters measured for the same kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import LaunchRecord, checking, load

BASICS = load(Path(__file__).parent / "basics.cu")
RNG = np.random.default_rng(1)
N = 8192


def count(name: str, grid: Any, block: Any, args: Any, mode: str = "count") -> LaunchRecord:
    with checking(mode) as session:
        BASICS.function(name)(grid, block, args)
    return session.launches[0]


def uniform(*shape: int) -> Any:
    return RNG.random(shape, dtype=np.float32)


@pytest.mark.parametrize(("offset", "sectors"), [(0, 4.0), (1, 5.0), (8, 4.0)])
def test_offset_costs_a_sector(offset: int, sectors: float) -> None:
    """Aligned unit stride needs 4 sectors a request; shifted by one element 5; by a whole sector 4 again."""
    a, b, c = (uniform(N + offset) for _ in range(3))
    record = count("vadd", (32,), (256,), (a, b, c, np.int32(N), np.int32(offset)))
    for kind in ("global load", "global store"):
        assert record.total(kind, "sectors") / record.total(kind) == sectors


@pytest.mark.parametrize("stride", [1, 2, 4, 8, 16])
def test_stride_multiplies_sectors(stride: int) -> None:
    """A stride of s words takes 4 s sectors a request, at most one per lane."""
    record = count("strided", (4,), (256,), (uniform(1024 * stride), uniform(1024), np.int32(1024), np.int32(stride)))
    load_line = next(line for line in record.lines if line.kind == "global load")
    assert load_line.sectors_per_request == min(4 * stride, 32)
    assert load_line.ideal_sectors == 4 * load_line.requests


def test_array_of_structs() -> None:
    """One field of 32-byte structs takes a sector per lane."""
    record = count("aos", (4,), (256,), (uniform(1024 * 8), uniform(1024), np.int32(1024)))
    assert record.total("global load", "sectors") == 32 * record.total("global load")


def test_vector_loads_and_their_tail() -> None:
    """A float4 request takes 16 sectors; the tail of three elements one more request of one sector."""
    n = 8195
    record = count("vadd4", (9,), (256,), (uniform(n), uniform(n), uniform(n), np.int32(n)))
    wide = [line for line in record.lines if line.size == 16 and line.kind == "global load"]
    assert sum(line.sectors for line in wide) == 16 * sum(line.requests for line in wide)
    tail = [line for line in record.lines if line.size == 4 and line.kind == "global store"]
    assert [(line.requests, line.sectors) for line in tail] == [(1, 1)]


@pytest.mark.parametrize(("pad", "degree"), [(0, 32), (1, 1)])
def test_column_of_a_tile(pad: int, degree: int) -> None:
    """A column of tile[32][32] is a 32-way conflict, of tile[32][33] none."""
    a, b = uniform(128, 160), uniform(160, 128)
    record = count(f"transpose<{pad}>", (5, 4), (32, 8), (a, b, np.int32(128), np.int32(160)))
    reads = next(line for line in record.lines if line.kind == "shared load")
    assert (reads.max_degree, reads.wavefronts) == (degree, degree * reads.requests)
    assert (reads.requests, record.total("shared store", "wavefronts")) == (640, 640)
    assert record.total("global store", "sectors") == 4 * record.total("global store")


# Measured on an H200 with ncu: sectors and requests of global loads and stores, wavefronts and instructions of shared
# loads and stores.
@pytest.mark.parametrize(
    ("tile", "blocks", "loads", "stores", "shared_loads", "shared_stores"),
    [
        (16, 5, (8090, 1650), (809, 165), (24000, 20000), (2000, 2000)),
        (32, 3, (4182, 1170), (697, 195), (41472, 34560), (1728, 1728)),
    ],
)
def test_tiled_matmul_as_the_hardware_counts(
    tile: int, blocks: int, loads: Any, stores: Any, shared_loads: Any, shared_stores: Any
) -> None:
    """All memory figures of a tiled matmul of 65^3 equal the hardware's, merged 128-bit shared loads included."""
    size = np.int32(65)
    args = (uniform(65, 65), uniform(65, 65), uniform(65, 65), size, size, size)
    record = count(f"sgemm_tiled<{tile}>", (blocks, blocks), (tile, tile), args)
    assert (record.total("global load", "sectors"), record.total("global load")) == loads
    assert (record.total("global store", "sectors"), record.total("global store")) == stores
    merged = record.total("shared load", "merged_wavefronts"), record.total("shared load", "merged_requests")
    assert merged == shared_loads
    assert (record.total("shared store", "wavefronts"), record.total("shared store")) == shared_stores


def test_barriers_of_a_tiled_matmul() -> None:
    """Two barriers per tile step and block."""
    size = np.int32(65)
    args = (uniform(65, 65), uniform(65, 65), uniform(65, 65), size, size, size)
    assert count("sgemm_tiled<16>", (5, 5), (16, 16), args).barriers == 25 * 5 * 2


@pytest.mark.parametrize("seed", range(5))
def test_divergent_nested_loop_follows_reconvergence(seed: int) -> None:
    """Lanes that leave an inner loop wait for the others: one request per trip of the longest lane, per outer trip."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 9, 96)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    values = rng.random(max(int(starts[-1]), 1), dtype=np.float32)
    record = count("row_sums", (1,), (32,), (starts, values, np.zeros(96, np.float32), np.int32(96)))
    inner = sum(int(lengths[i : i + 32].max()) for i in range(0, 96, 32))
    # Beside the values: both starts of a row, once per outer trip.
    assert record.total("global load") == inner + 2 * 3
    assert record.total("global load", "lanes") == int(lengths.sum()) + 2 * 96
    assert record.lane_use < 1


def test_unique_bytes() -> None:
    """Every byte counts once, however often it is read."""
    size = np.int32(65)
    a, b, c = uniform(65, 65), uniform(65, 65), uniform(65, 65)
    record = count("sgemm_tiled<16>", (5, 5), (16, 16), (a, b, c, size, size, size))
    assert record.unique_read_bytes == {"A": a.nbytes, "B": b.nbytes, "C": 0}
    assert record.unique_written_bytes == {"A": 0, "B": 0, "C": c.nbytes}


def test_check_and_count_modes_count_the_same() -> None:
    """The counts do not depend on whether races are checked beside them."""
    args = (uniform(1000), np.zeros(1, np.float32), np.int32(1000))
    assert count("reduce_tree", (4,), (256,), args).lines == count("reduce_tree", (4,), (256,), args, "check").lines


def test_atomics_of_one_address() -> None:
    """One atomic per block: a request of one lane and one sector each."""
    record = count("reduce_tree", (4,), (256,), (uniform(1000), np.zeros(1, np.float32), np.int32(1000)))
    atomic = next(line for line in record.lines if line.kind == "global atomic")
    assert (atomic.requests, atomic.lanes, atomic.sectors, atomic.max_degree) == (4, 4, 4, 1)
