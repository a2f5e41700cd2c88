"""Wiring of this repository only: the plugin comes from the source tree where it is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytest_roofline.plugin"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The plugin's own tests hold no benchmark: a benchmark run does not even load them.

    Asked about what lies below their folder: the folder itself pytest takes from ``testpaths`` without asking.
    """
    own = config.rootpath / "tests"
    return True if config.getoption("benchmark_only", False) and own in collection_path.parents else None
