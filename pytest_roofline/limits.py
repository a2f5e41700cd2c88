"""A time held against absolute limits: the datasheet's roof, the measured ceiling, the kernel's floor. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_roofline.verdict import Kind, Reason, Verdict

STALE = 0.03  # how much faster than a measured ceiling before the ceiling is called stale


@dataclass(frozen=True)
class Roof:
    """What the roofline says about a case, in seconds; ``None`` where nothing is known.

    ``datasheet`` is the bound under published rates, ``ceiling`` under measured ones, ``floor`` the smallest
    acceptable share of the datasheet bound with the reason for its value.
    """

    datasheet: float | None = None
    ceiling: float | None = None
    floor: float | None = None
    floor_reason: str = ""


def hold_against_roof(seconds: float, roof: Roof) -> list[Verdict]:
    """What the roofline finds wrong with a time; empty if nothing."""
    if not 0 < seconds < math.inf:
        return [Verdict(Kind.INVALID, Reason.NO_TIME, f"{seconds} seconds is no time: the measurement failed")]
    found = []
    if roof.datasheet is not None and seconds < roof.datasheet:
        found.append(
            Verdict(
                Kind.IMPOSSIBLE,
                Reason.ABOVE_ROOF,
                f"{roof.datasheet / seconds:.2f} of the datasheet bound: the kernel does less than it claims, or its "
                "data came from a cache",
            )
        )
    elif roof.ceiling is not None and seconds * (1 + STALE) < roof.ceiling:
        found.append(
            Verdict(
                Kind.STALE_CEILING,
                Reason.ABOVE_CEILING,
                f"{roof.ceiling / seconds:.2f} of the measured ceiling: renew it (--roofline-ceilings=measure)",
            )
        )
    if roof.floor is not None and roof.datasheet is not None and roof.datasheet / seconds < roof.floor:
        share = roof.datasheet / seconds
        found.append(
            Verdict(
                Kind.BELOW_FLOOR,
                Reason.UNDER_FLOOR,
                f"{100 * share:.1f} % of the bound, its floor is {100 * roof.floor:.0f} % ({roof.floor_reason})",
            )
        )
    return found
