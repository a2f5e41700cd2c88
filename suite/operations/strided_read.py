"""y[i] = x[i, 0]: one field of n records, ``n x stride`` elements in memory, or column by column (``.t``).

The stride is the shape's second extent. A record of 8 elements, an array of structures, is 32 bytes, one sector;
transposed, the records are a structure of arrays. All strides are timed under ``--roofline-effort=full``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from pytest_roofline.contract import (
    Argument,
    Kernel,
    Operation,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.shapes import OFFSETS, extents
from suite.bounds import exact

if TYPE_CHECKING:
    import torch

DTYPES = ("f32",)
FIELDS = 8
SECTOR = 32  # bytes of the smallest transfer from device memory
WIDEST = 32


def reference(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x[:, 0].clone()}


def work(shape: Shape, dtype: DType) -> Work:
    """Only the field is needed."""
    column = shape.dims[0] * dtype.operand.itemsize
    return Work({}, Traffic(read=column, write=column))


def sectors(shape: Shape, dtype: DType) -> tuple[Traffic, ...]:
    """Every sector that holds a value of the field is fetched whole."""
    n, stride = shape.dims
    apart = dtype.operand.itemsize * (1 if shape.transposed else stride)
    return (Traffic(n * min(apart, SECTOR), n * dtype.operand.itemsize),)


def records(tile: tuple[int, ...]) -> st.SearchStrategy[Shape]:
    strides = st.sampled_from((FIELDS, FIELDS, 1, 2, 3, 7, 9, 16, 31, WIDEST))
    return st.builds(
        lambda n, stride, offset, transposed: Shape((n, stride), offset, None, transposed),
        extents(tile[0]),
        strides,
        OFFSETS,
        st.booleans(),
    )


def not_an_array_of_records(shape: Shape, dtype: DType) -> str | None:
    if shape.dims[1] == FIELDS and (not shape.transposed or shape.dims[0] < 2):
        return None
    return f"it reads dense records of {FIELDS}"


def not_arrays(shape: Shape, dtype: DType) -> str | None:
    if shape.transposed or shape.dims[1] == 1 or shape.dims[0] < 2:
        return None
    return "it reads dense columns"


OPERATION = Operation(
    name="strided_read",
    summary="y = first column of x",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims, transposable=True),
        Argument("y", Role.OUT, lambda dims: dims[:1]),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "values are moved, not computed"),
    shapes=Shapes(
        drawn=records,
        sweep=("16777216x32",),
        representative=("16777216x8", "16777216x8.t"),
        counted=("1024x1", "1024x2", "1024x8", "1024x32", "1000x8.o1", "1024x8.t", "1000x8.o3.t", "7x3", "0x8"),
        full=tuple(f"16777216x{stride}" for stride in range(1, WIDEST) if stride != FIELDS),
    ),
    kernels=tuple(
        Kernel(
            backend,
            variant,
            f"kernels_{backend}.strided_read:{variant}",
            DTYPES,
            options={"block": 256} if backend == "triton" else {},
            tile=(256,),
            model=sectors,
            rejects=rejects,
            best=variant == "strided",
        )
        for backend in ("triton", "cuda")
        for variant, rejects in (("strided", None), ("aos", not_an_array_of_records), ("soa", not_arrays))
    ),
    depth=lambda dims: 0,
)
