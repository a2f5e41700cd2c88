"""Autotuned kernels without a GPU: nothing can be timed, so all configurations count as equal and the first runs."""

from __future__ import annotations

from typing import Any

from triton.runtime.autotuner import Autotuner


def install() -> None:
    """Let the tuner skip its measurements, which need a driver."""
    Autotuner._bench = _equal


def _equal(self: Any, *arguments: Any, config: Any, **keywords: Any) -> list[float]:
    """Median and quantiles as the tuner expects them."""
    return [0.0, 0.0, 0.0]
