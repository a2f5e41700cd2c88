"""A headless Chromium for the tests of the HTML report; a skip with a reason where there is none."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

BROWSERS = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser")
# As root and without a display; nothing may go to a network, and nothing is left behind.
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)


def missing() -> str | None:
    """Why there is no browser to test with; ``None`` if there is one."""
    try:
        import selenium  # noqa: F401
    except ModuleNotFoundError:
        return "Selenium is not installed: pip install 'pytest-roofline[dev]' brings it"
    if not any(map(shutil.which, BROWSERS)):
        return f"no browser: install one of {', '.join(BROWSERS)} (apt-get install chromium chromium-driver)"
    if shutil.which("chromedriver") is None:
        return "chromedriver is not on PATH: apt-get install chromium-driver"
    return None


@contextlib.contextmanager
def open_browser(*options: str, width: int = 1360, height: int = 1000) -> Iterator[Any]:
    """A WebDriver with a profile of its own, closed at the end; its log has every message of the console."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    settings = ChromeOptions()
    settings.binary_location = next(filter(None, map(shutil.which, BROWSERS)))
    settings.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        for option in (*OPTIONS, *options, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            settings.add_argument(option)
        driver = Chrome(options=settings, service=Service(shutil.which("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()
