"""y = x + 1 over dense vectors, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_type

from .._packs import Table, launch_packs, launch_scalar, pick, require_vectors

_HERE = Path(__file__).parent
SCALAR = Source(_HERE / "scalar.cu")
VECTORISED = Source(_HERE / "vectorised.cu")

TUNED: Table = ((None, 256, 1),)


def scalar(x: torch.Tensor, y: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("add_one", x, y)
    launch_scalar(SCALAR, "add_one_scalar", x, y)


def vectorised(x: torch.Tensor, y: torch.Tensor) -> None:
    """Packs of 16 bytes, threads and packs per thread as ``TUNED`` says. Raises ``ValueError`` as ``scalar`` does."""
    require_vectors("add_one", x, y)
    threads, unroll = pick(TUNED, y.nbytes)
    function = VECTORISED.function(f"add_one_vectorised<{c_type(y)}, {unroll}>")
    launch_packs(function, x, y, unroll=unroll, threads=threads)
