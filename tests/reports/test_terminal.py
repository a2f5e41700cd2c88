"""The terminal's section: what is listed, in which order, and that it can be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.reports import terminal
from pytest_roofline.reports.styled import BAD, GOOD, texts
from pytest_roofline.runs import Bound, OperationFacts
from tests.runs.made import made_case, made_run


def run_of(*cases, **changes):
    """A run of these cases of ``copy``."""
    facts = {"copy": OperationFacts("y = x", "graph_cold", ("cuda/plain",))}
    return replace(made_run({}), cases=cases, operations=facts, **changes)


def test_a_row_has_time_rate_share_peer_change_and_verdict():
    """48 MB in 20 us are 2.4 TB/s, half of what an H200's datasheet says; the peer takes twice as long."""
    run = run_of(
        made_case("copy/cuda/plain/f32/4096", 20e-6),
        made_case("copy/torch/copy/f32/4096", 40e-6, "information", peer=True),
    )
    title, problem, mine, peer = texts(terminal.section(run))[1:]
    assert title == "copy: y = x"
    assert problem.split() == ["f32", "4096", "us", "TB/s", "of", "bound", "peer", "verdict"]
    assert mine.split() == ["cuda/plain", "20.02", "2.40", "██", "50%", "2.00", "~same", "+1.0±2.0%"]
    assert peer.split() == ["torch/copy", "40.04", "1.20", "█", "25%", "-", "peer"]


def test_failures_come_first_then_warnings_then_what_is_furthest_from_its_roof():
    """Also between operations: the one with the worst case leads."""
    run = replace(
        made_run({}),
        cases=(
            made_case("aaa/cuda/near/f32/8", 11e-6),
            made_case("aaa/cuda/far/f32/8", 90e-6),
            made_case("bbb/cuda/doubtful/f32/8", 12e-6, "unresolved"),
            made_case("ccc/cuda/slower/f32/8", 12e-6, "regression"),
        ),
    )
    lines = texts(terminal.section(run))
    order = [
        next(i for i, x in enumerate(lines) if f"    cuda/{name} " in x)
        for name in ("slower", "doubtful", "far", "near")
    ]
    assert order == sorted(order)


def test_the_best_kernels_come_before_the_lower_rungs_of_their_ladder():
    """A naive rung is slow by design; overhead-bound cases and library routines are further back still."""
    tiny = replace(made_case("copy/cuda/tiny/f32/1", 1e-6), regime="overhead", fraction=0.001)
    run = run_of(
        made_case("copy/torch/copy/f32/8", 99e-6, "information", peer=True),
        made_case("copy/cuda/naive/f32/8", 90e-6, order=1),
        tiny,
        made_case("copy/cuda/best/f32/8", 12e-6),
    )
    names = [x.split()[0] for x in texts(terminal.section(run)) if x.startswith("    ")]
    assert names == ["cuda/best", "cuda/naive", "torch/copy", "cuda/tiny"]  # rows of one problem stand together


def test_only_the_first_are_listed_without_v_but_all_that_fail():
    """What was left out is counted by verdict; warnings alone do not make a long list."""
    fine = [made_case(f"copy/cuda/v{k}/f32/8", 20e-6, "unresolved" if k < 3 else "same") for k in range(6)]
    bad = [made_case(f"copy/cuda/bad{k}/f32/8", 20e-6, "regression") for k in range(7)]
    run = run_of(*fine, *bad)
    short, long = texts(terminal.section(run)), texts(terminal.section(run, verbose=True))
    assert sum("    cuda/" in x for x in short) == 7
    assert "  and 3 unresolved, 3 same (-v lists them)" in short
    assert sum(x.startswith("  regression: copy/cuda/bad") for x in short) == 7
    assert sum("    cuda/" in x for x in long) == 13
    assert sum(x.startswith("  same: ") for x in long) == 3
    doubtful = texts(terminal.section(run_of(*fine[:3], *fine[:3])))
    assert sum("    cuda/" in x for x in doubtful) == terminal.SHOWN


