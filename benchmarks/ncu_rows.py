"""The launches of ``ncu_counts.py``: kernels, grids and arguments, the same on a CPU and on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pytest_roofline.launch import Source

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "tests" / "counting" / "cuda_cpu"
BASICS, ARITHMETIC = Source(TESTS / "basics.cu"), Source(TESTS / "arithmetic.cu")
KERNELS = Source(HERE / "ncu_counts.cu")
N = 8192
HEIGHT, WIDTH = 128, 160
LANES = torch.arange(32)
WORDS = 1024  # of shared memory in the kernels of one warp


@dataclass(frozen=True)
class Row:
    """One launch of the table; ``args`` makes its arguments on the CPU."""

    name: str
    source: Source
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: Callable[[], Sequence[Any]]
    shared: int = 0  # bytes of dynamic shared memory

    def launch(self, device: str) -> None:
        """Run it once on ``device``."""
        args = [a.to(device) if isinstance(a, torch.Tensor) else a for a in self.args()]
        self.source.function(self.kernel)(self.grid, self.block, args, self.shared)


def f32(*shape: int) -> torch.Tensor:
    """Random numbers, the same in every process."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(0))


def _streams() -> Iterator[Row]:
    for offset in (0, 1):
        args = lambda o=offset: (*(f32(N + o) for _ in range(3)), N, o)  # noqa: E731
        yield Row(f"vector add, offset {offset}", BASICS, "vadd", (32,), (256,), args)
    yield Row("array of structures", KERNELS, "array_of_structures", (32,), (256,), lambda: (f32(N * 8), f32(N), N))
    yield Row("structure of arrays", KERNELS, "structure_of_arrays", (32,), (256,), lambda: (f32(N), f32(N), N))
    for stride in (2, 4, 8):
        args = lambda s=stride: (f32(N * s), f32(N), N, s)  # noqa: E731
        yield Row(f"stride {stride}", BASICS, "strided", (32,), (256,), args)
    for n in (N, N + 3):
        args = lambda n=n: (f32(n), f32(n), f32(n), n)  # noqa: E731
        yield Row(f"float4, n = {n}", BASICS, "vadd4", ((n // 4 + 255) // 256,), (256,), args)
    for dtype, kind in (("float", torch.float32), ("double", torch.float64), ("__half", torch.float16)):
        args = lambda k=kind: (f32(N).to(k), torch.zeros(4 * N, dtype=k), N)  # noqa: E731
        yield Row(f"arithmetic, {dtype}", ARITHMETIC, f"arithmetic<{dtype}>", (32,), (256,), args)
    yield Row("special functions", ARITHMETIC, "special", (32,), (256,), lambda: (f32(N), f32(4 * N), N))


def _tiles() -> Iterator[Row]:
    args = lambda: (f32(HEIGHT, WIDTH), f32(WIDTH, HEIGHT), HEIGHT, WIDTH)  # noqa: E731
    yield Row("transpose, naive", KERNELS, "transpose_naive", (5, 4), (32, 32), args)
    for pad in (0, 1):
        yield Row(f"transpose, tile[32][{32 + pad}]", BASICS, f"transpose<{pad}>", (5, 4), (32, 8), args)
    reduced = lambda: (f32(100003), torch.zeros(1), 100003)  # noqa: E731
    yield Row("reduction, tree", BASICS, "reduce_tree", (391,), (256,), reduced)
    yield Row("reduction, shuffle", KERNELS, "reduce_shuffle", (8,), (256,), reduced)
    square = lambda: (f32(65, 65), f32(65, 65), f32(65, 65), 65, 65, 65)  # noqa: E731
    for tile, blocks in ((16, 5), (32, 3)):
        yield Row(f"matmul, tile {tile}", BASICS, f"sgemm_tiled<{tile}>", (blocks, blocks), (tile, tile), square)
    yield Row("matmul, registers", KERNELS, "sgemm_register", (2, 2), (256,), square)
    halves = lambda: (f32(64, 64).half(), f32(64, 64).half(), f32(64, 64), 64, 64)  # noqa: E731
    yield Row("matmul, wmma and cp.async", KERNELS, "hgemm_wmma", (4, 4), (32,), halves)


def patterns(size: int) -> dict[str, torch.Tensor]:
    """Word addresses for 32 lanes that each access ``size`` words; a negative one keeps the lane out."""
    slots = WORDS // size
    found = {
        "unit stride": LANES * size,
        "one address": LANES * 0,
        "pairs": LANES // 2 * size,
        "every other": LANES % 2 * size,
        "fours": LANES // 4 * size,
        "eights": LANES // 8 * size,
        "modulo 4": LANES % 4 * size,
        "modulo 8": LANES % 8 * size,
        "halves": LANES // 16 * size,
        "modulo 16": LANES % 16 * size,
        "reversed": (31 - LANES) * size,
        "double stride": LANES * 2 * size % WORDS,
        "stride 32 words": LANES * 32,
        "stride 36 words": LANES * 36 % WORDS,
        "first half": torch.where(LANES < 16, LANES * size, -1),
        "even lanes": torch.where(LANES % 2 == 0, LANES * size, -1),
        "one lane": torch.where(LANES == 5, LANES * size, -1),
        "lanes 7 to 24": torch.where((LANES > 6) & (LANES < 25), LANES * size, -1),
    }
    for seed in range(2):
        generator = torch.Generator().manual_seed(seed)
        found[f"random {seed}"] = torch.randint(0, slots, (32,), generator=generator) * size
        few = torch.randint(0, 8, (32,), generator=generator) * size * 5 % WORDS
        found[f"random of 8, {seed}"] = few
        pairs = torch.randint(0, slots, (16,), generator=generator).repeat_interleave(2) * size
        found[f"random pairs, {seed}"] = pairs
        permuted = torch.randperm(slots, generator=generator)[:32] * size
        found[f"permuted {seed}"] = permuted
    return {name: words.int() for name, words in found.items()}


_FEW = ("unit stride", "one address", "pairs", "modulo 8", "stride 32 words", "random 0")
_NARROW = ("every other", "fours", "eights", "modulo 4", "modulo 16", "halves", "even lanes", "lanes 7 to 24")


def _distinct(words: torch.Tensor) -> bool:
    active = words[words >= 0]
    return len(active.unique()) == len(active)


def _one_warp() -> Iterator[Row]:
    for size, vector in ((1, "float"), (2, "float2"), (4, "float4")):
        for name, words in patterns(size).items():
            if size == 1 and name in _NARROW:
                continue
            args: Callable[[], Sequence[Any]] = lambda w=words: (w, torch.zeros(128))  # noqa: E731
            yield Row(f"shared load {4 * size} B, {name}", KERNELS, f"shared_load<{vector}>", (1,), (32,), args)
            if _distinct(words):
                args = lambda w=words: (w, f32(128), torch.zeros(128))  # noqa: E731
                yield Row(f"shared store {4 * size} B, {name}", KERNELS, f"shared_store<{vector}>", (1,), (32,), args)
    yield from _copies()
    for matrices in (1, 2, 4):
        for name, words in patterns(4).items():
            if (words >= 0).all() and (matrices == 4 or name in _FEW):
                args = lambda w=words: (w, torch.zeros(128))  # noqa: E731
                yield Row(f"ldmatrix.x{matrices}, {name}", KERNELS, f"matrix_load<{matrices}>", (1,), (32,), args)
    for name, words in patterns(1).items():
        if (words >= 0).all() and name in _FEW:
            for returns in ("false", "true"):
                args = lambda w=words: (w, torch.zeros(32, dtype=torch.int32))  # noqa: E731
                yield Row(f"shared atomic, {name}, {returns}", KERNELS, f"shared_atomic<{returns}>", (1,), (32,), args)
                args = lambda w=words: (w, torch.zeros(WORDS), torch.zeros(32))  # noqa: E731
                yield Row(f"global atomic, {name}, {returns}", KERNELS, f"global_atomic<{returns}>", (1,), (32,), args)


def _copies() -> Iterator[Row]:
    """cp.async: sources and destinations of several shapes."""
    for size in (1, 2, 4):
        linear = LANES * size
        shapes = {
            "linear to linear": (linear, linear),
            "rows of 2 to 48-byte rows": (LANES // 2 * 32 + LANES % 2 * size, LANES // 2 * 12 + LANES % 2 * size),
            "rows of 2 to linear": (LANES // 2 * 32 + LANES % 2 * size, linear),
            "linear to 48-byte rows": (linear, LANES // 2 * 12 + LANES % 2 * size),
            "linear to stride of 32 words": (linear, LANES * 32),
            "stride of 32 words to linear": (LANES * 32, linear),
            "rows of 8 to 144-byte rows": (LANES // 8 * 128 + LANES % 8 * size, LANES // 8 * 36 + LANES % 8 * size),
            "offset by one": (linear + size, linear),
            "first half": (linear, torch.where(LANES < 16, linear, -1)),
            "even lanes": (linear, torch.where(LANES % 2 == 0, linear, -1)),
            "one source": (LANES * 0, linear),
        }
        for seed in range(3):
            places = [
                torch.randperm(WORDS // size, generator=torch.Generator().manual_seed(s))[:32] * size
                for s in (seed, seed + 9)
            ]
            shapes[f"permuted {seed}"] = (places[0], places[1])
            shapes[f"permuted {seed} to linear"] = (places[0], linear)
            shapes[f"linear to permuted {seed}"] = (linear, places[1])
        for name, (source, target) in shapes.items():
            args = lambda s=source, t=target: (f32(2048), s.int(), t.int(), torch.zeros(32))  # noqa: E731
            yield Row(f"cp.async {4 * size} B, {name}", KERNELS, f"async_copy<{4 * size}>", (1,), (32,), args)


ROWS = (*_streams(), *_tiles(), *_one_warp())
