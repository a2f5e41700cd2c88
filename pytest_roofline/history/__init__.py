"""The history of runs: a store of immutable files, and what can be asked of it.

The modules here need the extra ``pytest-roofline[history]``; :func:`require` says so where it is missing.
"""

from __future__ import annotations

import importlib
from types import ModuleType


class HistoryError(ValueError):
    """A question that cannot be answered, or a store that cannot be used; the message says what to do."""


def require(module: str) -> ModuleType:
    """Import a package of the extra. Raises :class:`HistoryError` that says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise HistoryError(f"{module} is not installed: pip install 'pytest-roofline[history]' brings it") from error