@pytest.mark.parametrize("kind", ["improvement", "below_floor", "unresolved", "environment"])
def test_lines_fit_80_columns(kind):
    """Even with a long name, a long time, a CUPTI mark, a peer and the longest verdicts."""
    case = made_case(f"copy/cuda/{'x' * 40}/f16_f32/16777259.o1.p16777344.t", 48.6e-6, kind)
    case = replace(case, times=replace(case.times, source="cupti"))
    peer = made_case("copy/torch/y/f16_f32/16777259.o1.p16777344.t", 5e-3, peer=True)
    lines = texts(terminal.section(run_of(case, peer)))
    assert all(len(x) <= 80 for x in lines if not x.startswith(f"  {kind}: "))
    assert any("xx..xx" in x for x in lines)


def test_a_wider_terminal_shows_longer_names():
    """The name takes what the other columns leave."""
    name = "copy/cuda/" + "x" * 35 + "/f32/8"
    lines = texts(terminal.section(run_of(made_case(name, 20e-6)), width=120))
    assert any("x" * 35 in x for x in lines)


def test_every_colour_has_a_word():
    """Without styles a reader loses nothing, and a failing verdict is never in the colour of a good one."""
    run = run_of(made_case("copy/cuda/a/f32/8", 20e-6, "regression"), made_case("copy/cuda/b/f32/8", 10.5e-6))
    segments = [s for found in terminal.section(run) for s in found]
    assert {s.style for s in segments if s.text.startswith("regression")} == {BAD}
    assert {s.style for s in segments if s.text.startswith("same")} == {GOOD}


def test_plain_is_ascii():
    """For a terminal whose encoding has no blocks."""
    lines = texts(terminal.section(run_of(made_case("copy/cuda/a/f32/8", 20e-6)), plain=True))
    assert all(x.isascii() for x in lines)
    assert any(" ##.. " in x and "+1.0+-2.0%" in x for x in lines)


def test_short_kernels_overhead_and_provisional_verdicts_are_marked_and_explained():
    """Each mark has its footnote, and a run without them has none."""
    case = made_case("copy/cuda/a/f32/1", 1.2e-6)
    case = replace(case, times=replace(case.times, source="cupti"), regime="overhead")
    run = run_of(case)
    lines = texts([*terminal.section(run), *terminal.footnotes(run)])
    assert any(" 1.201*" in x and " ovh " in x and "~same" in x for x in lines)
    assert {x.partition(":")[0] for x in lines if x.startswith(("*", "ovh", "~"))} == {"*", "ovh", "~"}
    firm = made_case("copy/cuda/a/f32/8", 50e-6)
    firm = replace(firm, verdict=replace(firm.verdict, campaigns=5))
    assert not any(x.startswith(("*", "ovh", "~")) for x in texts(terminal.footnotes(run_of(firm))))


def test_compute_bound_cases_are_told_in_operations_per_second():
    """Bytes would say nothing about them, nor about a matrix product that shared memory limits."""
    case = made_case("copy/cuda/a/f32/8", 1e-3)
    limit = Bound(5e-4, "fp32", "compute")
    case = replace(case, operations_per_second=33.5e12, bounds={"algorithm": limit})
    (heading,) = [x for x in texts(terminal.section(run_of(case))) if "of bound" in x]
    assert "TFLOP/s" in heading
    assert any(" 33.5 " in x for x in texts(terminal.section(run_of(case))))
    shared = replace(case, bounds={"algorithm": Bound(5e-4, "shared", "memory")})
    assert any(" 33.5 " in x for x in texts(terminal.section(run_of(shared))))
    moved = replace(shared, operations_per_second=0.0)
    assert any("GB/s" in x for x in texts(terminal.section(run_of(moved))))


