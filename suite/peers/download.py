"""From the device's memory to the host's by torch."""

import torch


def torch_copy(source: torch.Tensor, target: torch.Tensor) -> None:
    """``target = source``, without waiting where torch can."""
    target.copy_(source, non_blocking=True)
