"""From the device's memory to the host's by programs, which follow addresses of page-locked memory across the link."""

import torch

from kernels_triton._transfer import copy


def zero_copy(source: torch.Tensor, target: torch.Tensor) -> None:
    """``target = source``. Raises ``ValueError`` unless both are dense and of one length."""
    copy("download", source, target)
