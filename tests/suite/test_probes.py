"""The probes measure what they say: no step of a loop can be left out, and bank conflicts are those of theory."""

from __future__ import annotations

import importlib
import math

import pytest

torch = pytest.importorskip("torch")

import kernels_cuda.occupancy as occupancy  # noqa: E402
import kernels_cuda.shared_stride as shared_stride  # noqa: E402
from pytest_roofline.checking.check import WrongResultError, check, load_launcher  # noqa: E402
from pytest_roofline.counting import cuda_cpu  # noqa: E402
from pytest_roofline.discovery import load_operation  # noqa: E402
from pytest_roofline.ids import CaseId, Shape  # noqa: E402
from pytest_roofline.launch import GpuNeeded  # noqa: E402
from suite.operations.pointer_chase import LINE, cycle  # noqa: E402


def run(text: str, device: str, **scalars: int) -> float:
    """Check a case with a launcher that is given other scalars than it should be: one that skips part of its loop."""
    case_id = CaseId.parse(text)
    case = load_operation(f"suite.operations.{case_id.operation}").case(case_id)
    launcher = load_launcher(case.kernel.launcher)

    def skips(*arguments, **keywords):
        launcher(*arguments, **{**keywords, **scalars})

    try:
        return check(case, skips, device, "random", 0)
    except cuda_cpu.CompilerMissing as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(
    ("case", "less"),
    [
        ("register_bandwidth/cuda/ilp_8/f32/300x64", {"steps": 63}),
        ("register_bandwidth/triton/ilp_1/f32/300x64", {"steps": 63}),
        ("l2_bandwidth/cuda/vectorised/f32/3x12", {"passes": 11}),
        ("l2_bandwidth/triton/block/f32/3x12", {"passes": 11}),
        ("shared_bandwidth/cuda/vectorised/f32/1x12", {"passes": 11}),
        ("shared_bandwidth/cuda/scalar/f32/1x12", {"passes": 11}),
        ("shared_stride/cuda/scalar/f32/1x2", {"stride": 1}),
        ("pointer_chase/cuda/shared/i32/40x30", {"steps": 29}),
        ("pointer_chase/cuda/cached/i32/40x30", {"steps": 29}),
        ("pointer_chase/triton/uncached/i32/40x30", {"steps": 29}),
        ("launch_chain/cuda/stream/i32/9", {"length": 8}),
        ("launch_chain/triton/graph/i32/9", {"length": 8}),
    ],
)
def test_a_loop_that_leaves_out_one_step_is_wrong(device, case, less):
    """What a compiler or a careless kernel drops shows in the result, so it can never look fast."""
    run(case, device)
    with pytest.raises(WrongResultError, match="elements wrong"):
        run(case, device, **less)


@pytest.mark.parametrize("stride", [0, 1, 2, 3, 4, 6, 8, 16, 31, 32])
def test_lanes_at_a_stride_meet_in_as_many_banks_as_theory_says(stride):
    """gcd(stride, 32) lanes share a bank, so a read takes that many wavefronts; one word for all lanes takes one."""
    x, y = torch.randn(1, shared_stride.TILE), torch.zeros(1, shared_stride.BLOCK)
    with cuda_cpu.checking("count") as session:
        try:
            shared_stride.scalar(x, y, stride=stride)
        except cuda_cpu.CompilerMissing as reason:
            pytest.skip(str(reason))
    [record] = session.launches
    ways = record.total("shared load", "wavefronts") / record.total("shared load")
    assert ways == (math.gcd(stride, 32) if stride else 1)


@pytest.mark.parametrize("lines", [1, 2, 7, 64])
def test_the_chase_comes_to_every_line_once_before_it_comes_back(lines):
    """One cycle over all lines: a shorter one would stay in a faster level than the one that is measured."""
    pointers = cycle((lines * LINE,), 3, "cpu")
    position, seen = 0, []
    for _ in range(lines):
        seen.append(position)
        position = int(pointers[position])
    assert position == 0
    assert sorted(seen) == [line * LINE for line in range(lines)]


