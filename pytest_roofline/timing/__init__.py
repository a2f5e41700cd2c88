"""Honest times on a GPU: held stream, CUDA graphs over rotated buffers, clocks and throttling on record.

What a time means here is said in ``docs/timing.md``. Importing this package loads neither torch nor CuPy.
"""

from pytest_roofline.timing.environment import environment
from pytest_roofline.timing.errors import AllocatedWhileTimed, HoldExpired, NotCapturable, Throttled, TimingUnavailable
from pytest_roofline.timing.opening import close_sessions, open_session
from pytest_roofline.timing.session import Session

__all__ = [
    "AllocatedWhileTimed",
    "HoldExpired",
    "NotCapturable",
    "Session",
    "Throttled",
    "TimingUnavailable",
    "close_sessions",
    "environment",
    "open_session",
]
