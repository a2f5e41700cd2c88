"""What tests of the HTML page share: one browser, and a page in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_roofline.reports.html import render
from pytest_roofline.reports.series import Series
from pytest_roofline.runs.record import RunRecord
from tests.reports import browser
from tests.reports.pages import history, sample


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    """One browser for all tests of this file."""
    with browser.open_browser() as opened:
        yield opened


@pytest.fixture
def opened(driver: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open the page of a run at a view; at the end no message of the console may be left."""

    def show(run: RunRecord | None = None, view: str = "", series: Series | None = None) -> Any:
        run = run or sample()
        path = tmp_path / "report.html"
        path.write_text(render(run, series or history(run)), encoding="utf-8")
        driver.get("about:blank")
        driver.get(path.as_uri() + view)
        return driver

    driver.get_log("browser")
    yield show
    assert [entry["message"] for entry in driver.get_log("browser")] == []
