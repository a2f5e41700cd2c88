"""The matrix product by torch, for shapes that fill a device badly."""

import torch


def torch_mm(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """``c = a @ b`` by cuBLAS, which splits k itself where it thinks fit; f32 stays off the tensor cores."""
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        torch.mm(a, b, out=c)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed
