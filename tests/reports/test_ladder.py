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
from pytest_roofline.counting.counts import Access, CaseCounts, Launch
from pytest_roofline.devices.record import load
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.reports.ladder import conflict_degree, rungs, sectors_per_request, table

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


def counted(name: str, *accesses: Access, arch: str = "sm_80", registers: int = 32) -> Counted:
    """What was counted of one kernel at the shape 8."""
    entry = CountedCase(CaseCounts((Launch(name, accesses),)), (f"{name}.cu",))
    return Counted(
        arch, {f"product/cuda/{name}/f32/8": entry}, {"nvrtc 13.0": {f"{name}.cu": compiled(arch, registers)}}
    )


def test_sectors_are_the_mean_over_all_global_requests():
    """Loads and stores count alike, weighted by their requests; shared memory has no sectors."""
    assert sectors_per_request(CaseCounts((Launch("k", (COALESCED, SCATTERED, COLUMN)),))) == (32 + 256) / 16
    assert sectors_per_request(CaseCounts((Launch("k", (COLUMN,)),))) is None


def test_conflicts_are_passes_over_those_that_would_do():
    """A column of 32 ways and a row without conflict, equally often, make 16.5 passes for one."""
    assert conflict_degree(CaseCounts((Launch("k", (COALESCED, COLUMN, ROW)),))) == 16.5
    assert conflict_degree(CaseCounts((Launch("k", (COALESCED,)),))) is None


def test_a_rung_takes_the_counts_of_its_small_case_from_whichever_device_has_them():
    """A kernel that only a newer architecture runs is counted for that one."""
    ladder = operation(kernel("old"), kernel("new"))
    blocks = [counted("old", COALESCED), counted("new", SCATTERED, arch="sm_90a", registers=168)]
    old, new = rungs(cases(ladder), {"product/cuda/new/f32/64": 1e-3}, blocks, "8")
    assert (old.seconds, new.seconds) == (None, 1e-3)
    assert [r.arch for r in (*old.compiled, *new.compiled)] == ["sm_80", "sm_90a"]
    assert new.counts is not None
    assert sectors_per_request(new.counts) == 32


def test_of_several_compilers_one_has_all_kernels_of_a_rung():
    """Registers of one launch and another's are never from two compilers."""
    block = counted("old", COALESCED)
    block.compiled["nvrtc 13.1"] = {"other.cu": compiled("sm_80", 64)}
    (rung,) = rungs(cases(operation(kernel("old"))), {}, [block], "8")
    assert [r.registers for r in rung.compiled] == [32]


def test_the_table_gives_rate_share_gain_and_counts():
    """4e9 operations in 1 ms are 4 TFLOP/s; the second rung is twice as fast; conflicts are told as a factor."""
    ladder = operation(kernel("slow"), kernel("quick", model=lambda s, d: (Traffic(10**6, 0, Memory.L2),)))
    blocks = [counted("slow", SCATTERED, COLUMN), counted("quick", COALESCED, ROW, registers=255)]
    seconds = {"product/cuda/slow/f32/64": 2e-3, "product/cuda/quick/f32/64": 1e-3}
    header, slow, quick, *_ = table(rungs(cases(ladder), seconds, blocks, "8"), load("h200"), "8")
    assert header.split()[:3] == ["kernel", "time", "rate"]
    assert " ".join(slow.split()) == "cuda/slow 2.000 ms 2.00 TFLOP/s 3.0% fp32 4e+06 32.0 32.00x 32 100%"
    assert " ".join(quick.split()) == "cuda/quick 1.000 ms 4.00 TFLOP/s 6.0% fp32 4e+03 4.0 1.00x 255 12% 2.00x"


def test_a_rung_of_another_size_is_compared_by_its_pace():
    """It says which size it was; 4e9 operations in 1 ms are as fast as 8e9 in 2 ms."""
    ladder = replace(
        operation(kernel("slow"), kernel("quick")),
        work=lambda shape, dtype: Work({Pipeline.FP32: shape.dims[0] * 10**9}, Traffic(500, 500)),
    )
    small, large = (
        Case(ladder, k, DType.parse("f32"), Shape((n,))) for k, n in zip(ladder.kernels, (4, 8), strict=True)
    )
    seconds = {str(small): 1e-3, str(large): 2e-3}
    _, slow, quick, *_ = table(rungs([small, large], seconds, [], "8"), load("h200"), "8")
    assert slow.startswith("cuda/slow at 4 ")
    assert quick.split()[0] == "cuda/quick"
    assert quick.split()[-1] == "1.00x"


def test_what_is_not_known_is_a_dash():
    """A rung that was neither timed nor counted keeps its line, with its bound and intensity."""
    _, line, *rest = table(rungs(cases(operation(kernel("new"))), {}, [], "8"), load("h200"), "8")
    assert line.split() == ["cuda/new", *"---", "fp32", "4e+06", *"----"]
    assert not any("compiled for" in text for text in rest)


@pytest.mark.parametrize("spills", [0, 8])
def test_spilled_registers_are_told(spills):
    """A kernel that spills says how many bytes, since its registers alone look like a choice."""
    block = counted("old", COALESCED)
    plain = {"threads": 256, "registers": 255, "stack": 8, "spills": spills, "shared": 0, "dynamic": 0, "barriers": 0}
    block.compiled["nvrtc 13.0"]["old.cu"] = from_plain({**plain, "mix": {"instructions": 1}, "code": ""}, "sm_80", "c")
    _, line, *_ = table(rungs(cases(operation(kernel("old"))), {}, [block], "8"), load("h200"), "8")
    assert ("(8 spilled)" in line) == (spills > 0)
