"""The timing engine where there is a GPU; a skip with the reason where there is none."""

import pytest

from pytest_roofline.timing import TimingUnavailable, open_session


@pytest.fixture
def engine():
    """The session of this process and GPU."""
    try:
        return open_session()
    except TimingUnavailable as reason:
        pytest.skip(str(reason))
