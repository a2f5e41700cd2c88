"""Occupancy agrees with NVIDIA's calculator (cuda_occupancy.h), and names its limiter."""

from __future__ import annotations

import pytest

from pytest_roofline.counting.compiled.occupancy import occupancy


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "limiter"),
    [
        (256, 32, 0, 8, "warps"),
        (256, 33, 0, 6, "registers"),  # 40 after rounding: 12 warps per scheduler
        (1024, 64, 0, 1, "registers"),
        (1024, 65, 0, 0, "too large"),  # the launch fails
        (32, 16, 0, 32, "blocks"),
        (256, 32, 48 << 10, 3, "shared memory"),  # 49 KiB each of 164
        (128, 32, 163 << 10, 1, "shared memory"),
        (128, 32, (163 << 10) + 1, 0, "too large"),
        (96, 32, 0, 21, "warps"),
    ],
)
def test_a100(threads, registers, shared, blocks, limiter):
    """Blocks per SM of compute capability 8.0: 64 warps, 65536 registers, 164 KiB, 32 blocks."""
    found = occupancy("sm_80", threads, registers, shared)
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert found.fraction == found.warps / 64 == blocks * -(-threads // 32) / 64


def test_hopper_has_more_shared_memory():
    """228 KiB per SM: four blocks of 48 KiB instead of three."""
    assert occupancy("sm_90", 256, 32, 48 << 10).blocks == 4
