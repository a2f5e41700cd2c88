"""What a reader asks of the HTML report after its first line, and can see in any window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_roofline.counting.counts import Access, CaseCounts, Launch, to_plain
from pytest_roofline.reports.series import Series
from pytest_roofline.runs.record import COUNTED, Bound, CountedFigures
from tests.reports import browser
from tests.reports.pages import ATOMIC, all_text, case_view, go, sample, settle, text
from tests.runs.made import made_case, made_run

pytestmark = pytest.mark.skipif(browser.missing() is not None, reason=str(browser.missing()))

Opened = Callable[..., Any]

DASH = "\N{EN DASH}"  # what is not known


def run_of(**kinds: str):
    """A run with a case per verdict, 1 % slower than its baseline each."""
    cases = tuple(
        made_case(f"copy/cuda/{name}/f32/{8 + at}", 2e-5, kind) for at, (name, kind) in enumerate(kinds.items())
    )
    return replace(made_run({}), cases=cases)


def test_whether_a_kernel_regressed_is_said_in_a_sentence(opened: Opened):
    """Also that none did, and of how many it cannot be told."""
    driver = opened(run_of(a="regression", b="same"), series=Series())
    assert "1 regressed, of 2 cases compared with stored runs." in text(driver)
    driver = opened(run_of(a="unresolved", b="same", c="same"), series=Series())
    assert "No kernel regressed, of 3 cases compared with stored runs. Of 1 it cannot be told" in text(driver)
    driver = opened(run_of(a="same"), series=Series())
    assert "No kernel regressed, of 1 cases" in text(driver)
    bare = replace(run_of(a="new").cases[0], verdict=None)
    assert "Nothing was compared" in text(opened(replace(made_run({}), cases=(bare,)), series=Series()))


def test_the_largest_slowdown_is_looked_at_first(opened: Opened):
    """Of equally severe verdicts; names say nothing about it."""
    first, second = run_of(a="unresolved", b="unresolved").cases
    assert second.verdict is not None
    worse = replace(second, verdict=replace(second.verdict, ratio=1.2, low=0.9, high=1.5))
    shown = all_text(opened(replace(made_run({}), cases=(first, worse)), series=Series()), ".verdicts a")
    assert shown == ["copy/cuda/b/f32/9", "copy/cuda/a/f32/8"]


def test_of_a_traceback_the_overview_has_the_last_line(opened: Opened):
    """What happened; the frames stand on the kernel's page."""
    detail = 'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 7'
    failed = replace(made_case("copy/cuda/a/f32/8", 1e-5), outcome="error", detail=detail, verdict=None, times=None)
    driver = opened(replace(made_run({}), cases=(failed,)), series=Series())
    [shown] = all_text(driver, ".verdicts li")
    assert "error" in shown
    assert "KeyError: 7" in shown
    assert "a.py" not in shown


def test_what_shared_memory_limits_has_operations_per_second(opened: Opened):
    """As in the terminal: its bytes of device memory would say nothing. Sorted, arithmetic stands before bytes."""
    case = made_case("matmul/cuda/tiled/f32/8x8x8", 4e-6)
    elsewhere = replace(case, bounds={"algorithm": Bound(1e-6, "shared", "memory")})
    cases = (made_case("copy/cuda/plain/f32/8", 1e-5), elsewhere)
    driver = opened(replace(made_run({}), cases=cases), series=Series())
    rates = "tbody tr td:nth-child(3)"
    assert sorted(all_text(driver, rates)) == ["1.5 TFLOP/s", "4.8 TB/s"]
    driver.find_element("xpath", "//th//button[starts-with(., 'Rate')]").click()
    settle(driver)
    assert all_text(driver, rates) == ["1.5 TFLOP/s", "4.8 TB/s"]


def counted_case(**changes: Any):
    """A kernel of which 2 requests loaded 64 sectors, with 3 passes of shared memory where 1 would do."""
    accesses = (Access("global load", 4, 2, 64, 64, 8), Access("shared load", 4, 1, 32, 0, 0, 3, 1))
    plain = to_plain(CaseCounts((Launch("sum_atomic", accesses, {}, 4096, 4),)), places=False)
    kernel = {"key": "k", "compiler": "nvrtc 13.0", "registers": 40, "spills": 8, "occupancy": 1.0}
    figures = CountedFigures("sm_80", "sum/cuda/atomic/f32/1024", plain, (kernel,))
    return replace(made_case(ATOMIC, 7e-3), counted=figures, **changes)


