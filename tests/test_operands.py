"""Launchers refuse tensors whose shapes do not belong together, in the words of what they compute."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline.operands import (  # noqa: E402
    matmul_extents,
    require_vectors,
    row_extents,
    transpose_extents,
)


def zeros(*shape):
    return torch.zeros(shape)


def test_extents_of_what_fits():
    """Empty matrices and single columns of any pitch are matrices as well."""
    require_vectors("copy", zeros(7), zeros(7))
    assert row_extents(zeros(3, 5), zeros(3, 5), zeros(5), zeros(5)) == (3, 5)
    assert row_extents(zeros(4, 3)[:, :1], zeros(4, 1)) == (4, 1)
    assert transpose_extents(zeros(3, 5), zeros(5, 3)) == (3, 5)
    assert matmul_extents(zeros(2, 0), zeros(0, 5), zeros(2, 5)) == (2, 5, 0)


@pytest.mark.parametrize(
    ("refuse", "message"),
    [
        (lambda: require_vectors("copy", zeros(7), zeros(8)), "copy takes dense equal vectors"),
        (lambda: require_vectors("copy", zeros(7), zeros(14)[::2]), "copy takes dense equal vectors"),
        (lambda: row_extents(zeros(3, 5), zeros(3, 4)), "the result of 3 x 5 is not 3 x 4"),
        (lambda: row_extents(zeros(3, 5), zeros(3, 5), zeros(3)), r"a weight of \(3,\) is not one per column"),
        (lambda: row_extents(zeros(3, 5), zeros(5, 3).T), "row-wise kernels take a dense row at a time"),
        (lambda: row_extents(zeros(3, 5), zeros(3, 5), zeros(10)[::2]), "take a dense row at a time"),
        (lambda: transpose_extents(zeros(3, 5), zeros(3, 5)), "the transpose of 3 x 5 is not 3 x 5"),
        (lambda: matmul_extents(zeros(2, 3), zeros(4, 5), zeros(2, 5)), r"\(2, 3\) times \(4, 5\) is not \(2, 5\)"),
        (lambda: matmul_extents(zeros(2, 3), zeros(3, 5), zeros(5, 2)), r"\(2, 3\) times \(3, 5\) is not \(5, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused(refuse, message):
    """The shapes at fault are in the message."""
    with pytest.raises(ValueError, match=message):
        refuse()
