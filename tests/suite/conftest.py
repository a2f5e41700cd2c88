"""Where the suite's launchers run: on a GPU if there is one, else interpreted; or nowhere, recorded."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest


@pytest.fixture(scope="session")
def device() -> str:
    """``"cuda"``, or ``"cpu"`` with Triton's interpreter ready."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if torch.cuda.is_available():
        return "cuda"
    from pytest_roofline.counting import triton_cpu

    try:
        triton_cpu.enable()
    except triton_cpu.InterpreterUnavailable as reason:
        pytest.skip(str(reason))
    return "cpu"


@pytest.fixture(scope="session")
def compiler() -> None:
    """A C++ compiler for CUDA kernels on the CPU, or the test is skipped."""
    pytest.importorskip("torch")
    from pytest_roofline.counting.cuda_cpu import CompilerMissing
    from pytest_roofline.counting.cuda_cpu.compiler import find_compiler

    try:
        find_compiler()
    except CompilerMissing as reason:
        pytest.skip(str(reason))


class Launched(NamedTuple):
    """One launch of a CUDA kernel that was recorded instead."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Any, ...]
    shared_bytes: int


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Launched]:
    """What the CUDA launchers launch, instead of launching it."""
    pytest.importorskip("torch")
    from pytest_roofline.launch import Source

    recorded: list[Launched] = []

    class Module:
        def function(self, name: str) -> Any:
            return lambda *launch: recorded.append(Launched(name, *launch))

    monkeypatch.setattr(Source, "cpu_module", property(lambda self: Module()))
    return recorded
