"""Counts and code of a case against the stored ones: verdicts, what was compared, and what an update stores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.baselines import Baseline, BaselineError, Counted, CountedCase, Store, counted_for
from pytest_roofline.cost import Code
from pytest_roofline.counting import counts
from pytest_roofline.counting.comparing import Place
from pytest_roofline.counting.counts import Access, CaseCounts, Launch
from pytest_roofline.discovery import discover
from pytest_roofline.gate import Gate, compare, read_code, unseen
from pytest_roofline.reports import counted as report
from pytest_roofline.verdict import Kind
from tests.counting.test_comparing import code

KEY = "copy.cu:copy threads=256"
COUNTS = CaseCounts((Launch("copy", (Access("global load", 4, 8, 256, 32, 32),)),))
WORSE = CaseCounts((Launch("copy", (Access("global load", 4, 8, 256, 256, 32),)),))


class Answers:
    """A compiler that is missing."""

    arch = "sm_90a"

    def answer(self, case):
        return {"error": "no compiler", "missing": True}


@pytest.fixture(scope="module")
def case(request):
    return discover(request.config.rootpath, ["suite/operations"]).case("vector_add/cuda/scalar/f32/1024")


def stored(case, kernel=None):
    kernel = kernel or code()
    return Counted("sm_80", {str(case): CountedCase(COUNTS, (KEY,))}, {kernel.compiler: {KEY: kernel}})


def compiled(kernel=None, key=KEY):
    return Code((key,), (), {key: kernel or code()})


def test_the_same_is_the_same(case):
    """Equal counts and equal code."""
    row = compare(case, COUNTS, compiled(), stored(case))
    assert (row.verdict.kind, row.compared) == (Kind.SAME, {KEY})


def test_a_case_without_stored_counts_is_new(case):
    """Nothing to compare is no success and no failure."""
    assert compare(case, COUNTS, compiled(), Counted("sm_80")).verdict.kind is Kind.NEW


def test_worse_counts_fail_whatever_the_compiler(case):
    """Counts come from the source; that nothing compiled here could be compared does not hide them."""
    row = compare(case, WORSE, Code(missing="no compiler"), stored(case))
    assert row.verdict.kind is Kind.REGRESSION
    assert not row.compared
    assert "compiled code: compared 0 of 1 cases: no compiler" in report.section([row], {})


def test_code_of_another_compiler_is_not_compared(case):
    """A new compiler may use more registers; the report says that nothing was compared."""
    row = compare(case, COUNTS, compiled(code(64)), stored(case))
    assert row.verdict.kind is Kind.REGRESSION
    other = Counted("sm_80", stored(case).cases, {"nvrtc 14.0": {KEY: code()}})
    row = compare(case, COUNTS, compiled(code(64)), other)
    assert (row.verdict.kind, row.compared) == (Kind.NEW, frozenset())
    lines = report.section([row], {"nvrtc 14.0": 1})
    assert "compiled code, nvrtc 13.0: compared 0 of 1 kernels; stored are nvrtc 14.0" in lines


def test_a_launch_that_got_another_key_is_compared_by_its_place(case):
    """A changed specialisation changes the key; it is still the first kernel of this case."""
    row = compare(case, COUNTS, compiled(code(64), "copy.cu:copy threads=512"), stored(case))
    assert row.verdict.kind is Kind.REGRESSION


def test_with_more_launches_kernels_are_compared_by_name(case):
    """A kernel that is launched before the others is no worse version of the first of them."""
    first, tensor = "copy.cu:realign<float> threads=256", replace(code(64), mix=replace(code().mix, others={"mma": 4}))
    before = Counted("sm_80", {str(case): CountedCase(COUNTS, (KEY,))}, {code().compiler: {KEY: tensor}})
    row = compare(case, COUNTS, Code((first, KEY), (), {first: code(), KEY: tensor}), before)
    assert (row.verdict.kind, row.compared) == (Kind.SAME, {KEY})
    worse = replace(tensor, mix=replace(tensor.mix, others={}))
    row = compare(case, COUNTS, Code((first, KEY), (), {first: code(), KEY: worse}), before)
    assert row.verdict.sentence.startswith("mma: 0 mma instructions, 4 before")


def test_another_operation_of_torch_is_another_launch(case):
    """Such as an output that is zeroed first."""
    row = compare(case, COUNTS, Code((KEY,), ("aten::zero_",), {KEY: code()}), stored(case))
    assert row.verdict.kind is Kind.REGRESSION
    assert "torch is asked for aten::zero_" in row.verdict.sentence


def test_an_operation_of_torch_is_named_with_its_line(case):
    """The one that was not there before."""
    asked = ("aten::zero_", "aten::add_", "aten::zero_")
    now = replace(compiled(), calls=asked, asked_at=tuple(Place("suite/x.py", line) for line in (3, 4, 5)))
    before = Counted("sm_80", {str(case): CountedCase(COUNTS, (KEY,), ("aten::zero_", "aten::add_"))})
    assert compare(case, COUNTS, now, before).verdict.sentence.endswith("at x.py:5")


def test_code_of_a_shape_for_a_gpu_is_compared(case):
    """Nothing was counted, so the number of launches is that of what was compiled."""
    none = CaseCounts(uncounted=True)
    before = replace(stored(case), cases={str(case): CountedCase(none, (KEY,))})
    row = compare(case, none, compiled(), before)
    assert (row.verdict.kind, row.verdict.sentence, row.compared) == (Kind.SAME, "the code is that stored", {KEY})
    assert compare(case, none, compiled(code(64)), before).verdict.kind is Kind.REGRESSION
    more = Code((KEY, "more.cu:more"), (), {KEY: code(), "more.cu:more": code()})
    assert (
        compare(case, none, more, before).verdict.sentence
        == "launches: 2 launches, 1 before (copy.cu:copy, more.cu:more)"
    )
    lines = report.section([row], {})
    assert lines[0].startswith("1 cases counted for sm_80, 1 of them only compiled, nothing was timed")
    assert "counts from source: compared 0 of 0 cases" in lines


def test_a_shape_for_a_gpu_is_told_and_stored_only_if_it_was_compiled(case, tmp_path):
    """Without a compiler nothing is known of it."""
    gate = Gate(Store(tmp_path), Answers())
    assert gate.judge(case, counts.to_plain(CaseCounts(uncounted=True), places=True)).code.missing == "no compiler"
    assert (gate.rows, gate.unknown, gate.update()) == ([], {str(case)}, [])
    gate.rows[:] = [compare(case, CaseCounts(uncounted=True), compiled(), Counted("sm_80"))]
    gate.update()
    assert gate.store.load("a100", "vector_add").counted.cases[str(case)].counts.uncounted


def test_the_second_pass_of_a_sum_is_seen_by_a_counted_case(request):
    """With the shapes of one block alone, no counted case launches it: that is told, with a case that does."""
    catalogue = discover(request.config.rootpath, ["suite/operations"])
    [timed] = [c for c in catalogue.compiled() if str(c) == "sum/cuda/two_stage/f32/67108864"]
    block = Store(request.config.rootpath / "baselines").load("a100", "sum").counted
    entry = block.cases[str(timed)]
    row = compare(timed, entry.counts, Code(entry.kernels), Counted("sm_80"))
    countable = {str(case) for case in catalogue.counted()}
    assert unseen([row], [block], countable) == []
    short = {name for name in countable if "/16411." not in name}
    name = "two_stage.cu:sum_partials"
    assert unseen([row], [block], short) == [f"{name} is launched by {timed}, but by no counted case"]


def test_a_kernel_that_no_cpu_can_run_is_declared_with_the_reason(case):
    """Its code is compared like any other's; nobody asks for a counted case that cannot be."""
    known = Counted("sm_80", {"vector_add/cuda/scalar/f32/7": CountedCase(COUNTS, (KEY,))})
    waits = "copy.cu:copy_in_turn threads=256"
    kernel = replace(case.kernel, uncounted={"copy.cu:copy_in_turn": "its blocks wait for each other"})
    row = compare(replace(case, kernel=kernel), CaseCounts(uncounted=True), compiled(key=waits), Counted("sm_80"))
    assert unseen([row], [known], {"vector_add/cuda/scalar/f32/7"}) == []
    [told] = unseen([replace(row, case=case)], [known], {"vector_add/cuda/scalar/f32/7"})
    assert told.startswith("copy.cu:copy_in_turn is launched by")


