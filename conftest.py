"""Wiring of this repository only: the plugin comes from the source tree where it is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytest_roofline.plugin"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The plugin's own tests hold no benchmark and no case: a run of those does not even load them.

    Asked about what lies below their folder: the folder itself pytest takes from ``testpaths`` without asking.
    """
    own = config.rootpath / "tests"
    unwanted = config.getoption("benchmark_only", False) or config.getoption("roofline_case", [])
    return True if unwanted and own in collection_path.parents else None
