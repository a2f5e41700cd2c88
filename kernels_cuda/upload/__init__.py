"""From the host's memory to the device's, by the copy engine and by threads."""

from pathlib import Path

import torch

from kernels_cuda._transfer import BLOCK, blocks, copy, require_packs, require_pair
from pytest_roofline.launch import Source

ZERO_COPY = Source(Path(__file__).with_name("zero_copy.cu"))


def engine(source: torch.Tensor, target: torch.Tensor) -> None:
    """``target = source`` by the copy engine; from or to pageable memory the host waits and copies through a buffer.

    Raises ``ValueError`` unless both are dense and of one length, ``launch.GpuNeeded`` without a GPU.
    """
    copy("upload", source, target)


def zero_copy(source: torch.Tensor, target: torch.Tensor) -> None:
    """``target = source`` by threads, 16 bytes each. Raises ``ValueError`` unless both are dense, aligned and equal."""
    require_pair("upload", source, target)
    require_packs("upload", source, target)
    n = source.numel()
    ZERO_COPY.function("upload_zero_copy")((blocks(n),), (BLOCK,), (source, target, n))
