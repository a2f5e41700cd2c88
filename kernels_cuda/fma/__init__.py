"""c = a * b + c over dense f32 vectors, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div
from pytest_roofline.operands import require_vectors
from pytest_roofline.remembered import remembered

from .._packs import BLOCK, launch_packs

_HERE = Path(__file__).parent
SCALAR = Source(_HERE / "scalar.cu")
VECTORISED = Source(_HERE / "vectorised.cu")
EVICT_LAST = Source(_HERE / "evict_last.cu")
UNROLLED = Source(_HERE / "unrolled.cu")


def scalar(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless all are dense vectors of one length,
    ``TypeError`` for other elements than f32."""
    require_vectors("fma", a, b, c, dtype=torch.float32)
    n = c.numel()
    SCALAR.function("fma_scalar")((ceil_div(n, BLOCK),), (BLOCK,), (a, b, c, n))


@remembered
def vectorised(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """16 bytes per thread. Raises as ``scalar`` does."""
    require_vectors("fma", a, b, c, dtype=torch.float32)
    launch_packs(VECTORISED, "fma_vectorised", a, b, c)


@remembered
def evict_last(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """``vectorised``; of long vectors, L2 evicts last what was read. Raises as ``scalar`` does."""
    require_vectors("fma", a, b, c, dtype=torch.float32)
    launch_packs(EVICT_LAST, "fma_evict_last", a, b, c, eviction=True)


def unrolled(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, unroll: int) -> None:
    """``unroll`` packs of 16 bytes per thread. Raises as ``scalar`` does."""
    require_vectors("fma", a, b, c, dtype=torch.float32)
    launch_packs(UNROLLED, "fma_unrolled", a, b, c, unroll=unroll)
