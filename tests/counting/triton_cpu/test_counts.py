"""Requests, sectors and unique bytes, exact and independent of layout."""

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_roofline.counting.triton_cpu import checking

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")


def counted(kernel, grid, *arguments, **constants):
    """The record of one launch."""
    with checking(counts=True) as seen:
        kernel[grid](*arguments, **constants)
    (record,) = seen.launches
    return record


def aligned(n, shift=0):
    """``n`` zeros that start ``shift`` elements behind a multiple of 32 bytes."""
    buffer = torch.zeros(n + 16)
    first = (-buffer.data_ptr() // 4) % 8 + shift
    return buffer[first : first + n]


def test_a_vector_add(correct):
    """Two loads and a store per program; 300 floats are 1200 bytes in 38 sectors, the last of them half."""
    record = counted(correct.add, (5,), aligned(300), aligned(300), aligned(300), 300, BLOCK=64)
    assert (record.kernel, record.grid) == ("add", (5, 1, 1))
    assert dataclasses.asdict(record.loads) == {
        "requests": 10, "lanes": 600, "bytes": 2400, "sectors": 76, "unique_bytes": 2400
    }  # fmt: skip
    assert (record.stores.requests, record.stores.sectors, record.stores.unique_bytes) == (5, 38, 1200)
    assert record.stores.sectors_per_request == 38 / 5
    assert record.atomics.requests == record.atomics.sectors_per_request == 0


def test_lines_add_up_to_the_whole(correct):
    """Each load and store stands on its line; a misaligned one needs more sectors than packed lanes would."""
    record = counted(correct.add, (5,), aligned(300), aligned(300, 1), aligned(300), 300, BLOCK=64)
    loads = [line for line in record.lines if line.action == "load"]
    [store] = [line for line in record.lines if line.action == "store"]
    assert sum(line.sectors for line in loads) == record.loads.sectors
    assert (store.requests, store.lanes, store.sectors, store.ideal_sectors) == (5, 300, 38, 38)
    assert sum(line.ideal_sectors for line in loads) < record.loads.sectors
    text = (Path(store.file).read_text().splitlines())[store.line - 1]
    assert "tl.store" in text


def test_a_misaligned_block_needs_one_sector_more(correct):
    """64 floats are 8 sectors, or 9 if they start within one."""
    for shift, sectors in ((0, 8), (1, 9), (7, 9)):
        record = counted(correct.add, (1,), *(aligned(64, shift) for _ in range(3)), 64, BLOCK=64)
        assert record.stores.sectors == sectors


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (4, 16), (8, 32), (16, 32)])
def test_strides_cost_sectors(correct, stride, sectors):
    """32 floats: with a stride of 8 or more each has a sector of its own."""
    x, out = aligned(32 * 16)[: 32 * stride : stride], aligned(32)
    record = counted(correct.copy_rows, (1,), x, out, 32, 0, stride, 0, 1, BLOCK=32)
    assert (record.loads.sectors, record.loads.unique_bytes) == (sectors, 128)


def test_what_is_read_again_counts_once_as_unique(correct):
    """Every tile of c reads its rows of a and columns of b; the least that must move is each once."""
    a, b, c = torch.zeros(64, 32), torch.zeros(32, 64), torch.zeros(64, 64)
    strides = (*a.stride(), *b.stride(), *c.stride())
    record = counted(correct.matmul, (4, 4), a, b, c, 64, 64, 32, *strides, BM=16, BN=16, BK=16)
    assert record.loads.unique_bytes == a.nbytes + b.nbytes
    assert record.loads.bytes == 4 * (a.nbytes + b.nbytes)
    assert record.stores.bytes == record.stores.unique_bytes == c.nbytes


def test_atomics_are_counted_apart(correct):
    """A histogram of 100 values in 7 bins."""
    x, out = torch.arange(100) % 7, torch.zeros(7, dtype=torch.int32)
    record = counted(correct.histogram, (2,), x, out, 100, BLOCK=64)
    assert (record.atomics.requests, record.atomics.lanes, record.atomics.unique_bytes) == (2, 100, 28)
    assert record.stores.requests == 0


def test_an_atomic_is_one_request_however_the_interpreter_makes_it(interpreter):
    """bfloat16 additions are a load and a store here; eight lanes on one element, in one sector."""
    from tests.counting.triton_cpu.bf16.kernels import count

    record = counted(count, (1,), torch.empty(1).bfloat16(), BLOCK=8)
    assert (record.atomics.requests, record.atomics.lanes, record.atomics.sectors) == (1, 8, 1)


def test_bytes_stay_unique_when_granules_become_smaller(correct):
    """The same memory touched as floats by one argument's type and as bytes by another's."""
    x, out = torch.zeros(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    record = counted(correct.swap_bytes, (1,), x, out, 4, BLOCK=16)
    assert (record.loads.unique_bytes, record.stores.unique_bytes) == (16, 16)


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(n=st.integers(1, 200), shift=st.integers(0, 7))
def check_definition(correct, n, shift):
    x, out = aligned(n, shift), aligned(n, shift)
    record = counted(correct.add, (-(-n // 64),), x, x, out, n, BLOCK=64)
    sectors = sum(len({(shift + i) // 8 for i in range(start, min(n, start + 64))}) for start in range(0, n, 64))
    assert (record.stores.sectors, record.stores.unique_bytes) == (sectors, 4 * n)
    assert record.loads.unique_bytes == 4 * n  # x twice


def test_sectors_are_those_of_the_definition(correct):
    """Counted naively for any size and alignment."""
    check_definition(correct)


def test_a_record_is_plain_data(correct):
    """It can be stored as JSON; without counts=True only kernel and grid are known."""
    x = torch.zeros(8)
    record = counted(correct.add, (1,), x, x, x, 8, BLOCK=8)
    assert json.loads(json.dumps(dataclasses.asdict(record)))["loads"]["bytes"] == 64
    with checking() as seen:
        correct.add[(1,)](x, x, x, 8, BLOCK=8)
        correct.add[(1,)](x, x, x, 8, BLOCK=8)
    assert [(r.kernel, r.loads) for r in seen.launches] == [("add", None)] * 2
