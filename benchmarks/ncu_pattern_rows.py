"""Launches of ``ncu_counts.py`` that no model was fitted to: odd patterns, widths and masks, and whole programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ncu_rows import LANES, Row, f32

from pytest_roofline.launch import Source

HERE = Path(__file__).resolve().parent
KERNELS = Source(HERE / "ncu_patterns.cu")
TYPES = {  # scalar, its tensor type, bytes of the whole
    "signed char": ("signed char", torch.int8, 1),
    "short": ("short", torch.int16, 2),
    "__half2": ("__half", torch.float16, 4),
    "float": ("float", torch.float32, 4),
    "double": ("double", torch.float64, 8),
    "float2": ("float", torch.float32, 8),
    "float4": ("float", torch.float32, 16),
    "double2": ("double", torch.float64, 16),
}


def masked(values: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    """Lanes that stay out get a negative index."""
    return torch.where(keep, values, -1)


def places(count: int) -> dict[str, torch.Tensor]:
    """Element numbers below ``count`` for 32 lanes, none twice unless the name says so."""
    random = torch.Generator().manual_seed(2024)
    several = torch.randperm(count, generator=random)[:32]
    some = torch.rand(32, generator=random) < 0.4
    return {
        "thirds": masked(LANES * 3 % count, LANES % 3 != 1),
        "stride 5": LANES * 5 % count,
        "stride 17, lanes 3 to 20": masked(LANES * 17 % count, (LANES > 2) & (LANES < 21)),
        "scattered": several,
        "scattered, some lanes": masked(several, some),
        "offset by 3": LANES + 3,
        "blocks of 6": LANES // 6 * 24 % count + LANES % 6,
        "xor 13": LANES ^ 13,
        "repeated by 5": LANES // 5 * 7,
        "two addresses": torch.where(LANES % 3 == 0, 9, 40),
        "crowd and others": torch.where(LANES < 11, 50, LANES * 3),
        "few, some lanes": masked(torch.randint(0, 6, (32,), generator=random) * 11, some),
    }


TWICE = ("repeated by 5", "two addresses", "crowd and others", "few, some lanes")


def elements(kind: str, count: int) -> torch.Tensor:
    """Random numbers or zeros of a type's scalars."""
    _, scalar, size = TYPES[kind]
    return (f32(count * size // scalar.itemsize) * 99).to(scalar)


def _accesses() -> Iterator[Row]:
    for kind, (scalar, _, size) in TYPES.items():
        for name, index in list(places(256).items())[::2]:
            args: Callable[[], Sequence[Any]] = lambda i=index, k=kind: (i.int(), elements(k, 512), elements(k, 512))  # noqa: E731
            yield Row(f"global load {kind}, {name}", KERNELS, f"global_load<{kind}, {scalar}>", (1,), (32,), args)
            if name not in TWICE:
                yield Row(f"global store {kind}, {name}", KERNELS, f"global_store<{kind}, {scalar}>", (1,), (32,), args)
        shapes = list(places(8192 // size).items())
        for (name, source), (_, target) in zip(shapes, shapes[3:8] + shapes[:3] + shapes[3:7], strict=True):
            args = lambda s=source, t=target, k=kind: (s.int(), t.int(), elements(k, 32), elements(k, 32))  # noqa: E731
            yield Row(f"shared {kind}, {name}", KERNELS, f"shared_move<{kind}, {scalar}>", (1,), (32,), args)


def behind_index(count: int, dtype: torch.dtype) -> torch.Tensor:
    """Zeros where they lie on the GPU: 512 bytes into what the allocator had in one piece, behind the index."""
    skipped = 512 // dtype.itemsize
    return torch.zeros(skipped + count, dtype=dtype)[skipped:]


def _atomics() -> Iterator[Row]:
    kinds = {"int": torch.int32, "float": torch.float32, "double": torch.float64, "unsigned long long": torch.uint64}
    for kind, operation in (
        ("int", "ADD"), ("float", "ADD"), ("double", "ADD"), ("unsigned long long", "ADD"), ("int", "MIN"),
        ("int", "EXCHANGE"), ("int", "SWAP"), ("unsigned long long", "SWAP"),
    ):  # fmt: skip
        patterns = list(places(256).items())
        for name, index in patterns if (kind, operation) == ("int", "ADD") else patterns[3::2]:
            for returns in ("false", "true"):
                args: Callable[[], Sequence[Any]] = lambda i=index, k=kinds[kind]: (  # noqa: E731
                    i.int(), behind_index(512, k), torch.zeros(32, dtype=k),
                )  # fmt: skip
                kernel = f"global_atomic<{kind}, {operation}, {returns}>"
                yield Row(f"{kernel}, {name}", KERNELS, kernel, (1,), (32,), args)
            if kind in ("int", "unsigned long long"):
                args = lambda i=index, k=kinds[kind]: (i.int(), torch.zeros(32, dtype=k))  # noqa: E731
                kernel = f"shared_atomic<{kind}, {operation}>"
                yield Row(f"{kernel}, {name}", KERNELS, kernel, (1,), (32,), args)


def _copies() -> Iterator[Row]:
    nothing = torch.zeros(32, dtype=torch.int32)
    for size in (4, 8, 16):
        shapes = list(places(512).items())[:8]
        for (name, source), (_, target) in zip(shapes, shapes[3:] + shapes[:3], strict=True):
            keep = (LANES * 7 % 5 != 2) & (source >= 0)
            for partial in (False, True):
                into = masked(target, keep) if partial else target
                source = source.clamp(min=0)
                args = lambda s=source, t=into, b=size: (  # noqa: E731
                    f32(2048), (s * b).int(), torch.where(t >= 0, t * b, -1).int(), nothing, torch.zeros(32),
                )  # fmt: skip
                label = f"cp.async {size}, {name}{', fewer' if partial else ''}"
                yield Row(label, KERNELS, f"copy_async<{size}>", (1,), (32,), args)
        for name, zeros in (("all zeros", torch.full((32,), size)), ("zeros from lane 9", (LANES > 9) * size)):
            args = lambda z=zeros, b=size: (f32(2048), (LANES * b).int(), (LANES * b).int(), z.int(), torch.zeros(32))  # noqa: E731
            yield Row(f"cp.async {size}, {name}", KERNELS, f"copy_async<{size}>", (1,), (32,), args)


def _matrices() -> Iterator[Row]:
    shapes = ((4, 0), (8, 0), (12, 0), (16, 0), (16, 1), (20, 0), (24, 0), (32, 1), (40, 0), (64, 0))
    for matrices, transposed in ((1, "true"), (2, "false"), (4, "false"), (4, "true")):
        for pitch, skew in shapes:
            args = lambda p=pitch, s=skew: (torch.zeros(128), p, s)  # noqa: E731
            kernel = f"matrix_pitch<{matrices}, {transposed}>"
            yield Row(f"{kernel}, pitch {pitch}, skew {skew}", KERNELS, kernel, (1,), (32,), args)


def _divergent() -> Iterator[Row]:
    random = torch.Generator().manual_seed(5)
    lengths = torch.randint(0, 7, (150,), generator=random)
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]).int()
    inner = torch.randint(0, 8, (int(starts[-1]),), generator=random).int()
    args: Callable[[], Sequence[Any]] = lambda: (starts, inner, f32(int(starts[-1]) * 8), torch.zeros(150), 150)  # noqa: E731
    yield Row("nested loops", KERNELS, "nested_loops", (3,), (64,), args)
    kinds = torch.randint(0, 5, (300,), generator=random).int()
    yield Row("cases", KERNELS, "cases", (5,), (64,), lambda: (kinds, f32(600), f32(300), torch.zeros(300), 300))
    for block in ((48,), (20, 1), (5, 7), (3, 3, 1), (33, 2), (7, 9)):
        grid = (-(-70 // block[0]), -(-45 // (block[1] if len(block) > 1 else 1)))
        args = lambda: (f32(45, 70), torch.zeros(70, 45), 45, 70)  # noqa: E731
        yield Row(f"odd blocks {block}", KERNELS, "odd_blocks", grid, block, args)
    keys = f32(500)
    yield Row(
        "lower bound",
        KERNELS,
        "lower_bound",
        (4,),
        (128,),
        lambda: (f32(1000).sort()[0], keys, torch.zeros(500).int(), 1000, 500),
    )
    for kind in ("signed char", "double2"):
        for step in (1, 3):
            args = lambda k=kind, s=step: (elements(k, 1000 * s), elements(k, 1000), 1000, s)  # noqa: E731
            yield Row(
                f"strided {kind} by {step}", KERNELS, f"copy_strided<{kind}, {TYPES[kind][0]}>", (3,), (96,), args
            )


def _programs() -> Iterator[Row]:
    """What the tests launch."""
    sys.path.insert(0, str(HERE.parent))
    from tests.counting.cuda_cpu.programs import PROGRAMS

    for case in PROGRAMS:
        if case.kernel == "sample_field":  # takes a struct
            continue
        args = lambda c=case: [_tensor(a) for a in c.arguments()]  # noqa: E731
        yield Row(f"program {case.kernel}", Source(case.path), case.kernel, case.grid, case.block, args, case.shared)


def _tensor(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    return value.item() if isinstance(value, np.generic) else value


PATTERN_ROWS = (*_programs(), *_divergent(), *_accesses(), *_atomics(), *_copies(), *_matrices())

_TIMING = "blocks race or poll, so that what they execute depends on when they run"
_TRIPS = "a loop whose number of trips only the launch knows: nvcc reads single words, the model joins neighbours"
_UNROLLED = "nvcc unrolls the loop by four, and lanes of different numbers of trips meet elsewhere"
# Why figures of these rows are not those of the hardware.
KNOWN = {
    "program ring_of_flags": _TIMING,
    "program softmax_row": _TRIPS,
    "program dot_last_block": _TRIPS,
    "program segment_max": _UNROLLED,
    "program spmv_tiles<8>": _UNROLLED,
    "program life": "nvcc unrolls the loops and loads once what neighbouring cells share",
    "program merge_sorted": "nvcc chooses an address where g++ branches",
    "program layernorm_welford": "nvcc takes an odd trip first: lane 0, which has one more, then meets others later",
    "program gemm_swizzled": "the counter takes 16 of the 144 `@!PT LDS RZ, [RZ]` beside cp.async, which no lane makes",
}
