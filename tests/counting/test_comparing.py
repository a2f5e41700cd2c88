"""What costs time is worse, what saves some is better, and the rest is no news."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.counting.comparing import Place, compare_code, compare_counts, compare_launches, limits
from pytest_roofline.counting.compiled.occupancy import occupancy
from pytest_roofline.counting.compiled.resources import Resources, from_plain, to_plain
from pytest_roofline.counting.compiled.sass import Mix
from pytest_roofline.counting.counts import Access, CaseCounts, Launch
from pytest_roofline.counting.counts import from_plain as counts_from_plain
from pytest_roofline.counting.counts import to_plain as counts_to_plain

STORE = Access("global store", 4, 32, 1024, 128, 128, file="a/copy.cu", line=7)
SHARED = Access("shared load", 4, 32, 1024, wavefronts=32, ideal_wavefronts=32, file="a/copy.cu", line=6)


def counts(*accesses, launches=1):
    return CaseCounts((Launch("copy", accesses),) + (Launch("more"),) * (launches - 1))


def code(registers=32, dynamic=0, spills=0, others=(), **memory):
    kinds = {kind.replace("_", " "): widths for kind, widths in memory.items()}
    mix = Mix(kinds, dict(others), 100)
    return Resources(
        "sm_80", "nvrtc 13.0", 256, registers, 0, spills, 0, dynamic, 0,
        occupancy("sm_80", 256, registers, dynamic), mix, "abc",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "cause", "worse", "words"),
    [
        (STORE, replace(STORE, sectors=1024, line=9), "sectors", True, "128 before, 128 would do at copy.cu:9"),
        (replace(STORE, sectors=1024), STORE, "sectors", False, "128 sectors, 1024 before"),
        (STORE, replace(STORE, requests=64), "requests", True, "64 requests, 32 before at copy.cu:7"),
        (SHARED, replace(SHARED, wavefronts=1024), "bank conflicts", True, "992 conflicts, 0 before"),
    ],
)  # fmt: skip
def test_counts(before, after, cause, worse, words):
    """More sectors, requests or conflicts cost time; the line is that of the access that changed."""
    [found] = compare_counts(counts(before), counts(after))
    assert (found.cause, found.worse) == (cause, worse)
    assert words in found.sentence


def test_moved_lines_and_more_conflict_free_accesses_are_no_news():
    """An edit above moves lines; shared memory used more often without conflicts costs no conflict."""
    moved = replace(STORE, line=70), replace(SHARED, requests=64, wavefronts=64, ideal_wavefronts=64)
    assert compare_counts(counts(STORE, SHARED), counts(*moved)) == []


def test_what_would_do_is_no_more_than_there_was():
    """Lanes that do other work than before need other sectors: fewer were enough once."""
    [found] = compare_counts(counts(STORE), counts(replace(STORE, sectors=200, ideal_sectors=160)))
    assert found.sentence == "global store: 200 sectors, 128 before at copy.cu:7"


def test_counts_that_were_not_taken_are_not_compared():
    """Of a shape for a GPU only the code is known, on either side; that is stored with the counts."""
    none = CaseCounts(uncounted=True)
    assert compare_counts(counts(STORE), none) == compare_counts(none, counts(STORE)) == []
    assert counts_from_plain(counts_to_plain(none, places=False)) == none


def test_launches_of_code_that_was_only_compiled():
    """Their number, and the names of what is launched now."""
    one, two = ["a.cu:x<float> threads=256"], ["a.cu:x<float> threads=256", "_y(p:*fp32) warps=4 stages=3"]
    assert compare_launches(two, two) == []
    [found] = compare_launches(one, two)
    assert (found.worse, found.sentence) == (True, "2 launches, 1 before (a.cu:x, _y)")
    assert not compare_launches(two, one)[0].worse


def test_more_launches_are_worse_and_fewer_better():
    """A kernel that was fused, or no longer is."""
    assert [d.worse for d in compare_counts(counts(STORE), counts(STORE, launches=2))] == [True]
    assert [d.worse for d in compare_counts(counts(STORE, launches=2), counts(STORE))] == [False]


@pytest.mark.parametrize(
    ("before", "after", "cause", "worse"),
    [
        (code(), code(spills=8), "spills", True),
        (code(), code(local_load={4: 1}), "local memory", True),
        (code(32), code(33), "occupancy", True),
        (code(33), code(32), "occupancy", False),
        (code(), code(dynamic=48 << 10), "occupancy", True),
        (code(global_load={16: 2}), code(global_load={4: 8}), "vector width", True),
        (code(global_load={16: 2}), code(global_load={16: 1, 4: 4}), "vector width", True),
        (code(global_load={4: 8}), code(global_load={16: 2}), "vector width", False),
        (code(others={"mma": 8}), code(), "mma", True),
        (code(), code(others={"cp.async": 2}), "cp.async", False),
        (code(), code(others={"fp64": 1}), "double precision", True),
    ],
)
def test_code(before, after, cause, worse):
    """One difference each, with its direction and the place asked for."""
    [found] = compare_code(before, after, lambda kind: Place("x/k.cu", 3))
    assert (found.cause, found.worse) == (cause, worse)
    assert not worse or "at k.cu:3" in found.sentence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (code(24), code(32)),  # the same occupancy
        (code(global_load={16: 2}), code(global_load={16: 8})),  # unrolled further
        (code(global_load={16: 2, 4: 1}), code(global_load={16: 2, 4: 2})),  # another tail
        (code(others={"mma": 8}), code(others={"mma": 16})),
    ],
)
def test_what_costs_nothing_is_no_news(before, after):
    """Registers within a step, another unrolling, another tail."""
    assert compare_code(before, after) == []


def test_a_block_that_fits_nowhere_is_called_that():
    """No share of zero per cent: it cannot be launched."""
    [found, limit] = compare_code(code(), code(dynamic=164 << 10))
    words = "no block fits into an SM of sm_80, the launch fails, 100 % before: 32 registers (32), 167936 bytes"
    assert (found.cause, limit.cause) == ("occupancy", "shared memory")
    assert found.sentence.startswith(words)
    assert "limited" not in found.sentence


def test_more_shared_memory_than_a_block_may_have_is_refused():
    """163 KiB on sm_80; the compiler does not look at the dynamic part."""
    assert limits(code(dynamic=163 << 10)) == []
    [found] = limits(code(dynamic=(163 << 10) + 16))
    assert found.worse
    assert "16 more than a block of sm_80 may have" in found.sentence


def test_plain_forms_lead_back():
    """What a baseline holds is what was found, but for the places."""
    found = code(40, 1024, 8, {"mma": 4}, global_load={16: 2, 4: 1})
    assert from_plain(to_plain(found), "sm_80", "nvrtc 13.0") == found
    counted = counts(STORE, SHARED)
    assert counts_from_plain(counts_to_plain(counted, places=True)) == counted
    bare = counts(replace(STORE, file="", line=0), replace(SHARED, file="", line=0))
    assert counts_from_plain(counts_to_plain(counted, places=False)) == bare


@pytest.mark.parametrize("damage", [{"launches": 3}, {"launches": [{"kernel": "x"}]}, {}])
def test_damaged_counts_are_refused(damage):
    """Nothing is taken on trust."""
    with pytest.raises(ValueError, match="counts"):
        counts_from_plain({"layout_free": False, **damage})


def test_damaged_code_is_refused():
    """A negative number of registers is none."""
    with pytest.raises(ValueError, match="-1 is no count"):
        from_plain({**to_plain(code()), "registers": -1}, "sm_80", "nvrtc 13.0")
