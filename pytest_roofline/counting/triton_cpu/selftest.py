"""A kernel with one bug, to see at start that the hooks bite in this version of Triton."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from pytest_roofline.counting.triton_cpu import checker
from pytest_roofline.counting.triton_cpu.findings import Finding, KernelFault


@triton.jit  # type: ignore[untyped-decorator]
def _store_past_the_end(x: Any, BLOCK: tl.constexpr) -> None:  # noqa: N803  (Triton's convention for constants)
    tl.store(x + tl.arange(0, BLOCK), 1.0)


def run() -> None:
    """Raises ``AssertionError`` if the planted bug goes unseen."""
    x = torch.zeros(64)[:7]
    found = None
    with checker.checking(races=True):
        try:
            _store_past_the_end[(1,)](x, BLOCK=8)
        except KernelFault as fault:
            found = fault.kind
    if found is not Finding.OUT_OF_BOUNDS:
        raise AssertionError(f"a planted out-of-bounds store was seen as {found}")
