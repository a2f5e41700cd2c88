"""What launchers ask of the shapes of their matrices, whatever language their kernels are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
