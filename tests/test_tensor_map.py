"""Tensor maps say what the driver is to encode; what the copy engine cannot take never reaches it."""

from __future__ import annotations

import ctypes

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import tensor_map as maps  # noqa: E402
from pytest_roofline.tensor_map import Swizzle, tensor_map  # noqa: E402


class Driver:
    """Stands in for libcuda: remembers what it was asked to encode, and writes a pattern."""

    def __init__(self, error=0):
        self.error = error
        self.calls = []

    def cuTensorMapEncodeTiled(self, where, kind, rank, base, extents, pitches, box, steps, *rest):  # noqa: N802
        assert where.value % 64 == 0
        ctypes.memset(where.value, 0xAB, maps.NBYTES)
        self.calls.append((kind, rank, base.value, *(tuple(part) for part in (extents, pitches, box, steps)), *rest))
        return self.error


@pytest.fixture
def driver(monkeypatch):
    found = Driver()
    monkeypatch.setattr(maps, "_driver", lambda: found)
    maps._tensor_map.cache_clear()
    yield found
    maps._tensor_map.cache_clear()


def matrix(rows, columns, pitch, dtype=torch.bfloat16, offset=0):
    """A matrix that starts ``offset`` elements after a multiple of 64 bytes."""
    whole = torch.zeros(rows * pitch + offset + 64, dtype=torch.float32).to(dtype)
    start = -whole.data_ptr() % 64 // whole.element_size() + offset
    return whole.as_strided((rows, columns), (pitch, 1), start)


def test_the_driver_is_told_extents_pitch_and_box_innermost_first(driver):
    """Dense type, extents, box and element steps in elements, the pitch in bytes; zeros outside."""
    a = matrix(300, 70, 72)
    assert tensor_map(a, (128, 64)).encoded == b"\xab" * 128
    zeros, promotion, dense = 0, 3, 0
    assert driver.calls == [
        (9, 2, a.data_ptr(), (70, 300), (144,), (64, 128), (1, 1), dense, int(Swizzle.BYTES_128), promotion, zeros)
    ]


def test_a_matrix_is_encoded_once(driver):
    """Each launch after the first costs a look-up; another place, box or layout is another map."""
    a = matrix(64, 64, 64)
    first = tensor_map(a, (64, 64))
    assert tensor_map(a, (64, 64)) is first
    assert first.encoded is first.encoded
    assert len(driver.calls) == 1
    others = [tensor_map(a, (32, 64)), tensor_map(a[8:], (64, 64)), tensor_map(a[:, :32], (64, 64))]
    assert len({first, *others}) == 4


def test_nothing_is_asked_of_a_driver_before_a_launch(monkeypatch):
    """Launchers make maps where there is no driver, to be compiled."""

    def missing():
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr(maps, "_driver", missing)
    found = tensor_map(matrix(16, 64, 64), (16, 64))
    assert found.get_device() == -1
    with pytest.raises(OSError, match="libcuda"):
        found.encoded  # noqa: B018


def test_what_the_driver_refuses_is_an_error_with_its_code(monkeypatch):
    """With everything that was asked for."""
    monkeypatch.setattr(maps, "_driver", lambda: Driver(error=1))
    with pytest.raises(RuntimeError, match="CUDA error 1 for TensorMap\\(address="):
        tensor_map(matrix(24, 64, 64), (16, 64)).encoded  # noqa: B018


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: matrix(8, 64, 64, offset=1), "starts 2 bytes past a multiple of 16"),
        (lambda: matrix(8, 64, 65), "rows are 130 bytes apart"),
        (lambda: matrix(64, 64, 64).T, "rows are not dense"),
        (lambda: matrix(0, 64, 64), "no empty matrix"),
        (lambda: matrix(8, 64, 64, torch.complex64), "does not know torch.complex64"),
    ],
)
def test_what_the_copy_engine_cannot_take_is_refused(driver, wrong, message):
    """With the reason, and before the driver is asked."""
    with pytest.raises(ValueError, match=message):
        tensor_map(wrong(), (8, 64))
    assert driver.calls == []


@pytest.mark.parametrize(
    ("box", "swizzle"),
    [((8, 72), Swizzle.BYTES_128), ((8, 64), Swizzle.BYTES_64), ((257, 64), Swizzle.BYTES_128), ((8, 4), Swizzle.NONE)],
)
def test_a_box_fits_the_swizzle_and_the_engine(driver, box, swizzle):
    """At most one line wide where it is swizzled, at most 256 elements each way, of whole 16 bytes."""
    with pytest.raises(ValueError, match="no box of"):
        tensor_map(matrix(512, 128, 128), box, swizzle)


def test_one_column_needs_no_dense_rows(driver):
    """Where nothing lies beside anything, its distance means nothing."""
    column = matrix(8, 8, 8)[:, :1]
    assert tensor_map(column.as_strided((8, 1), (8, 8)), (8, 64)).columns == 1


@pytest.mark.parametrize(
    ("columns", "message"), [(8, ""), (32, ""), (5, "10 bytes past a multiple of 16"), (31, "14 bytes past")]
)
def test_results_are_stored_only_where_rows_end_with_whole_pieces(columns, message):
    """The copy engine writes 16 bytes at a time, whoever owns the last of them; reading past the end harms nobody."""
    assert maps.refusal(0, 2, columns, (32, 1)) == ""
    assert message in maps.store_refusal(0, 2, columns, (32, 1))
    assert (maps.store_refusal(0, 2, columns, (32, 1)) == "") == (message == "")
    assert "starts 8 bytes" in maps.store_refusal(8, 2, columns, (32, 1))
