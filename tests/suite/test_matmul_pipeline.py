"""mma.sync's pipeline: once around all stages without a look at the edges, and the tiles before and after."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import matmul_tensor  # noqa: E402
from kernels_cuda._mma import Tiling  # noqa: E402
from pytest_roofline.counting.cuda_cpu import checking  # noqa: E402

TILINGS = [Tiling(64, 64, 32, 32, 64, 3), Tiling(64, 64, 32, 32, 128, 2), Tiling(64, 64, 32, 32, 64, 4)]


def whole_numbers(*shape):
    """Small enough for their products to add up exactly."""
    return torch.randint(-2, 3, shape).bfloat16()


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("steps", [1, 5, 11])
@pytest.mark.parametrize("rest", [0, 5, 24])
@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_a_deep_product_is_exact(tiling, by_columns, rest, steps):
    """However often the ring is gone around, and whether k ends with a step, within a chunk or within a step; the
    second tile across hangs over the edge of c."""
    k = steps * tiling.line_bytes // 2 + rest
    a = whole_numbers(66, k + 8 - k % 8)[:, :k]
    b = whole_numbers(72, k + 8 - k % 8)[:, :k].T if by_columns else whole_numbers(k, 72)
    c = torch.full((66, 72), 77.0).bfloat16()
    with checking():
        matmul_tensor.launch_tuned(a, b, c, tiling, 1)
    assert torch.equal(c.float(), (a.float() @ b.float()).bfloat16().float())
