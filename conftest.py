"""Wiring of this repository only: the plugin comes from the source tree where it is not installed."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytest_roofline.plugin"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The plugin's own tests hold no benchmark: a benchmark run deselects them instead of listing them as skipped."""
    if config.getoption("benchmark_only", False):
        ours = config.rootpath / "tests"
        own = [item for item in items if ours in item.path.parents]
        config.hook.pytest_deselected(items=own)
        items[:] = [item for item in items if ours not in item.path.parents]
