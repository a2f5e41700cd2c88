"""Rates that no datasheet prints but the architecture fixes: operations or bytes per clock and SM, times SMs and clock.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_roofline.contract import Memory, Pipeline

_GUIDE = "CUDA C++ Programming Guide, arithmetic throughput table"
_AMPERE = 'NVIDIA Technical Blog "NVIDIA Ampere Architecture In-Depth", Tables 3-4: peak / (SMs x boost clock)'
_HOPPER = (
    "NVIDIA H100 Tensor Core GPU Architecture, comparison of A100 and H100: FP16 and BF16 twice FP32, INT32 half of it"
)

# Operations per clock and SM by compute capability; a fused multiply-add counts two, a special function one.
_PER_CLOCK: dict[Pipeline, dict[str, tuple[int, str]]] = {
    Pipeline.SPECIAL: dict.fromkeys(("7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0"), (16, _GUIDE)),
    Pipeline.FP16: {"7.0": (256, _AMPERE), "8.0": (512, _AMPERE), "9.0": (512, _HOPPER)},
    Pipeline.BF16: {"8.0": (256, _AMPERE), "9.0": (512, _HOPPER)},
    Pipeline.INT32: {"7.0": (128, _AMPERE), "8.0": (128, _AMPERE), "9.0": (128, _HOPPER)},
}
_BANKS = "CUDA C++ Programming Guide, shared memory: 32 banks of 32 bits per clock"
_SHARED_BYTES = dict.fromkeys(("7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0"), 32 * 4)
_FMA_BYTES = 4 * (3 + 1)  # three operands and a result of 4 bytes


@dataclass(frozen=True)
class Derived:
    """Operations or bytes per second, and the formula with its inputs and their source."""

    rate: float
    formula: str


def derive(
    pipeline: Pipeline, compute_capability: str, sm_count: int | None, boost_mhz: float | None
) -> Derived | None:
    """The peak of a pipeline from the clock; ``None`` where an input is unknown."""
    known = _PER_CLOCK.get(pipeline, {}).get(compute_capability)
    if known is None or sm_count is None or boost_mhz is None:
        return None
    per_clock, source = known
    formula = f"derived: {per_clock} per clock and SM ({source}) x {sm_count} SMs x {boost_mhz:g} MHz"
    return Derived(per_clock * sm_count * boost_mhz * 1e6, formula)


def derive_bandwidth(
    level: Memory, compute_capability: str, sm_count: int | None, boost_mhz: float | None, fp32: float | None
) -> Derived | None:
    """Bytes per second of shared memory from the clock, of registers from the FP32 peak in operations per second.

    The latter is what FMAs at that peak name as operands and results; whether each is read from the register file or
    from an operand cache does not matter to it. ``None`` for other levels, and where an input is unknown.
    """
    if level is Memory.REGISTER and fp32 is not None:
        return Derived(fp32 / 2 * _FMA_BYTES, f"derived: {_FMA_BYTES} bytes per FMA x {fp32 / 2e12:g}e12 FMA/s of FP32")
    per_clock = _SHARED_BYTES.get(compute_capability)
    if level is not Memory.SHARED or per_clock is None or sm_count is None or boost_mhz is None:
        return None
    formula = f"derived: {per_clock} bytes per clock and SM ({_BANKS}) x {sm_count} SMs x {boost_mhz:g} MHz"
    return Derived(per_clock * sm_count * boost_mhz * 1e6, formula)
