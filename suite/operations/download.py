"""From the device's memory to the host's: page-locked and pageable, by the copy engine and by threads.

Timed between two events around one call, its submission included; the copy before it has left caches warm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Kernel,
    Memory,
    Operation,
    Protocol,
    Role,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite.bounds import exact
from suite.onchip import NO_COPY_ENGINE, SIZES

if TYPE_CHECKING:
    import torch


def reference(source: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"target": source}


def work(shape: Shape, dtype: DType) -> Work:
    return Work({}, Traffic(read=0, write=shape.size, level=Memory.HOST))


OPERATION = Operation(
    name="download",
    summary="from the device's memory to the host's",
    arguments=(
        Argument("source", Role.IN, lambda dims: dims, shifted=False),
        Argument("target", Role.OUT, lambda dims: dims, host=True, shifted=False),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(exact, "a copy is exact"),
    shapes=SIZES,
    kernels=(
        Kernel("triton", "zero_copy", "kernels_triton.download:zero_copy", ("i8",), tile=(4096,), best=True),
        Kernel("cuda", "pinned", "kernels_cuda.download:engine", ("i8",), tile=(16,), best=True),
        Kernel("cuda", "pageable", "kernels_cuda.download:engine", ("i8",), tile=(16,), pageable=True),
        Kernel("cuda", "zero_copy", "kernels_cuda.download:zero_copy", ("i8",), tile=(256,)),
        Kernel("torch", "pinned", "suite.peers.download:torch_copy", ("i8",), peer=True),
    ),
    protocol=Protocol.TRANSFER,
    absent={("triton", "pinned"): NO_COPY_ENGINE, ("triton", "pageable"): NO_COPY_ENGINE},
)
