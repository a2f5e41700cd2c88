"""How many blocks of a kernel one SM holds at once, and what limits them. Pure.

The formula is that of NVIDIA's ``cuda_occupancy.h`` (CUDA toolkit); the limits are those of the CUDA C++ Programming
Guide, "Technical Specifications per Compute Capability", and of the tuning guides for the 1 KiB of shared memory that
the system takes of every block.
"""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32


@dataclass(frozen=True)
class Capability:
    """Limits of one compute capability, per SM unless said otherwise. Shared memory in bytes."""

    arch: str
    warps: int
    blocks: int
    registers: int
    registers_unit: int  # registers are given to a warp in multiples of this
    schedulers: int  # each has its share of the registers
    shared: int
    shared_per_block: int
    shared_unit: int
    shared_reserved: int  # of every block, by the system


CAPABILITIES = {
    "sm_80": Capability("sm_80", 64, 32, 65536, 256, 4, 164 << 10, 163 << 10, 128, 1 << 10),
    "sm_90": Capability("sm_90", 64, 32, 65536, 256, 4, 228 << 10, 227 << 10, 128, 1 << 10),
    "sm_90a": Capability("sm_90a", 64, 32, 65536, 256, 4, 228 << 10, 227 << 10, 128, 1 << 10),
}


@dataclass(frozen=True)
class Occupancy:
    """``blocks`` resident on one SM, their ``warps``, the share of the SM's warps, and what allows no more.

    ``limiter`` is ``registers``, ``shared memory``, ``warps``, ``blocks``, or ``too large`` where not one block fits.
    """

    blocks: int
    warps: int
    fraction: float
    limiter: str


def occupancy(arch: str, threads: int, registers: int, shared: int) -> Occupancy:
    """Theoretical occupancy of blocks of ``threads`` with ``shared`` bytes of static and dynamic shared memory.

    Raises ``KeyError`` for an architecture without limits here.
    """
    limits = CAPABILITIES[arch]
    warps = -(-threads // WARP)
    per_warp = _up(registers * WARP, limits.registers_unit)
    by_registers = limits.registers // limits.schedulers // per_warp * limits.schedulers if per_warp else limits.warps
    used = _up(shared + limits.shared_reserved, limits.shared_unit)
    allowed = {
        "warps": limits.warps // warps,
        "registers": by_registers // warps,
        "shared memory": limits.shared // used if shared <= limits.shared_per_block else 0,
        "blocks": limits.blocks,
    }
    limiter = min(allowed, key=lambda name: allowed[name])
    blocks = allowed[limiter]
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, limiter if blocks else "too large")


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
