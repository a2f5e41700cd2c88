"""The table of a ladder: times of one device beside counts that were taken without one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_roofline.baselines.counted import Counted, CountedCase
from pytest_roofline.contract import (
    Argument,
    Bound,
    Case,
    Kernel,
    Memory,
    Operation,
    Pipeline,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.counting.compiled.resources import from_plain
from pytest_roofline.counting.compiled.sass import Mix
from pytest_roofline.counting.counts import Access, CaseCounts, Launch
from pytest_roofline.devices.record import load
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.reports.ladder import Figure, conflict_degree, rungs, sectors_per_request, table

COALESCED = Access("global load", 4, requests=8, lanes=256, sectors=32, ideal_sectors=32)
SCATTERED = Access("global store", 4, requests=8, lanes=256, sectors=256, ideal_sectors=32)
COLUMN = Access("shared load", 4, requests=8, lanes=256, wavefronts=256, ideal_wavefronts=8)
ROW = Access("shared store", 4, requests=8, lanes=256, wavefronts=8, ideal_wavefronts=8)


def compiled(arch: str, registers: int, compiler: str = "nvrtc 13.0"):
    """A kernel of 256 threads with that many registers."""
    figures = {"threads": 256, "registers": registers, "stack": 0, "spills": 0, "shared": 0, "dynamic": 0}
    return from_plain({**figures, "barriers": 1, "mix": {"instructions": 9}, "code": "c0de"}, arch, compiler)


def operation(*kernels: Kernel) -> Operation:
    """Four megaflops per byte, so that arithmetic bounds the problem."""
    return Operation(
        name="product",
        summary="c = a b",
        arguments=(Argument("c", Role.OUT, lambda dims: dims),),
        reference=lambda: {},
        work=lambda shape, dtype: Work({Pipeline.FP32: 4 * 10**9}, Traffic(500, 500)),
        tolerance=Tolerance(lambda computed: {"c": Bound(computed.outputs["c"])}, "none"),
        shapes=Shapes(lambda tile: None, (), ("64",), ("8",)),
        kernels=kernels,
    )


def kernel(variant: str, **fields) -> Kernel:
    """A CUDA kernel of that name."""
    return Kernel("cuda", variant, f"nowhere:{variant}", ("f32",), **fields)


def cases(found: Operation) -> list[Case]:
    """One case per kernel."""
    return [Case(found, k, DType.parse("f32"), Shape((64,))) for k in found.kernels]


def counted(
    *names: str,
    accesses: tuple[Access, ...] = (COALESCED,),
    timed: str = "64",
    arch: str = "sm_90a",
    registers: int = 32,
) -> Counted:
    """Kernels that were counted at the shape 8 and launch the same at ``timed``; each has a source of its own."""
    block = Counted(arch, {}, {"nvrtc 13.0": {}})
    for name in names:
        block.cases[f"product/cuda/{name}/f32/8"] = CountedCase(CaseCounts((Launch(name, accesses),)), (f"{name}.cu",))
        block.cases[f"product/cuda/{name}/f32/{timed}"] = CountedCase(CaseCounts(uncounted=True), (f"{name}.cu",))
        block.compiled["nvrtc 13.0"][f"{name}.cu"] = compiled(arch, registers)
    return block


def rendered(found: Operation, seconds: dict[str, float], block: Counted | None) -> list[str]:
    """The lines of the table of an H200, without runs of blanks."""
    lines = table(rungs(cases(found), seconds, block, "8"), load("h200"), "8")
    return [" ".join(line.split()) for line in lines]


def test_sectors_are_the_mean_over_all_global_requests():
    """Loads and stores count alike, weighted by their requests; shared memory has no sectors."""
    assert sectors_per_request(CaseCounts((Launch("k", (COALESCED, SCATTERED, COLUMN)),))) == (32 + 256) / 16
    assert sectors_per_request(CaseCounts((Launch("k", (COLUMN,)),))) is None


def test_conflicts_are_passes_over_those_that_would_do():
    """A column of 32 ways and a row without conflict, equally often, make 16.5 passes for one."""
    assert conflict_degree(CaseCounts((Launch("k", (COALESCED, COLUMN, ROW)),))) == 16.5
    assert conflict_degree(CaseCounts((Launch("k", (COALESCED,)),))) is None


def test_counts_are_of_the_kernel_that_was_timed():
    """The small shape launches another tile than the timed one: the counts of that tile are those of another variant
    that launches it at the small shape, and the row says so."""
    block = counted("fixed", "chosen", accesses=(SCATTERED,))
    small, timed = "product/cuda/chosen/f32/8", "product/cuda/chosen/f32/64"
    block.cases[small] = CountedCase(CaseCounts((Launch("t", (COALESCED,)),)), ("tiny.cu",))
    block.cases[timed] = CountedCase(CaseCounts(uncounted=True), ("fixed.cu",))
    _, chosen = rungs(cases(operation(kernel("fixed"), kernel("chosen"))), {}, block, "8")
    assert chosen.counts is not None
    assert sectors_per_request(chosen.counts) == 32
    assert chosen.counts_note == "counted as cuda/fixed"


def test_a_kernel_that_no_small_shape_launches_has_no_counts():
    """A figure of another tile would be taken for one of this."""
    block = counted("chosen")
    block.cases["product/cuda/chosen/f32/64"] = CountedCase(CaseCounts(uncounted=True), ("large.cu",))
    block.compiled["nvrtc 13.0"]["large.cu"] = compiled("sm_90a", 255)
    (rung,) = rungs(cases(operation(kernel("chosen"))), {}, block, "8")
    assert rung.counts is None
    assert rung.counts_note == "no counted shape launches the kernel that was timed"
    assert [r.registers for r in rung.compiled] == [255]


def test_the_nearest_counted_shape_is_taken_and_named():
    """Where only another shape launches the timed kernel, its counts stand there with its name."""
    block = counted("old")
    block.cases["product/cuda/old/f32/9"] = block.cases.pop("product/cuda/old/f32/8")
    (rung,) = rungs(cases(operation(kernel("old"))), {}, block, "8")
    assert rung.counts is not None
    assert rung.counts_note == "counted at 9"


def test_a_triton_tile_is_the_same_whatever_it_is_specialised_for():
    """Sizes that are multiples of 16 make other machine code of the same tile; another tile is another kernel."""
    block = counted("old")
    small, timed = "product/cuda/old/f32/8", "product/cuda/old/f32/64"
    key = "_k(a_ptr:*fp32/16, m:{}, BLOCK_M=64, BLOCK_N={}, UNITS=(1, 1), WHOLE={}) warps=4 stages=3"

    def launched(case: str, *text: str) -> None:
        block.cases[case] = CountedCase(block.cases[case].counts, (key.format(*text),))

    launched(small, "i32", "64", "False")
    launched(timed, "i32/16", "64", "True")
    (rung,) = rungs(cases(operation(kernel("old"))), {}, block, "8")
    assert rung.counts is not None
    assert "need not be multiples of 16" in rung.counts_note
    launched(timed, "i32/16", "128", "True")
    (rung,) = rungs(cases(operation(kernel("old"))), {}, block, "8")
    assert rung.counts is None


def test_registers_of_another_shape_are_marked():
    """Nothing is stored of the timed shape: what the small one launches stands there with a note."""
    block = counted("old", timed="32")
    _, line, *notes = rendered(operation(kernel("old")), {}, block)
    assert " 32 [" in line
    assert any("compiled at 8; of the timed shape nothing is stored" in note for note in notes)


def test_a_device_of_which_nothing_was_compiled_has_no_counts():
    """Registers of another architecture are not shown in their place."""
    (rung,) = rungs(cases(operation(kernel("old"))), {}, None, "8")
    assert (rung.counts, rung.compiled) == (None, ())


def test_of_several_compilers_one_has_all_kernels_of_a_rung():
    """Registers of one launch and another's are never from two compilers."""
    block = counted("old")
    block.compiled["nvrtc 13.1"] = {"other.cu": compiled("sm_90a", 64)}
    (rung,) = rungs(cases(operation(kernel("old"))), {}, block, "8")
    assert [r.registers for r in rung.compiled] == [32]


