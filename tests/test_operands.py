"""Launchers refuse tensors whose shapes do not belong together, in the words of what they compute."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline.operands import (  # noqa: E402
    matmul_extents,
    require_positive,
    require_sum,
    require_vectors,
    require_workspace,
    row_extents,
    transpose_extents,
)

F16, F32, F64, I8, I32, I64 = torch.float16, torch.float32, torch.float64, torch.int8, torch.int32, torch.int64


def zeros(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)


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
        (lambda: row_extents(zeros(3), zeros(3)), r"row-wise kernels take a matrix, got a tensor of shape \(3,\)"),
        (lambda: row_extents(zeros(3, 5, 7), zeros(3, 5, 7)), r"take a matrix, got a tensor of shape \(3, 5, 7\)"),
        (lambda: transpose_extents(zeros(3), zeros(3)), r"transpose takes a matrix, got a tensor of shape \(3,\)"),
        (lambda: matmul_extents(zeros(2, 3), zeros(3), zeros(2)), r"product takes matrices, got .* shape \(3,\)"),
        (lambda: require_workspace("maxima", zeros(2), 3), r"the workspace maxima needs 3 dense elements, got \(2,\)"),
        (lambda: require_workspace("maxima", zeros(6)[::2], 3), "the workspace maxima needs 3 dense elements"),
        (lambda: require_sum(zeros(6)[::2], zeros(1)), "sum takes a dense vector and one result"),
        (lambda: require_sum(zeros(6), zeros(2)), "sum takes a dense vector and one result"),
        (lambda: require_positive("copy", "blocks", 0), "copy needs at least one of blocks, not 0"),
    ],
)
def test_what_does_not_fit_is_refused(refuse, message):
    """The shapes at fault are in the message."""
    with pytest.raises(ValueError, match=message):
        refuse()


@pytest.mark.parametrize(
    ("refuse", "message"),
    [
        (lambda: require_vectors("copy", zeros(7), zeros(7, dtype=I32)), "copy takes torch.float32 here, got .*int32"),
        (lambda: require_vectors("fma", *[zeros(7, dtype=F64)] * 3, dtype=F32), "fma takes torch.float32 .* .*float64"),
        (lambda: row_extents(zeros(3, 5, dtype=F64), zeros(3, 5, dtype=F64)), "or bfloat16, got torch.float64"),
        (lambda: row_extents(zeros(3, 5, dtype=I32), zeros(3, 5, dtype=I32)), "or bfloat16, got torch.int32"),
        (lambda: row_extents(zeros(3, 5), zeros(3, 5, dtype=F16)), "one element type: torch.float32 or torch.float16"),
        (lambda: row_extents(zeros(3, 5), zeros(3, 5), zeros(5, dtype=F16)), "one element type"),
        (lambda: transpose_extents(zeros(3, 5), zeros(5, 3, dtype=F16)), "transpose of torch.float32 is not .*float16"),
        (lambda: matmul_extents(zeros(2, 2), zeros(2, 2, dtype=F16), zeros(2, 2)), "no product of .*32 and .*16"),
        (lambda: matmul_extents(*[zeros(2, 2, dtype=F64)] * 3), "no product of torch.float64 and torch.float64"),
        (lambda: matmul_extents(*[zeros(2, 2, dtype=I8)] * 3), "a product of torch.int8 is not torch.int8"),
        (lambda: matmul_extents(*[zeros(2, 2)] * 2, zeros(2, 2, dtype=I32)), "product of torch.float32 is not .*int32"),
        (
            lambda: require_workspace("sums", zeros(3, dtype=F16), 3),
            "workspace sums takes .*float32, got .*float16",
        ),
    ],
)
def test_other_element_types_are_refused(refuse, message):
    """No kernel converts on the way: what it would compute is not what anyone asked for."""
    with pytest.raises(TypeError, match=message):
        refuse()


@pytest.mark.parametrize(
    ("x", "total", "admitted"),
    [
        (F32, F32, True),
        (F32, F64, True),
        (F16, F32, True),
        (I32, I64, True),
        (F16, F16, False),
        (F32, I32, False),
        (F64, F32, False),
        (I32, I32, False),
        (I32, F32, False),
        (torch.bool, I64, False),
    ],
)
def test_a_total_is_no_narrower_than_that_of_torch(x, total, admitted):
    """Halves of one add up to zero in integers, and 5000 ones to 2048 in 16 bits."""
    if admitted:
        require_sum(zeros(7, dtype=x), zeros(1, dtype=total))
    else:
        with pytest.raises(TypeError, match=f"the total of {x} is .*, not {total}"):
            require_sum(zeros(7, dtype=x), zeros(1, dtype=total))
