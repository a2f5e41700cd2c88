"""How much there is to do: operations by pipeline and bytes by memory level, as raw counts. Pure."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass


class Memory(enum.Enum):
    """A memory level that a traffic model names; its roof comes from the device record.

    ``REGISTER`` counts the operands that instructions name, ``HOST`` what crosses the link between host and device,
    seen from the host's memory.
    """

    DEVICE = "device"
    L2 = "l2"
    SHARED = "shared"
    REGISTER = "register"
    HOST = "host"


class Pipeline(enum.Enum):
    """The execution units that do the arithmetic; each has its own roof in a device record."""

    FP64 = "fp64"
    FP32 = "fp32"
    FP16 = "fp16"
    BF16 = "bf16"
    INT32 = "int32"
    SPECIAL = "special"
    FP64_TENSOR = "fp64_tensor"
    TF32_TENSOR = "tf32_tensor"
    FP16_TENSOR = "fp16_tensor"
    BF16_TENSOR = "bf16_tensor"
    FP8_TENSOR = "fp8_tensor"
    INT8_TENSOR = "int8_tensor"


@dataclass(frozen=True)
class Traffic:
    """Bytes that cross one memory level in one execution: raw counts, never rates."""

    read: int
    write: int
    level: Memory = Memory.DEVICE

    @property
    def total(self) -> int:
        """Bytes in both directions."""
        return self.read + self.write


@dataclass(frozen=True)
class Work:
    """What must be done whatever the algorithm: operations by pipeline (an FMA counts two) and compulsory traffic,
    each input read once and each output written once. ``roofline.rates`` turns these counts into rates."""

    operations: Mapping[Pipeline, int]
    traffic: Traffic
