"""What the programs of ``programs_*.cu`` are launched on, and what must come out of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tests.counting.cuda_cpu.algorithm import Arrays, Check, close, f32, integers, n, rng, softmax, zeros

I8, I32, U32, I64, F16, F64 = np.int8, np.int32, np.uint32, np.int64, np.float16, np.float64


def f16(*shape: int) -> Any:
    return f32(*shape).astype(F16)


def wide(x: Any) -> Any:
    return x.astype(F64)


def equal(output: int, expected: Callable[[Arrays], Any]) -> Check:
    return close(output, expected, rtol=0, atol=0)


def layernorm(x: torch.Tensor, gain: Any, bias: Any) -> Any:
    return torch.nn.functional.layer_norm(
        x.double(), x.shape[-1:], torch.tensor(gain).double(), torch.tensor(bias).double(), 1e-5
    )


def normalised(before: Arrays, after: Arrays) -> None:
    expected = layernorm(*before[:3])
    assert ((after[3].double() - expected).abs() <= 2.0**-8 * expected.abs() + 1e-3).all()


def cross_entropy(before: Arrays) -> Any:
    logits, target = wide(before[0]), before[1]
    total = np.log(np.exp(logits).sum(1))
    return np.where(target < 0, 0, total - logits[np.arange(len(target)), np.maximum(target, 0)])


def segments() -> Arrays:
    lengths = np.array([3, 0, 40, 1, 17, 8, 0, 9, 90, 2])
    offsets = np.concatenate([[0], lengths.cumsum()]).astype(I64)
    return f32(int(offsets[-1])), offsets, zeros(10), zeros(10, kind=I64), n(10)


def segment_max(before: Arrays, after: Arrays) -> None:
    x, offsets = before[:2]
    for s, (a, b) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):  # noqa: RUF007
        assert after[3][s] == (a + x[a:b].argmax() if b > a else -1)


def rotated(before: Arrays) -> Any:
    x, angles, heads, width = before
    tokens = x.reshape(-1, heads, 2, width // 2).astype(np.float32)
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return np.stack([tokens[:, :, 0] * c - tokens[:, :, 1] * s, tokens[:, :, 1] * c + tokens[:, :, 0] * s], 2).reshape(
        x.shape
    )


FILTER = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1])


def convolved(x: Any) -> Any:
    padded = np.pad(wide(x), 2)
    h, w = x.shape
    return sum(FILTER[i, j] * padded[i : i + h, j : j + w] for i in range(5) for j in range(5)) / 256


def marched(x: Any) -> Any:
    y, x = np.zeros(x.shape), wide(x)
    inner = x[1:-1, 1:-1, 1:-1]
    y[1:-1, 1:-1, 1:-1] = (
        x[:-2, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1] + x[1:-1, :-2, 1:-1] + x[1:-1, 2:, 1:-1] + x[1:-1, 1:-1, :-2]
        + x[1:-1, 1:-1, 2:] - 6 * inner
    )  # fmt: skip
    return y


def forces(body: Any) -> Any:
    body = wide(body)
    delta = body[None, :, :3] - body[:, None, :3]
    weight = body[None, :, 3] / ((delta**2).sum(2) + 1e-3) ** 1.5
    return (delta * weight[:, :, None]).sum(1)


def pooled(before: Arrays, after: Arrays) -> None:
    x = before[0]
    c, h, w = x.shape
    windows = (
        x[:, : h // 2 * 2, : w // 2 * 2]
        .reshape(c, h // 2, 2, w // 2, 2)
        .transpose(0, 1, 3, 2, 4)
        .reshape(c, h // 2, w // 2, 4)
    )
    np.testing.assert_array_equal(after[1], windows.max(3))
    np.testing.assert_array_equal(after[2], windows.argmax(3))


def digits(before: Arrays) -> Any:
    keys = before[0]
    return np.stack([np.bincount(keys[i : i + 128] >> 4 & 15, minlength=16) for i in range(0, len(keys), 128)], 1)


def scattered() -> Arrays:
    keys = rng().integers(0, 2**31, 500, U32)
    counts = digits((keys,))
    starts = (counts.ravel().cumsum() - counts.ravel()).astype(U32)
    return keys, starts, zeros(500, kind=U32), n(500), n(4)


def edges() -> Arrays:
    nodes = np.arange(100, dtype=I32)
    return integers(100, 60), integers(100, 60), nodes, n(60)


def connected(before: Arrays, after: Arrays) -> None:
    label = np.arange(100)
    for _ in range(100):
        for u, v in zip(before[0], before[1], strict=True):
            label[u] = label[v] = min(label[u], label[v])
    root = after[2].copy()
    for _ in range(100):
        root = root[root]
    np.testing.assert_array_equal(root, label)


def counted_keys(before: Arrays, after: Arrays) -> None:
    keys, times = np.unique(before[0], return_counts=True)
    found = {int(k): int(c) for k, c in zip(after[1], after[2], strict=True) if k}
    assert found == {int(k): int(c) for k, c in zip(keys, times, strict=True)}


def ordered(high: int, count: int) -> Any:
    return np.sort(integers(high, count))


def generation(x: Any) -> Any:
    count = sum(np.roll(x, (i, j), (0, 1)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return (count == 3) | ((count == 2) & (x == 1))


def escaped(before: Arrays, after: Arrays) -> None:
    steps, width, height, scale, limit = after
    cx, cy = np.float32(np.arange(width) * scale - 2)[None, :], np.float32(np.arange(height) * scale - 1)[:, None]
    x, y, expected = (
        np.zeros((height, width), np.float32),
        np.zeros((height, width), np.float32),
        np.zeros((height, width)),
    )
    for _ in range(limit):
        inside = x * x + y * y <= 4
        expected += inside
        x, y = np.where(inside, x * x - y * y + cx, x), np.where(inside, 2 * x * y + cy, y)
    assert (steps != expected).mean() < 0.02  # a point at the border may round to the other side


def gradient(before: Arrays) -> Any:
    image, _, width, height, pitch = before
    p = np.pad(image.reshape(height, pitch)[:, :width].astype(int), 1, "edge")
    v = {(j, i): p[1 + i : 1 + i + height, 1 + j : 1 + j + width] for i in (-1, 0, 1) for j in (-1, 0, 1)}
    gx = v[1, -1] + 2 * v[1, 0] + v[1, 1] - v[-1, -1] - 2 * v[-1, 0] - v[-1, 1]
    gy = v[-1, 1] + 2 * v[0, 1] + v[1, 1] - v[-1, -1] - 2 * v[0, -1] - v[1, -1]
    return abs(gx) + abs(gy)


FIELD = np.dtype([("width", "i4"), ("height", "i4"), ("scale", "f4"), ("origin", "f8", 2)], align=True)


def field() -> Arrays:
    parameters = np.array((20, 12, 2.0, (1.0, -1.0)), FIELD)[()]
    return parameters, f32(12, 20), zeros(200), np.int64(200), np.uint32(7)


def sampled(before: Arrays, after: Arrays) -> None:
    assert ((after[2] > 0) & (after[2] < 2)).all()
    assert 0.8 < after[2].mean() < 1.2


def attention(before: Arrays) -> Any:
    q, k, v = (wide(a) for a in before[:3])
    return softmax(0.25 * q @ k.T) @ v


def int4(before: Arrays) -> Any:
    packed, scales, x, _, columns = before
    values = (packed[:, :, None] >> np.arange(0, 32, 4, dtype=U32) & 15).astype(int).reshape(len(packed), columns) - 8
    return (values * np.repeat(wide(scales), 32, 1)) @ x


def dp4a(before: Arrays) -> Any:
    a, b = (x.view(I8).astype(int) for x in before[:2])
    return a @ b.T


def above(before: Arrays, after: Arrays) -> None:
    found = (before[0] > before[1][:, None]).sum(1)
    np.testing.assert_array_equal(after[2], found)
    assert after[3][0] == found.sum()


def random_words(*shape: int) -> Any:
    return rng().integers(0, 2**32, shape, U32)


def life_board() -> Arrays:
    return integers(2, 20, 64).astype(np.uint8), zeros(20, 64, kind=np.uint8), n(64), n(20)


def systems() -> Arrays:
    return f32(3, 16, 16) + 16 * np.eye(16, dtype=np.float32), f32(3, 16), zeros(3, 16)


def solved(before: Arrays) -> Any:
    return np.linalg.solve(wide(before[0]), wide(before[1])[..., None])[..., 0]


def in_double(arrays: Arrays) -> Arrays:
    """Integers as they are."""
    return [a.astype(F64) if a.dtype == np.float32 else a for a in arrays]
