"""Pictures of a report for the documentation; needs Selenium, Chromium and Pillow.

pytest-roofline report run.json --history=.roofline/history -o report.html
python benchmarks/report_pictures.py report.html docs/reports --case=transpose/cuda/shared/f32/4096x4096
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from urllib.parse import quote

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.reports.browser import open_browser  # noqa: E402

WIDTH = 1360
FRAME = 143  # of the window, above the page


def main() -> None:
    """One picture of each view, as high as what it is about."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--case", required=True, help="whose page is shown")
    parser.add_argument("--history", help="whose history is shown; default: the largest change")
    options = parser.parse_args()
    history = f"#/history/{quote(options.history, safe='')}" if options.history else "#/history"
    views = {
        "overview": ("#/", 1000),
        "roofline": ("#/roofline", 900),
        "kernel": (f"#/case/{quote(options.case, safe='')}", 1450),
        "history": (history, 760),
    }
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, (place, height) in views.items():
        with open_browser(width=WIDTH, height=height + FRAME) as browser:
            browser.get(options.report.resolve().as_uri() + place)
            path = options.folder / f"{name}.png"
            browser.save_screenshot(str(path))
        with Image.open(path) as picture:
            # 256 colours hold these pages in a third of the bytes, if the rare ones (marks) are chosen as well.
            reduced = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        reduced.save(path, optimize=True)
        print(f"{path}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
