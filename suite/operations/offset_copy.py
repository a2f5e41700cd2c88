"""y = x with x shifted off its boundary by 0 to 31 elements and y on one: what a misaligned read costs.

The shift is the shape's ``.oN``. All 32 are timed under ``--roofline-effort=full``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from pytest_roofline.contract import (
    Argument,
    Kernel,
    Memory,
    Operation,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import extents
from suite.bounds import exact

if TYPE_CHECKING:
    import torch

DTYPES = ("f32",)
SECTOR, WARP = 32, 128  # bytes of the smallest transfer into a level-1 cache, and that 32 lanes read at once
LONGEST = 31


def reference(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x.clone()}


def work(shape: Shape, dtype: DType) -> Work:
    vector = shape.size * dtype.operand.itemsize
    return Work({}, Traffic(read=vector, write=vector))


def fifth_sector(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
    """Off a sector's boundary every warp reads one sector more than its 128 bytes fill."""
    vector = shape.size * dtype.operand.itemsize
    extra = vector // WARP * SECTOR if shape.offset * dtype.operand.itemsize % SECTOR else 0
    return (Traffic(vector + extra, vector, Memory.L2),)


def shifted(tile: tuple[int, ...]) -> st.SearchStrategy[Shape]:
    return st.builds(lambda n, offset: Shape((n,), offset), extents(*tile), st.integers(0, LONGEST))


OPERATION = Operation(
    name="offset_copy",
    summary="y = x, x off a boundary",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims),
        Argument("y", Role.OUT, lambda dims: dims, shifted=False),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "values are moved, not computed"),
    shapes=Shapes(
        drawn=shifted,
        sweep=("16777216.o1",),
        representative=("16777216.o1",),
        counted=("1024", "1024.o1", "1024.o2", "1024.o3", "1021.o4", "1024.o8", "1000.o31", "7.o1", "0"),
        full=("16777216", *(f"16777216.o{offset}" for offset in range(2, LONGEST + 1))),
    ),
    kernels=(
        Kernel(
            "triton",
            "scalar",
            "kernels_triton.offset_copy:scalar",
            DTYPES,
            options={"block": 1024, "num_warps": 8},
            tile=(1024,),
            model=fifth_sector,
            best=True,
        ),
        Kernel("cuda", "scalar", "kernels_cuda.offset_copy:scalar", DTYPES, tile=(256,), model=fifth_sector),
        Kernel("cuda", "realigned", "kernels_cuda.offset_copy:realigned", DTYPES, tile=(1024,), best=True),
        Kernel("torch", "copy", "suite.peers.offset_copy:torch_copy", DTYPES, peer=True),
        Kernel("cupy", "copy", "suite.peers.offset_copy:cupy_copy", DTYPES, peer=True),
        Kernel("cupy", "memcpy", "suite.peers.offset_copy:memcpy", DTYPES, peer=True),
    ),
    depth=lambda dims: 0,
    absent={
        (
            "triton",
            "realigned",
        ): "tl.gather exchanges elements within a block of 2^k, across warps through shared memory: "
        "the elements past its end would be a second block's loads; not one shuffle a pack as in CUDA C++"
    },
)
