"""y[c] = x[c] + x[c + 1607] + ... over ``passes`` rows of 4 KiB, cyclic: every row is read ``passes`` times, from L2.

x fits into L2 and is there from the launch before; the loads leave L1 out. No two of the blocks that run at once are
that far apart: neighbours reading one row at one time are served by one request (12.7 TB/s with a shift of one row on
an H200, more than its L2 gives).
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
    Protocol,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite.onchip import rotated_sum, small, sum_bound

if TYPE_CHECKING:
    import torch

ROW = 1024  # elements
SHIFT = 1607  # rows; a prime, so that all rows come before one comes again


def reference(x: torch.Tensor, passes: int) -> dict[str, torch.Tensor]:
    return {"y": rotated_sum(x, passes, SHIFT, 0)}


def work(shape: Shape, dtype: DType) -> Work:
    rows, passes = shape.dims
    row = ROW * dtype.operand.itemsize
    return Work({Pipeline.FP32: rows * ROW * passes}, Traffic(rows * passes * row, rows * row, Memory.L2))


def bound(computed: Computed) -> dict[str, Bound]:
    passes = computed.dims[1]
    return sum_bound(passes, lambda x: rotated_sum(x, passes, SHIFT, 0), computed)


OPERATION = Operation(
    name="l2_bandwidth",
    summary="sums over rows that stay in L2",
    arguments=(
        Argument("x", Role.IN, lambda dims: (dims[0], ROW), shifted=False),
        Argument("y", Role.OUT, lambda dims: (dims[0], ROW), shifted=False),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(bound, "gamma_h sum |x| for additions in any order of depth h (Higham, 4.2), plus underflow"),
    shapes=Shapes(
        drawn=lambda tile: small((1, 3), (8, 10)),
        # 16.5 MiB in as many blocks as 132 SMs run in four waves of eight.
        sweep=("4224x16",),
        representative=("4224x16",),
        counted=("5x8", "3x11", "1x1", "0x8", "4x0"),
        # 4 and 33 MiB, and 66 MiB, which L2 does not hold.
        full=("1056x64", "8448x16", "16896x16"),
    ),
    kernels=(
        Kernel("triton", "block", "kernels_triton.l2_bandwidth:block", ("f32",), tile=(1, 8), best=True),
        Kernel("cuda", "scalar", "kernels_cuda.l2_bandwidth:scalar", ("f32",), tile=(1, 8)),
        Kernel("cuda", "vectorised", "kernels_cuda.l2_bandwidth:vectorised", ("f32",), tile=(1, 8), best=True),
    ),
    depth=lambda dims: dims[1],
    protocol=Protocol.GRAPH_HOT,
    scalars=lambda dims: {"passes": dims[1]},
    absent={
        ("triton", "scalar"): "Triton chooses the width of an access itself",
        ("triton", "vectorised"): "Triton chooses the width of an access itself; block is the same row per program",
        ("cuda", "block"): "scalar and vectorised are what a block of Triton's can become",
    },
)