def test_nothing_is_said_of_an_operation_whose_counted_cases_are_unknown(case):
    """A run of some timed cases with nothing stored cannot know."""
    row = compare(case, CaseCounts(uncounted=True), compiled(), Counted("sm_80"))
    assert unseen([row], [], {"vector_add/cuda/scalar/f32/7"}) == []


@pytest.mark.parametrize("device", ["a100", "h200"])
def test_every_kernel_that_is_timed_is_counted(request, device):
    """By what is stored: each kernel of the timed cases of the catalogue is one of its counted cases."""
    catalogue = discover(request.config.rootpath, ["suite/operations"])
    store = Store(request.config.rootpath / "baselines")
    blocks = [b.counted for b in store.load_all(device) if b.counted is not None]
    known = {name: entry for block in blocks for name, entry in block.cases.items()}
    rows = [
        compare(timed, CaseCounts(uncounted=True), Code(known[str(timed)].kernels), Counted("sm_80"))
        for timed in catalogue.compiled()
        if str(timed) in known
    ]
    assert rows
    assert unseen(rows, blocks, {str(case) for case in catalogue.counted()}) == []


def test_a_kernel_that_does_not_compile_is_an_error():
    """Missing compilers are a reason, broken kernels are not."""
    assert read_code({"error": "not installed", "missing": True}, "sm_80").missing == "not installed"
    with pytest.raises(RuntimeError, match="does not compile"):
        read_code({"error": "does not compile", "missing": False}, "sm_80")


