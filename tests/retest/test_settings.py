"""The options of the retest."""

import pytest

from pytest_roofline.retest.settings import Settings


def test_the_last_pattern_that_matches_counts():
    """Later ones refine earlier ones; ids without a match are left alone."""
    settings = Settings(slow=(("copy/*", 0.01), ("copy/cuda/*", 0.05)))
    assert settings.slowdown("copy/triton/scalar/f32/8") == 0.01
    assert settings.slowdown("copy/cuda/scalar/f32/8") == 0.05
    assert settings.slowdown("sum/cuda/scalar/f32/8") == 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--roofline-against=HEAD",), "it needs --benchmark-only"),
        (("--roofline-calibrate",), "it needs --benchmark-only"),
        (("--roofline-slow=x=1",), "it needs --benchmark-only"),
        (("--benchmark-only", "--roofline-slow=copy"), "is not PATTERN=PERCENT"),
        (("--benchmark-only", "--roofline-slow=copy="), "is not PATTERN=PERCENT"),
        (("--benchmark-only", "--roofline-slow==2"), "is not PATTERN=PERCENT"),
        (("--benchmark-only", "--roofline-slow=copy=-1"), "is not PATTERN=PERCENT"),
        (("--benchmark-only", "--roofline-slow=copy=nan"), "is not PATTERN=PERCENT"),
        (("--benchmark-only", "--roofline-calibrate=1"), "takes 2 to 64 processes"),
        (("--benchmark-only", "--roofline-processes=3"), "it needs --roofline-update"),
        (("--benchmark-only", "--roofline-update", "--roofline-processes=2"), "takes an odd number"),
        (("--benchmark-only", "--roofline-update", "--roofline-processes=-1"), "takes an odd number"),
        (("--benchmark-only", "--roofline-calibrate", "--roofline-slow=x=1"), "leave --roofline-calibrate out"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(project, arguments, words):
    """Exit code 4 and what to do instead."""
    found = project().runpytest_inprocess(*arguments)
    assert found.ret == 4
    found.stderr.fnmatch_lines([f"*{words}*"])
