"""Which GPUs can run code of an architecture. Pure.

``sm_90`` runs on compute capability 9.0 and later; ``sm_90a``, architecture-specific code, on 9.0 alone (CUDA C++
programming guide, "Feature Availability").
"""

from __future__ import annotations

import re

CAPABILITY = re.compile(r"sm_(?P<major>\d+)(?P<minor>\d)(?P<exact>a?)")


def runs_on(wanted: str, here: tuple[int, int]) -> bool:
    """Whether a GPU of compute capability ``here`` runs what ``wanted`` names. Raises ``ValueError`` for no name."""
    match = CAPABILITY.fullmatch(wanted)
    if match is None:
        raise ValueError(f"{wanted!r} is no architecture such as sm_90 or sm_90a")
    needed = (int(match["major"]), int(match["minor"]))
    return here == needed if match["exact"] else here >= needed


def lacking(wanted: str, here: tuple[int, int] | None) -> str:
    """Why a machine cannot run what needs ``wanted``; empty if it can. ``None`` stands for a CPU."""
    if not wanted:
        return ""
    if here is None:
        return f"needs a GPU of {wanted}: its instructions have no model on a CPU"
    return "" if runs_on(wanted, here) else f"needs a GPU of {wanted}, and this one is sm_{here[0]}{here[1]}"