def test_an_update_stores_what_was_found_and_keeps_the_rest(case, tmp_path):
    """Other compilers' figures stay; kernels that no case launches any more go."""
    store = Store(tmp_path)
    old = Counted("sm_80", {str(case): CountedCase(COUNTS, (KEY,))}, {"nvrtc 12.0": {KEY: code(), "gone": code()}})
    store.save(Baseline("a100", "vector_add", counted=old))
    gate = Gate(store, None)
    gate.rows.append(compare(case, WORSE, compiled(), gate.stored("vector_add", "a100", "sm_80")))
    [line] = gate.update()
    assert "1 cases and 1 kernels" in line
    block = store.load("a100", "vector_add").counted
    assert block.cases[str(case)].counts == WORSE
    assert {compiler: set(kernels) for compiler, kernels in block.compiled.items()} == {
        "nvrtc 12.0": {KEY},
        "nvrtc 13.0": {KEY},
    }


def test_an_update_without_a_compiler_keeps_the_code(case, tmp_path):
    """Counts are taken anywhere; compiled figures stay as they were."""
    store = Store(tmp_path)
    store.save(Baseline("a100", "vector_add", counted=stored(case)))
    gate = Gate(store, None)
    gate.rows.append(compare(case, WORSE, Code(missing="no compiler"), gate.stored("vector_add", "a100", "sm_80")))
    gate.update()
    block = store.load("a100", "vector_add").counted
    assert block.cases[str(case)].counts == WORSE
    assert block.compiled == stored(case).compiled


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"sm_80"', '"sm_90"', "'sm_90' is not the architecture of a100"),
        ('"registers": 32', '"registers": "32"', "'32' is no count"),
        ("vector_add/cuda/scalar", "sum/cuda/scalar", "belongs into another file"),
    ],
)
def test_a_damaged_block_is_refused(case, tmp_path, old, new, message):
    """With the file, the place and what to do."""
    path = Store(tmp_path).save(Baseline("a100", "vector_add", counted=stored(case)))
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(BaselineError, match=message):
        Store(tmp_path).load("a100", "vector_add")


def test_what_an_a100_cannot_run_is_stored_beside_the_device_that_can(tmp_path, request):
    """Registers, spills and shared memory of sm_90a, in a folder of their own; the report says how many there are."""
    wanted = discover(request.config.rootpath, ["suite/operations"]).case(
        "matmul_tensor/cuda/wgmma/bf16_f32/64x64x64.t"
    )
    kernel = replace(code(), arch="sm_90a")
    store = Store(tmp_path)
    gate = Gate(store, None)
    gate.rows.append(compare(wanted, CaseCounts(), compiled(kernel), gate.stored("matmul_tensor", "h200", "sm_90a")))
    assert report.section(gate.rows, {})[0].startswith("1 cases counted for sm_80 (1 for sm_90a), nothing was timed")
    [line] = gate.update()
    assert "h200" in line
    assert store.load("h200", "matmul_tensor").counted.compiled == {kernel.compiler: {KEY: kernel}}
    again = Gate(store, None)
    row = compare(wanted, CaseCounts(), compiled(replace(kernel, spills=64)), again._stored_beside(wanted))
    assert row.verdict.kind is Kind.REGRESSION


def test_another_device_has_counts_of_its_own(case, tmp_path):
    """Asked to count for an H200, everything is compared with and stored in its folder; an A100's is left as it is."""
    store = Store(tmp_path)
    store.save(Baseline("a100", "vector_add", counted=stored(case)))
    gate = Gate(store, Answers(), "h200")
    row = gate.judge(case, counts.to_plain(WORSE, places=True))
    assert (row.verdict.kind, row.target) == (Kind.NEW, ("h200", "sm_90a"))
    assert report.section(gate.rows, {}, device="h200")[0].startswith("1 cases counted for sm_90a, nothing was timed")
    [line] = gate.update()
    assert "h200" in line
    assert store.load("h200", "vector_add").counted.cases[str(case)].counts == WORSE
    assert store.load("a100", "vector_add").counted.cases[str(case)].counts == COUNTS
    assert Gate(store, Answers(), "h200").judge(case, counts.to_plain(WORSE, places=True)).verdict.kind is Kind.SAME


def test_no_folder_is_counted_for_an_unknown_architecture():
    """Figures that nothing can be compared with would be stored nowhere."""
    assert counted_for("") == counted_for("sm_80") == ("a100", "sm_80")
    assert counted_for("sm_90") == counted_for("sm_90a") == ("h200", "sm_90a")
    assert counted_for("", "h200") == counted_for("sm_80", "h200") == ("h200", "sm_90a")
    with pytest.raises(ValueError, match="no folder of baselines is counted for sm_100a"):
        counted_for("sm_100a")
