"""Sums of 1024 words of shared memory per thread, read at a stride of 0 to 32 words from lane to lane.

A stride s sends gcd(s, 32) lanes to each bank that is used, so a read takes that many cycles instead of one; stride 0
is one word for all lanes, a broadcast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Bound,
    Computed,
    Kernel,
    Memory,
    Operation,
    Pipeline,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite.onchip import NO_SHARED_MEMORY, small, sum_bound

if TYPE_CHECKING:
    import torch

LANES, WARPS, WINDOW = 32, 8, 32
TILE = 1088  # words: the largest index is 31 * 32 + 7 + 31 + 31
WIDEST = 32


def reference(x: torch.Tensor, stride: int) -> dict[str, torch.Tensor]:
    import torch

    thread = torch.arange(LANES * WARPS, device=x.device)
    starts = thread % LANES * stride + thread // LANES
    y = x.new_zeros((x.shape[0], LANES * WARPS))
    for shift in range(WINDOW):
        for word in range(WINDOW):
            y += x[:, starts + shift + word]
    return {"y": y}


def work(shape: Shape, dtype: DType) -> Work:
    reads = shape.dims[0] * LANES * WARPS * WINDOW * WINDOW
    tiles = shape.dims[0] * TILE
    size = dtype.operand.itemsize
    return Work({Pipeline.FP32: reads}, Traffic(reads * size, tiles * size, Memory.SHARED))


def bound(computed: Computed) -> dict[str, Bound]:
    return sum_bound(WINDOW * WINDOW, lambda x: reference(x, computed.dims[1])["y"], computed)


OPERATION = Operation(
    name="shared_stride",
    summary="sums of words at a stride in shared memory",
    arguments=(
        Argument("x", Role.IN, lambda dims: (dims[0], TILE), shifted=False),
        Argument("y", Role.OUT, lambda dims: (dims[0], LANES * WARPS), shifted=False),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(bound, "gamma_h sum |x| for additions in any order of depth h (Higham, 4.2), plus underflow"),
    shapes=Shapes(
        drawn=lambda tile: small((1, 1), (WIDEST, WIDEST)),
        # 8 tiles for each of 132 SMs; a power of two, an odd number, the widest.
        sweep=tuple(f"1056x{stride}" for stride in (1, 2, 3, 4, 8, 16, 32)),
        representative=("1056x1",),
        counted=("1x1", "1x2", "1x3", "1x4", "1x8", "1x16", "1x32", "1x0", "0x1"),
        full=tuple(f"1056x{stride}" for stride in range(WIDEST + 1)),
    ),
    kernels=(Kernel("cuda", "scalar", "kernels_cuda.shared_stride:scalar", ("f32",), tile=(1, WIDEST), best=True),),
    depth=lambda dims: WINDOW * WINDOW,
    scalars=lambda dims: {"stride": dims[1]},
    absent={("triton", "scalar"): NO_SHARED_MEMORY},
)