def test_a_failed_check_is_listed_with_its_reason():
    """It has no time and no verdict, but it is the first thing to know."""
    case = replace(
        made_case("copy/cuda/a/f32/8", 1e-3),
        times=None,
        verdict=None,
        fraction=None,
        bytes_per_second=None,
        outcome="wrong",
        detail="largest error 3\nsecond line",
    )
    run = run_of(made_case("copy/cuda/b/f32/8", 1e-3), case)
    lines = texts(terminal.section(run))
    assert lines[3].split() == ["cuda/a", "-", "-", "-", "-", "wrong"]
    assert "  wrong: copy/cuda/a/f32/8: largest error 3" in lines


def test_a_row_says_enough_of_an_unresolved_case():
    """Its change and interval stand in the row; the sentence comes with -v, that of a failure always."""
    run = run_of(
        made_case("copy/cuda/a/f32/8", 2e-5, "unresolved"), made_case("copy/cuda/b/f32/8", 2e-5, "environment")
    )
    said = [x.split(":")[0] for x in texts(terminal.section(run)) if "as made" in x]
    assert said == ["  environment"]
    assert sum("as made" in x for x in texts(terminal.section(run, verbose=True))) == 2


def test_slow_kernels_of_a_fast_problem_keep_digits():
    """The unit is that of the fastest; what is a thousand times slower is not zero."""
    run = run_of(made_case("copy/cuda/a/f32/8", 2e-5), made_case("copy/cuda/b/f32/8", 2e-1))
    rates = {x.split()[0]: x.split()[2] for x in texts(terminal.section(run)) if x.startswith("    ")}
    assert rates == {"cuda/a": "2.40", "cuda/b": "0.00024"}


def test_totals_count_every_verdict():
    """The worst first, then the most frequent."""
    run = run_of(
        made_case("copy/cuda/a/f32/8", 1e-5),
        made_case("copy/cuda/b/f32/8", 1e-5),
        made_case("copy/cuda/c/f32/8", 1e-5, "new"),
    )
    assert texts(terminal.totals(run)) == ["3 cases timed: 2 same, 1 new"]


def test_totals_keep_to_80_columns_and_tell_failures_first():
    """A line of a log shows how many failed before it ends, however many kinds there are."""
    kinds = ("regression", "unresolved", "new", "same", "improvement", "environment", "information", "stale_ceiling")
    cases = [made_case(f"copy/cuda/a/f32/{n}", 1e-5, kinds[n % len(kinds)]) for n in range(1000)]
    first, *rest = lines = texts(terminal.totals(run_of(*cases)))
    assert first.startswith("1000 cases timed: 125 regression, ")
    assert rest
    assert max(map(len, lines)) <= 80


def test_a_long_sentence_stands_below_its_id():
    """At 80 columns both stay readable; of a traceback the exception is told."""
    long = "x" * 60
    detail = "Traceback (most recent call last):\n  File 'a.py'\nValueError: what happened is long to tell and goes on"
    case = replace(made_case(f"copy/cuda/{long}/f32/8", 1e-5), times=None, verdict=None, outcome="error", detail=detail)
    lines = texts(terminal.section(run_of(case)))
    place = lines.index(f"  error: copy/cuda/{long}/f32/8:")
    assert lines[place + 1] == "    ValueError: what happened is long to tell and goes on"


def test_a_run_that_was_killed_says_so():
    """What it had finished must not pass for all of it."""
    run = run_of(made_case("copy/cuda/a/f32/8", 1e-5))
    assert "the run did not end" not in "".join(texts(terminal.totals(run)))
    assert texts(terminal.totals(replace(run, ended=None)))[-1].startswith("the run did not end")


def test_a_long_problem_has_a_line_of_its_own():
    """Cut in the middle, 4096x4095 and 4096x4096 would look alike."""
    case = made_case("matmul/cuda/a/f16_f32/4096x4096x4095.t", 1e-5)
    lines = texts(terminal.section(run_of(case)))
    place = lines.index("  f16_f32 4096x4096x4095.t")
    assert lines[place + 1].split()[-4:] == ["of", "bound", "peer", "verdict"]
