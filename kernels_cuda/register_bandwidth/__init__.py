"""v = a v + b with all operands in registers, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div
from pytest_roofline.operands import require_vectors

BLOCK = 256

ILP = Source(Path(__file__).with_name("ilp.cu"))


def register_bandwidth(
    x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, y: torch.Tensor, *, steps: int, ilp: int
) -> None:
    """``y = x``, then ``y = a y + b`` ``steps`` times, ``ilp`` elements per thread.

    Raises ``ValueError`` unless all are dense vectors of one length.
    """
    require_vectors("register_bandwidth", x, a, b, y, dtype=torch.float32)
    function = ILP.function(f"register_bandwidth<{ilp}>")
    function((ceil_div(y.numel(), BLOCK * ilp),), (BLOCK,), (x, a, b, y.numel(), steps, y))
