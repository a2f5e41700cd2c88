"""c[m, n] = a[m, k] b[k, n] on the tensor cores: how fast the operands reach them decides everything.

A shape with ``.t`` stores b by columns, as a linear layer stores its weights: then both operands lie along k, the one
order that instructions on 8-bit and tf32 operands take. 16-bit operands may lie either way.

tf32 instructions ignore the low 13 bits of an f32 operand, also of a NaN: one whose payload lies in them alone (such as
the bits 0x7F800001, which no arithmetic makes) is an infinity to them, and its sums are infinite or NaN, where cuBLAS
keeps them NaN. Quietening takes an instruction per word, and wgmma's operands never pass through registers.

Sums of i8 are i32 and wrap around: of -128 alone from k = 131072 on (2^14 per product), where cuBLAS saturates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_roofline.contract import Bound, Buffer, Computed, Floor, Kernel, Operation, Shapes, Tolerance
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite import gemm

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# The first is the one that the size sweep is for.
DTYPES = ("bf16_f32", "f16_f32", "tf32_f32", "i8_i32", "fp8_f32")
AMPERE = ("bf16_f32", "f16_f32", "tf32_f32", "i8_i32")  # mma.sync of sm_80 has no 8-bit floating point
POINTERS = ("bf16_f32", "tf32_f32", "i8_i32")  # of the Triton path of an A100, one format of each size
RUNG = ("bf16_f32",)
_SAME_WAY = "what this rung changes, the way to the tensor core, does not depend on the format: see "
# Why a rung has one format. All of them pass through the same code in the kernels that the rungs lead to.
OF_MMA = {dtype: _SAME_WAY + "tuned" for dtype in AMPERE if dtype not in RUNG}
OF_WGMMA = {dtype: _SAME_WAY + "automatic" for dtype in DTYPES if dtype not in RUNG}
NO_FP8 = {"fp8_f32": "mma.sync of sm_80 has no operands of 8-bit floating point"}
OF_TRITON = {dtype: _SAME_WAY + "persistent" for dtype in DTYPES if dtype not in RUNG}
OF_POINTERS = {
    "f16_f32": "of the pointers' path one format of each size: it is that of bf16; see persistent",
    "fp8_f32": "of the pointers' path one format of each size: it is that of i8; see persistent",
}


def bound(computed: Computed) -> dict[str, Bound]:
    return {"c": gemm.tensor_bound(computed)}


def drawn(tile: tuple[int, ...]) -> SearchStrategy[Shape]:
    """Up to one tile and a quarter, because tiles are large, and two and a half along k."""
    rows, columns, deep = tile
    return gemm.drawn(tile, (rows + rows // 4 + 1, columns + columns // 4 + 1, 5 * deep // 2))


def peer_rejects(shape: Shape, dtype: DType) -> str | None:
    """What torch's functions on bytes demand, cuBLASLt's alignment among it."""
    m, n, k = shape.dims
    if dtype.operand.itemsize != 1:
        return None
    if not (m > 16 and n and k and n % 16 == k % 16 == 0 and shape.offset % 16 == 0 and shape.pitch is None):
        return "8-bit operands must be dense, aligned to 16 bytes, with k and n multiples of 16 and more than 16 rows"
    return "fp8 takes b by columns" if dtype.operand.name == "fp8" and not shape.transposed else None


def copy_engine_rejects(shape: Shape, dtype: DType) -> str | None:
    """What Hopper's copy engine and wgmma demand of matrices that are not empty."""
    _, n, k = shape.dims
    size = dtype.operand.itemsize
    if 0 in shape.dims:
        return None
    if size != 2 and not shape.transposed:
        return "only operands of 16 bits may lie across k"
    rows = ((k, size), (k if shape.transposed else n, size), (n, gemm.result(dtype).itemsize))
    if any((shape.pitch or columns) * itemsize % 16 or shape.offset * itemsize % 16 for columns, itemsize in rows):
        return "the copy engine takes rows that start at multiples of 16 bytes"
    if n * gemm.result(dtype).itemsize % 16:
        return "the copy engine writes whole pieces of 16 bytes, also past the end of a row"
    return None


