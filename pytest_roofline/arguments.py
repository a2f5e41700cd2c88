"""What a launch may be given: extents of grid and block within CUDA's limits, and arguments of exactly the C types."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch

from pytest_roofline import signature
from pytest_roofline.driver import Extents, torch_dtype
from pytest_roofline.tensor_map import TensorMap

GRID_LIMIT = (2**31 - 1, 65535, 65535)
BLOCK_LIMIT = (1024, 1024, 64)


@functools.lru_cache(maxsize=4096)
def in_three(grid: tuple[int, ...], block: tuple[int, ...]) -> tuple[Extents, Extents]:
    """Both with three extents each. Raises ``ValueError`` for what CUDA would refuse."""
    grid3, block3 = _three("grid", grid, GRID_LIMIT), _three("block", block, BLOCK_LIMIT)
    if not 0 < math.prod(block3) <= 1024:
        raise ValueError(f"a block has 1 to 1024 threads, not {block}")
    return grid3, block3


def _three(what: str, extents: tuple[int, ...], limits: Extents) -> Extents:
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"a {what} has one to three extents, not {len(extents)}")
    x, y, z = (*extents, 1, 1)[:3]
    if any(not 0 <= extent <= limit for extent, limit in zip((x, y, z), limits, strict=True)):
        raise ValueError(f"the {what} {extents} leaves CUDA's limits {limits}")
    return x, y, z


def checked(parameters: Sequence[signature.Parameter], args: Sequence[Any]) -> tuple[Any, ...]:
    """Tensors of the pointers' element types, tensor maps, and numbers as exactly their parameters' C types.

    Raises ``TypeError`` and ``OverflowError`` for what a parameter does not take.
    """
    return tuple(
        _tensor(parameter, value)
        if parameter.pointer
        else _map(parameter, value)
        if parameter.tensor_map
        else signature.scalar(parameter, value)
        for parameter, value in zip(parameters, args, strict=True)
    )


def _tensor(parameter: signature.Parameter, value: Any) -> torch.Tensor:
    wanted = torch_dtype(parameter)
    if isinstance(value, torch.Tensor) and value.dtype is wanted:
        return value
    got = value.dtype if isinstance(value, torch.Tensor) else type(value).__name__
    raise TypeError(f"parameter {parameter} takes a {wanted} tensor, got {got}")


def _map(parameter: signature.Parameter, value: Any) -> TensorMap:
    if isinstance(value, TensorMap):
        return value
    raise TypeError(f"parameter {parameter} takes a tensor map, got {type(value).__name__}")


def by_value(argument: Any) -> Any:
    """A checked argument as the driver takes it: an address, an encoded tensor map, a number."""
    if isinstance(argument, TensorMap):
        return argument.encoded
    return argument.data_ptr() if isinstance(argument, torch.Tensor) else argument.item()


def gpu_of(args: Sequence[Any], pointers: Sequence[int]) -> int | None:
    """The GPU that all tensors are on; ``None`` for the CPU. ``pointers`` are the places of tensors and tensor maps.

    A GPU addresses page-locked host memory as well, and torch calls no empty tensor page-locked, of which nothing is
    addressed: such tensors are on no device of their own. Raises
    ``ValueError`` for several devices.
    """
    try:
        indices = [args[i].get_device() for i in pointers]
    except AttributeError:
        indices = [-1]  # something is no tensor, and will be refused as such
    if indices[0] >= 0 and indices.count(indices[0]) == len(indices):
        return int(indices[0])
    tensors = [t for t in args if isinstance(t, torch.Tensor | TensorMap)]
    devices = {t.device for t in tensors if not (max(indices) >= 0 and _page_locked(t))}
    if len(devices) > 1:
        raise ValueError(f"the tensors are on several devices: {', '.join(sorted(map(str, devices)))}")
    return next((device.index for device in devices if device.type != "cpu"), None)


def _page_locked(tensor: torch.Tensor | TensorMap) -> bool:
    """Whether a GPU can address all of it where it lies in the host's memory."""
    if not isinstance(tensor, torch.Tensor) or tensor.device.type != "cpu":
        return False
    return not tensor.numel() or tensor.is_pinned()
