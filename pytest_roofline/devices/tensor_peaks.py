"""What the tensor cores reach through torch: one large product per format that this GPU multiplies on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_roofline.contract import Pipeline

if TYPE_CHECKING:
    import torch

EXTENT = 8192

Call = Callable[[], object]


@dataclass(frozen=True)
class Product:
    """A product of two ``extent`` x ``extent`` matrices of random data.

    ``since`` is the first compute capability whose tensor cores take the format; ``call(extent, device)`` allocates the
    operands and returns what multiplies them. ``private`` marks a function that torch may change in any version.
    """

    pipeline: Pipeline
    since: tuple[int, int]
    name: str
    call: Callable[[int, str], Call]
    private: bool = False

    def available(self, capability: tuple[int, int]) -> bool:
        """Whether tensor cores of that compute capability do it at their own rate.

        Double precision is left to the parts for computing centres (x.0), the others have it for compatibility only.
        """
        return capability >= self.since and (self.pipeline is not Pipeline.FP64_TENSOR or capability[1] == 0)


def measure(
    seconds: Callable[[Call], float], capability: tuple[int, int], device: str = "cuda", extent: int = EXTENT
) -> tuple[dict[str, float], dict[str, str]]:
    """Operations per second by pipeline, and how each was measured or why it was not.

    ``seconds`` times a call. Other formats are left out: without tensor cores for it torch multiplies elsewhere, and
    that rate is not theirs.
    """
    peaks: dict[str, float] = {}
    how: dict[str, str] = {}
    for product in PRODUCTS:
        if not product.available(capability):
            continue
        name = product.pipeline.value
        try:
            with _tf32(product.pipeline is Pipeline.TF32_TENSOR):
                peaks[name] = 2 * extent**3 / seconds(product.call(extent, device))
            how[name] = f"{product.name} {extent}^3, random data"
        except (AttributeError, RuntimeError, TypeError) as error:
            if not product.private:
                raise
            how[name] = f"not measured: {product.name}: {str(error).partition(chr(10))[0]}"
    return peaks, how


@contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    import torch

    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allowed
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def _matmul(dtype: str) -> Callable[[int, str], Call]:
    def call(extent: int, device: str) -> Call:
        import torch

        a, b, c = (_normal(extent, device).to(getattr(torch, dtype)) for _ in range(3))
        return lambda: torch.matmul(a, b, out=c)

    return call


def _fp8(extent: int, device: str) -> Call:
    import torch

    a, b = (_normal(extent, device).to(torch.float8_e4m3fn) for _ in range(2))
    one, c = torch.ones((), device=device), torch.empty(extent, extent, dtype=torch.bfloat16, device=device)
    # The library wants the second operand column by column.
    return lambda: torch._scaled_mm(
        a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True, out=c
    )


def _int8(extent: int, device: str) -> Call:
    import torch

    a, b = (torch.randint(-128, 128, (extent, extent), dtype=torch.int8, device=device) for _ in range(2))
    c = torch.empty(extent, extent, dtype=torch.int32, device=device)
    return lambda: torch._int_mm(a, b.t(), out=c)  # type: ignore[no-any-return, attr-defined, unused-ignore]


def _normal(extent: int, device: str) -> torch.Tensor:
    import torch

    return torch.randn(extent, extent, device=device)


PRODUCTS = (
    Product(Pipeline.FP16_TENSOR, (7, 0), "torch.matmul", _matmul("float16")),
    Product(Pipeline.BF16_TENSOR, (8, 0), "torch.matmul", _matmul("bfloat16")),
    Product(Pipeline.TF32_TENSOR, (8, 0), "torch.matmul", _matmul("float32")),
    Product(Pipeline.FP64_TENSOR, (8, 0), "torch.matmul", _matmul("float64")),
    Product(Pipeline.FP8_TENSOR, (8, 9), "torch._scaled_mm", _fp8, private=True),
    Product(Pipeline.INT8_TENSOR, (7, 5), "torch._int_mm", _int8, private=True),
)
