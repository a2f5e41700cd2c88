"""Products into a c that does not lie by dense rows, in every format: right, and untouched beside it."""

from __future__ import annotations

import importlib

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels_cuda.matmul_tensor import hopper  # noqa: E402
from kernels_triton.matmul_tensor import persistent, tuned  # noqa: E402
from pytest_roofline.dtypes import DType, element  # noqa: E402
from pytest_roofline.ids import Shape  # noqa: E402
from suite import gemm  # noqa: E402
from suite.operations import matmul, matmul_ragged, matmul_tensor  # noqa: E402

SHAPES = [(129, 257, 65), (128, 256, 64), (5, 3, 40), (300, 1000, 520)]
VIEWS = {
    "by columns": lambda m, n: ((n, m), lambda whole: whole.T),
    "by columns at any address": lambda m, n: ((n, m + 3), lambda whole: whole[:, 1 : m + 1].T),
    "every second column": lambda m, n: ((m, 2 * n), lambda whole: whole[:, ::2]),
}
RUNGS = ("wgmma", "wgmma_specialised", "wgmma_narrow", "wgmma_persistent", "wgmma_cluster", "wgmma_overlapped")
KERNELS = [
    pytest.param(kernel, text, id=f"{operation.name}-{kernel.backend}-{kernel.variant}-{text}")
    for operation in (matmul.OPERATION, matmul_tensor.OPERATION, matmul_ragged.OPERATION)
    for kernel in operation.kernels
    if kernel.best
    for text in kernel.dtypes
]


def whole_numbers(m: int, n: int, k: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Products of them add up exactly; b lies by columns."""
    make = torch.Generator("cuda").manual_seed(m)
    a, b = (torch.randint(-1, 2, s, generator=make, device="cuda").to(dtype) for s in ((m, k), (n, k)))
    return a, b.T


def filled(name: str, m: int, n: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """A c and the memory around it."""
    extents, view = VIEWS[name](m, n)
    whole = torch.full(extents, 77.0, device="cuda").to(dtype)
    return view(whole), whole


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize(("kernel", "text"), KERNELS)
def test_any_c(kernel, text, name):
    """The best kernel of each product."""
    dtype = DType.parse(text)
    if text.startswith("fp8") and not hopper.available(torch.device("cuda", torch.cuda.current_device())):
        pytest.skip("8-bit floating point needs a GPU of sm_90a")
    module, _, function = kernel.launcher.partition(":")
    launcher = getattr(importlib.import_module(module), function)
    for m, n, k in SHAPES:
        a, b = whole_numbers(m, n, k, dtype.operand.torch())
        c, whole = filled(name, m, n, gemm.result(dtype).torch())
        wanted = kernel.workspace(Shape((m, n, k), offset=1), dtype) if kernel.workspace else ()
        # Twice the rows of 16: a case's c never lies so, and its workspace need not hold a copy of this one.
        room = {x.name: torch.empty(2 * x.extent + (m + 16) * (n + 16) * 4, device="cuda") for x in wanted}
        views = {x.name: room[x.name].view(element(x.element).torch()) for x in wanted}
        launcher(a, b, c, **kernel.options, **views)
        assert torch.equal(c.double(), a.double() @ b.double())
        c.fill_(77)
        assert (whole == 77).all()


@pytest.mark.parametrize("variant", RUNGS)
def test_hoppers_rungs_refuse_it(variant):
    """They store by the copy engine alone."""
    if not hopper.available(torch.device("cuda", torch.cuda.current_device())):
        pytest.skip("needs a GPU of sm_90a")
    a, b = whole_numbers(128, 256, 64, torch.bfloat16)
    c, whole = filled("by columns", 128, 256, torch.bfloat16)
    options = matmul_tensor.OPERATION.kernel("cuda", variant).options
    with pytest.raises(ValueError, match="rows are not dense"):
        getattr(hopper, variant)(a, b, c, **options)
    torch.cuda.synchronize()
    assert (whole == 77).all()


@pytest.mark.parametrize(
    ("text", "m", "n", "k"),
    [
        ("bf16_f32", 256, 256, 8192),
        ("f16_f32", 128, 128, 131072),
        ("tf32_f32", 256, 256, 8192),
        ("fp8_f32", 256, 256, 8192),
    ],
)
def test_sums_of_whole_numbers_are_exact(text, m, n, k):
    """What the checks rely on: hardware rounds none of them, whatever the way through the tensor cores."""
    if not hopper.available(torch.device("cuda", torch.cuda.current_device())):
        pytest.skip("needs a GPU of sm_90a")
    dtype = DType.parse(text)
    a, b = (torch.randn(s, device="cuda").round().clamp(-2, 2) for s in ((m, k), (n, k)))
    exact, kind = a.double() @ b.double().T, dtype.operand.torch()
    a, b = a.to(kind), b.to(kind).T
    c = torch.empty(m, n, device="cuda", dtype=gemm.result(dtype).torch())
    hopper.best(a, b, c)
    assert torch.equal(c, exact.to(c.dtype))
    c.zero_()
    persistent(a, b, c, packed=torch.empty(0, device="cuda").to(kind))
    assert torch.equal(c, exact.to(c.dtype))


def test_rows_2_to_the_31_apart():
    """The stride was multiplied out in 32 bits by Triton's kernels."""
    if torch.cuda.mem_get_info()[0] < 1 << 33:
        pytest.skip("needs 8 GB of GPU memory")
    whole = torch.empty((1 << 31) + 64, dtype=torch.int8, device="cuda")
    a = whole.as_strided((2, 64), (1 << 31, 1))
    a.copy_(torch.randint(-128, 128, (2, 64), device="cuda"))
    b = torch.randint(-128, 128, (48, 64), device="cuda").to(torch.int8).T
    c = torch.empty(2, 48, dtype=torch.int32, device="cuda")
    tuned(a, b, c)
    assert torch.equal(c.double(), a.double() @ b.double())
