"""c[m, n] = a[m, k] b[k, n] where tiles of c do not fill the device: k has to be shared out among programs as well.

f16 goes through the tensor cores and adds up in f32, f32 stays on the ordinary cores. A shape with ``.t`` stores b by
columns, as a linear layer stores its weights.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_roofline.contract import (
    Bound,
    Buffer,
    Computed,
    Floor,
    Kernel,
    Operation,
    Pipeline,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite import gemm

DTYPES = ("f16_f32", "f32")
TENSOR = ("f16_f32",)
WORKSPACE = 1 << 23  # f32 elements, 32 MiB: what cuBLAS takes for itself on Hopper (cublasSetWorkspace)
PARTS = 256  # into which k is split at most

# Four ways not to fill 132 SMs, six shapes each. None was chosen after a measurement, but the rules that pick tiles and
# parts were fitted to these 24, which therefore say nothing about how good a rule is: see HELD_OUT.
SKINNY = (
    "16x4096x4096.t",  # layers of Llama 3 8B for 16, 64 and 128 tokens, and of 70B for 32
    "64x14336x4096.t",
    "128x4096x14336.t",
    "32x8192x8192.t",
    "35x8457x2560",  # DeepBench (Baidu, 2016), training
    "4096x24x8192",
)
DEEP = (  # k much larger than m and n
    "64x64x65536",
    "128x128x131072",
    "256x256x32768",
    "96x160x50000",
    "512x16x100000",
    "192x320x24576.t",
)
ONE_PAST = (  # a tile, in one extent or in all; odd rows lie misaligned, with a pitch of 2056 they do not
    "129x129x4096",
    "257x1025x2048",
    "1025x1025x1025",
    "2049x2048x2048",
    "2049x2049x2049.p2056",
    "4097x4097x1024.t",
)
LAST_WAVE = (  # 132 SMs and tiles of 128 x 128: 135, 144, 272, 270, 540 and 273 of them
    "1152x1920x4096",
    "1536x1536x8192.t",
    "2176x2048x2048",
    "3456x1280x4096.t",
    "2304x3840x1024",
    "1664x2688x8192",
)
# The same four ways, chosen when the rules were done: nothing was fitted to them. On an H200, CUDA C++'s chosen in f16
# is 1.04 times as fast as torch in the geometric mean of all 20, and 0.87 times in that of the 17 whose operands are
# aligned; the other three are 1.72, 2.47 and 5.63 times as fast. Worst: 100x4000x9000.t 0.62, 40x7000x3000 0.77,
# 320x320x20000 0.77, 100x200x30000 0.78, 256x384x16384.t 0.80. Four of them in f32: 0.80 to 1.26. (One start, operands
# rotated in a graph.)
HELD_OUT = (
    "24x5120x5120.t",
    "48x11008x4096.t",
    "100x4000x9000.t",
    "40x7000x3000",
    "8000x32x4096",
    "72x72x40000",
    "160x160x60000",
    "320x320x20000",
    "100x200x30000",
    "384x24x80000",
    "256x384x16384.t",
    "193x193x3000",
    "513x769x3000",
    "1537x1537x1537",
    "2305x2304x1024",
    "3073x3073x2000.t",
    "1280x1792x3072",
    "1664x1664x6144.t",
    "2432x2048x3072",
    "4096x1152x3072.t",
)
DEFAULT = (
    "1536x1536x8192.t",
    "64x14336x4096.t",
    "35x8457x2560",
    "128x128x131072",
    "1025x1025x1025",
)


# Of each kernel the tiles (rows, columns) that read least, one of which it takes for a shape: what must come from L2.
SMALL = gemm.least_panel_loads((64, 64), (128, 32))
LARGE = gemm.least_panel_loads((128, 128), (64, 256))
FITTED = gemm.least_panel_loads((128, 512), (512, 128), (256, 256), (192, 384), (384, 192))  # pairs share an operand
ORDINARY = gemm.panel_loads(128, 128)  # of CUDA C++; turned, its other tiles read more, too
BLOCK = gemm.panel_loads(64, 64)  # of Triton in f32


def loads(f16: gemm.Model, f32: gemm.Model) -> gemm.Model:
    """The traffic model of a kernel whose tiles depend on the format."""

    def model(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
        return (f32 if dtype.operand.name == "f32" else f16)(shape, dtype)

    return model


def work(shape: Shape, dtype: DType) -> Work:
    if dtype.operand.name == "f32":
        return gemm.work(shape, dtype, Pipeline.FP32)
    return gemm.tensor_work(shape, dtype)


def bound(computed: Computed) -> dict[str, Bound]:
    dtype = computed.dtype
    if dtype.operand.name == "f32":
        return {"c": gemm.bound(computed)}
    joined = replace(computed, depth=min(PARTS, computed.dims[2]) + 1)
    return {"c": gemm.tensor_bound(joined)}


def workspace(shape: Shape, dtype: DType) -> tuple[Buffer, ...]:
    """Room for the parts of each tile of c that several programs compute; tiles are at most 256 wide."""
    m, n, k = shape.dims
    covered = (-(-m // 256) * 256) * (-(-n // 256) * 256)
    return (Buffer("partials", min(WORKSPACE, covered * min(PARTS, 1 + k // 32))),)


def two_workspaces(shape: Shape, dtype: DType) -> tuple[Buffer, ...]:
    """The same, and room to align operands; the ordinary cores want b by rows."""
    packed = gemm.packed(shape, dtype, b_along_k=False if dtype.operand.name == "f32" else None)
    return (*workspace(shape, dtype), packed)


def workspaces_any_b(shape: Shape, dtype: DType) -> tuple[Buffer, ...]:
    """The same for kernels that take b either way."""
    return (*workspace(shape, dtype), gemm.packed(shape, dtype))


OPERATION = Operation(
    name="matmul_ragged",
    summary="c = a b for shapes that fill a device badly",
    arguments=gemm.arguments(),
    reference=gemm.reference,
    work=work,
    tolerance=Tolerance(
        bound,
        "f32: " + gemm.BOUND_SOURCE + "; f16: a truncation per product and per step of at least 4 products, relative "
        "to |a| |b| elementwise (Fasi et al., 2021), and per part of k, then one rounding to f16; sums of small whole "
        "numbers exact",
        whole=True,
    ),
    shapes=Shapes(
        drawn=lambda tile: gemm.drawn(tile, (40, 70, 200)),
        sweep=DEFAULT,
        representative=DEFAULT[:1],
        # The last is deep enough for parts of k in every plan, and so for the kernels that join them.
        counted=(*gemm.COUNTED, "16x48x200.t", "33x17x300", "8x8x1024"),
        full=(*SKINNY, *DEEP, *ONE_PAST, *LAST_WAVE, *HELD_OUT),
    ),
    kernels=(
        # Three ways, not steps: times of 1536x1536x8192.t on an H200, f16 and f32. Equal parts of k for all tiles,
        # 107.8 and 1023 us.
        Kernel(
            "triton",
            "split_k",
            "kernels_triton.matmul_ragged:split_k",
            DTYPES,
            tile=(16, 32, 64),
            model=loads(SMALL, BLOCK),
            workspace=two_workspaces,
        ),
        # Parts for the tiles of the last wave alone: 107.5 us, no gain in f16, and 943 us in f32.
        Kernel(
            "triton",
            "stream_k",
            "kernels_triton.matmul_ragged:stream_k",
            DTYPES,
            tile=(16, 32, 64),
            model=loads(SMALL, BLOCK),
            workspace=two_workspaces,
        ),
        # Either, with larger tiles where there are many of them: 67.6 us in f16, and the same plan as stream_k, 944
        # us, in f32.
        Kernel(
            "triton",
            "chosen",
            "kernels_triton.matmul_ragged:chosen",
            DTYPES,
            tile=(16, 32, 64),
            model=loads(LARGE, BLOCK),
            workspace=two_workspaces,
            floors=(
                Floor(
                    "h200",
                    0.16,
                    "in f16 0.21 (1537x1537x1537: rows that lie misaligned are copied first) to 0.76 were measured, "
                    "in f32 0.48 to 0.63",
                    1 << 31,
                ),
            ),
            best=True,
        ),
        # Equal parts of k for all tiles: 166 and 874 us.
        Kernel(
            "cuda",
            "split_k",
            "kernels_cuda.matmul_ragged:split_k",
            DTYPES,
            tile=(16, 128, 64),
            model=ORDINARY,
            workspace=workspace,
        ),
        # Parts for the tiles of the last wave alone: 112 and 810 us.
        Kernel(
            "cuda",
            "stream_k",
            "kernels_cuda.matmul_ragged:stream_k",
            DTYPES,
            tile=(16, 128, 64),
            model=ORDINARY,
            workspace=workspace,
        ),
        # Changed: Hopper's copies and instructions, and tiles of any multiple of 16 columns that fill the last wave.
        # 57.6 us.
        Kernel(
            "cuda",
            "wgmma_fitted",
            "kernels_cuda.matmul_ragged:wgmma_fitted",
            TENSOR,
            tile=(16, 128, 64),
            model=FITTED,
            workspace=workspaces_any_b,
            capability="sm_90a",
            absent_dtypes={"f32": "wgmma multiplies no operands of f32, only cut to tf32"},
        ),
        # No rung of its own: in f16 wgmma_fitted on Hopper, else split_k or stream_k; in f32 the better of both. On an
        # H200 it runs the code of wgmma_fitted; the medians of the two, 64.4 and 57.6 us, differ by what starts and
        # clocks make of it.
        Kernel(
            "cuda",
            "chosen",
            "kernels_cuda.matmul_ragged:chosen",
            DTYPES,
            tile=(16, 128, 64),
            model=loads(FITTED, ORDINARY),
            workspace=workspaces_any_b,
            floors=(
                Floor(
                    "h200",
                    0.17,
                    "in f16 0.22 (1537x1537x1537: rows that lie misaligned are copied first) to 0.76 were measured, "
                    "in f32 0.40 to 0.77",
                    1 << 31,
                ),
            ),
            best=True,
        ),
        Kernel("torch", "mm", "suite.peers.matmul_ragged:torch_mm", DTYPES, peer=True),
    ),
    depth=gemm.depth,
    absent={("triton", "wgmma_fitted"): "a tile there has powers of two of rows and columns; see chosen"},
)
