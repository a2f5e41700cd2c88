"""What a checker finds: a kind, the place in the kernel's source, and a sentence."""

from __future__ import annotations

import enum
import sys
from pathlib import Path


class Finding(enum.Enum):
    """Kinds of faults."""

    OUT_OF_BOUNDS = "out of bounds"
    VIEW_GAP = "outside the view"
    MISALIGNED = "misaligned"
    RACE = "race"
    DUPLICATE_STORE = "several lanes store one element"
    FALSE_HINT = "false hint"
    GRID_LIMIT = "grid limit"


class KernelFault(RuntimeError):  # noqa: N818  (the established word for what a sanitizer reports)
    """A kernel does what it must not do. ``program`` is the program id, ``file`` and ``line`` the kernel statement."""

    def __init__(self, kind: Finding, message: str, kernel: str, program: tuple[int, int, int]) -> None:
        self.kind = kind
        self.kernel = kernel
        self.program = program
        self.file, self.line = _kernel_line()
        super().__init__(f"{self.file}:{self.line}: {kind.value}: {message} (kernel {kernel}, program {program})")


def _kernel_line() -> tuple[str, int]:
    """The innermost frame that belongs neither to Triton nor to this package: the kernel statement."""
    here = str(Path(__file__).parent)
    frame = sys._getframe(2)
    while frame.f_back is not None:
        name = frame.f_code.co_filename
        if not name.startswith(here) and "triton/" not in name.replace("\\", "/").replace("triton_cpu/", ""):
            break
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
