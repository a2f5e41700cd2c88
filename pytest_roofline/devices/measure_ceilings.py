"""Measure the ceilings of the GPU at hand. Loads torch and CuPy; needs a few GiB of free device memory."""

from __future__ import annotations

import datetime
import functools
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_roofline.contract import Pipeline, Protocol
from pytest_roofline.devices import tensor_peaks
from pytest_roofline.devices.ceilings import Ceilings
from pytest_roofline.launch import Source
from pytest_roofline.timing import Session, environment, open_session

if TYPE_CHECKING:
    import torch

_BYTES = 1 << 32
_MEMCPY = "torch copy_"
_BLOCKS_PER_SM = (8, 16, 32)
_SOURCE = Source(Path(__file__).with_name("ceilings.cu"))

Ways = dict[str, Callable[[], object]]


def measure() -> Ceilings:
    """Copy, read, FMA, tensor-core and empty-launch ceilings; several ways where there are several, the best counts.

    Raises ``timing.TimingUnavailable`` without a GPU.
    """
    import torch

    session = open_session()
    how: dict[str, str] = {}
    x, y = (torch.randint(0, 1 << 30, (_BYTES // 4,), dtype=torch.int32, device="cuda") for _ in range(2))
    copy = 2 * _BYTES / _best(session, "copy", _copies(x, y), how)
    read = _BYTES / _best(session, "read", _reads(x), how)
    del x, y
    torch.cuda.empty_cache()
    return Ceilings(
        environment=environment(),
        date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        copy=copy,
        read=read,
        empty_launch=session.launch_floor,
        peaks=_peaks(session, how),
        how=how,
    )


def _best(session: Session, name: str, ways: Ways, how: dict[str, str]) -> float:
    """Seconds of the fastest way, whose name goes into ``how``."""
    seconds = {way: _seconds(session, call, on_stream=way == _MEMCPY) for way, call in ways.items()}
    how[name] = min(seconds, key=lambda way: seconds[way])
    return seconds[how[name]]


def _seconds(session: Session, call: Callable[[], object], *, on_stream: bool = False) -> float:
    """Typical seconds of a call, in a graph; a copy on the stream, because captured into a graph it becomes a memcpy
    node, which took half as long again on an H200."""
    protocol = Protocol.TRANSFER if on_stream else Protocol.GRAPH_COLD
    found = session.measure([call], protocol=protocol, effort="quick", may_allocate=True)
    return statistics.median(found.samples)


def _copies(x: torch.Tensor, y: torch.Tensor) -> Ways:
    words = x.numel() // 4
    grid_stride, tiles = _SOURCE.function("copy_words"), _SOURCE.function("copy_tiles")
    evict_last = _SOURCE.function("copy_evict_last")
    ways: Ways = {
        _MEMCPY: lambda: y.copy_(x),
        "float4 tiles of 1024": lambda: tiles((-(-words // 1024),), (256,), (x, y, words)),
        "float4, reads evicted last": lambda: evict_last((-(-words // 256),), (256,), (x, y, words)),
    }
    for per_sm in _BLOCKS_PER_SM:
        grid = (_sms() * per_sm,)
        ways[f"float4 grid-stride, {per_sm} blocks per SM"] = functools.partial(
            grid_stride, grid, (256,), (x, y, words)
        )
    return ways


def _reads(x: torch.Tensor) -> Ways:
    import torch

    words, sink = x.numel() // 4, torch.zeros(1, dtype=torch.int32, device="cuda")
    kernel, total, floats = _SOURCE.function("read_words"), torch.empty((1,), device="cuda"), x.view(torch.float32)
    ways: Ways = {"torch sum": lambda: torch.sum(floats, dim=0, keepdim=True, out=total)}
    for per_sm in _BLOCKS_PER_SM:
        grid = (_sms() * per_sm,)
        ways[f"float4 grid-stride, 4 in flight, {per_sm} blocks per SM"] = functools.partial(
            kernel, grid, (256,), (x, words, sink)
        )
    return ways


def _peaks(session: Session, how: dict[str, str]) -> dict[str, float]:
    """Operations per second by pipeline: an FMA loop on the ordinary cores, products on the tensor cores."""
    import torch

    steps, blocks, threads = 4096, 16 * _sms(), 256
    y = torch.zeros(1, device="cuda")
    loop = _SOURCE.function("multiply_add")
    seconds = _seconds(session, lambda: loop((blocks,), (threads,), (y, 0.999, steps)))
    how[Pipeline.FP32.value] = "FMA loop, 16 chains per thread"
    peaks, ways = tensor_peaks.measure(functools.partial(_seconds, session), torch.cuda.get_device_capability())
    how.update(ways)
    return {Pipeline.FP32.value: 2 * 16 * steps * blocks * threads / seconds, **peaks}


def _sms() -> int:
    import torch

    return int(torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count)
