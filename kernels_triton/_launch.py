"""Launch a Triton kernel by the way that an equal launch has gone before.

``kernel[grid](...)`` works out at every launch which compiled version the arguments take, which costs the host more
than a short kernel costs the device. Here the version is remembered by what Triton specialises on.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
from triton.compiler import CompiledKernel

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
    active, hooks = triton.runtime.driver.active, triton.knobs.runtime
    stream = active.get_current_stream(key[0])
    values = (*args, *constants)
    compiled.run(
        *grid,
        *(1, 1)[len(grid) - 1 :],
        stream,
        compiled.function,
        compiled.packed_metadata,
        compiled.launch_metadata(grid, stream, *values),
        hooks.launch_enter_hook,
        hooks.launch_exit_hook,
        *values,
    )
    return None


def _first(kernel: Any, grid: Grid, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Triton's own launch, and its version remembered if it ran on a device."""
    compiled = kernel[grid](*args, **options)
    if not isinstance(compiled, CompiledKernel) or not compiled.function:
        return  # interpreted, or compiled without a device
    names = kernel.arg_names[len(args) :]
    key = _key(args, options)
    if key and all(name in options for name in names):
        versions = _known.setdefault(id(kernel), (kernel, {}))[1]
        versions[key] = compiled, tuple(options[name] for name in names)


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
