"""Which cases are measured again."""

import random

import pytest

from pytest_roofline.retest.choice import CONTROLS, controls, worth
from pytest_roofline.statistics import Change
from pytest_roofline.statistics.likeness import fit
from pytest_roofline.verdict import Kind, Reason, Verdict

LONG, SHORT = 1e-4, 2e-6


def verdict(kind, reason=Reason.SLOWER, ratio=1.02, excluded=0.03):
    """A verdict with a change."""
    suspect = kind not in (Kind.SAME, Kind.INFORMATION)
    return Verdict(kind, reason, "", Change(ratio, ratio - 0.01, ratio + 0.01, 0.02, excluded), 5, suspect)


@pytest.mark.parametrize(
    ("found", "alone", "old"),
    [
        (verdict(Kind.REGRESSION), True, True),
        (verdict(Kind.UNRESOLVED, Reason.BORDERLINE), True, True),
        (verdict(Kind.UNRESOLVED, Reason.BORDERLINE, 0.98), False, True),
        (verdict(Kind.UNRESOLVED, Reason.CLOCK), True, True),
        (verdict(Kind.UNRESOLVED, Reason.TOO_NOISY), False, True),
        (verdict(Kind.IMPROVEMENT, Reason.FASTER, 0.9), False, True),
        (verdict(Kind.ENVIRONMENT, Reason.FINGERPRINT), False, True),
        (verdict(Kind.SAME, Reason.WITHIN_SPREAD, 1.0, excluded=0.004), False, False),
        (verdict(Kind.SAME, Reason.WITHIN_SPREAD, 1.0, excluded=0.03), False, True),
        (verdict(Kind.SAME, Reason.WITHIN_SPREAD, 1.02, excluded=0.03), True, True),
        (verdict(Kind.SAME, Reason.WITHIN_SPREAD, 1.02, excluded=0.045), True, True),
        (verdict(Kind.SAME, Reason.WITHIN_SPREAD, 1.02, excluded=0.05), False, True),
        (verdict(Kind.SAME, Reason.SAME_CODE, 1.02, excluded=0.03), False, True),
        (verdict(Kind.UNRESOLVED, Reason.STRANGE, 1.05, excluded=0.06), False, True),
        (Verdict(Kind.NEW, Reason.NO_BASELINE, "", suspect=True), False, True),
        (verdict(Kind.INVALID, Reason.THROTTLED), False, False),
        (verdict(Kind.BELOW_FLOOR, Reason.UNDER_FLOOR), False, False),
        (verdict(Kind.IMPOSSIBLE, Reason.ABOVE_ROOF), False, False),
    ],
)
def test_what_a_retest_may_change(found, alone, old):
    """Without an old kernel what seems slower; beside one whatever the baseline has not cleared."""
    assert worth(found, LONG, "suspects", old=False) == alone
    assert worth(found, LONG, "suspects", old=True) == old
    assert not worth(found, LONG, "off", old=True)


def test_an_update_confirms_what_would_drop_campaigns():
    """An improvement that one process showed; not what is the same."""
    faster = verdict(Kind.IMPROVEMENT, Reason.FASTER, 0.8)
    assert worth(faster, LONG, "suspects", old=False, update=True)
    assert not worth(faster, LONG, "suspects", old=False)
    assert not worth(faster, LONG, "off", old=False, update=True)
    same = verdict(Kind.SAME, Reason.WITHIN_SPREAD, 0.999)
    assert not worth(same, LONG, "suspects", old=False, update=True)


def test_a_short_kernel_is_cleared_sooner():
    """5 % are to be found below 5 us, and 3 % have been excluded."""
    found = verdict(Kind.SAME, Reason.WITHIN_SPREAD, 1.0, excluded=0.03)
    assert worth(found, LONG, "suspects", old=True)
    assert not worth(found, SHORT, "suspects", old=True)
    assert worth(found, SHORT, "all", old=True)


def test_unchanged_kernels_are_the_first_controls():
    """Drawn at random; others fill up, and too few are none."""
    names = [f"case{i}" for i in range(100)]
    few, many = names[:10], names[:60]
    assert set(few) < set(controls(names, few, {}))
    assert len(controls(names, few, {})) == CONTROLS
    assert set(controls(names, many, {})) < set(many)
    assert controls(names, [], {}, random.Random(1)) != controls(names, [], {}, random.Random(2))
    assert controls(names[: CONTROLS - 1], names, {}) == []


def test_controls_are_what_most_campaigns_hold():
    """Four starts hold fifty kernels of a hundred: drawn from all, the controls would be too few of them to tell how
    far any of their campaigns is. Unchanged kernels come before them."""
    names = [f"case{i}" for i in range(100)]
    campaigns = [f"c{k}" for k in range(4)]
    values = {name: {c: random.Random(f"{name}{c}").gauss(0, 0.002) for c in campaigns} for name in names[:50]}
    known = fit(values, dict.fromkeys(values, 0.01))
    chosen = controls(names, [], values, random.Random(1))
    assert set(known.to(dict.fromkeys(chosen, 0.0))) == set(campaigns)
    drawn = controls(names, [], {}, random.Random(1))
    assert known.to(dict.fromkeys(drawn, 0.0)) == {}
    assert set(names[95:]) < set(controls(names, names[95:], values))
