"""v = a v + b with all operands in registers, in CUDA C++."""

from pathlib import Path

import torch

from pytest_roofline.launch import Source, ceil_div, require

BLOCK = 256

ILP = Source(Path(__file__).with_name("ilp.cu"))


def register_bandwidth(
    x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, y: torch.Tensor, *, steps: int, ilp: int
) -> None:
    """``y = x``, then ``y = a y + b`` ``steps`` times, ``ilp`` elements per thread.

    Raises ``ValueError`` unless all are dense vectors of one length.
    """
    require(
        all(t.shape == y.shape and t.is_contiguous() for t in (x, a, b, y)), "register_bandwidth takes dense vectors"
    )
    function = ILP.function(f"register_bandwidth<{ilp}>")
    function((ceil_div(y.numel(), BLOCK * ilp),), (BLOCK,), (x, a, b, y.numel(), steps, y))
