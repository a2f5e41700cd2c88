"""Which instructions a kernel is made of, read from its machine code. Pure.

From Volta to Hopper an instruction is 128 bits; bits 0 to 8 are its operation, bits 9 to 11 the form of its operands,
and bits 73 to 75 the width of a memory access. NVIDIA publishes the names (CUDA Binary Utilities, "Instruction Set
Reference") but not the encoding; it is known from open-source compilers (Mesa's NAK, ``sm70_encode.rs``), and a test
holds it against what ``nvdisasm`` prints. The counts are static: how often an instruction stands in the code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

_WIDTH_BYTES = (1, 1, 2, 2, 4, 8, 16, 16)  # U8 S8 U16 S16 32 64 128 U.128

MEMORY = {
    0x181: "global load",
    0x186: "global store",
    0x184: "shared load",
    0x188: "shared store",
    0x183: "local load",
    0x187: "local store",
    0x180: "generic load",
    0x185: "generic store",
}
OTHERS = {
    0x1AE: "cp.async",  # LDGSTS
    0x03B: "ldmatrix",  # LDSM
    0x03C: "mma",  # HMMA: f16, bf16, tf32
    0x037: "mma",  # IMMA
    0x03F: "mma",  # DMMA
    0x1F0: "wgmma",  # HGMMA
    0x1F1: "wgmma",  # IGMMA
    0x1F3: "wgmma",  # QGMMA
    0x1B4: "tma",  # UTMALDG
    0x1B5: "tma",  # UTMASTG
    0x1A8: "atomic",  # ATOMG
    0x1A9: "atomic",  # ATOMG.CAS
    0x1A3: "atomic",  # ATOMG.ADD.F32 in Ampere's encoding
    0x18A: "atomic",  # ATOM
    0x18B: "atomic",  # ATOM.CAS
    0x18E: "atomic",  # RED
    0x1A6: "atomic",  # RED.ADD.F32 in Ampere's encoding
    0x18C: "shared atomic",  # ATOMS
    0x18D: "shared atomic",  # ATOMS.CAS
    0x108: "special",  # MUFU
    0x029: "fp64",  # DADD
    0x028: "fp64",  # DMUL
    0x02B: "fp64",  # DFMA
    0x11D: "barrier",  # BAR
    0x189: "shuffle",  # SHFL
}
_NOP = 0x118
_PADDING = 0x147  # BRA to itself, which follows the end


@dataclass(frozen=True)
class Mix:
    """Static counts: memory accesses by kind and width (bytes per thread), other instructions by kind, all together."""

    memory: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    instructions: int = 0

    def widest(self, kind: str) -> int:
        """Bytes of the widest access of a kind; 0 without any."""
        return max(self.memory.get(kind, {}), default=0)

    def count(self, kind: str) -> int:
        """Instructions of a kind, of any width."""
        return sum(self.memory.get(kind, {}).values()) + self.others.get(kind, 0)

    def bytes(self, kind: str) -> int:
        """Bytes per thread that all accesses of a kind move, each executed once."""
        return sum(width * count for width, count in self.memory.get(kind, {}).items())


def mix(code: bytes) -> Mix:
    """Count the instructions of a kernel's ``.text`` section (sm_70 to sm_90)."""
    words = np.frombuffer(code[: len(code) // 16 * 16], dtype="<u8").reshape(-1, 2)
    operations = (words[:, 0] & 0x1FF).astype(int)
    widths = ((words[:, 1] >> 9) & 7).astype(int)
    memory: dict[str, dict[int, int]] = {}
    others: Counter[str] = Counter()
    for (operation, width), count in Counter(zip(operations.tolist(), widths.tolist(), strict=True)).items():
        if operation in MEMORY:
            by_width = memory.setdefault(MEMORY[operation], {})
            by_width[_WIDTH_BYTES[width]] = by_width.get(_WIDTH_BYTES[width], 0) + count
        elif operation in OTHERS:
            others[OTHERS[operation]] += count
    useful = int(np.count_nonzero(operations != _NOP))
    return Mix(memory, dict(others), useful)
