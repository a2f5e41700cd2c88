"""y[b, j] = x[b, j] + x[b, j + 32] + ..., ``passes`` terms, cyclic in rows of 1024: read from shared memory.

The distance of 32 words leaves each lane its own bank in every pass.
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
from suite.onchip import NO_SHARED_MEMORY, rotated_sum, small, sum_bound

if TYPE_CHECKING:
    import torch

TILE, BANKS = 1024, 32


def reference(x: torch.Tensor, passes: int) -> dict[str, torch.Tensor]:
    return {"y": rotated_sum(x, passes, BANKS, 1)}


def work(shape: Shape, dtype: DType) -> Work:
    tiles, passes = shape.dims
    tile = TILE * dtype.operand.itemsize
    # Each tile is written once, by the load from device memory.
    return Work({Pipeline.FP32: tiles * TILE * passes}, Traffic(tiles * passes * tile, tiles * tile, Memory.SHARED))


def bound(computed: Computed) -> dict[str, Bound]:
    passes = computed.dims[1]
    return sum_bound(passes, lambda x: rotated_sum(x, passes, BANKS, 1), computed)


OPERATION = Operation(
    name="shared_bandwidth",
    summary="sums over a tile in shared memory",
    arguments=(
        Argument("x", Role.IN, lambda dims: (dims[0], TILE), shifted=False),
        Argument("y", Role.OUT, lambda dims: (dims[0], TILE), shifted=False),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(bound, "gamma_h sum |x| for additions in any order of depth h (Higham, 4.2), plus underflow"),
    shapes=Shapes(
        drawn=lambda tile: small((1, 2), (8, 10)),
        sweep=("1056x2048",),  # 8 tiles for each of 132 SMs: one wave of blocks of 256 threads
        representative=("1056x2048",),
        counted=("2x32", "1x41", "1x1", "0x8", "1x0"),
        full=("1056x512",),
    ),
    kernels=(
        Kernel("cuda", "scalar", "kernels_cuda.shared_bandwidth:scalar", ("f32",), tile=(1, 8)),
        Kernel("cuda", "vectorised", "kernels_cuda.shared_bandwidth:vectorised", ("f32",), tile=(1, 8), best=True),
    ),
    depth=lambda dims: dims[1],
    scalars=lambda dims: {"passes": dims[1]},
    absent={("triton", "scalar"): NO_SHARED_MEMORY, ("triton", "vectorised"): NO_SHARED_MEMORY},
)
