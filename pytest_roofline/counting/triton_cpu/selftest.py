"""Small kernels with one bug each, to see at start that every hook bites in this version of Triton."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from pytest_roofline.counting.triton_cpu import checker
from pytest_roofline.counting.triton_cpu.findings import Finding, KernelFault


@triton.jit  # type: ignore[untyped-decorator]
def _copy(x: Any, out: Any, BLOCK: tl.constexpr) -> None:  # noqa: N803  (Triton's convention for constants)
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes))


@triton.jit  # type: ignore[untyped-decorator]
def _count(out: Any, BLOCK: tl.constexpr) -> None:  # noqa: N803
    tl.atomic_add(out + tl.arange(0, BLOCK), 1.0)


@triton.jit  # type: ignore[untyped-decorator]
def _promise(out: Any, BLOCK: tl.constexpr) -> None:  # noqa: N803
    tl.store(out + tl.multiple_of(tl.arange(0, BLOCK) + 1, 4) - 1, 1.0)


@triton.jit  # type: ignore[untyped-decorator]
def _masked(x: Any, out: Any, BLOCK: tl.constexpr) -> None:  # noqa: N803
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes, mask=lanes < 3))


@triton.jit  # type: ignore[untyped-decorator]
def _exchange(x: Any, out: Any, BLOCK: tl.constexpr) -> None:  # noqa: N803
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes))
    tl.debug_barrier()
    tl.store(out + lanes, tl.load(out + BLOCK - 1 - lanes))


def run() -> None:
    """Raises ``AssertionError`` if a planted bug goes unseen or a correct kernel is blamed or computes wrongly."""
    x, short, out = torch.arange(8.0), torch.zeros(64)[:7], torch.zeros(8)
    _expect("load past the end", Finding.OUT_OF_BOUNDS, lambda: _copy[(1,)](short, out, BLOCK=8))
    _expect("store past the end", Finding.OUT_OF_BOUNDS, lambda: _copy[(1,)](x, short, BLOCK=8))
    _expect("atomic past the end", Finding.OUT_OF_BOUNDS, lambda: _count[(1,)](short, BLOCK=8))
    _expect("two programs storing one element", Finding.RACE, lambda: _copy[(2,)](x, out, BLOCK=8))
    _expect("false hint", Finding.FALSE_HINT, lambda: _promise[(1,)](out, BLOCK=8))
    _expect("grid too large", Finding.GRID_LIMIT, lambda: _copy[(1, 65536)](x, out, BLOCK=8))
    _expect("atomics of two programs", None, lambda: _count[(2,)](out, BLOCK=8))
    _expect("copy", None, lambda: _copy[(1,)](x, out, BLOCK=8))
    _require(torch.equal(out, x), "a copy gave other values")
    _expect("exchange behind a barrier", None, lambda: _exchange[(1,)](x, out, BLOCK=8))
    _require(torch.equal(out, x.flip(0)), "an exchange gave other values")
    _expect("masked load", None, lambda: _masked[(1,)](x, out, BLOCK=8))
    _require(int(out.isnan().sum()) == 5, "masked lanes without other= are not poisoned")


def _expect(what: str, kind: Finding | None, launch: Callable[[], Any]) -> None:
    found = None
    with checker.checking(races=True, counts=False):
        try:
            launch()
        except KernelFault as fault:
            found = fault.kind
    _require(found is kind, f"{what}: expected {kind}, found {found}")


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise AssertionError(otherwise)
