"""Every kernel computes what its operation says: on shapes that hypothesis draws, and on the listed ones."""

import pytest


@pytest.mark.roofline("drawn")
def test_drawn_shapes(roofline_case, roofline_check):
    """On any shape, layout and value class a kernel agrees with its float64 reference and stays inside its buffers."""
    roofline_check(roofline_case)


@pytest.mark.roofline("listed")
def test_listed_shapes(roofline_case, roofline_check):
    """The shapes that are counted (and, on a GPU, timed) are computed right."""
    roofline_check(roofline_case)
