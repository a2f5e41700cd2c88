"""What would end the process ends the launch: a finding with the kernel's name, and the next launch works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import CudaFault, FaultKind, checking, load
from pytest_roofline.counting.cuda_cpu.compiler import find_compiler

SOURCE = Path(__file__).parent / "containment.cu"
K = FaultKind


def launch(kernel: str) -> np.ndarray:
    out = np.zeros(32, np.int32)
    with checking(time_limit=0.5):
        load(SOURCE).function(kernel)((1,), (32,), (out, np.int32(1)))
    return out


def marked(kernel: str) -> set[int]:
    """The marked lines of a kernel and of the functions above it."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, text in enumerate(lines) if f" {kernel}(" in text)
    first = max((i for i in range(start) if "__global__" in lines[i]), default=0)
    last = next((i for i in range(start + 1, len(lines)) if "__global__" in lines[i]), len(lines))
    return {i + 1 for i in range(first, last) if "// BUG" in lines[i]}


@pytest.mark.parametrize(
    ("kernel", "kinds"),
    [
        ("huge_frame", {K.STACK_OVERFLOW}),
        ("deep_recursion", {K.STACK_OVERFLOW}),
        ("wild_store", {K.INVALID_POINTER}),
        ("null_load", {K.INVALID_POINTER, K.UNDEFINED_BEHAVIOUR}),
        ("no_memory", {K.INVALID_POINTER}),
        ("turns_in_circles", {K.ENDLESS_LOOP}),
        ("counts_for_ever", {K.ENDLESS_LOOP}),
        ("gives_up", {K.TRAP}),
        ("leaves", {K.TRAP}),
        ("smallest_by_minus_one", {K.UNDEFINED_BEHAVIOUR}),
    ],
)
def test_the_launch_ends_as_a_finding(kernel: str, kinds: set[FaultKind]) -> None:
    """The finding names kernel and line, and a launch after it is a launch as any other."""
    if kernel == "turns_in_circles" and find_compiler().family == "clang":
        pytest.skip("clang takes a loop without effects to end, and drops it")
    with pytest.raises(CudaFault) as caught:
        launch(kernel)
    assert caught.value.kind in kinds, str(caught.value)
    assert kernel in str(caught.value)
    assert caught.value.line in marked(kernel), str(caught.value)
    launch("large_frame")


def test_a_call_of_no_function_is_contained() -> None:
    """No line is known where there is no code."""
    with pytest.raises(CudaFault, match="wild_call") as caught:
        launch("wild_call")
    assert caught.value.kind is K.CRASH


def test_a_large_frame_is_none_of_them() -> None:
    """A thread has as much local memory as on a GPU, 512 KiB."""
    np.testing.assert_array_equal(launch("large_frame"), 99999 - np.arange(32))
