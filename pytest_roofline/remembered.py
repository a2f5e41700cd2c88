"""Launchers that remember what they launched for arguments of a kind, and launch just that for others of this kind.

A launcher checks its tensors and chooses kernel, grid and numbers by what its tensors are: element type, shape,
strides, device, place within 16 bytes. An equal launch needs none of it anew; on an H200's host that work cost as much
as the driver's part of a launch (``benchmarks/launch_cost.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, ParamSpec

from pytest_roofline import launch
from pytest_roofline.driver import Extents
from pytest_roofline.streams import stream_handle

P = ParamSpec("P")

MOST = 4096  # kinds of arguments that a launcher remembers; drawn shapes are many
_ALIGNMENT = 16  # bytes of the widest access: no launcher asks an address for more
_NUMBERS = frozenset((int, float))


class _Again(NamedTuple):
    """One launch: ``order`` says which of the addresses and ``numbers`` each parameter gets, ``None`` all in turn."""

    kernel: launch.Repeatable
    grid: Extents
    block: Extents
    shared_bytes: int
    numbers: tuple[int | float, ...]
    order: tuple[int, ...] | None


def remembered(launcher: Callable[P, None]) -> Callable[P, None]:
    """Decorate a launcher whose arguments are tensors and numbers.

    It must do nothing but launch functions of a :class:`launch.Source`, or what else tells :func:`launch.observed` of
    its launches: what is not observed (a torch operation, a plain ``kernel[grid]`` of Triton) happens the first time
    only. And it must depend on nothing but what makes a kind: a tensor's element type, shape, strides, device and
    address modulo 16, a number's value. A constant that a test replaces is none of these: ``inspect.unwrap`` it there.

    Whatever is not seen to be like this goes the launcher's own way: launches on a CPU, on another than the current
    GPU, of other tensors than those given, of none at all. What it refuses it refuses each time, because only what ran
    is remembered.
    """
    known: dict[tuple[Any, ...], list[_Again]] = {}

    @functools.wraps(launcher)
    def call(*args: P.args, **options: P.kwargs) -> None:
        key: list[Any] = []
        addresses: list[int] = []
        device = -1
        values: tuple[Any, ...] = args
        if options:
            values = (*args, *options.values())
            key += options
        try:
            for value in values:
                if type(value) in _NUMBERS:
                    # Two zeros are equal, and NaN is not: as text a float is what it is.
                    key += (type(value), value.hex() if type(value) is float else value)
                    continue
                address = value.data_ptr()
                device = value.get_device()
                if device < 0:
                    break
                addresses.append(address)
                key += (value.dtype, value.shape, value.stride(), device, address % _ALIGNMENT)
        except AttributeError:
            device = -1
        if device < 0 or launch.watching or not (launch.single_gpu() or device == launch.current_device()):
            return launcher(*args, **options)
        kinds = tuple(key)
        found = known.get(kinds)
        if found is None:
            again = _observed(functools.partial(launcher, *args, **options), values, device)
            if again:
                if len(known) >= MOST:
                    known.clear()
                known[kinds] = again
            return None
        stream = stream_handle(device)
        for kernel, grid, block, shared_bytes, numbers, order in found:
            given: Sequence[int | float] = (*addresses, *numbers)
            if order is not None:
                given = [given[place] for place in order]
            kernel.launch(grid, block, given, shared_bytes, stream)
        return None

    return call


def _observed(call: Callable[[], None], values: Sequence[Any], device: int) -> list[_Again]:
    """``call``, and what repeats its launches; nothing if that is not known."""
    with launch.observing() as launches:
        call()
    tensors = [id(value) for value in values if type(value) not in _NUMBERS]
    if len(set(tensors)) < len(tensors):
        return []  # of a tensor that is given twice, it is not known which one went where
    found = [_again(each, tensors, device) for each in launches]
    return [each for each in found if each] if all(found) else []


def _again(launched: launch.Launched, tensors: Sequence[int], device: int) -> _Again | None:
    """What repeats a launch with the addresses of ``tensors``; ``None`` where it had other arguments, too, or was made
    elsewhere than on ``device``."""
    kernel = launched.kernel
    if kernel is None or kernel.index != device:
        return None
    numbers: list[int | float] = []
    order: list[int] = []
    for value in launched.args:
        if type(value) in _NUMBERS:
            order.append(len(tensors) + len(numbers))
            numbers.append(value)
        elif id(value) in tensors:
            order.append(tensors.index(id(value)))
        else:
            return None
    in_turn = order == list(range(len(tensors) + len(numbers)))
    return _Again(
        kernel,
        launched.grid,
        launched.block,
        launched.shared_bytes,
        tuple(numbers),
        None if in_turn else tuple(order),
    )
