"""Every planted bug is found: the kind, and a line that carries the mark ``BUG`` in the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import CudaFault, FaultKind, checking, load
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler

HERE = Path(__file__).parent
MEMORY, SYNC, CAUSES = (HERE / f"planted_{name}.cu" for name in ("memory", "sync", "causes"))
K = FaultKind


def f32(*shape: int) -> Any:
    return (np.arange(np.prod(shape)) % 7 + 1).astype(np.float32).reshape(shape)


def i32(*shape: int) -> Any:
    return (np.arange(np.prod(shape)) % 5).astype(np.int32).reshape(shape)


def f16(*shape: int) -> Any:
    return f32(*shape).astype(np.float16)


def n(value: int) -> np.int32:
    return np.int32(value)


WITH_GCC = {
    "misaligned_struct": "clang moves the members of such a struct one by one",
    "uninitialised_maximum": "clang fills with NaN, which a maximum leaves out",
    "uninitialised_maxima": "clang fills with NaN, which a maximum leaves out",
}


@dataclass
class Planted:
    """A kernel, how to launch it and the kinds of findings of which one must come first."""

    kernel: str
    kinds: set[FaultKind]
    args: Callable[[], Sequence[Any]]
    grid: int = 1
    block: tuple[int, ...] = (32,)
    shared: int = 0
    unset: tuple[int, ...] = ()  # arguments that count as uninitialised
    inputs: tuple[int, ...] = ()  # arguments that no kernel may write
    settings: dict[str, Any] = field(default_factory=dict)


MEMORY_BUGS = [
    Planted("off_by_one_store", {K.OUT_OF_BOUNDS}, lambda: (f32(1000), f32(1000), n(1000)), 4, (256,)),
    Planted("missing_tail_mask", {K.OUT_OF_BOUNDS}, lambda: (f32(1000), f32(1000), n(1000)), 4, (256,)),
    Planted("negative_index", {K.OUT_OF_BOUNDS}, lambda: (f32(1000), f32(1000), n(1000)), 4, (256,)),
    Planted("misaligned_float4", {K.MISALIGNED}, lambda: (f32(256), f32(32))),
    Planted("float4_odd_rows", {K.MISALIGNED}, lambda: (f32(8, 65), f32(8), n(65)), block=(8,)),
    Planted("float4_without_tail", {K.OUT_OF_BOUNDS}, lambda: (f32(1001), f32(1001), n(1001)), 4, (64,)),
    Planted("misaligned_half2", {K.MISALIGNED}, lambda: (f16(128), f32(32))),
    Planted("sum_in_variable", {K.GLOBAL_RACE}, lambda: (i32(32),)),
    Planted("parts_without_fence", {K.GLOBAL_RACE}, lambda: (f32(8), f32(1)), 8, (1,)),
    Planted("past_the_variable", {K.OUT_OF_BOUNDS, K.UNDEFINED_BEHAVIOUR}, lambda: (f32(32),)),
    Planted("write_to_constant", {K.READ_ONLY}, lambda: (f32(32),)),
    Planted("misaligned_struct", {K.MISALIGNED}, lambda: (f32(8, 5), f32(8), n(5)), block=(8,)),
    Planted("uninitialised_shared", {K.UNINITIALISED_READ}, lambda: (f32(64), f32(64)), block=(64,)),
    Planted("uninitialised_halo", {K.UNINITIALISED_READ}, lambda: (f32(64), f32(64)), block=(64,)),
    Planted("accumulate_into_unset", {K.UNINITIALISED_READ}, lambda: (f32(64), f32(64)), block=(64,), unset=(1,)),
    Planted("row_overflow", {K.UNDEFINED_BEHAVIOUR}, lambda: (f32(128), f32(128)), block=(32, 4)),
    Planted("flat_shared_overflow", {K.OUT_OF_BOUNDS, K.UNDEFINED_BEHAVIOUR}, lambda: (f32(64), f32(64)), block=(64,)),
    Planted("dynamic_too_small", {K.OUT_OF_BOUNDS}, lambda: (f32(64), f32(64)), block=(64,), shared=128),
    Planted("wild_pointer", {K.INVALID_POINTER}, lambda: (np.uintp(0x10000), f32(32))),
    Planted("write_to_input", {K.READ_ONLY}, lambda: (f32(32), f32(32)), inputs=(0,)),
    Planted("cast_away_const", {K.READ_ONLY}, lambda: (f32(32), f32(32))),
    Planted("into_the_gap", {K.OUT_OF_BOUNDS}, lambda: (f32(4, 30), f32(4, 40)[:, :30], n(4), n(30), n(40))),
    Planted("far_index", {K.OUT_OF_BOUNDS}, lambda: (f32(64), f32(64), n(64))),
    Planted("index_overflow", {K.OUT_OF_BOUNDS}, lambda: (f32(64), f32(64), n(64))),
    Planted("constant_index", {K.UNDEFINED_BEHAVIOUR, K.OUT_OF_BOUNDS}, lambda: (f32(32), f32(32), n(5))),
    Planted("local_index", {K.UNDEFINED_BEHAVIOUR}, lambda: (f32(32), f32(32), n(5))),
    Planted("shift_too_far", {K.UNDEFINED_BEHAVIOUR}, lambda: (i32(32), i32(32))),
    Planted("division_by_zero", {K.UNDEFINED_BEHAVIOUR}, lambda: (i32(32), i32(32))),
    Planted("null_pointer", {K.INVALID_POINTER}, lambda: (f32(32), None)),
    Planted("uninitialised_register", {K.UNINITIALISED_REGISTER}, lambda: (f32(128), f32(32))),
    Planted("uninitialised_local_array", {K.UNINITIALISED_REGISTER}, lambda: (f32(32), f32(32), n(7))),
    Planted("uninitialised_branch", {K.UNINITIALISED_REGISTER}, lambda: (f32(32), f32(32), n(7))),
    Planted("uninitialised_maximum", {K.UNINITIALISED_REGISTER}, lambda: (f32(32), f32(32), n(32))),
    Planted("uninitialised_maxima", {K.UNINITIALISED_REGISTER}, lambda: (f32(32), f32(32), n(32))),
    Planted("failed_assertion", {K.TRAP}, lambda: (f32(32), f32(32))),
    Planted("endless_loop", {K.ENDLESS_LOOP}, lambda: (f32(32), f32(32), n(32)), settings={"time_limit": 0.5}),
]
SYNC_BUGS = [
    Planted("no_barrier", {K.SHARED_RACE, K.UNINITIALISED_READ}, lambda: (f32(256), f32(256)), block=(256,)),
    Planted("no_trailing_barrier", {K.SHARED_RACE}, lambda: (f32(16, 64), f32(64, 16), f32(256), n(64)), 1, (16, 16)),
    Planted("tree_without_barrier", {K.SHARED_RACE}, lambda: (f32(256), f32(1)), block=(256,)),
    Planted("two_barriers", {K.DIVERGENT_BARRIER}, lambda: (f32(128), f32(128)), block=(128,)),
    Planted("barrier_after_return", {K.DIVERGENT_BARRIER}, lambda: (f32(128), f32(128), n(100)), block=(128,)),
    Planted("uneven_trips", {K.DIVERGENT_BARRIER}, lambda: (f32(64), f32(64)), block=(64,)),
    Planted("no_syncwarp", {K.SHARED_RACE, K.UNDEFINED_BEHAVIOUR}, lambda: (f32(64), f32(1))),
    Planted("volatile_for_syncwarp", {K.SHARED_RACE}, lambda: (f32(64), f32(1))),
    Planted("shuffle_in_branch", {K.DEADLOCK}, lambda: (f32(32), f32(32))),
    Planted("shuffle_after_return", {K.INACTIVE_LANE}, lambda: (f32(32), f32(1), n(20))),
    Planted("caller_outside_mask", {K.WRONG_MASK}, lambda: (f32(32), f32(32))),
    Planted("source_outside_mask", {K.INACTIVE_LANE}, lambda: (f32(32), f32(32))),
    Planted("half_a_warp", {K.INACTIVE_LANE}, lambda: (f32(48), f32(2)), block=(48,)),
    Planted("global_accumulate", {K.GLOBAL_RACE}, lambda: (f32(4), f32(1)), 4),
    Planted("overlapping_halo", {K.GLOBAL_RACE}, lambda: (f32(64), f32(64)), 2),
    Planted("stencil_in_place", {K.GLOBAL_RACE}, lambda: (f32(64), n(64)), block=(64,)),
    Planted("same_value", {K.GLOBAL_RACE}, lambda: (i32(1),), 2),
    Planted("copy_without_wait", {K.ASYNC_COPY}, lambda: (f32(128), f32(32))),
    Planted("copy_without_barrier", {K.UNINITIALISED_READ, K.SHARED_RACE}, lambda: (f32(128), f32(32))),
    Planted("copy_weak_wait", {K.ASYNC_COPY}, lambda: (f32(256), f32(32))),
    Planted("copy_misaligned", {K.MISALIGNED}, lambda: (f32(132), f32(32))),
    Planted("wmma_misaligned", {K.WARP_MATRIX}, lambda: (f16(512), f32(32))),
    Planted("wmma_partial", {K.WARP_MATRIX, K.DEADLOCK}, lambda: (f16(512), f32(32))),
    Planted("lock_never_freed", {K.LIVELOCK}, lambda: (np.zeros(1, np.int32), f32(1)), block=(2,)),
    Planted("lock_without_fence", {K.GLOBAL_RACE}, lambda: (np.zeros(1, np.int32), f32(1)), 2),
    Planted(
        "volatile_without_fence",
        {K.GLOBAL_RACE},
        lambda: (np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)),
        2,
    ),
    Planted(
        "volatile_behind_barrier",
        {K.GLOBAL_RACE},
        lambda: (np.zeros(64, np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32)),
        2,
        (64,),
    ),
    Planted("publish_without_fence", {K.GLOBAL_RACE}, lambda: (np.zeros(8, np.int32), i32(8)), 8),
    Planted("fence_before_data", {K.GLOBAL_RACE}, lambda: (np.zeros(8, np.int32), i32(8)), 8),
    Planted("early_ticket", {K.GLOBAL_RACE}, lambda: (f32(256), f32(256), np.zeros(1, np.uint32), f32(1)), 4, (64,)),
    Planted("race_after_fence", {K.GLOBAL_RACE}, lambda: (f32(1), np.zeros(1, np.uint32)), 4),
    Planted("block_scope_across_blocks", {K.GLOBAL_RACE}, lambda: (np.zeros(1, np.int32),), 4),
    Planted("plain_beside_atomic", {K.GLOBAL_RACE}, lambda: (np.zeros(1, np.int32), i32(64)), 1, (64,)),
    Planted("tile_sync_only", {K.SHARED_RACE, K.UNINITIALISED_READ}, lambda: (f32(64), f32(64)), block=(64,)),
    Planted("waits_for_later_block", {K.LIVELOCK}, lambda: (np.zeros(1, np.int32),), 2),
    Planted(
        "endless_barriers",
        {K.ENDLESS_LOOP},
        lambda: (f32(32), f32(32)),
        settings={"time_limit": 0.1, "allow_same_value_writes": "every thread sets the same flag"},
    ),
    Planted("histogram_without_atomics", {K.SHARED_RACE}, lambda: (i32(64), i32(16), n(64)), block=(64,)),
    Planted("double_buffer_one_barrier", {K.SHARED_RACE}, lambda: (f32(256), f32(64), n(4)), block=(64,)),
]
CAUSE_BUGS = [
    Planted("barrier_in_branch", {K.DIVERGENT_BARRIER}, lambda: (i32(64), i32(64)), block=(64,)),
    Planted("barrier_of_some_warps", {K.DIVERGENT_BARRIER}, lambda: (i32(128), i32(128)), block=(128,)),
    Planted(
        "exit_by_a_racing_flag",
        {K.SHARED_RACE},
        lambda: (i32(4)[::-1].copy(), i32(64), n(4)),
        block=(64,),
        settings={"order": "reverse"},
    ),
    Planted("barrier_too_many", {K.DIVERGENT_BARRIER}, lambda: (i32(64), i32(64)), block=(64,)),
    Planted("wmma_without_fill", {K.UNINITIALISED_REGISTER}, lambda: (f16(256), f16(256), f32(256))),
    Planted("wmma_without_load", {K.UNINITIALISED_REGISTER}, lambda: (f16(256), f32(256))),
    Planted(
        "mma_without_zero",
        {K.UNINITIALISED_REGISTER},
        lambda: (np.ones(128, np.uint32), np.ones(64, np.uint32), f32(128)),
    ),
    Planted("beside_shared", {K.OUT_OF_BOUNDS}, lambda: (f32(32), n(4000))),
    Planted("constant_address", {K.INVALID_POINTER}, lambda: (f32(32),)),
    Planted("set_beside_atomics", {K.SHARED_RACE}, lambda: (i32(64), i32(64)), block=(64,)),
    Planted("arrival_left_out", {K.DEADLOCK}, lambda: (i32(5, 32), i32(5, 32), n(5)), block=(96,)),
]
BY_FILE = {MEMORY: MEMORY_BUGS, SYNC: SYNC_BUGS, CAUSES: CAUSE_BUGS}


def bug_lines(path: Path, kernel: str) -> set[int]:
    """The lines of a kernel that carry the mark."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next(i for i, text in enumerate(lines) if re.search(rf"void {kernel}\(", text))
    marked = set()
    for number, text in enumerate(lines[start:], start + 1):
        if "// BUG" in text:
            marked.add(number)
        if text.startswith("}") or (number == start + 1 and text.rstrip().endswith("// BUG") and "}" in text):
            break
    return marked


def launch(path: Path, case: Planted) -> None:
    args = case.args()
    settings = dict(case.settings)
    settings["uninitialised"] = [args[i] for i in case.unset]
    settings["read_only"] = [args[i] for i in case.inputs]
    with checking("check", **settings):
        load(path).function(case.kernel)((case.grid,), case.block, args, case.shared)


@pytest.mark.parametrize(
    ("path", "case"),
    [pytest.param(path, c, id=c.kernel) for path, cases in BY_FILE.items() for c in cases],
)
def test_planted_bug_is_found_at_its_line(path: Path, case: Planted) -> None:
    """The first finding has the expected kind and points at a marked line, and the message names the kernel."""
    if case.kernel in WITH_GCC and find_compiler().family == "clang":
        pytest.skip(WITH_GCC[case.kernel])
    with pytest.raises(CudaFault) as caught:
        launch(path, case)
    fault = caught.value
    assert fault.kind in case.kinds, str(fault)
    marked = bug_lines(path, case.kernel)
    assert marked
    places = {fault.line, fault.findings[0].other_line}
    assert places & marked, str(fault)
    assert Path(fault.file).name == path.name
    assert case.kernel in str(fault)


def test_every_planted_kernel_is_launched() -> None:
    """No kernel of the files with planted bugs is forgotten."""
    for path, cases in BY_FILE.items():
        kernels = set(re.findall(r'extern "C" __global__ void (\w+)\(', path.read_text(encoding="utf-8")))
        assert kernels - {"endless_recursion"} == {c.kernel for c in cases}


def test_stack_overflow_is_contained() -> None:
    """Endless recursion of a kernel is a finding, not the end of the process."""
    with pytest.raises(CudaFault) as caught:
        load(MEMORY).function("endless_recursion")((1,), (1,), (f32(1), f32(1)))
    assert caught.value.kind is K.STACK_OVERFLOW


def test_symptoms_of_a_divergent_barrier_come_after_it() -> None:
    """What the threads read that went past the barrier is listed too, but behind."""
    with pytest.raises(CudaFault) as caught:
        launch(CAUSES, next(c for c in CAUSE_BUGS if c.kernel == "barrier_in_branch"))
    kinds = [finding.kind for finding in caught.value.findings]
    assert kinds[0] is K.DIVERGENT_BARRIER
    assert set(kinds[1:]) <= {K.UNINITIALISED_READ, K.SHARED_RACE}
    assert kinds[1:]


def test_a_divergent_barrier_names_both_places() -> None:
    """The finding is at the first of the two barriers and names the line of the other."""
    with pytest.raises(CudaFault) as caught:
        launch(CAUSES, next(c for c in CAUSE_BUGS if c.kernel == "barrier_too_many"))
    finding = caught.value.findings[0]
    assert {finding.line, finding.other_line} == bug_lines(CAUSES, "barrier_too_many")
    assert finding.line < finding.other_line


def test_an_unaligned_address_keeps_its_size() -> None:
    """The compiler splits such a store; the finding is about the whole."""
    with pytest.raises(CudaFault, match="write of 4 bytes at 0xdead0000beef"):
        launch(CAUSES, next(c for c in CAUSE_BUGS if c.kernel == "constant_address"))


def test_an_address_far_from_the_shared_variables_is_any_pointer() -> None:
    """Only what lies near is called an overrun of them."""
    with pytest.raises(CudaFault) as caught:
        load(CAUSES).function("beside_shared")((1,), (32,), (f32(32), n(1 << 19)))
    assert caught.value.kind is K.INVALID_POINTER


def test_a_register_finding_says_where_the_bytes_are_stored() -> None:
    """And does not name a line without saying what is there."""
    with pytest.raises(CudaFault, match=r"bytes stored at line \d+ depend on a variable that nobody has set(;|$)"):
        launch(MEMORY, next(c for c in MEMORY_BUGS if c.kernel == "uninitialised_local_array"))


def test_process_survives_and_results_stay_untouched() -> None:
    """After a fault the tensors hold what they held before the launch, and the next launch works."""
    b = f32(1000)
    before = b.copy()
    with pytest.raises(CudaFault):
        load(MEMORY).function("off_by_one_store")((4,), (256,), (f32(1000), b, n(1000)))
    np.testing.assert_array_equal(b, before)
    load(MEMORY).function("off_by_one_store")((3,), (256,), (f32(1000), b, n(1000)))
    np.testing.assert_array_equal(b[:768], f32(1000)[:768])


def test_same_value_writes_can_be_allowed_with_a_reason() -> None:
    """Unordered writes of one value pass with the opt-out; of different values they still fail."""
    with checking(allow_same_value_writes="any thread may raise the flag"):
        load(SYNC).function("same_value")((2,), (32,), (np.zeros(1, np.int32),))
        with pytest.raises(CudaFault) as caught:
            load(SYNC).function("overlapping_halo")((2,), (32,), (f32(64), f32(64)))
    assert caught.value.kind is K.GLOBAL_RACE


def test_opt_out_needs_a_reason() -> None:
    """An empty reason is refused."""
    with pytest.raises(ValueError, match="reason"), checking(allow_same_value_writes=""):
        pass
