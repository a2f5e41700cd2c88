"""Compilers and NVIDIA's own tools, which the tests hold against what the package reads."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_ROOFLINE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def nvdisasm():
    """The disassembler of a wheel or a toolkit."""
    return _tool("nvdisasm")


@pytest.fixture(scope="session")
def cuobjdump():
    """Reads resource usage out of a cubin."""
    return _tool("cuobjdump")


def _tool(name):
    spec = importlib.util.find_spec("triton")
    bundled = Path(spec.origin).parent / "backends" / "nvidia" / "bin" / name if spec else Path(name)
    found = str(bundled) if bundled.is_file() else shutil.which(name)
    return found or pytest.skip(f"{name} is not installed")
