"""What the chains of special functions share: y = f(f(... x)), k times. The shape is ``n x k``."""

from __future__ import annotations

from hypothesis import strategies as st

from pytest_roofline.contract import Argument, Kernel, Pipeline, Role, Shapes, Traffic, Work
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import OFFSETS, extents

ARGUMENTS = (
    Argument("x", Role.IN, lambda dims: dims[:1]),
    Argument("y", Role.OUT, lambda dims: dims[:1]),
)


def work(shape: Shape, dtype: DType) -> Work:
    """One special-function operation per element and step; the vector is read and written once."""
    vector = shape.dims[0] * dtype.operand.itemsize
    return Work({Pipeline.SPECIAL: shape.size}, Traffic(read=vector, write=vector))


def _drawn(tile: tuple[int, ...]) -> st.SearchStrategy[Shape]:
    return st.builds(lambda n, k, offset: Shape((n, k), offset), extents(tile[0]), st.integers(1, 2 * tile[1]), OFFSETS)


SHAPES = Shapes(
    drawn=_drawn,
    sweep=("16777216x16",),
    representative=("16777216x16",),
    counted=("512x16", "500x4", "512x1.o1", "509x3.o3", "7x2", "0x16"),
    full=("16777216x1", "16777216x4", "16777216x64", "16777259x16.o1"),
)


def kernels(operation: str, peer: str, precise: int, fast: int) -> tuple[Kernel, ...]:
    """Library function and intrinsic in both languages, and torch's ``peer``; a step costs that many roundings."""

    def kernel(backend: str, variant: str, roundings: int) -> Kernel:
        return Kernel(
            backend,
            variant,
            f"kernels_{backend}.{operation}:{variant}",
            ("f32",),
            options={"block": 512} if backend == "triton" else {},  # 16 bytes a thread
            tile=(512, 4) if backend == "triton" else (256, 4),
            depth=lambda dims: roundings * dims[1],
            best=variant == "fast",
        )

    return (
        kernel("triton", "precise", precise),
        kernel("triton", "fast", fast),
        kernel("cuda", "precise", precise),
        kernel("cuda", "fast", fast),
        Kernel(
            "torch",
            peer,
            f"suite.peers.{operation}:torch_{peer}",
            ("f32",),
            depth=lambda dims: precise * dims[1],
            peer=True,
        ),
    )