@pytest.mark.parametrize("kib_per_sm", [100, 164, 228])
@pytest.mark.parametrize("blocks", [1, 2, 4, 8, 16])
def test_shared_memory_lets_in_exactly_so_many_blocks(monkeypatch, kib_per_sm, blocks):
    """One more does not fit, as CUDA counts: what a block asks for and 1 KiB of its own."""
    properties = type("Properties", (), {})()
    properties.shared_memory_per_multiprocessor = kib_per_sm * 1024
    properties.shared_memory_per_block_optin = (kib_per_sm - 1) * 1024
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    occupancy.limiting_bytes.cache_clear()
    taken = occupancy.limiting_bytes(blocks, 0) + 1024
    occupancy.limiting_bytes.cache_clear()
    assert blocks * taken <= kib_per_sm * 1024 < (blocks + 1) * taken


@pytest.mark.parametrize("operation", ["upload", "download", "exchange"])
def test_the_copy_engine_needs_a_gpu(operation):
    """Without one there are no two memories, and the reason becomes that of a skip."""
    module = importlib.import_module(f"kernels_cuda.{operation}")
    launcher = module.overlapped if operation == "exchange" else module.engine
    vectors = [torch.zeros(16, dtype=torch.int8) for _ in range(4 if operation == "exchange" else 2)]
    with pytest.raises(GpuNeeded, match=f"{operation}: there is no GPU here"):
        launcher(*vectors)
    with pytest.raises(ValueError, match=f"{operation} takes dense equal vectors"):
        launcher(vectors[0][:5], *vectors[1:])


def test_a_launcher_refuses_what_its_kernel_cannot_do():
    """By name, before anything is launched."""
    x, row = torch.zeros(64), torch.zeros(2, 1024)
    pointers, end = torch.zeros(9000 * LINE, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    refusals = [
        ("occupancy", "occupancy", (x, x), {"warps": 5, "ilp": 1}, "one of"),
        (
            "shared_stride",
            "scalar",
            (torch.zeros(1, 1088), torch.zeros(1, 256)),
            {"stride": 33},
            "strides from 0 to 32",
        ),
        ("shared_bandwidth", "vectorised", (row, row[:1]), {"passes": 1}, "dense rows of 1024"),
        ("l2_bandwidth", "scalar", (x, x), {"passes": 1}, "dense rows of 1024"),
        ("register_bandwidth", "register_bandwidth", (x, x, x, x[:5]), {"steps": 1, "ilp": 1}, "dense equal vectors"),
        ("pointer_chase", "shared", (pointers, end), {"steps": 1}, "at most 8192 lines"),
        ("pointer_chase", "cached", (pointers[:5], end), {"steps": 1}, "dense lines of 32"),
        ("launch_chain", "stream", (pointers,), {"length": 1}, "one token"),
        ("empty_launch", "graph", (pointers,), {"blocks": 1}, "one token"),
    ]
    for operation, name, arguments, scalars, message in refusals:
        launcher = getattr(importlib.import_module(f"kernels_cuda.{operation}"), name)
        with pytest.raises(ValueError, match=message):
            launcher(*arguments, **scalars)


def test_every_wave_of_an_h200_is_full():
    """What the timed shapes promise: a bandwidth at the end of a half-empty wave would be that of half the SMs."""
    for text, blocks, at_once in (
        ("register_bandwidth/1081344x8192", 1081344 // (256 * 8), 4 * 132),
        ("l2_bandwidth/4224x16", 4224, 8 * 132),
        ("shared_bandwidth/1056x2048", 1056, 8 * 132),
        ("shared_stride/1056x1", 1056, 8 * 132),
    ):
        name, shape = text.split("/")
        assert str(Shape.parse(shape)) in load_operation(f"suite.operations.{name}").shapes.sweep
        assert blocks % at_once == 0


def test_the_rates_of_both_chases_come_from_one_level():
    """Shapes of a level differ in their steps alone, and the longer chase goes on where the shorter one ended."""
    operation = load_operation("suite.operations.pointer_chase")
    for texts in (operation.shapes.sweep[:2], operation.shapes.sweep[2:], operation.shapes.representative):
        (lines, short), (same, long) = (Shape.parse(text).dims for text in texts)
        assert lines == same
        assert short < long
        assert short >= lines or long <= lines
