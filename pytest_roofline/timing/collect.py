"""Take samples while the GPU runs undisturbed; discard and retake those taken while it throttled. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_roofline.timing.errors import Throttled

CHUNK = 10  # samples between two looks at the GPU's state
RETRIES = 3
BACK_OFF_SECONDS = 0.05
BACK_OFF_FACTOR = 4


@dataclass(frozen=True)
class Collected:
    """Good samples, and how many were thrown away for which reasons."""

    samples: tuple[float, ...]
    discarded: int
    reasons: tuple[str, ...]


def collect(
    take: Callable[[], float],
    wanted: int,
    disqualifying: Callable[[], tuple[str, ...]],
    *,
    most: int = 0,
    enough: Callable[[Sequence[float]], bool] = lambda samples: True,
    sleep: Callable[[float], None] = time.sleep,
) -> Collected:
    """``wanted`` samples from ``take``, and up to ``most`` as long as they are not ``enough``. ``disqualifying`` says
    why samples taken now say nothing (empty: they do).

    A chunk after which it gives reasons is discarded; after a pause it is taken again. Raises :class:`Throttled` with
    everything measured when that has not helped ``RETRIES`` times in a row.
    """
    good: list[float] = []
    bad: list[float] = []
    seen: dict[str, None] = {}
    retries = 0
    while len(good) < wanted or (len(good) < most and not enough(good)):
        left = (wanted if len(good) < wanted else most) - len(good)
        chunk = [take() for _ in range(min(CHUNK, left))]
        reasons = disqualifying()
        if not reasons:
            good += chunk
            retries = 0
            continue
        bad += chunk
        seen.update(dict.fromkeys(reasons))
        if retries == RETRIES:
            raise Throttled(
                f"the GPU throttled ({', '.join(seen)}) and {RETRIES} pauses did not help",
                (*good, *bad),
                tuple(seen),
            )
        sleep(BACK_OFF_SECONDS * BACK_OFF_FACTOR**retries)
        retries += 1
    return Collected(tuple(good), len(bad), tuple(seen))
