"""total = sum of x: one read per element and nothing to write; the additions have an order, and the order an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Bound,
    Buffer,
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
from suite.bounds import finite_magnitude, summation

if TYPE_CHECKING:
    import torch

DTYPES = ("f32", "f16_f32", "i32_i64")  # as torch: integers are added up in 64 bits, and so is the result
PIPELINES = {"f32": Pipeline.FP32, "f64": Pipeline.FP64}
RUNG = ("f32",)  # what these rungs change, the additions within a block, is timed in one format
BLOCK = 256  # threads of the CUDA kernels
# What the 132 SMs of an H200 hold at once, 8 blocks of 256 threads: every further block is one more atomic addition in
# the queue. The number is fixed, because depths, workspaces and counts follow from it: another device runs as many.
ATOMIC_BLOCKS = 1056
# As many: 63.2 us, and 65.5 with four times what is resident (2^26 f32 on an H200). The second stage has less to add.
TWO_STAGE_BLOCKS = 1056
TRITON_ATOMIC, TRITON_BLOCK, TRITON_PROGRAMS = 1024, 8192, 1056
CHAIN = 1 << 23


def reference(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"total": x.sum().reshape(1)}


def work(shape: Shape, dtype: DType) -> Work:
    pipeline = PIPELINES.get(dtype.accumulator.name, Pipeline.INT32)
    words = dtype.accumulator.itemsize // 4 if pipeline is Pipeline.INT32 else 1  # an addition of 64 bits is two of 32
    return Work(
        {pipeline: shape.size * words}, Traffic(shape.size * dtype.operand.itemsize, dtype.accumulator.itemsize)
    )


def bound(computed: Computed) -> dict[str, Bound]:
    x, item = computed.inputs["x"], computed.dtype.accumulator
    if not item.is_float:
        return {"total": Bound(finite_magnitude(computed.outputs["total"]) * 0)}  # integers: exact
    return {"total": summation(finite_magnitude(x).sum().reshape(1), x.numel(), computed.depth, item)}


def chain_too_long(shape: Shape, dtype: DType) -> str | None:
    if dtype.accumulator.is_float and shape.size > CHAIN:
        return f"one chain of more than {CHAIN} f32 additions has no error bound"
    return None


def partials(count: int, dtype: DType) -> tuple[Buffer, ...]:
    return (Buffer("partials", count, dtype.accumulator.name),)


# Depths: additions in a thread, in its block, and between blocks.
def grid_stride_depth(dims: tuple[int, ...]) -> int:
    blocks = min(-(-dims[0] // BLOCK), ATOMIC_BLOCKS)
    return 1 + dims[0] // (ATOMIC_BLOCKS * BLOCK) + 8 + blocks


def tree_depth(dims: tuple[int, ...]) -> int:
    """One element per thread, and one atomic addition per block."""
    return 8 + -(-dims[0] // BLOCK)


def vectorised_depth(dims: tuple[int, ...]) -> int:
    blocks = min(-(-dims[0] // (16 * BLOCK)), ATOMIC_BLOCKS)  # four packs of four f32 a thread
    return _packs(dims[0], ATOMIC_BLOCKS) + 10 + blocks


def two_stage_depth(dims: tuple[int, ...]) -> int:
    return _packs(dims[0], TWO_STAGE_BLOCKS) + 10 + -(-TWO_STAGE_BLOCKS // 1024) + 10


def _packs(n: int, blocks: int) -> int:
    """Chain in a thread: its edge element, the trees over a pack (8 elements) and a tile (4 packs), its tiles of 16 f32
    a thread, and up to four packs of what is left."""
    return 1 + 3 + 2 + (1 + n // (16 * blocks * BLOCK)) + 4


def triton_sum_depth(block: int) -> int:
    """Depth of ``tl.sum``: a tree over lanes of up to 32 elements each; NumPy's pairwise sum in the interpreter has
    leaves of 16, too."""
    return 32 + (block - 1).bit_length()


def triton_atomic_depth(dims: tuple[int, ...]) -> int:
    return triton_sum_depth(TRITON_ATOMIC) + -(-dims[0] // TRITON_ATOMIC)


def triton_grid_stride_depth(dims: tuple[int, ...]) -> int:
    passes = 1 + dims[0] // (TRITON_PROGRAMS * TRITON_BLOCK)
    return passes + triton_sum_depth(TRITON_BLOCK) + min(TRITON_PROGRAMS, -(-dims[0] // TRITON_BLOCK))


def triton_two_stage_depth(dims: tuple[int, ...]) -> int:
    passes = 1 + dims[0] // (TRITON_PROGRAMS * TRITON_BLOCK)
    return passes + triton_sum_depth(TRITON_BLOCK) + triton_sum_depth(2 * TRITON_PROGRAMS)


def library_depth(dims: tuple[int, ...]) -> int:
    """No library promises an order; none adds a million elements in fewer than 1024 chains."""
    return min(dims[0], 1024 + dims[0] // 1024)


OPERATION = Operation(
    name="sum",
    summary="total = sum of x",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims),
        Argument("total", Role.OUT, lambda dims: (1,), accumulator=True),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(bound, "gamma_h sum |x| for additions in any order of depth h (Higham, 4.2), plus underflow"),
    shapes=Shapes(
        drawn=lambda tile: vectors(*tile),
        # 2^26 and 2^28 elements are far outside L2, and one more is misaligned by an element.
        sweep=("1024", "4194304", "67108864", "268435456", "16777259.o1"),
        representative=("4194304",),
        # More than 8192 elements: with two passes f16 has several blocks to add up only then.
        counted=("1024", "1000", "1024.o1", "4099.o3", "16411.o1", "7", "0"),
        # 2^16, 2^20, 2^24 and 2^28 are CUB's published A100 sizes, 2^25 that of a published ladder, 128000000 and 2^27
        # those of PyTorch.
        full=("65536", "1048576", "16777216", "33554432", "100000000", "128000000", "134217728", "1073741824"),
    ),
    kernels=(
        Kernel(
            "triton",
            "atomic",
            "kernels_triton.sum:atomic",
            DTYPES,
            options={"block": TRITON_ATOMIC},
            tile=(TRITON_ATOMIC,),
            depth=triton_atomic_depth,
            deterministic=False,
        ),
        Kernel(
            "triton",
            "grid_stride",
            "kernels_triton.sum:grid_stride",
            DTYPES,
            timed_dtypes=RUNG,
            options={"block": TRITON_BLOCK, "num_warps": 8, "max_programs": TRITON_PROGRAMS},
            tile=(TRITON_BLOCK,),
            depth=triton_grid_stride_depth,
            deterministic=False,
        ),
        Kernel(
            "triton",
            "two_stage",
            "kernels_triton.sum:two_stage",
            DTYPES,
            options={"num_warps": 8},
            tile=(TRITON_BLOCK,),
            workspace=lambda shape, dtype: partials(TRITON_PROGRAMS, dtype),
            depth=triton_two_stage_depth,
            best=True,
        ),
        Kernel(
            "cuda",
            "atomic",
            "kernels_cuda.sum:atomic",
            DTYPES,
            tile=(BLOCK,),
            rejects=chain_too_long,
            depth=lambda dims: dims[0],
            deterministic=False,
        ),
        Kernel(
            "cuda",
            "shared_interleaved",
            "kernels_cuda.sum:shared_interleaved",
            DTYPES,
            timed_dtypes=RUNG,
            tile=(BLOCK,),
            depth=tree_depth,
            deterministic=False,
        ),
        Kernel(
            "cuda",
            "shared_sequential",
            "kernels_cuda.sum:shared_sequential",
            DTYPES,
            timed_dtypes=RUNG,
            tile=(BLOCK,),
            depth=tree_depth,
            deterministic=False,
        ),
        Kernel(
            "cuda",
            "grid_stride",
            "kernels_cuda.sum:grid_stride",
            DTYPES,
            options={"max_blocks": ATOMIC_BLOCKS},
            tile=(BLOCK,),
            depth=grid_stride_depth,
            deterministic=False,
        ),
        Kernel(
            "cuda",
            "warp_shuffle",
            "kernels_cuda.sum:warp_shuffle",
            DTYPES,
            timed_dtypes=RUNG,
            options={"max_blocks": ATOMIC_BLOCKS},
            tile=(BLOCK,),
            depth=grid_stride_depth,
            deterministic=False,
        ),
        # Four changes at once, not measured one by one: loads of 16 bytes, four of them in flight per thread, registers
        # held to what lets 2048 threads of an SM run, and so fewer blocks for a short vector.
        Kernel(
            "cuda",
            "vectorised",
            "kernels_cuda.sum:vectorised",
            DTYPES,
            options={"max_blocks": ATOMIC_BLOCKS},
            tile=(16 * BLOCK,),
            depth=vectorised_depth,
            deterministic=False,
        ),
        # Changed: after the shuffles every lane has the sum.
        Kernel(
            "cuda",
            "butterfly",
            "kernels_cuda.sum:butterfly",
            DTYPES,
            timed_dtypes=RUNG,
            options={"max_blocks": ATOMIC_BLOCKS},
            tile=(16 * BLOCK,),
            depth=vectorised_depth,
            deterministic=False,
        ),
        # Changed against vectorised: partial sums and a second kernel in place of atomics, and on Hopper that kernel's
        # start during the first (programmatic dependent launch), which a stream of two launches would not have.
        Kernel(
            "cuda",
            "two_stage",
            "kernels_cuda.sum:two_stage",
            DTYPES,
            after="vectorised",
            tile=(16 * BLOCK,),
            workspace=lambda shape, dtype: partials(TWO_STAGE_BLOCKS, dtype),
            depth=two_stage_depth,
            floors=(Floor("h200", 0.85, "4.55 TB/s of 4.8 were measured at 1 GiB; f16 reads half of that", 1 << 28),),
            best=True,
        ),
        Kernel("torch", "sum", "suite.peers.sum:torch_sum", ("f32",), depth=library_depth, peer=True),
        Kernel("cupy", "sum", "suite.peers.sum:cupy_sum", ("f32", "f64"), depth=library_depth, peer=True),
    ),
    depth=lambda dims: dims[0],
    absent={
        ("triton", "shared_interleaved"): "tl.sum chooses its own tree of shuffles and shared memory; see atomic",
        ("triton", "shared_sequential"): "tl.sum chooses its own tree of shuffles and shared memory; see atomic",
        ("triton", "warp_shuffle"): "tl.sum emits shuffles itself (shfl.sync.bfly); see grid_stride",
        ("triton", "butterfly"): "tl.sum is one: it emits shfl.sync.bfly, and every lane has the result",
        ("triton", "vectorised"): "Triton emits 128-bit accesses itself where pointers and length are multiples of 16",
    },
)
