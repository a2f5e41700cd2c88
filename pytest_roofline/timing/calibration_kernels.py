"""The engine's own kernels, on which it calibrates what a bracket holds beside the kernels."""

from __future__ import annotations

import functools

from pytest_roofline.timing.bracket import Tools
from pytest_roofline.timing.capture import Call

_SETS = 128


def kernels(tools: Tools, elements: int) -> list[tuple[str, list[Call], float]]:
    """Name, launches on ``elements`` floats each in buffers of its own, and the share of the bytes that they write."""
    import torch

    x = torch.randn(_SETS, elements, device="cuda")
    y = torch.empty_like(x)
    grid, block = (-(-elements // 256),), (256,)
    fill: list[Call] = [functools.partial(tools.fill, grid, block, (row, 1.0, elements)) for row in y]
    scale: list[Call] = [
        functools.partial(tools.scale, grid, block, (source, row, 2.0, elements))
        for source, row in zip(x, y, strict=True)
    ]
    few = [functools.partial(tools.fill, (1,), block, (row, 1.0, 256)) for row in y]
    pair: list[Call] = [functools.partial(_in_turn, large, small) for large, small in zip(scale, few, strict=True)]
    return [("fill", fill, 1.0), ("scale", scale, 0.5), ("scale and fill", pair, 0.5)]


def _in_turn(first: Call, second: Call) -> None:
    first()
    second()
