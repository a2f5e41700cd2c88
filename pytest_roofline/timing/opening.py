"""The sessions of this process, one per GPU: opened where something can be timed, closed before the libraries go."""

from __future__ import annotations

import gc

from pytest_roofline.timing.cupti import detach
from pytest_roofline.timing.errors import TimingUnavailable
from pytest_roofline.timing.session import Session

_HOW_TO_INSTALL = "pip install 'pytest-roofline[cuda13]' (cuda12 for older drivers)"
_open: dict[int, Session] = {}


def open_session() -> Session:
    """The session of this process and current GPU. Raises :class:`TimingUnavailable` with the reason."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise TimingUnavailable(f"torch is not installed: {_HOW_TO_INSTALL}") from error
    if not torch.cuda.is_available():
        raise TimingUnavailable("torch finds no GPU here, so nothing can be timed")
    try:
        import cupy  # noqa: F401
    except ModuleNotFoundError as error:
        raise TimingUnavailable(f"the timing kernels need CuPy: {_HOW_TO_INSTALL}") from error
    device = torch.cuda.current_device()
    if device not in _open:
        _open[device] = Session()
    return _open[device]


def close_sessions() -> None:
    """Give back everything on the GPU while the libraries that own it are still whole, and take CUPTI out of the
    process (:func:`cupti.detach` says what happens otherwise)."""
    if not _open:
        return
    import torch

    torch.cuda.synchronize()
    _open.clear()
    gc.collect()
    torch.cuda.empty_cache()
    detach()
