"""Vectors that lie where a test wants them."""

from __future__ import annotations

import torch


def shifted(n: int, offset: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A vector of zeros that starts ``offset`` elements after a 16-byte boundary."""
    whole = torch.zeros(n + offset + 16, dtype=dtype)
    start = -whole.data_ptr() % 16 // whole.element_size() + offset
    return whole[start : start + n]
