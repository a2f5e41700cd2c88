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
RUNG = ("f32",)  # what a rung buys is told by one dtype
RESIDENT = 1056  # blocks of 256 threads that 132 SMs hold at once


def reference(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x.clone()}


def work(shape: Shape, dtype: DType) -> Work:
    vector = shape.size * dtype.operand.itemsize
    return Work({}, Traffic(read=vector, write=vector))


def triton(variant: str, block: int, num_warps: int = 8) -> Kernel:
    options = {"block": block, "num_warps": num_warps}
    return Kernel("triton", variant, "kernels_triton.copy:copy", RUNG, options=options, tile=(block,))


def cuda(unroll: int) -> Kernel:
    launcher = "kernels_cuda.copy:unrolled"
    return Kernel("cuda", f"unrolled_{unroll}", launcher, RUNG, options={"unroll": unroll}, tile=(1024 * unroll,))


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
        # 256 threads: one element each, 16 bytes each, and 2, 4 and 8 times that.
        triton("scalar", 256),
        Kernel("triton", "vectorised", "kernels_triton.copy:vectorised", RUNG, tile=(1024,)),
        Kernel("triton", "evict_last", "kernels_triton.copy:evict_last", DTYPES, tile=(1024,), best=True),
        Kernel(
            "triton",
            "grid_stride",
            "kernels_triton.copy:grid_stride",
            RUNG,
            options={"block": 1024, "num_warps": 8, "programs": RESIDENT},
            tile=(1024,),
        ),
        triton("unrolled_2", 2048),
        triton("unrolled_4", 4096),
        triton("unrolled_8", 8192),
        Kernel("triton", "l2_persistent", "kernels_triton.copy:l2_persistent", RUNG, tile=(1024,)),
        # f64 is what BabelStream copies, one element per thread.
        Kernel("cuda", "scalar", "kernels_cuda.copy:scalar", (*RUNG, "f64"), tile=(256,)),
        Kernel("cuda", "vectorised", "kernels_cuda.copy:vectorised", RUNG, tile=(1024,)),
        Kernel("cuda", "evict_last", "kernels_cuda.copy:evict_last", DTYPES, tile=(1024,), best=True),
        Kernel(
            "cuda",
            "grid_stride",
            "kernels_cuda.copy:grid_stride",
            RUNG,
            options={"max_blocks": RESIDENT},
            tile=(1024,),
        ),
        cuda(2),
        cuda(4),
        cuda(8),
        Kernel("cuda", "l2_persistent", "kernels_cuda.copy:l2_persistent", RUNG, tile=(1024,)),
        Kernel("torch", "copy", "suite.peers.copy:torch_copy", RUNG, peer=True),
        Kernel("cupy", "copy", "suite.peers.copy:cupy_copy", RUNG, peer=True),
        Kernel("cupy", "memcpy", "suite.peers.copy:memcpy", RUNG, peer=True),
    ),
    depth=lambda dims: 0,
)
