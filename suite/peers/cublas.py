"""What the peers of matrix products share: torch's product with TF32 allowed or not, whatever the process allows."""

import torch


def mm(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, tf32: bool) -> None:
    """``c = a @ b`` by cuBLAS; products of f32 use the tensor cores only with ``tf32``."""
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    try:
        torch.mm(a, b, out=c)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed
