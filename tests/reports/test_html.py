"""The HTML report in a real browser: what a reader sees, finds and reaches with the keyboard."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_roofline.reports import ReportUnavailableError
from pytest_roofline.reports.html import render
from pytest_roofline.reports.series import RunPoint, Series
from pytest_roofline.runs.record import (
    COUNTED,
    CaseRecord,
    Comparison,
    OperationFacts,
    PublishedFigure,
)
from tests.reports import browser
from tests.reports.pages import ATOMIC, NCU, TWO_STAGE, all_text, case_view, go, sample, settle, text
from tests.runs.made import made_case

pytestmark = pytest.mark.skipif(browser.missing() is not None, reason=str(browser.missing()))

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\"'&"


Opened = Callable[..., Any]

VIEWS = {
    "": "All cases",
    "#/roofline": "Roofline of NVIDIA H200",
    "#/kernels": "Kernels by operation",
    "#/kernels/sum": "what sum computes",
    "#/history": "6 runs from 2026-11-01",
    "#/devices": "No A100 was at hand",
    "#/environment": "Environment and provenance",
    case_view(ATOMIC): "Analysis in nine steps",
    case_view("sum/cuda/none/f32/1"): "No such case",
}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_can_be_opened_by_its_address(opened: Opened, view: str):
    """Each shows its heading, one h1, and no message in the console."""
    driver = opened(view=view)
    assert VIEWS[view] in text(driver)
    assert len(driver.find_elements("css selector", "h1")) == 1


def test_the_first_page_says_which_kernel_is_furthest_from_its_roof_and_why(opened: Opened):
    """Name, share, reason, and who does the same work faster, without a click."""
    shown = text(opened(), ".worst .answer")
    assert "0.14 %\nof its roof" in shown
    assert "sum/cuda/atomic" in shown
    assert "Why: Threads queue for the same address (global atomics per element: 1)" in shown
    assert "cuda/two_stage does the same work in 12 µs" in shown


def test_failures_come_first_and_are_told_in_words(opened: Opened):
    """A sign and a word beside the colour, and the verdict's sentence."""
    shown = text(opened(), ".columns > .card:last-child")
    assert shown.index("✕\nregression") < shown.index("▲\nunresolved")
    assert "regression, as made" in shown


def test_the_table_is_filtered_by_words_and_choices(opened: Opened):
    """Every word must occur in id, verdict or reason; the number left is announced."""
    driver = opened()
    search = driver.find_element("css selector", ".filters input[type=search]")
    search.send_keys("sum regression")
    assert all_text(driver, "tbody th") == [ATOMIC]
    assert text(driver, ".filters .count") == "1 of 4 cases"
    search.clear()
    search.send_keys("nothing like this")
    assert all_text(driver, "tbody th") == []


def test_the_table_is_sorted_with_the_keyboard_and_says_so(opened: Opened):
    """A header is a button; aria-sort follows, and pressing it again reverses the order."""
    driver = opened()
    header = driver.find_element("xpath", "//thead//button[starts-with(., 'Time')]")
    order = []
    for expected in ("ascending", "descending"):
        header.send_keys("\ue007")  # Enter
        assert header.find_element("xpath", "./..").get_attribute("aria-sort") == expected
        order.append(all_text(driver, "tbody th"))
    assert order[0] == [TWO_STAGE, "sum/torch/sum/f32/4194304", "copy/triton/plain/f32/4194304", ATOMIC]
    assert order[1] == order[0][::-1]
    assert len(driver.find_elements("css selector", "th[aria-sort=ascending], th[aria-sort=descending]")) == 1


def test_thousands_of_rows_cost_only_those_in_sight(opened: Opened):
    """The table knows how many there are, and scrolling shows the others."""
    cases = tuple(made_case(f"sum/cuda/kernel/f32/{i + 1}", 1e-5 + 1e-8 * i) for i in range(2000))
    driver = opened(replace(sample(), cases=cases), series=Series())
    assert driver.find_element("css selector", "table").get_attribute("aria-rowcount") == "2001"
    assert len(driver.find_elements("css selector", "tbody tr")) < 80
    driver.execute_script("const box = document.querySelector('.scroller'); box.scrollTop = box.scrollHeight")
    settle(driver)
    assert driver.find_elements("css selector", "tr[aria-rowindex='2001']")


@pytest.mark.parametrize(
    "hostile", [HOSTILE, "名前 имя اسم 🙂", "x" * 5000], ids=["markup", "scripts of the world", "long"]
)
def test_hostile_names_are_shown_as_text(opened: Opened, hostile: str):
    """Wherever a run holds text: ids, sentences, summaries, branches, packages, kernels, sources, titles."""
    case = f"sum/cuda/{hostile.replace('/', '')}/f32/7"
    run = sample()
    verdict = Comparison("all", "regression", hostile, hostile)
    published = (
        PublishedFigure("a100_pcie_40gb", hostile, 1.0, hostile, hostile, 1e-6, 0.1, hostile, hostile, hostile),
    )
    made = replace(run.cases[0], id=case, verdict=verdict, published=published, ncu={**NCU, "kernel": hostile})
    run = replace(
        run,
        cases=(made, *run.cases[1:]),
        operations={"sum": OperationFacts(hostile, hostile, (hostile,), {hostile: hostile})},
        toolchain={hostile: hostile},
        device=replace(run.device, name=hostile),
    )
    series = Series((RunPoint(hostile, hostile, hostile, hostile),) * 2, {case: (1e-3, 1e-3)})
    for view in ("", "#/roofline", "#/kernels", "#/history", "#/devices", "#/environment", case_view(case)):
        driver = opened(run, view, series)
        assert driver.execute_script("return window.hacked") is None
        assert not driver.find_elements("css selector", "main script, main img")
        width = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, f"{view or 'overview'} is {width} pixels too wide"
    assert hostile in driver.execute_script("return document.querySelector('main').textContent")


def test_nothing_comes_from_a_network(opened: Opened):
    """No resource is asked for, and the page forbids itself to."""
    driver = opened()
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    policy = driver.find_element("css selector", "meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert "default-src 'none'" in policy
    assert (
        driver.execute_async_script(
            "const done = arguments[0]; fetch('http://localhost:9/').then(() => done('sent'), () => done('refused'))"
        )
        == "refused"
    )
    driver.get_log("browser")  # the refusal was asked for


def test_a_point_of_the_roofline_is_reached_and_opened_with_the_keyboard(opened: Opened):
    """One tab stop for all marks, arrow keys between them, the case's figures as its name, Enter opens it."""
    driver = opened(view="#/roofline")
    marks = driver.find_elements("css selector", ".points a")
    assert [mark.get_attribute("tabindex") for mark in marks].count("0") == 1
    driver.execute_script("document.querySelector('.points a[tabindex=\"0\"]').focus()")
    focused = driver.switch_to.active_element
    name = focused.get_attribute("aria-label")
    focused.send_keys("\ue014")  # right arrow
    other = driver.switch_to.active_element
    assert other.get_attribute("aria-label") != name
    assert other.get_attribute("aria-label").split(",")[0] in text(driver, "#tip")
    other.send_keys("\ue007")
    settle(driver)
    assert "Analysis in nine steps" in text(driver)


def test_the_rungs_of_a_ladder_are_joined(opened: Opened):
    """Two kernels of one language on one problem; the library and the lone kernel stand for themselves."""
    driver = opened(view="#/roofline")
    lines = driver.find_elements("css selector", "polyline.ladder")
    assert [line.get_attribute("data-operation") for line in lines] == ["sum"]
    assert len(lines[0].get_attribute("points").split()) == 2


def test_a_kernels_page_follows_the_nine_steps(opened: Opened):
    """In the order of the document, each with the figures this run has."""
    driver = opened(view=case_view(ATOMIC))
    titles = [title.split("\n")[-1] for title in all_text(driver, ".step h3:first-child")]
    assert titles == [
        "Data flow",
        "Arithmetic intensity",
        "Roofline region",
        "Requests in flight",
        "Transactions",
        "Placement",
        "On-chip limits",
        "One change at a time",
        "Pipeline",
    ]
    assert "memory-bound" in text(driver, "#step-3")
    assert "0.1\nncu" in text(driver, "#step-4")
    assert "60 %" in text(driver, "#step-7")
    assert "two stage" in text(driver, "#step-8")


def test_a_step_without_figures_says_so_and_how_to_get_them(opened: Opened):
    """Nothing is filled in: a case without hardware counters names the option that takes them."""
    driver = opened(view=case_view(TWO_STAGE))
    assert f"--roofline-ncu='{TWO_STAGE}'" in text(driver, "#step-4")
    assert "not known" in text(driver, "#step-9")


def test_the_diagnosis_shows_which_rows_apply_with_their_figures(opened: Opened):
    """Advice beside the numbers that triggered it; rows without a figure say that."""
    driver = opened(view=case_view(ATOMIC))
    applying = all_text(driver, ".diagnosis .applies")
    assert "DRAM throughput low, long scoreboard high" in applying[0]
    assert "DRAM throughput: 4 %" in applying[0]
    assert "Is the grid large enough?" in applying[0]
    assert any("Threads queue for the same address" in row for row in applying)
    assert "no figure" in text(driver, ".diagnosis")


def test_a_change_of_level_is_drawn_with_its_commit(opened: Opened):
    """The case that changed comes first, with the size of the change and where it happened."""
    driver = opened(view="#/history")
    assert text(driver, ".card h2") == ATOMIC
    assert "slower +40 %" in text(driver, ".change")
    assert "3333333333" in text(driver, ".change")
    assert len(driver.find_elements("css selector", ".history .dot")) == 6


def test_published_figures_name_their_card_and_are_never_called_measured(opened: Opened):
    """Here measured, there published, each as a share of its own roof."""
    shown = text(opened(view="#/devices"))
    assert "a100 pcie 40gb" in shown
    assert "Here, measured" in shown
    assert "A100, published" in shown
    assert "A100, measured" not in shown
    assert "no: fits into a cache" in shown
    assert "Least time there, derived" in shown


def test_a_counted_run_has_no_times_and_says_so(opened: Opened):
    """Nothing in it is called a time."""
    cases = tuple(
        replace(c, times=None, fraction=None, bytes_per_second=None, operations_per_second=None) for c in sample().cases
    )
    driver = opened(replace(sample(), kind=COUNTED, environment=None, ceilings=None, cases=cases), series=Series())
    assert "Nothing was timed in this run" in text(driver)
    assert "cases counted, none timed" in text(driver)
    for view in ("#/roofline", "#/history", "#/devices", case_view(ATOMIC)):
        go(driver, view)
        assert text(driver)


@pytest.mark.parametrize("cases", [(), (made_case(ATOMIC, 1e-3),)], ids=["none", "one"])
def test_runs_of_hardly_anything_are_shown_as_well(opened: Opened, cases: tuple[CaseRecord, ...]):
    """No view stumbles over an empty list."""
    run = replace(sample(), cases=cases, ended=None, commit=None, ceilings=None)
    driver = opened(run, series=Series())
    for view in ("#/roofline", "#/kernels", "#/history", "#/devices", "#/environment", "#/"):
        go(driver, view)
        assert text(driver, "h1")


def test_a_failed_check_is_shown_with_its_reason(opened: Opened):
    """A wrong kernel has no time; its finding is what the page tells."""
    wrong = replace(
        made_case(ATOMIC, 1e-3), times=None, fraction=None, verdict=None, outcome="wrong", detail="y[3] is 1, not 2"
    )
    run = replace(sample(), cases=(wrong, *sample().cases[1:]))
    assert "wrong" in text(opened(run), ".columns > .card:last-child")
    assert "y[3] is 1, not 2" in text(opened(run, case_view(ATOMIC)))


def test_the_theme_is_chosen_and_the_content_can_be_skipped_to(opened: Opened):
    """The button goes from the system's to light to dark; the first stop of the keyboard leads past the navigation."""
    driver = opened()
    background = []
    for theme in ("light", "dark"):
        driver.find_element("id", "theme").click()
        assert text(driver, "#theme") == f"Theme: {theme}"
        background.append(driver.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert background[0] != background[1]
    driver.find_element("css selector", ".skip").send_keys("\ue007")
    settle(driver)
    assert driver.switch_to.active_element.get_attribute("id") == "main"


def test_the_current_view_is_marked_and_going_back_works(opened: Opened):
    """Navigation, title and the browser's history agree."""
    driver = opened()
    driver.find_element("css selector", "nav [data-view=roofline]").click()
    settle(driver)
    assert driver.find_element("css selector", "nav [aria-current=page]").text == "Roofline"
    assert driver.title.startswith("Roofline of NVIDIA H200")
    driver.back()
    settle(driver)
    assert driver.find_element("css selector", "nav [aria-current=page]").text == "Overview"


def test_without_scripts_the_furthest_kernels_are_there():
    """The file itself holds them as a table."""
    page = render(sample())
    static = page[page.index("<noscript>") : page.index("</noscript>")]
    assert static.index(ATOMIC) < static.index("copy/triton/plain/f32/4194304")
    assert "0.1 %" in static


def test_without_jinja_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    """The plugin itself runs without it."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ReportUnavailableError, match=r"pytest-roofline\[report\]"):
        render(sample())
