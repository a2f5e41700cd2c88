"""y = x + y: the plainest stream, two vectors read and one written per addition."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Bound,
    Computed,
    Floor,
    Kernel,
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
from pytest_roofline.shapes import vectors
from suite.bounds import finite_magnitude

if TYPE_CHECKING:
    import torch


def reference(x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x + y}


def work(shape: Shape, dtype: DType) -> Work:
    pipeline = Pipeline.FP16 if dtype.operand.name == "f16" else Pipeline.FP32
    vector = shape.size * dtype.operand.itemsize
    return Work({pipeline: shape.size}, Traffic(read=2 * vector, write=vector))


def bound(computed: Computed) -> dict[str, Bound]:
    roundoff = computed.dtype.operand.unit_roundoff
    return {"y": Bound(finite_magnitude(computed.outputs["y"]) * roundoff, signed_zero=True)}


STREAM = (
    Floor("h200", 0.85, "4.31 TB/s of 4.8 were measured at 1e8 f32 elements; f16 moves half the bytes", 100_000_000),
    Floor("h200", 0.65, "0.86 was measured at 16 Mi aligned f32 elements, 0.70 at misaligned f16 ones", 1 << 24),
)

DTYPES = ("f32", "f16")
RUNG = ("f32",)  # what a rung buys is told by one dtype; the other is checked and counted
BLOCKS = (256, 512, 1024, 2048, 4096, 8192)
THREADS = (
    "elements per block are threads x elements per thread in CUDA C++: scalar has 256 and vectorised 1024 (f32) in a "
    "block, and unrolled_2, 4 and 8 of copy and fma 2048, 4096 and 8192"
)


def whole_blocks(elements: int = 0, nbytes: int = 0) -> Callable[[Shape, DType], str | None]:
    """Rejects what is no multiple of so many elements, or bytes, from a 16-byte boundary on."""

    def rejects(shape: Shape, dtype: DType) -> str | None:
        itemsize = dtype.operand.itemsize
        block = elements or nbytes // itemsize
        if shape.size % block or (shape.size and shape.offset * itemsize % 16):
            return f"it adds whole blocks of {block} elements from a 16-byte boundary on"
        return None

    return rejects


def misaligned(shape: Shape, dtype: DType) -> str | None:
    shifted = shape.size and shape.offset * dtype.operand.itemsize % 16
    return "it promises a 16-byte boundary" if shifted else None


def block_kernel(block: int) -> Kernel:
    return Kernel(
        "triton",
        f"block_{block}",
        "kernels_triton.vector_add:vector_add",
        DTYPES,
        options={"block": block, "num_warps": 4},
        tile=(block,),
        timed_dtypes=RUNG,
    )


OPERATION = Operation(
    name="vector_add",
    summary="y = x + y",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims),
        Argument("y", Role.INOUT, lambda dims: dims),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "one correctly rounded addition, |error| <= u |x + y|; sums in the subnormal range are exact (Higham, 2.2)",
    ),
    shapes=Shapes(
        drawn=lambda tile: vectors(*tile),
        # The overhead and device memory regimes, and one that is a multiple of nothing, misaligned.
        sweep=("1024", "100000000", "16777259.o1"),
        representative=("16777216",),
        counted=("1024", "2048", "1000", "1024.o1", "1021.o3", "7", "0"),
        full=("65536", "1048576", "4194304", "100000000.o1", "268435456"),
    ),
    kernels=(
        Kernel(
            "triton",
            "scalar",
            "kernels_triton.vector_add:vector_add",
            DTYPES,
            options={"block": 256, "num_warps": 8},
            tile=(256,),
            timed_dtypes=RUNG,
        ),
        # 128 threads a program, with 2 to 64 elements each; hinted and unmasked are block_1024 with one thing changed.
        *map(block_kernel, BLOCKS),
        Kernel(
            "triton",
            "hinted",
            "kernels_triton.vector_add:hinted",
            DTYPES,
            options={"block": 1024, "num_warps": 4},
            tile=(1024,),
            timed_dtypes=RUNG,
        ),
        Kernel(
            "triton",
            "unmasked",
            "kernels_triton.vector_add:unmasked",
            DTYPES,
            options={"block": 1024, "num_warps": 4},
            tile=(1024,),
            timed_dtypes=RUNG,
            rejects=whole_blocks(elements=1024),
        ),
        Kernel(
            "triton",
            "l2_persistent",
            "kernels_triton.vector_add:l2_persistent",
            DTYPES,
            tile=(1024,),
            timed_dtypes=RUNG,
        ),
        Kernel(
            "triton",
            "vectorised",
            "kernels_triton.vector_add:vectorised",
            DTYPES,
            tile=(1024,),
            timed_dtypes=RUNG,
            floors=STREAM,
        ),
        Kernel(
            "triton",
            "evict_last",
            "kernels_triton.vector_add:evict_last",
            DTYPES,
            tile=(1024,),
            floors=STREAM,
            best=True,
        ),
        Kernel("cuda", "scalar", "kernels_cuda.vector_add:scalar", DTYPES, tile=(256,), timed_dtypes=RUNG),
        Kernel(
            "cuda",
            "vectorised",
            "kernels_cuda.vector_add:vectorised",
            DTYPES,
            tile=(1024,),
            timed_dtypes=RUNG,
            floors=STREAM,
        ),
        Kernel(
            "cuda",
            "evict_last",
            "kernels_cuda.vector_add:evict_last",
            DTYPES,
            tile=(1024,),
            floors=STREAM,
            best=True,
        ),
        Kernel(
            "cuda",
            "hinted",
            "kernels_cuda.vector_add:hinted",
            DTYPES,
            tile=(1024,),
            timed_dtypes=RUNG,
            rejects=misaligned,
        ),
        Kernel(
            "cuda",
            "unmasked",
            "kernels_cuda.vector_add:unmasked",
            DTYPES,
            tile=(1024,),
            timed_dtypes=RUNG,
            rejects=whole_blocks(nbytes=4096),
        ),
        Kernel(
            "cuda", "l2_persistent", "kernels_cuda.vector_add:l2_persistent", DTYPES, tile=(1024,), timed_dtypes=RUNG
        ),
        Kernel("torch", "add", "suite.peers.vector_add:torch_add", RUNG, peer=True),
    ),
    absent={("cuda", f"block_{block}"): THREADS for block in BLOCKS},
)