def test_the_table_gives_rate_share_step_and_counts():
    """4e9 operations in 1 ms are 4 TFLOP/s; the second rung is twice as fast; conflicts are told as a factor."""
    ladder = operation(kernel("slow"), kernel("quick", model=lambda s, d: (Traffic(10**6, 0, Memory.L2),)))
    block = counted("slow", "quick", accesses=(SCATTERED, COLUMN))
    seconds = {"product/cuda/slow/f32/64": 2e-3, "product/cuda/quick/f32/64": 1e-3}
    header, slow, quick, *_ = rendered(ladder, seconds, block)
    assert header.split()[:3] == ["kernel", "time", "rate"]
    assert slow == "cuda/slow 2.000 ms 2.00 TFLOP/s 3.0% fp32 4e+06 32.0 32.00x 32 100%"
    assert quick == "cuda/quick 1.000 ms 4.00 TFLOP/s 6.0% fp32 4e+03 32.0 32.00x 32 100% 2.00x"


def test_a_step_compares_equal_shapes_only():
    """Shown at 8 after a rung at 4: the step is that of the times at 4 and says so, or there is none."""
    ladder = operation(kernel("slow"), kernel("quick"))
    slow, quick = ladder.kernels
    dtype = DType.parse("f32")
    shown = [Case(ladder, slow, dtype, Shape((4,))), Case(ladder, quick, dtype, Shape((8,)))]
    seconds = {"product/cuda/slow/f32/4": 3e-3, "product/cuda/quick/f32/8": 2e-3}
    _, rung = rungs(shown, seconds, None, "8")
    assert rung.step == Figure(None, "no shape was timed of both this and slow")
    _, rung = rungs(shown, {**seconds, "product/cuda/quick/f32/4": 1e-3}, None, "8")
    assert rung.step == Figure(3.0, "of the times at 4")
    _, rung = rungs(shown, {**seconds, "product/cuda/slow/f32/8": 8e-3}, None, "8")
    assert rung.step == Figure(4.0)