def hopper(variant: str, *, columns: int = 256, after: str = "", **options: int) -> Kernel:
    """A rung on Hopper's own instructions, tiles of 128 x ``columns`` per block."""
    return Kernel(
        "cuda",
        variant,
        f"kernels_cuda.matmul_tensor.hopper:{variant}",
        RUNG,
        options=options,
        tile=(128, columns, 64),
        after=after,
        absent_dtypes=OF_WGMMA,
        model=gemm.panel_loads(128 * options.get("cluster", 1), columns),
        rejects=copy_engine_rejects,
        capability="sm_90a",
    )


def triton_tiles(num_stages: int) -> dict[str, int]:
    """Options of the tiled Triton kernel."""
    return {"block_m": 128, "block_n": 128, "block_k": 64, "group": 8, "num_warps": 8, "num_stages": num_stages}


def packed(shape: Shape, dtype: DType) -> tuple[Buffer, ...]:
    """Room to turn operands of 32 and 8 bits along k, and to align any."""
    return (gemm.packed(shape, dtype, b_along_k=None if dtype.operand.itemsize == 2 else True),)


def packed_with_result(shape: Shape, dtype: DType) -> tuple[Buffer, ...]:
    """The same, and for c as well."""
    m, n, _ = shape.dims
    size, lies = gemm.result(dtype).itemsize, shape.pitch or n
    [operands] = packed(shape, dtype)
    aligned = lies * size % 16 == n * size % 16 == 0 and shape.offset * size % 16 == 0
    # A c by columns is copied from its transpose.
    room = 0 if aligned else max(m * (-(-n // 16) * 16), n * (-(-m // 16) * 16)) * size // dtype.operand.itemsize
    return (replace(operands, extent=operands.extent + room),)


OPERATION = Operation(
    name="matmul_tensor",
    summary="c = a b on tensor cores",
    arguments=gemm.arguments(),
    reference=gemm.reference,
    work=gemm.tensor_work,
    tolerance=Tolerance(
        bound,
        "a truncation per product and per step of at least 4 products, relative to |a| |b| elementwise (Fasi et al., "
        "2021), of operands cut to tf32 where they are (a NaN whose payload is cut counts as infinite), then one "
        "rounding to 16 bits where c has them; integers and sums of small whole numbers exact",
        whole=True,
    ),
    shapes=Shapes(
        drawn=drawn,
        # k = 1024 ends a tile before its pipeline is warm; with k = 4095 no row but the first is aligned.
        sweep=(
            "4096x4096x4096.t",
            "8192x8192x8192.t",
            "8192x8192x1024.t",
            "4096x4096x4096",
            "4096x4096x4095.t",
        ),
        representative=("8192x8192x8192.t",),
        counted=("64x64x64.t", *gemm.COUNTED, "130x72x24.t", "17x258x40.t"),
        # The cubes are those of published A100 figures.
        full=(
            "256x256x256.t",
            "1024x1024x1024",
            "2048x2048x2048",
            "2048x2048x2048.t",
            "8192x8192x8192",
            "4096x4096x4096.p4104.t",
            "4096x4096x4096.o1.t",
            "2048x2045x1024.p2056",  # rows of c end within 16 bytes, whose rest is not theirs
        ),
    ),
    kernels=(
        Kernel(
            "cuda",
            "mma_simple",
            "kernels_cuda.matmul_tensor:mma_simple",
            RUNG,
            tile=(16, 8, 32),
            model=gemm.fragment_loads(16, 8),  # a warp's, out of the level-1 cache
            timed=("4096x4096x4096.t",),  # 110 ms for 8192^3
            absent_dtypes=OF_MMA | NO_FP8,
        ),
        Kernel(
            "cuda",
            "tiled",
            "kernels_cuda.matmul_tensor:tiled",
            RUNG,
            tile=(128, 128, 32),
            model=gemm.panel_loads(128, 128),
            absent_dtypes=OF_MMA | NO_FP8,
        ),
        Kernel(
            "cuda",
            "pipelined",
            "kernels_cuda.matmul_tensor:pipelined",
            RUNG,
            tile=(128, 128, 32),
            model=gemm.panel_loads(128, 128),
            absent_dtypes=OF_MMA | NO_FP8,
        ),
        Kernel(
            "cuda",
            "tuned",
            "kernels_cuda.matmul_tensor:tuned",
            AMPERE,
            tile=(128, 256, 32),
            model=gemm.panel_loads(128, 256),
            floors=(Floor("h200", 0.36, "0.40 (tf32) to 0.44 (int8) were measured at 8192^3 on two starts", 1 << 38),),
            absent_dtypes=NO_FP8,
        ),
        hopper("wgmma"),
        hopper("wgmma_specialised"),
        hopper("wgmma_narrow", columns=64),
        hopper("wgmma_persistent", after="wgmma_specialised"),
        hopper("wgmma_cluster", cluster=2, group=8),
        hopper("wgmma_overlapped", cluster=2, group=8),
        Kernel(
            "cuda",
            "automatic",
            "kernels_cuda.matmul_tensor:automatic",
            DTYPES,
            tile=(128, 256, 64),
            # Two blocks of a cluster share b on Hopper; where it runs mma.sync or narrow tiles, it reads more.
            model=gemm.panel_loads(256, 256),
            workspace=packed_with_result,
            floors=(Floor("h200", 0.5, "0.66 to 0.81 were measured from 4096^3 on; copies may add", 1 << 36),),
            best=True,
        ),
        # Times of 8192^3 in bf16 on an H200; those of CUDA C++ stand in its files. First: tiles of 128 x 128, loaded
        # and then multiplied, 2.67 ms.
        Kernel(
            "triton",
            "tiled",
            "kernels_triton.matmul_tensor:tiled",
            RUNG,
            options=triton_tiles(num_stages=1),
            tile=(32, 32, 64),
            model=gemm.panel_loads(128, 128),
            absent_dtypes=OF_TRITON,
        ),
        # Changed: tiles are loaded three steps ahead. 1.87 ms after 2.67.
        Kernel(
            "triton",
            "pipelined",
            "kernels_triton.matmul_tensor:tiled",
            RUNG,
            options=triton_tiles(num_stages=4),
            tile=(32, 32, 64),
            model=gemm.panel_loads(128, 128),
            absent_dtypes=OF_TRITON,
        ),
        # Changed: a tile chosen by the size of c, 128 x 256 here with two steps ahead, and groups of 16 rows instead
        # of 8: a quarter fewer reads of L2. At this size it should gain and loses, 1.98 ms after 1.87; what it is for
        # is a smaller c.
        Kernel(
            "triton",
            "tuned",
            "kernels_triton.matmul_tensor:tuned",
            POINTERS,
            tile=(32, 32, 64),
            model=gemm.panel_loads(128, 256),  # the largest of its tiles
            absent_dtypes=OF_POINTERS,
        ),
        # The sum of three changes, not measured one by one: operands and results through tensor descriptors, a program
        # per SM that takes tile after tile, and copies of operands that descriptors cannot take. 1.52 ms after 1.98.
        Kernel(
            "triton",
            "persistent",
            "kernels_triton.matmul_tensor:persistent",
            DTYPES,
            tile=(32, 32, 64),
            model=gemm.panel_loads(128, 256),  # the largest of its tiles
            workspace=packed,
            floors=(
                Floor("h200", 0.45, "0.59 was measured with k = 1024, 0.60 to 0.75 at 8192^3; copies may add", 1 << 36),
            ),
            best=True,
        ),
        Kernel("torch", "mm", "suite.peers.matmul_tensor:torch_mm", DTYPES, rejects=peer_rejects, peer=True),
    ),
    # What a kernel adds outside the tensor core: nothing, unless it says so.
    depth=lambda dims: 1,
    absent={
        ("triton", "mma_simple"): "tl.dot brings its operands through shared memory itself",
        ("cuda", "persistent"): "called wgmma_persistent, which takes wgmma's operands only; automatic takes all",
        ("triton", "wgmma"): "on this GPU every tl.dot becomes wgmma, fed by cp.async",
        (
            "triton",
            "wgmma_specialised",
        ): "warp_specialize: on an H200 every try with Triton 3.6 hung, and 3.7 does not compile it",
        ("triton", "wgmma_narrow"): "block sizes are options of one variant there",
        ("triton", "wgmma_persistent"): "the persistent variants there read through tensor descriptors",
        ("triton", "wgmma_cluster"): "Triton has no multicast",
        ("triton", "wgmma_overlapped"): "the persistent variants there leave the overlap to the compiler",
        ("triton", "automatic"): "the same Triton source compiles to the instructions of either generation",
    },
)
