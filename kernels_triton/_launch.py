"""Launch a Triton kernel by the way that an equal launch has gone before.

``kernel[grid](...)`` works out at every launch which compiled version the arguments take, which costs the host more
than a short kernel costs the device. Here the version is remembered by what Triton specialises on. Under a launcher
that is :func:`remembered.remembered`, not even that is asked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import triton
from triton.compiler import CompiledKernel

from pytest_roofline.driver import Extents
from pytest_roofline.launch import observed, watching

Grid = tuple[int, ...]

_ALIGNMENT = 16  # bytes of a pointer, or a divisor of a number, that Triton compiles another version for
_I32, _I64 = 1 << 31, 1 << 63

# By the kernel's identity; each entry holds its kernel, so that no other one can take that identity.
_known: dict[int, tuple[Any, dict[tuple[Any, ...], tuple[Any, tuple[Any, ...]]]]] = {}


def launch(kernel: Any, grid: Grid, *args: Any, **options: Any) -> None:
    """``kernel[grid](*args, **options)``: ``options`` are the compile-time arguments and ``num_warps``.

    Arguments other than tensors and numbers, the interpreter and kernels with hooks go Triton's own way.
    """
    found = _known.get(id(kernel))
    if found is None:
        return _first(kernel, grid, args, options)
    key = _key(args, options)
    version = found[1].get(key) if key else None
    if version is None or kernel.pre_run_hooks:
        return _first(kernel, grid, args, options)
    compiled, constants = version
    stream = triton.runtime.driver.active.get_current_stream(key[0])
    _run(compiled, grid, stream, (*args, *constants), (*args, *constants))
    _observed(compiled, constants, key[0], grid, args)
    return None


def _run(compiled: Any, grid: Grid, stream: int, values: tuple[Any, ...], told: tuple[Any, ...]) -> None:
    """Launch what Triton compiled with ``values``; whoever looks at launches sees ``told`` in their place."""
    hooks = triton.knobs.runtime
    compiled.run(
        *grid,
        *(1, 1)[len(grid) - 1 :],
        stream,
        compiled.function,
        compiled.packed_metadata,
        compiled.launch_metadata(grid, stream, *told),
        hooks.launch_enter_hook,
        hooks.launch_exit_hook,
        *values,
    )


@dataclass(frozen=True)
class _Repeat:
    """A launch to be made again with addresses for its tensors, which Triton need not ask the driver about then."""

    compiled: Any
    constants: tuple[Any, ...]
    index: int  # of the GPU
    own_grid: Grid
    told: tuple[Any, ...]

    def launch(self, grid: Extents, block: Extents, values: Sequence[Any], shared_bytes: int, stream: int) -> None:
        """As :class:`driver.LoadedKernel` does; extents and shared memory are the version's own."""
        _run(self.compiled, self.own_grid, stream, (*values, *self.constants), self.told)


def _observed(compiled: Any, constants: tuple[Any, ...], index: int, grid: Grid, args: tuple[Any, ...]) -> None:
    """Tell who remembers launches of one; those of tensors elsewhere than on GPU ``index`` are Triton's to check."""
    if not watching:
        return
    here = all(value.get_device() == index for value in args if isinstance(value, torch.Tensor))
    told = (*(None if isinstance(value, torch.Tensor) else value for value in args), *constants)
    observed(_Repeat(compiled, constants, index, grid, told) if here else None, (1, 1, 1), (1, 1, 1), args)


def _first(kernel: Any, grid: Grid, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Triton's own launch, and its version remembered if it ran on a device."""
    compiled = kernel[grid](*args, **options)
    if not isinstance(compiled, CompiledKernel) or not compiled.function:
        observed(None, (1, 1, 1), (1, 1, 1), args)
        return  # interpreted, or compiled without a device
    names = kernel.arg_names[len(args) :]
    key = _key(args, options)
    if key and all(name in options for name in names) and not kernel.pre_run_hooks:
        versions = _known.setdefault(id(kernel), (kernel, {}))[1]
        versions[key] = compiled, tuple(options[name] for name in names)
        _observed(*versions[key], key[0], grid, args)
    else:
        observed(None, (1, 1, 1), (1, 1, 1), args)


def _key(args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """The current device and all that decides which version a launch takes; empty if that is not known here."""
    key: list[Any] = [triton.runtime.driver.active.get_current_device()]
    for value in args:
        kind = type(value)
        if kind is torch.Tensor:
            key.append(value.dtype)
            key.append(value.data_ptr() % _ALIGNMENT == 0)
        elif kind is int:
            if not -_I64 <= value < _I64:
                return ()
            key.append("1" if value == 1 else (value % _ALIGNMENT == 0, -_I32 <= value < _I32))
        elif kind is float:
            key.append(kind)
        else:
            return ()
    return (*key, *options.items())
