"""y = max(x + 1, 0) over dense vectors, in CUDA C++; NaN stays NaN, as in torch."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, c_type

from .._packs import Table, launch_packs, launch_scalar, pick, require_vectors

_HERE = Path(__file__).parent
UNFUSED = Source(_HERE / "unfused.cu")
FUSED = Source(_HERE / "fused.cu")

TUNED: Table = ((None, 256, 1),)


def unfused(x: torch.Tensor, y: torch.Tensor, *, sums: torch.Tensor) -> None:
    """``sums = x + 1``, then ``y = relu(sums)``. Raises ``ValueError`` unless all are dense vectors of one length."""
    require_vectors("add_relu", x, y, sums)
    threads, unroll = pick(TUNED, y.nbytes)
    for half, source, target in (("sum", x, sums), ("relu", sums, y)):
        function = UNFUSED.function(f"add_relu_unfused_{half}<{c_type(y)}, {unroll}>")
        launch_packs(function, source, target, unroll=unroll, threads=threads)


def fused_scalar(x: torch.Tensor, y: torch.Tensor) -> None:
    """One element per thread. Raises ``ValueError`` unless both are dense vectors of one length."""
    require_vectors("add_relu", x, y)
    launch_scalar(FUSED, "add_relu_fused_scalar", x, y)


def fused(x: torch.Tensor, y: torch.Tensor) -> None:
    """Packs of 16 bytes, threads and packs per thread as ``TUNED`` says. Raises ``ValueError`` as ``fused_scalar``."""
    require_vectors("add_relu", x, y)
    threads, unroll = pick(TUNED, y.nbytes)
    function = FUSED.function(f"add_relu_fused<{c_type(y)}, {unroll}>")
    launch_packs(function, x, y, unroll=unroll, threads=threads)
