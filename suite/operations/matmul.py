"""c[m, n] = a[m, k] b[k, n] in f32 on the ordinary cores: how often an operand is used again decides everything."""

from __future__ import annotations

from pytest_roofline.contract import Bound, Computed, Floor, Kernel, Operation, Pipeline, Shapes, Tolerance, Work
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite import gemm
from suite.gemm import fragment_loads, panel_loads


def work(shape: Shape, dtype: DType) -> Work:
    return gemm.work(shape, dtype, Pipeline.FP32)


def bound(computed: Computed) -> dict[str, Bound]:
    return {"c": gemm.bound(computed)}


def tiles(
    block_m: int, block_n: int, block_k: int, *, num_warps: int = 8, num_stages: int = 1, group: int = 1
) -> dict[str, int]:
    """Options of the tiled Triton kernel."""
    blocks = {"block_m": block_m, "block_n": block_n, "block_k": block_k}
    return {**blocks, "group": group, "num_warps": num_warps, "num_stages": num_stages}


OPERATION = Operation(
    name="matmul",
    summary="c = a b",
    arguments=gemm.arguments(),
    reference=gemm.reference,
    work=work,
    tolerance=Tolerance(bound, gemm.BOUND_SOURCE, whole=True),
    shapes=Shapes(
        drawn=gemm.drawn,
        sweep=("256x256x256", "2048x2048x2048", "4096x4096x4096", "8192x8192x8192", "4096x4096x7"),
        representative=("4096x4096x4096",),
        counted=gemm.COUNTED,
        # The cubes and the rectangles are those of published A100 figures.
        full=(
            "512x512x512",
            "1024x1024x1024",
            "1000x1000x1000",
            "1024x2048x4096",
            "1024x4096x4096",
            "8205x5921x2949",
            "2048x2048x2048.t",
            "2048x2048x2048.p2056",
        ),
    ),
    kernels=(
        # Rungs say what they change, what that should buy, and what it did: times of 4096^3 on an H200
        # (baselines/h200), those of CUDA C++ in its files. First: every operand comes from the caches once per step of
        # a program, 29.2 ms.
        Kernel(
            "triton",
            "naive",
            "kernels_triton.matmul:naive",
            ("f32",),
            options={"block": 16, "num_warps": 8},
            tile=(16, 16, 4),
            model=fragment_loads(16, 16),  # of a program: which lane loads what is the compiler's choice
        ),
        # Changed: tiles through shared memory (tl.dot), 32 steps at a time: an operand is used 32 times instead of 16,
        # in vector loads. 5.37 ms after 29.2.
        Kernel(
            "triton",
            "tiled_32",
            "kernels_triton.matmul:tiled",
            ("f32",),
            options=tiles(32, 32, 32, num_warps=4),
            tile=(32, 32, 32),
            model=panel_loads(32, 32),
        ),
        # Changed: 64 x 64 results per program, 16 steps at a time: half the reads of L2, and 32 results per thread
        # instead of 8. 3.47 ms after 5.37.
        Kernel(
            "triton",
            "tiled_64",
            "kernels_triton.matmul:tiled",
            ("f32",),
            options=tiles(64, 64, 16, num_warps=4),
            tile=(64, 64, 16),
            model=panel_loads(64, 64),
        ),
        # Changed: 128 x 128 results by twice the warps: half the reads of L2 again. It should gain and loses, 4.51 ms
        # after 3.47: one program of 164 registers to an SM, where five of 96 covered each other's waits for memory.
        # The next rung mends it.
        Kernel(
            "triton",
            "tiled_128",
            "kernels_triton.matmul:tiled",
            ("f32",),
            options=tiles(128, 128, 16),
            tile=(128, 128, 16),
            model=panel_loads(128, 128),
        ),
        # Changed: tiles are loaded two steps ahead. 3.48 ms after 4.51, which is where tiled_64 was with more
        # programs.
        Kernel(
            "triton",
            "pipelined",
            "kernels_triton.matmul:tiled",
            ("f32",),
            options=tiles(128, 128, 16, num_stages=3),
            tile=(128, 128, 16),
            model=panel_loads(128, 128),
        ),
        # Changed: programs go down eight rows of tiles before they go right, so that fewer panels are read again from
        # memory. It gains nothing here (3.48 ms, too): two operands of 64 MiB are read from memory far faster than
        # multiplied in f32.
        Kernel(
            "triton",
            "grouped",
            "kernels_triton.matmul:tiled",
            ("f32",),
            options=tiles(128, 128, 16, num_stages=3, group=8),
            tile=(128, 128, 16),
            model=panel_loads(128, 128),
        ),
        # The sum of three changes, not measured one by one: tiles of 64 x 64 or 32 x 64, 32 steps deep, that a sweep
        # found, whichever keeps the busiest SM least busy (here 32 x 64); operands through tensor descriptors; copies
        # of those that are not aligned. 3.09 ms after 3.48.
        Kernel(
            "triton",
            "tuned",
            "kernels_triton.matmul:tuned",
            ("f32",),
            tile=(64, 64, 16),
            model=panel_loads(64, 64),  # of the larger of its two tiles, which reads least
            workspace=lambda shape, dtype: (gemm.packed(shape, dtype, b_along_k=False),),
            floors=(Floor("h200", 0.55, "45.4 of 67 TFLOP/s were measured at 4096^3", 1 << 36),),
            best=True,
        ),
        Kernel(
            "cuda",
            "naive_uncoalesced",
            "kernels_cuda.matmul:naive_uncoalesced",
            ("f32",),
            tile=(32, 8, 1),
            model=fragment_loads(32, 1),
            timed=("2048x2048x2048",),  # the others' 4096^3 takes it 276 ms on an H200
        ),
        Kernel(
            "cuda",
            "naive",
            "kernels_cuda.matmul:naive",
            ("f32",),
            tile=(8, 32, 1),
            model=fragment_loads(1, 32),
        ),
        Kernel(
            "cuda",
            "register_2x2",
            "kernels_cuda.matmul:register_2x2",
            ("f32",),
            tile=(16, 64, 1),
            model=fragment_loads(2, 64),
        ),
        Kernel(
            "cuda",
            "shared_32",
            "kernels_cuda.matmul:shared_32",
            ("f32",),
            tile=(32, 32, 32),
            model=fragment_loads(1, 32, 32, 32),
            after="naive",
        ),
        Kernel(
            "cuda",
            "shared_32_transposed",
            "kernels_cuda.matmul:shared_32_transposed",
            ("f32",),
            tile=(32, 32, 32),
            model=fragment_loads(1, 32, 32, 32),
            timed=("2048x2048x2048",),  # 84 ms for 4096^3
        ),
        Kernel(
            "cuda",
            "shared_32_transposed_padded",
            "kernels_cuda.matmul:shared_32_transposed_padded",
            ("f32",),
            tile=(32, 32, 32),
            model=fragment_loads(1, 32, 32, 32),
        ),
        Kernel(
            "cuda",
            "register_tiled",
            "kernels_cuda.matmul:register_tiled",
            ("f32",),
            tile=(64, 64, 16),
            model=fragment_loads(8, 64, 64, 64),
            after="shared_32",
        ),
        Kernel(
            "cuda",
            "vectorised",
            "kernels_cuda.matmul:vectorised",
            ("f32",),
            tile=(64, 64, 16),
            model=fragment_loads(8, 64, 64, 64),
        ),
        Kernel(
            "cuda",
            "double_buffered",
            "kernels_cuda.matmul:double_buffered",
            ("f32",),
            tile=(64, 64, 16),
            model=fragment_loads(8, 64, 64, 64),
        ),
        Kernel(
            "cuda",
            "tuned_128",
            "kernels_cuda.matmul:tuned_128",
            ("f32",),
            tile=(128, 128, 16),
            model=fragment_loads(64, 64, 128, 128),
        ),
        Kernel(
            "cuda",
            "tuned",
            "kernels_cuda.matmul:tuned",
            ("f32",),
            tile=(16, 32, 64),
            model=fragment_loads(64, 64, 128, 128),
            floors=(
                Floor("h200", 0.68, "50 of 67 TFLOP/s were measured at 2048^3 and 53 at 8192^3, one run", 1 << 33),
            ),
            best=True,
        ),
        Kernel("torch", "mm", "suite.peers.matmul:torch_mm", ("f32",), peer=True),
    ),
    depth=gemm.depth,
    absent={
        ("triton", "naive_uncoalesced"): "which lane loads what is the compiler's choice, and it coalesces",
        ("triton", "register_2x2"): "a lane has as many results as the tile divides into; see naive",
        ("triton", "shared_32"): "Triton decides what goes through shared memory; tiled_32 is the same tile",
        ("triton", "shared_32_transposed"): "the layout of shared memory is the compiler's choice",
        ("triton", "shared_32_transposed_padded"): "the layout of shared memory is the compiler's choice",
        ("triton", "register_tiled"): "tiled_64 is the same tile, of 4 x 4 results repeated over the lanes",
        ("triton", "vectorised"): "Triton emits 128-bit loads itself wherever rows are aligned",
        ("triton", "double_buffered"): "what num_stages does: pipelined",
        ("triton", "tuned_128"): "tuned chooses its tile as well",
        ("cuda", "tiled_32"): "called shared_32, because there the source says what is shared",
        ("cuda", "tiled_64"): "a tile of 64 needs results kept in registers, a rung of its own in CUDA C++",
        ("cuda", "tiled_128"): "a tile of 128 needs results kept in registers, a rung of its own in CUDA C++",
        ("cuda", "pipelined"): "what num_stages does in Triton: double_buffered",
        ("cuda", "grouped"): "the order of tiles is part of the tuned kernels",
    },
)