def test_a_counted_run_lists_its_counts_in_place_of_times(opened: Opened):
    """Without a GPU they are what a reader compares."""
    untimed = {"times": None, "fraction": None, "bytes_per_second": None, "operations_per_second": None}
    run = replace(made_run({}), kind=COUNTED, environment=None, ceilings=None, cases=(counted_case(**untimed),))
    driver = opened(run, series=Series())
    assert all_text(driver, "thead th")[1:6] == [
        "Sectors per load",
        "Sectors per store",
        "Bank conflicts",
        "Registers",
        "Spilled B",
    ]
    assert all_text(driver, "tbody td")[:5] == ["32", DASH, "2", "40", "8"]
    assert "1 operation counted for" in text(driver)


def test_counts_for_an_a100_stand_beside_the_counters_of_this_device(opened: Opened):
    """Its page shows what was counted for sm_80, also where Nsight Compute counted the same on the card at hand."""
    counters = {"load_sectors_per_request": 16.0, "shared_conflicts": 7.0}
    driver = opened(replace(made_run({}), cases=(counted_case(ncu=counters),)), view="#/devices", series=Series())
    row = driver.find_element("css selector", "[aria-label='Counted for an A100'] tbody tr").text
    assert f"100.0 % 32 {DASH} 2 1024" in " ".join(row.split())


@pytest.mark.parametrize("width", [400, 640, 1280])
def test_every_view_can_be_chosen_in_any_window(opened: Opened, width: int):
    """No link of the navigation is cut off or scrolled away, and the page itself is no wider than the window."""
    driver = opened()
    size = driver.get_window_size()
    try:
        driver.set_window_size(width, 900)
        settle(driver)
        inside = "return [...document.querySelectorAll('.top nav a')].map(a => a.getBoundingClientRect())"
        boxes = driver.execute_script(f"{inside}.map(b => b.left >= 0 && b.right <= innerWidth && b.width > 0)")
        assert boxes == [True] * 6
        assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    finally:
        driver.set_window_size(size["width"], size["height"])


def test_plots_stay_readable_in_a_narrow_window(opened: Opened):
    """They are scrolled, not shrunk to a letter height of three pixels."""
    driver = opened(view=case_view(ATOMIC))
    size = driver.get_window_size()
    try:
        driver.set_window_size(400, 900)
        for view in ("#/", "#/roofline", "#/history", case_view(ATOMIC)):
            go(driver, view)
            letter = "return Math.min(...[...document.querySelectorAll('.plot text')].map("
            letter += "t => [parseFloat(getComputedStyle(t).fontSize), t.getScreenCTM()]).map("
            letter += "([size, m]) => size * Math.hypot(m.a, m.b)))"
            assert driver.execute_script(letter) >= 7, view
            assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), view
    finally:
        driver.set_window_size(size["width"], size["height"])


def test_many_counters_do_not_push_a_verdict_out_of_sight(opened: Opened):
    """In a window of 1280 pixels a ladder is not wider than its place."""
    counters = {
        "load_sectors_per_request": 16.5,
        "shared_conflicts": 25918.0,
        "registers": 255.0,
        "local_requests": 9.0,
    }
    run = sample()
    long = replace(run.cases[0], id="sum/cuda/shared_32_transposed_padded/f32/4194304", ncu=counters)
    driver = opened(replace(run, cases=(long, *run.cases)), view="#/kernels")
    size = driver.get_window_size()
    try:
        driver.set_window_size(1280, 900)
        settle(driver)
        wide = "return [...document.querySelectorAll('.scroller')].filter(e => e.scrollWidth > e.clientWidth).length"
        assert driver.execute_script(wide) == 0
    finally:
        driver.set_window_size(size["width"], size["height"])


def test_links_of_a_text_stay_links_under_the_pointer(opened: Opened):
    """Only those of the navigation lose their line: a style for the one once caught all."""
    driver = opened(view=case_view(ATOMIC))
    rules = "return [...document.styleSheets].flatMap(s => [...s.cssRules]).map(r => r.selectorText || '')"
    selectors = driver.execute_script(rules)
    assert selectors.count("a:hover") == 1
    assert ".top nav a:hover" in selectors
