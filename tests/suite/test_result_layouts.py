"""Products into a c that does not lie by dense rows: by columns, or every second column; nothing beside it changes."""

from __future__ import annotations

import importlib

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import matmul_tensor as cuda_tensor  # noqa: E402
from kernels_cuda.matmul_tensor import align, hopper  # noqa: E402
from pytest_roofline.contract import Kernel, Operation  # noqa: E402
from pytest_roofline.counting.cuda_cpu import checking  # noqa: E402
from pytest_roofline.dtypes import DType  # noqa: E402
from suite import gemm  # noqa: E402
from suite.operations import matmul, matmul_ragged, matmul_tensor  # noqa: E402

M, N, K = 18, 35, 20
FILL = 77
LAYOUTS = {
    "by columns": lambda m, n: (n, m, lambda whole: whole.T),
    "by columns at any address": lambda m, n: (n, m + 3, lambda whole: whole[:, 1 : m + 1].T),
    "every second column": lambda m, n: (m, 2 * n, lambda whole: whole[:, ::2]),
    "every second of both": lambda m, n: (2 * m, 2 * n + 1, lambda whole: whole[::2, 1::2]),
    "by columns, every second": lambda m, n: (n, 2 * m, lambda whole: whole.T[::2]),
}


def layout(name: str, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """A c of M x N and the memory around it, filled."""
    rows, columns, view = LAYOUTS[name](M, N)
    whole = torch.full((rows, columns), FILL).to(dtype)
    return view(whole), whole


def operands(dtype: torch.dtype, *, by_columns: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Whole numbers, whose products add up exactly in every format."""
    make = torch.Generator().manual_seed(1)
    a, b = (torch.randint(-2, 3, shape, generator=make).to(dtype) for shape in ((M, K), (K, N)))
    return a, b.T.contiguous().T if by_columns else b


def assert_exact(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, whole: torch.Tensor) -> None:
    """c is the product, and what lies between its elements is untouched."""
    assert torch.equal(c.double(), a.double() @ b.double())
    c.fill_(FILL)
    assert (whole == FILL).all()


def every(backend: str) -> list:
    """Kernels of one language that a CPU runs, each in its first format."""
    return [
        pytest.param(operation, kernel, id=f"{operation.name}-{kernel.variant}")
        for operation in (matmul.OPERATION, matmul_tensor.OPERATION, matmul_ragged.OPERATION)
        for kernel in operation.kernels
        if kernel.backend == backend and not kernel.capability
    ]


def multiply(operation: Operation, kernel: Kernel, name: str) -> None:
    """Launch a kernel on such a c."""
    dtype = DType.parse(kernel.dtypes[0])
    a, b = operands(dtype.operand.torch(), by_columns=False)
    c, whole = layout(name, gemm.result(dtype).torch())
    room = {key: torch.empty(1 << 16, dtype=kind) for key, kind in workspace(kernel, a).items()}
    module, _, function = kernel.launcher.partition(":")
    getattr(importlib.import_module(module), function)(a, b, c, **kernel.options, **room)
    assert_exact(a, b, c, whole)


def workspace(kernel: Kernel, a: torch.Tensor) -> dict[str, torch.dtype]:
    """The keywords of a kernel's workspaces and their formats."""
    if kernel.workspace is None:
        return {}
    from pytest_roofline.ids import Shape

    found = kernel.workspace(Shape((M, N, K)), DType.parse(kernel.dtypes[0]))
    return {buffer.name: torch.float32 if buffer.name == "partials" else a.dtype for buffer in found}


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("operation", "kernel"), every("cuda"))
def test_cuda_kernels_store_to_any_c(operation, kernel):
    """Every launcher in CUDA C++ that needs no Hopper."""
    for name in ("by columns", "every second column"):
        with checking():
            multiply(operation, kernel, name)


@pytest.mark.parametrize(("operation", "kernel"), every("triton"))
def test_triton_kernels_store_to_any_c(operation, kernel, device):
    """Every launcher in Triton."""
    if device != "cpu":
        pytest.skip("tests/gpu has the same for a GPU")
    for name in ("by columns", "every second column"):
        multiply(operation, kernel, name)


def best_of(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, free_gaps: bool = False) -> None:
    """In place of Hopper's kernels: the product where the copy engine could store it, else an error."""
    refused = hopper.store_refusal(c.data_ptr(), c.element_size(), c.shape[1], c.stride())
    assert free_gaps or not refused
    assert c.stride(1) == 1
    assert b.stride(0) == 1 or a.element_size() == 2
    c.copy_(a.float() @ b.float())


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float32, torch.int8], ids=str)
def test_results_of_the_copy_engine_come_back_to_any_c(monkeypatch, name, dtype):
    """The way of 8-bit floating point, which has no other: by the transposed product, or copied element by element."""
    monkeypatch.setattr(hopper, "best", best_of)
    a, b = operands(dtype)
    c, whole = layout(name, torch.int32 if dtype is torch.int8 else torch.float32)
    with checking():
        cuda_tensor._aligned(a, b, c, torch.empty(1 << 16).view(dtype))
    assert_exact(a, b, c, whole)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("name", LAYOUTS)
def test_results_are_put_back_into_any_c(name):
    """As they were found, and nothing beside them."""
    c, whole = layout(name, torch.float32)
    found = torch.arange(M * 48, dtype=torch.float32).view(M, 48)[:, :N]
    with checking():
        align.put_back(found, c)
    assert torch.equal(c, found)
    c.fill_(FILL)
    assert (whole == FILL).all()
