"""A folder of baselines with something in it."""

import pytest

from pytest_roofline.baselines import Baseline, Store
from tests.baselines.made import CASE, HERE, RUN


@pytest.fixture
def store(tmp_path):
    """A store with one measured case."""
    store = Store(tmp_path)
    store.save(Baseline("h200", "sum", {"2026-11-30.abcdef12": HERE}, {CASE: {"2026-11-30.abcdef12": RUN}}))
    return store
