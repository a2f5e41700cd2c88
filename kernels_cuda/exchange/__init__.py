"""Host to device and device to host, one after the other and at once."""

import functools
from pathlib import Path
from typing import Any

import torch

from kernels_cuda._transfer import BLOCK, blocks, enqueue_copy, gpu_of, require_packs, require_pair
from pytest_roofline.launch import Source
from pytest_roofline.operands import require_vectors
from pytest_roofline.streams import torch_stream

ZERO_COPY = Source(Path(__file__).with_name("zero_copy.cu"))


def in_turn(up: torch.Tensor, down: torch.Tensor, up_target: torch.Tensor, down_target: torch.Tensor) -> None:
    """``up_target = up``, then ``down_target = down``, by the copy engines on one stream.

    Raises ``ValueError`` unless each pair is dense and of one length, ``launch.GpuNeeded`` without a GPU.
    """
    stream = torch_stream(_require(up, down, up_target, down_target))
    enqueue_copy(up, up_target, stream)
    enqueue_copy(down, down_target, stream)


def overlapped(up: torch.Tensor, down: torch.Tensor, up_target: torch.Tensor, down_target: torch.Tensor) -> None:
    """As :func:`in_turn`, the second copy on a stream of its own, which the current one waits for in the end."""
    device = _require(up, down, up_target, down_target)
    current = torch_stream(device)
    side, forked, joined = _side(device)
    forked.record(current)
    side.wait_event(forked)
    enqueue_copy(up, up_target, current)
    enqueue_copy(down, down_target, side)
    joined.record(side)
    current.wait_event(joined)


def zero_copy(up: torch.Tensor, down: torch.Tensor, up_target: torch.Tensor, down_target: torch.Tensor) -> None:
    """Both copies by the threads of one kernel. Raises ``ValueError`` unless all are dense, aligned and equal."""
    require_vectors("exchange", up, down, up_target, down_target)
    require_packs("exchange", up, down, up_target, down_target)
    n = up.numel()
    arguments = (up, down, up_target, down_target, n)
    ZERO_COPY.function("exchange_zero_copy")((2 * blocks(n),), (BLOCK,), arguments)


def _require(up: torch.Tensor, down: torch.Tensor, up_target: torch.Tensor, down_target: torch.Tensor) -> int:
    require_pair("exchange", up, up_target)
    require_pair("exchange", down, down_target)
    return gpu_of("exchange", up_target, down)


@functools.cache
def _side(device: int) -> tuple[Any, Any, Any]:
    """A second stream of the device and the events that tie it to the first."""
    import cupy

    with cupy.cuda.Device(device):
        stream = cupy.cuda.Stream(non_blocking=True)
        return stream, cupy.cuda.Event(disable_timing=True), cupy.cuda.Event(disable_timing=True)
