"""Which cases are profiled."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from pytest_roofline.contract import Argument, Bound, Kernel, Operation, Role, Shapes, Tolerance, Traffic, Work
from pytest_roofline.counters import choosing
from pytest_roofline.ids import CaseId, Shape
from pytest_roofline.judging import Row
from pytest_roofline.roofline import Assessment, Limit, Regime
from pytest_roofline.statistics import summarise
from pytest_roofline.verdict import Kind, Reason, Verdict

SECONDS = 1e-3


def timed_row(
    variant: str,
    kind: Kind = Kind.SAME,
    *,
    share: float = 0.5,
    peer: bool = False,
    overhead: bool = False,
    shape: str = "32x32",
) -> Row:
    """A timed case of one kernel that reaches ``share`` of its bound."""
    operation = Operation(
        "negate",
        "y = -x",
        (Argument("x", Role.IN, lambda d: d), Argument("y", Role.OUT, lambda d: d)),
        lambda x: {"y": -x},
        lambda shape, dtype: Work({}, Traffic(4 * shape.size, 4 * shape.size)),
        Tolerance(lambda c: {"y": Bound(None)}, ""),  # type: ignore[arg-type]
        Shapes(lambda tile: st.just(Shape((1,))), (), (), ()),
        (Kernel("torch" if peer else "cuda", variant, "m:f", ("f32",), peer=peer),),
    )
    case = operation.case(CaseId.parse(f"negate/{'torch' if peer else 'cuda'}/{variant}/f32/{shape}"))
    regime = Regime.OVERHEAD if overhead else Regime.MEMORY
    limit = Limit(SECONDS * share, "device", Regime.MEMORY)
    verdict = Verdict(kind, Reason.WITHIN_SPREAD, "as made")
    summary = summarise([SECONDS, SECONDS * 1.001])
    return Row(case, SECONDS, False, summary, None, Assessment(limit, limit, None, regime, 0.0), verdict)


def names(rows: list[Row]) -> list[str]:
    return [str(row.case).split("/")[2] for row in rows]


def test_patterns_choose_by_case_id():
    """Patterns as the shell has them, several of them together, in the order of the run, each case once."""
    rows = [timed_row("naive"), timed_row("tiled"), timed_row("fast")]
    assert names(choosing.choose(rows, ["*/fast/*", "negate/*/naive/*", "*/naive/*"])) == ["naive", "fast"]
    assert choosing.choose(rows, ["nothing/*"]) == []


def test_flagged_are_failures_and_doubts_and_the_furthest():
    """A failing verdict and an unresolved one are looked into; a new case only when it is far from its bound."""
    rows = [
        timed_row("slow", Kind.REGRESSION, share=0.9),
        timed_row("noisy", Kind.UNRESOLVED, share=0.9),
        timed_row("new", Kind.NEW, share=0.95),
        timed_row("a", share=0.1),
        timed_row("b", share=0.2),
        timed_row("c", share=0.3),
        timed_row("good", share=0.9),
    ]
    assert names(choosing.choose(rows, [choosing.FLAGGED])) == ["slow", "noisy", "a", "b", "c"]


def test_library_routines_and_launches_are_never_the_furthest():
    """Neither is a kernel of the user's that could come nearer to its bound."""
    rows = [
        timed_row("library", share=0.01, peer=True),
        timed_row("empty", share=0.01, overhead=True),
        timed_row("own", share=0.5),
    ]
    assert names(choosing.furthest(rows)) == ["own"]


def test_a_kernel_of_many_sizes_is_among_the_furthest_once():
    """Its worst case stands for it."""
    rows = [timed_row("one", share=s, shape=f"{n}x32") for n, s in ((32, 0.1), (64, 0.2), (96, 0.3))]
    assert [str(row.case.shape) for row in choosing.furthest([*rows, timed_row("two", share=0.6)])] == [
        "32x32",
        "32x32",
    ]


def test_failures_leave_room_for_the_furthest():
    """However many cases fail, a profile ends in bearable time."""
    rows = [timed_row(f"k{i}", Kind.REGRESSION, share=0.9) for i in range(40)] + [timed_row("far", share=0.01)]
    found = choosing.flagged(rows)
    assert len(found) == choosing.LIMIT
    assert "far" in names(found)


def test_what_was_not_timed_is_not_profiled():
    """An invalid measurement has no summary: its case is left out even when a pattern names it."""
    assert choosing.choose([replace(timed_row("broken"), summary=None)], ["*"]) == []
