"""Which line of a kernel is being executed, and tracebacks that end there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType

_HERE = str(Path(__file__).parent) + os.sep


@cache
def _foreign() -> tuple[str, ...]:
    import triton

    return _HERE, str(Path(triton.__file__).parent) + os.sep


def _is_users(frame: FrameType) -> bool:
    """Neither Triton's (its library functions run as Python, too) nor this package's."""
    return not frame.f_code.co_filename.startswith(_foreign())


def current_statement() -> tuple[str, int]:
    """File and line of the innermost frame of user code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_users(frame):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("<unknown>", 0)


def only_user_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the interpreter's and the checker's frames, so that it ends at the kernel statement."""
    kept: TracebackType | None = None
    for entry in reversed(list(_entries(traceback))):
        if _is_users(entry.tb_frame):
            kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def _entries(traceback: TracebackType | None) -> Iterable[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next
