"""Follow a chain of ``steps`` pointers through ``lines`` lines of 128 bytes: each load waits for the one before.

The pointers form one random cycle over all lines. What a step costs is the latency of the level that holds the lines,
with the address arithmetic of one instruction: the difference of two lengths over a cycle that both have gone round,
or of two that reach no line twice, leaves out the launch and the first round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Kernel,
    Memory,
    Operation,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite.bounds import exact
from suite.onchip import NO_SHARED_MEMORY, small

if TYPE_CHECKING:
    import torch

LINE = 32  # elements of 4 bytes
SHARED_LINES = 8192  # one element of each: 32 KiB


def cycle(extents: tuple[int, ...], seed: int, device: str) -> torch.Tensor:
    """At the start of each line, where the next line starts; elsewhere 0."""
    import torch

    lines = extents[0] // LINE
    generator = torch.Generator(device=device).manual_seed(seed)
    order = torch.randperm(lines, generator=generator, device=device)
    pointers = torch.zeros((lines, LINE), dtype=torch.int32, device=device)
    pointers[order, 0] = (order.roll(-1) * LINE).to(torch.int32)
    return pointers.view(-1)


def reference(pointers: torch.Tensor, steps: int) -> dict[str, torch.Tensor]:
    starts = pointers[::LINE].cpu().numpy()
    position = 0
    for _ in range(steps):
        position = starts[position // LINE]
    return {"end": pointers.new_full((1,), int(position))}


def work(shape: Shape, dtype: DType) -> Work:
    lines, steps = shape.dims
    pointer = dtype.operand.itemsize
    return Work({}, Traffic(min(lines, steps) * pointer, pointer, Memory.DEVICE))


def too_many_lines(shape: Shape, dtype: DType) -> str | None:
    return f"shared memory holds pointers of {SHARED_LINES} lines" if shape.dims[0] > SHARED_LINES else None


OPERATION = Operation(
    name="pointer_chase",
    summary="end of a chain of pointers",
    arguments=(
        Argument("pointers", Role.IN, lambda dims: (dims[0] * LINE,), shifted=False, data=cycle),
        Argument("end", Role.OUT, lambda dims: (1,), shifted=False),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "integers are exact"),
    shapes=Shapes(
        drawn=lambda tile: small((32, 66), (16, 40)).filter(lambda shape: shape.dims[0] > 0),
        # 4 MiB, which L2 holds, once and five times round; 256 MiB, whose lines are never reached twice.
        sweep=("32768x32768", "32768x163840", "2097152x8192", "2097152x32768"),
        # 8 KiB, which L1 and shared memory hold.
        representative=("64x16384", "64x65536"),
        counted=("32x64", "7x16", "1x3", "16x0"),
        # 64 KiB to 1 GiB: where one level ends and the next begins.
        full=("512x65536", "1024x65536", "2048x65536", "8388608x32768"),
    ),
    kernels=(
        Kernel("triton", "cached", "kernels_triton.pointer_chase:cached", ("i32",), tile=(32,)),
        Kernel("triton", "uncached", "kernels_triton.pointer_chase:uncached", ("i32",), tile=(32,), best=True),
        Kernel("cuda", "shared", "kernels_cuda.pointer_chase:shared", ("i32",), tile=(32,), rejects=too_many_lines),
        Kernel("cuda", "cached", "kernels_cuda.pointer_chase:cached", ("i32",), tile=(32,)),
        Kernel("cuda", "uncached", "kernels_cuda.pointer_chase:uncached", ("i32",), tile=(32,), best=True),
    ),
    scalars=lambda dims: {"steps": dims[1]},
    absent={("triton", "shared"): NO_SHARED_MEMORY},
)
