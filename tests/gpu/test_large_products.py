"""Products with more than 2^31 results, where an index of 32 bits overflows."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_roofline.capability import runs_on
from pytest_roofline.checking.check import load_launcher
from pytest_roofline.contract import Kernel
from pytest_roofline.discovery import discover
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape

torch = pytest.importorskip("torch")

PRODUCTS = ("matmul", "matmul_tensor", "matmul_ragged")
CATALOGUE = discover(Path(__file__).parents[2], ["suite/operations"])
KERNELS = [
    pytest.param(kernel, id=f"{name}-{kernel.backend}-{kernel.variant}")
    for name in PRODUCTS
    for kernel in CATALOGUE.operation(name).operation.kernels
    if not kernel.peer
]
SHAPE = Shape((65537, 32776, 16), transposed=True)  # 2^31 + 557,064 results, rows of 16 bytes' multiples
BAND = 4096


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_large_product_is_whole(kernel: Kernel):
    """Every result, in the kernel's first format; small integers, so that sums are exact in any order."""
    free, _ = torch.cuda.mem_get_info()
    if free < 20e9:
        pytest.skip(f"needs 20 GB of GPU memory, {free / 1e9:.0f} are free")
    if kernel.capability and not runs_on(kernel.capability, torch.cuda.get_device_capability()):
        pytest.skip(f"needs a GPU of {kernel.capability}")
    m, n, k = SHAPE.dims
    dtype = DType.parse(kernel.dtypes[0])
    a = torch.randint(-2, 3, (m, k), device="cuda").to(dtype.operand.torch())
    b = torch.randint(-2, 3, (n, k), device="cuda").to(dtype.operand.torch()).T
    c = torch.full((m, n), 100, dtype=dtype.operand.torch(), device="cuda")
    buffers = kernel.workspace(SHAPE, dtype) if kernel.workspace else ()
    element = {"f32": torch.float32, dtype.operand.name: dtype.operand.torch()}
    workspace = {b.name: torch.empty(b.extent, dtype=element[b.element], device="cuda") for b in buffers}
    load_launcher(kernel.launcher)(a, b, c, **kernel.options, **workspace)
    for start in range(0, m, BAND):
        assert torch.equal(c[start : start + BAND], torch.mm(a[start : start + BAND], b)), f"from row {start} on"
