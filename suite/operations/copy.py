"""y = x: the plainest stream there is, and the ceiling of all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Kernel,
    Operation,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import vectors
from suite.bounds import exact

if TYPE_CHECKING:
    import torch

DTYPES = ("f32", "f16", "i8")
RUNG = ("f32",)  # what a rung buys is told by one dtype; the others are checked and counted
# Blocks of 256 threads that the 132 SMs of an H200 hold at once, 8 each. A device with another number of SMs runs them
# in more waves or leaves SMs idle; a fixed number keeps grids, and so counts, the same on every machine.
RESIDENT = 1056


def reference(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x.clone()}


def work(shape: Shape, dtype: DType) -> Work:
    vector = shape.size * dtype.operand.itemsize
    return Work({}, Traffic(read=vector, write=vector))


def unrolled(backend: str, unroll: int, **options: int) -> Kernel:
    return Kernel(
        backend,
        f"unrolled_{unroll}",
        f"kernels_{backend}.copy:unrolled",
        DTYPES,
        options={"unroll": unroll, **options},
        tile=(1024 * unroll,),
        timed_dtypes=RUNG,
    )


OPERATION = Operation(
    name="copy",
    summary="y = x",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims),
        Argument("y", Role.OUT, lambda dims: dims),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "values are moved, not computed"),
    shapes=Shapes(
        drawn=lambda tile: vectors(*tile),
        sweep=("134217728",),
        representative=("16777216",),
        counted=("4096", "1000", "1024.o1", "1021.o3", "7", "0"),
        full=("1024", "65536", "1048576", "4194304", "16777259.o1", "33554432", "1073741824"),
    ),
    kernels=(
        # One element a thread, 16 bytes a thread, and 2, 4 and 8 times that. A block or program has 256 threads, except
        # where Triton's launchers take the best number themselves (vectorised, evict_last, l2_persistent): that is 128
        # for the large timed vectors (kernels_triton/_blocks.py), and a program then copies half as much.
        Kernel(
            "triton",
            "scalar",
            "kernels_triton.copy:copy",
            DTYPES,
            options={"block": 256, "num_warps": 8},
            tile=(256,),
            timed_dtypes=RUNG,
        ),
        Kernel("triton", "vectorised", "kernels_triton.copy:vectorised", DTYPES, tile=(1024,), timed_dtypes=RUNG),
        Kernel("triton", "evict_last", "kernels_triton.copy:evict_last", DTYPES, tile=(1024,), best=True),
        Kernel(
            "triton",
            "grid_stride",
            "kernels_triton.copy:grid_stride",
            DTYPES,
            options={"block": 1024, "num_warps": 8, "programs": RESIDENT},
            tile=(1024,),
            timed_dtypes=RUNG,
        ),
        unrolled("triton", 2, num_warps=8),
        unrolled("triton", 4, num_warps=8),
        unrolled("triton", 8, num_warps=8),
        Kernel("triton", "l2_persistent", "kernels_triton.copy:l2_persistent", DTYPES, tile=(1024,), timed_dtypes=RUNG),
        # f64 is what BabelStream copies, one element per thread.
        Kernel(
            "cuda", "scalar", "kernels_cuda.copy:scalar", (*DTYPES, "f64"), tile=(256,), timed_dtypes=(*RUNG, "f64")
        ),
        Kernel("cuda", "vectorised", "kernels_cuda.copy:vectorised", DTYPES, tile=(1024,), timed_dtypes=RUNG),
        Kernel("cuda", "evict_last", "kernels_cuda.copy:evict_last", DTYPES, tile=(1024,), best=True),
        Kernel(
            "cuda",
            "grid_stride",
            "kernels_cuda.copy:grid_stride",
            DTYPES,
            options={"max_blocks": RESIDENT},
            tile=(1024,),
            timed_dtypes=RUNG,
        ),
        unrolled("cuda", 2),
        unrolled("cuda", 4),
        unrolled("cuda", 8),
        Kernel("cuda", "l2_persistent", "kernels_cuda.copy:l2_persistent", DTYPES, tile=(1024,), timed_dtypes=RUNG),
        Kernel("torch", "copy", "suite.peers.copy:torch_copy", RUNG, peer=True),
        Kernel("cupy", "copy", "suite.peers.copy:cupy_copy", RUNG, peer=True),
        Kernel("cupy", "memcpy", "suite.peers.copy:memcpy", RUNG, peer=True),
    ),
    depth=lambda dims: 0,
)
