"""Products count rows and columns in 32 bits, and elements in 64: where neither would be right, they refuse."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import matmul_tensor  # noqa: E402
from kernels_cuda.matmul_ragged import on_hopper  # noqa: E402
from kernels_cuda.matmul_tensor import hopper  # noqa: E402

LONG = (1 << 31) - 100  # fits into 32 bits, but not rounded up to tiles


def wide(rows, columns, dtype=torch.float16, row=0):
    """A matrix of any extent without its memory."""
    return torch.empty(1, dtype=dtype, device="meta").as_strided((rows, columns), (row or columns, 1))


@pytest.mark.parametrize("stride", [8, 24, 2056, (1 << 31) - 16, 1 << 31, 3 << 33])
def test_triton_multiplies_no_stride_beyond_32_bits(device, stride):
    """It was passed in sixteenths, that fit, and multiplied out to what did not."""
    from kernels_triton import _operands as operands

    a, b, c = wide(4, 8, row=stride), wide(8, 16, row=stride), wide(4, 16, row=stride)
    numbers, units = operands.scaled(a, b, c)
    for passed, unit in ((numbers[3], units[2]), (numbers[5], units[3]), (numbers[7], units[5])):
        assert passed * unit == stride
        assert unit == 1 or passed * unit < 1 << 31


@pytest.mark.parametrize("extents", [(LONG, 8, 8), (8, LONG, 8), (8, 8, LONG)], ids=str)
def test_triton_refuses_what_tiles_do_not_count(device, extents):
    """Rounded up, 2^31 - 100 rows were a negative number of tiles."""
    from kernels_triton import _operands as operands

    m, n, k = extents
    with pytest.raises(ValueError, match="count up to 2147482624 rows and columns, not 2147483548"):
        operands.scaled(wide(m, k), wide(k, n), wide(m, n))


@pytest.mark.parametrize("extents", [(LONG, 8, 8), (8, LONG, 8), (8, 8, LONG)], ids=str)
@pytest.mark.parametrize("launcher", [hopper.wgmma, hopper.wgmma_persistent, hopper.best], ids=lambda f: f.__name__)
def test_hoppers_kernels_refuse_it(launches, launcher, extents):
    """The copy engine counts so, too."""
    m, n, k = extents
    with pytest.raises(ValueError, match="takes up to 2147483136 rows and columns, not 2147483548"):
        launcher(wide(m, k), wide(k, n), wide(m, n))
    assert launches == []


def test_other_ways_are_left_alone(launches):
    """``automatic`` does not copy to where nothing is taken, and says so only of 8 bits; fitted tiles refuse."""
    a, b, c = wide(8, LONG), wide(LONG, 8), wide(8, 8)
    assert hopper.problem(a, b, c)
    assert not matmul_tensor.copies_pay(a, b, c)
    with pytest.raises(ValueError, match="takes up to"):
        on_hopper.fitted(a, b, c, partials=c, packed=c)
    assert launches == []
