"""The matrix product by torch."""

import torch


def torch_mm(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """``c = a @ b`` by cuBLAS, kept off the tensor cores."""
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        torch.mm(a, b, out=c)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed
