"""Markdown: complete, escaped, and no longer than allowed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.reports import markdown
from pytest_roofline.runs import OperationFacts
from tests.runs.made import made_case, made_counted, made_run

HOSTILE = (
    ":smile: http://x <script>alert(1)</script> | `x` [a](http://b) @everyone **b** #1 ![](c) \n\r\x1b[31m $m$ ünï"
)


def test_totals_failures_and_a_table_per_operation():
    """What fails is above all tables, with its sentence; a verdict is a word beside its sign."""
    run = made_run({"copy/cuda/a/f32/8": 20e-6, "fma/cuda/a/f32/8": 40e-6})
    slow = replace(run.cases[0], verdict=replace(run.cases[0].verdict, kind="regression", sentence="+15.8 %"))
    text = markdown.render(replace(run, cases=(slow, run.cases[1])))
    assert "2 cases timed: ❌ 1 regression, ✅ 1 same" in text
    top, copy, fma = text.split("<details>")
    assert "### To look at" in top
    assert "- <code>copy/cuda/a/f32/8</code>: +15.8 %" in top
    row = "| <code>copy/cuda/a/f32/8</code> | 20.02 us | 2.40 TB/s | 50% | - | +1.0 % (-1.0 to +3.0) | ❌ regression |"
    assert row in top
    assert row in copy
    assert "fma: what fma computes (1 same)" in fma


def test_warnings_do_not_hide_failures():
    """All failures are in the first table, of the warnings ten; how many more there are stands below."""
    cases = [made_case(f"copy/cuda/w{k}/f32/8", 20e-6, "environment") for k in range(15)]
    cases += [made_case(f"copy/cuda/u{k}/f32/8", 15e-6, "unresolved") for k in range(5)]
    cases += [made_case(f"copy/cuda/f{k}/f32/8", 20e-6, "regression") for k in range(12)]
    top = markdown.render(replace(made_run({}), cases=tuple(cases))).partition("<details>")[0]
    assert sum(x.startswith("| <code>copy/cuda/f") for x in top.splitlines()) == 12
    assert sum(x.startswith("| <code>copy/cuda/w") for x in top.splitlines()) == 10
    assert "10 more warn: see the tables below." in top
    assert sum(x.startswith("- <code>copy/cuda/f") for x in top.splitlines()) == 12


def test_a_counted_run_has_counts_in_its_tables():
    """And no word of time."""
    text = markdown.render(made_counted({"copy/cuda/a/f32/8": 160}))
    assert "| case | launches | sectors | conflicts | regs | spill | occ | verdict |" in text
    assert "| <code>copy/cuda/a/f32/8</code> | 1 | 160 | 0 | 32 | 0 | 100% | ✅ same |" in text
    assert " us" not in text


def test_hostile_texts_are_shown_as_they_are():
    """No tag, link, mention, table cell or code span of theirs; no control character reaches the reader."""
    run = made_run({"copy/cuda/a/f32/8": 20e-6}, operations={"copy": OperationFacts(HOSTILE, "graph_cold", ())})
    case = replace(run.cases[0], verdict=replace(run.cases[0].verdict, kind="regression", sentence=HOSTILE))
    text = markdown.render(replace(run, cases=(case,)), title=HOSTILE, notes=(HOSTILE,))
    for part in ("<script", "](http", "@everyone", "**b**", "`x`", "\x1b", "\r", "![", "$m$", "http://", ":smile"):
        assert part not in text
    assert "&#60;script&#62;" in text
    assert "ünï" in text
    table = [x for x in text.splitlines() if x.startswith("|")]
    assert {x.count("|") for x in table} == {8}


@given(st.text())
def test_escaped_text_stays_on_its_line_and_has_no_markup(text):
    """Whatever the text; and it can be read back from its entities."""
    found = markdown.escape(text)
    assert not set(found) & set("<>|`*_[]()@\n\r")
    assert re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), found) == "".join(c if c.isprintable() else " " for c in text)


@pytest.mark.parametrize("limit", [markdown.COMMENT_LIMIT, 20_000, 3_000])
def test_what_does_not_fit_is_left_out_and_named(limit):
    """The limit holds in bytes; failures are kept longest."""
    cases = [made_case(f"op{k // 50}/cuda/u{k}/f32/8", 20e-6) for k in range(2000)]
    cases += [made_case(f"bad/cuda/u{k}/f32/8", 20e-6, "regression") for k in range(100)]
    text = markdown.render(replace(made_run({}), cases=tuple(cases)), limit=limit)
    assert len(text.encode()) <= limit
    assert f"*Cut at {limit} bytes: " in text
    assert "the tables of " in text
    assert ("of 100 cases that fail or warn" in text) == (limit == 3_000)


def test_a_run_that_fits_is_not_cut():
    """2,000 cases are under the limit of a job's summary."""
    cases = tuple(made_case(f"op{k // 50}/cuda/u{k}/f32/8", 20e-6) for k in range(2000))
    text = markdown.render(replace(made_run({}), cases=cases))
    assert "Cut at" not in text
    assert len(text.encode()) < markdown.SUMMARY_LIMIT
    with pytest.raises(ValueError, match="100 bytes are too few"):
        markdown.render(made_run({}), limit=100)
