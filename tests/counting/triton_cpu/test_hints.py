"""Which promises about values are false."""

import pytest

np = pytest.importorskip("numpy")

from pytest_roofline.counting.triton_cpu.hints import false_hint  # noqa: E402

BLOCK = np.arange(64)


@pytest.mark.parametrize(
    ("name", "data", "values"),
    [
        ("multiple_of", BLOCK + 128, [64]),
        ("multiple_of", np.array([48]), [16]),
        ("multiple_of", BLOCK * 16, [16]),
        ("multiple_of", (np.arange(8) * 32)[:, None] + np.arange(16), [1, 16]),
        ("max_contiguous", BLOCK, [64]),
        ("max_contiguous", BLOCK, [128]),
        ("max_contiguous", np.concatenate([BLOCK, BLOCK + 1000]), [32]),
        ("max_constancy", BLOCK // 8, [8]),
        ("max_constancy", np.repeat(np.arange(4), 16)[:, None] + np.zeros((64, 8), int), [1, 8]),
        ("max_contiguous", np.array([7]), [16]),
    ],
)
def test_true_hints(name, data, values):
    """Blocks, tiles and scalars that keep the promise."""
    assert false_hint(name, data, values) is None


@pytest.mark.parametrize(
    ("name", "data", "values", "says"),
    [
        ("multiple_of", BLOCK + 1, [16], "starts at 1"),
        ("multiple_of", np.array([40]), [16], "starts at 40"),
        ("multiple_of", np.append(np.arange(63) * 16, 1007), [16], "starts at 1007"),
        ("max_contiguous", BLOCK * 2, [2], "0 is followed by 2"),
        ("max_contiguous", np.append(np.arange(63), 0), [64], "62 is followed by 0, 63 into a group of 64"),
        ("max_contiguous", np.stack([BLOCK, BLOCK[::-1]]), [1, 64], "along dimension 1"),
        ("max_constancy", BLOCK // 3, [4], "0 is followed by 1"),
        ("max_constancy", np.append(np.zeros(63, int), 5), [2], "0 is followed by 5"),
    ],
)
def test_false_hints_are_found_at_any_element(name, data, values, says):
    """Also where only the last value of the last group breaks the promise."""
    assert says in false_hint(name, data, values)


def test_pointers_are_contiguous_in_elements_and_aligned_in_bytes():
    """Addresses of consecutive f32 are four apart."""
    pointers = np.uint64(1 << 46) + np.arange(16, dtype=np.uint64) * np.uint64(4)
    assert false_hint("multiple_of", pointers, [64], step=4) is None
    assert false_hint("max_contiguous", pointers, [16], step=4) is None
    assert "starts at" in false_hint("multiple_of", pointers + np.uint64(4), [16], step=4)
    assert "followed by" in false_hint("max_contiguous", pointers, [16], step=2)
