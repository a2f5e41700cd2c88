"""The matrix product on tensor cores by torch, which takes another function for each size of operand."""

import functools

import torch

from pytest_roofline.launch import require
from suite.peers.cublas import mm


def torch_mm(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """``c = a @ b`` by cuBLAS and cuBLASLt: ``torch.mm`` for operands of 16 and 32 bits, the latter as TF32,
    ``torch._int_mm`` for bytes, ``torch._scaled_mm`` with scales of one for fp8.

    Raises ``ValueError`` for 8-bit operands whose rows are not dense, aligned to 16 bytes and of 16 k elements; fp8
    takes ``b`` by columns only.
    """
    if a.element_size() == 1:
        _bytes(a, b, c)
    elif a.dtype is torch.float32:
        mm(a, b, c, tf32=True)
    else:
        torch.mm(a, b, out=c)


def _bytes(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    (m, k), n, by_columns = a.shape, b.shape[1], b.stride(0) == 1
    dense = a.is_contiguous() and (b.T if by_columns else b).is_contiguous() and c.is_contiguous()
    aligned = a.data_ptr() % 16 == b.data_ptr() % 16 == c.data_ptr() % 16 == 0
    require(dense and aligned and m > 16, "bytes must lie densely and aligned to 16, with more than 16 rows")
    require(k > 0 and n > 0 and k % 16 == n % 16 == 0, f"k = {k} and n = {n} are no multiples of 16")
    if a.dtype is torch.int8:
        torch._int_mm(a, b, out=c)
        return
    require(by_columns, "fp8 takes b by columns")
    # Adding up straight in the tensor core, as the kernels beside it do; without, cuBLASLt adds in steps to f32.
    one = _one(a.device)
    torch._scaled_mm(a, b, one, one, out_dtype=c.dtype, use_fast_accum=True, out=c)


@functools.cache
def _one(device: torch.device) -> torch.Tensor:
    return torch.ones((), device=device)
