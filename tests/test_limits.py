"""A time against the roof, the measured ceiling and the floor."""

import math

import pytest

from pytest_roofline.limits import Roof, hold_against_roof
from pytest_roofline.verdict import Kind, Reason


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_time_is_invalid(seconds):
    """A failed measurement is neither impossible nor fine."""
    (found,) = hold_against_roof(seconds, Roof(datasheet=1.0, ceiling=1.1, floor=0.5))
    assert (found.kind, found.reason, found.fails()) == (Kind.INVALID, Reason.NO_TIME, True)


@pytest.mark.parametrize(
    ("seconds", "roof", "kinds"),
    [
        (0.9, Roof(datasheet=1.0), [Kind.IMPOSSIBLE]),
        (0.9, Roof(datasheet=1.0, ceiling=1.2), [Kind.IMPOSSIBLE]),
        (1.1, Roof(datasheet=1.0, ceiling=1.2), [Kind.STALE_CEILING]),
        (1.19, Roof(datasheet=1.0, ceiling=1.2), []),
        (2.0, Roof(datasheet=1.0, floor=0.6, floor_reason="r"), [Kind.BELOW_FLOOR]),
        (1.5, Roof(datasheet=1.0, floor=0.6, floor_reason="r"), []),
        (2.0, Roof(floor=0.6), []),
        (1e-9, Roof(), []),
    ],
)
def test_a_time_against_the_roof(seconds, roof, kinds):
    """Above the datasheet is impossible, above a measured ceiling makes that stale, below the floor is too slow."""
    assert [v.kind for v in hold_against_roof(seconds, roof)] == kinds


def test_the_floor_is_told_with_its_reason():
    """Who reads the failure learns where the floor comes from."""
    (found,) = hold_against_roof(2.0, Roof(datasheet=1.0, floor=0.6, floor_reason="0.7 was measured"))
    assert found.sentence == "50.0 % of the bound, its floor is 60 % (0.7 was measured)"
