"""Tensors without memory, and a GPU that is not there: what a launcher looks at before it launches.

A launcher chooses its kernel by extents, strides, alignment and the device it is on. A timed shape has gigabytes that
nobody needs for that, so it is given tensors that know all of this and hold nothing; what it asks torch to do to them
is not done. Such a tensor says that it is on the GPU that is compiled for, and torch says what is known about that one.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch

from pytest_roofline import streams
from pytest_roofline.checking.buffers import layout, workspace_layouts
from pytest_roofline.contract import Case
from pytest_roofline.devices.record import load
from pytest_roofline.launch import GpuNeeded

CPU = torch.device("cpu")
MODELS = {"sm_80": "a100_sxm4_80gb", "sm_90": "h200", "sm_90a": "h200"}
"""Which GPU stands for an architecture: the record that launchers see figures of."""
SPACING = 1 << 44  # bytes between two tensors: more than any has


class StandIn(torch.Tensor):
    """A view of a tensor at ``address`` on ``place``, with the layout of ``meta`` and nothing in it."""

    meta: torch.Tensor
    address: int  # of the first byte of its storage
    place: torch.device

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment, unused-ignore]

    @staticmethod
    def __new__(cls, meta: torch.Tensor, address: int, place: torch.device) -> StandIn:
        """The tensor itself, of torch's kind without memory: a real one of a GPU needs a build for GPUs."""
        made: StandIn = torch.Tensor._make_wrapper_subclass(
            cls,
            meta.shape,
            strides=meta.stride(),
            storage_offset=meta.storage_offset(),
            dtype=meta.dtype,
            device=torch.device("meta"),
        )
        made.meta, made.address, made.place = meta, address, place
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """Where it is said to be."""
        return self.place

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]
        """Whether that is a GPU."""
        return self.place.type == "cuda"

    def get_device(self) -> int:
        """The GPU's number; -1 for the CPU."""
        return self.place.index if self.is_cuda else -1

    def is_pinned(self, device: Any = None) -> bool:
        """Memory of the host beside a GPU is page-locked."""
        return not self.is_cuda

    def data_ptr(self) -> int:
        """The address of its first element."""
        return self.address + int(self.storage_offset()) * self.element_size()

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        """Views are views; of what would be written nothing is, of what would be made only the layout."""
        bare = [_bare(value) for value in args]
        named = {name: _bare(value) for name, value in (kwargs or {}).items()}
        made = func(*bare, **named)
        written = _written(func, args, kwargs or {})
        if written is not None:
            return written
        source = next(value for value in (*args, *(kwargs or {}).values()) if isinstance(value, StandIn))
        address = source.address if func.is_view else source.address + SPACING // 2
        return cls(made, address, source.place) if isinstance(made, torch.Tensor) else made


def _bare(value: Any) -> Any:
    return value.meta if isinstance(value, StandIn) else value


def _written(func: Any, args: Any, kwargs: Any) -> Any:
    """The argument that an operation in place, or with ``out``, returns."""
    for index, declared in enumerate(func._schema.arguments):
        if declared.alias_info is not None and declared.alias_info.is_write:
            return args[index] if index < len(args) else kwargs[declared.name]
    return None


def call(case: Case, launcher: Callable[..., None], gpu: int | None) -> Callable[[], None]:
    """The launch of a case with stand-ins on that GPU, or on the CPU where it is ``None``."""
    there = CPU if gpu is None else torch.device("cuda", gpu)
    arguments = [
        _stand_in(layout(argument, case), tag, CPU if argument.host else there)
        for tag, argument in enumerate(case.operation.arguments, 1)
    ]
    scratch = {w.name: _stand_in(w, tag, there) for tag, w in enumerate(workspace_layouts(case), 1 + len(arguments))}
    return functools.partial(launcher, *arguments, **{**case.scalars, **case.kernel.options, **scratch})


def _stand_in(laid_out: Any, tag: int, place: torch.device) -> StandIn:
    hull = torch.empty(laid_out.offset + laid_out.hull, dtype=laid_out.item.torch(), device="meta")
    return StandIn(hull.as_strided(laid_out.extents, laid_out.strides, laid_out.offset), tag * SPACING, place)


@contextlib.contextmanager
def gpus(*architectures: str) -> Iterator[None]:
    """As if this machine had one GPU of each architecture, in that order: torch knows their properties.

    What only a driver can do (streams, graphs, copies) raises :class:`launch.GpuNeeded`.
    """
    properties = [_properties(arch) for arch in architectures]

    def of(device: Any = None) -> Any:
        index = device.index if isinstance(device, torch.device) else device
        return properties[index or 0]

    def capability(device: Any = None) -> tuple[int, int]:
        return of(device).major, of(device).minor

    told: dict[str, Any] = {
        "get_device_properties": of,
        "get_device_capability": capability,
        "device_count": lambda: len(properties),
        "current_device": lambda: 0,
        **dict.fromkeys(("synchronize", "current_stream", "Stream"), _needs_driver),
    }
    patched: Any = mock.patch.multiple(torch.cuda, **told)
    with patched, mock.patch.object(streams, "stream_handle", _needs_driver):
        yield


def _needs_driver(*_: Any, **__: Any) -> Any:
    raise GpuNeeded("this asks the driver of a GPU, and there is none")


@functools.cache
def _properties(arch: str) -> Any:
    """What ``torch.cuda.get_device_properties`` says about the GPU that stands for an architecture."""
    record = load(MODELS[arch])

    def figure(name: str, unit: int = 1) -> int:
        return int(unit * (record.number(name) or 0))

    major, minor = map(int, record.fields["compute_capability"].value.split("."))
    return SimpleNamespace(
        name=record.name,
        major=major,
        minor=minor,
        multi_processor_count=figure("sm_count"),
        total_memory=figure("mem_size_gb", 10**9),
        L2_cache_size=figure("l2_bytes"),
        regs_per_multiprocessor=figure("regs_per_sm"),
        max_threads_per_multi_processor=figure("max_threads_per_sm"),
        shared_memory_per_block=48 << 10,  # without asking for more, on every GPU (CUDA C++ Programming Guide)
        shared_memory_per_block_optin=figure("max_smem_per_block_kib", 1 << 10),
        shared_memory_per_multiprocessor=figure("smem_per_sm_kib", 1 << 10),
        warp_size=32,
    )
