"""Every case is checked; ``pytest --benchmark-only`` on a GPU then times, bounds and compares it."""

import pytest


@pytest.mark.roofline("timed")
def test_benchmark(roofline_case, roofline_benchmark):
    """The case is right and, on a GPU under --benchmark-only, neither slower than its baseline nor off its roofline."""
    roofline_benchmark(roofline_case)