def test_a_step_is_from_the_rung_that_this_one_changes():
    """A side step between two rungs does not count as the lower one, nor does one that lacks the format."""
    ladder = operation(kernel("first"), kernel("aside"), kernel("second", after="first"))
    seconds = {f"product/cuda/{name}/f32/64": time for name, time in (("first", 4.0), ("aside", 9.0), ("second", 2.0))}
    assert [rung.step.value for rung in rungs(cases(ladder), seconds, None, "8")] == [None, 4 / 9, 2.0]
    other = operation(replace(kernel("first"), dtypes=("f64",)), kernel("second"))
    _, rung = rungs(cases(other), seconds, None, "8")
    assert rung.step == Figure(None, "first does not have this format")


def test_every_dash_has_its_reason():
    """A rung that was neither timed nor counted keeps its line, with its bound and intensity; naive kernels use no
    shared memory, Triton's conflicts are unknown, a library is not counted."""
    _, line, *notes = rendered(operation(kernel("new")), {}, None)
    assert line == "cuda/new - [1] - - fp32 4e+06 - [2] - [2] - [2] -"
    assert notes[:2] == ["[1] no time is stored", "[2] nothing is stored as compiled for this device"]
    assert not any("compiled for sm" in note for note in notes)
    assert any("uses no shared memory" in note for note in rendered(operation(kernel("new")), {}, counted("new")))
    block = counted("new")
    free = replace(block.cases["product/cuda/new/f32/8"].counts, layout_free=True)
    block.cases["product/cuda/new/f32/8"] = CountedCase(free, ("new.cu",))
    assert any("knows no banks" in note for note in rendered(operation(kernel("new")), {}, block))
    assert any("a library's" in note for note in rendered(operation(kernel("new", peer=True)), {}, block))


def test_hopper_instructions_are_named_where_nothing_could_be_counted():
    """A kernel of wgmma has registers, and no sectors."""
    block = counted("new")
    del block.cases["product/cuda/new/f32/8"]
    found = block.compiled["nvrtc 13.0"]
    found["new.cu"] = replace(found["new.cu"], mix=Mix(others={"wgmma": 4}))
    (rung,) = rungs(cases(operation(kernel("new"))), {}, block, "8")
    assert rung.counts_note == "the CPU has no model of sm_90a's own instructions"
    assert rung.compiled


@pytest.mark.parametrize("spills", [0, 8])
def test_spilled_registers_are_told(spills):
    """A kernel that spills says how many bytes, since its registers alone look like a choice."""
    block = counted("old")
    found = block.compiled["nvrtc 13.0"]
    found["old.cu"] = replace(found["old.cu"], spills=spills)
    _, line, *_ = rendered(operation(kernel("old")), {}, block)
    assert ("(8 spilled)" in line) == (spills > 0)
