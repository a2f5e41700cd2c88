"""v = a v + b, ``steps`` times: as many operands from registers as there are fused multiply-adds to take them.

An FMA names three operands and a result of 4 bytes each. Every element has an a and b of its own, so that no operand is
the same register for two of them; how many of the reads the operand caches serve is not visible from outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_roofline.contract import (
    Argument,
    Bound,
    Computed,
    Kernel,
    Memory,
    Operation,
    Pipeline,
    Role,
    Shapes,
    Tolerance,
    Traffic,
    Work,
)
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from suite.bounds import finite_magnitude, gamma
from suite.onchip import small

if TYPE_CHECKING:
    import torch

OPERANDS, RESULTS = 3, 1
NEAR_ONE = 2.0**-12  # |a - 1|: over 8192 steps a product neither vanishes nor overflows, and no step is without effect


def near_one(extents: tuple[int, ...], seed: int, device: str) -> torch.Tensor:
    import torch

    generator = torch.Generator(device=device).manual_seed(seed)
    uniform = torch.rand(extents, generator=generator, device=device)
    return 1 + NEAR_ONE * (2 * uniform - 1)


def reference(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, steps: int) -> dict[str, torch.Tensor]:
    v = x.clone()
    for _ in range(steps):
        v.mul_(a).add_(b)
    return {"y": v}


def work(shape: Shape, dtype: DType) -> Work:
    multiply_adds, size = shape.size, dtype.operand.itemsize
    operands = Traffic(multiply_adds * OPERANDS * size, multiply_adds * RESULTS * size, Memory.REGISTER)
    return Work({Pipeline.FP32: 2 * multiply_adds}, operands)


def bound(computed: Computed) -> dict[str, Bound]:
    """gamma times what the recurrence makes of the absolute values: a step adds at most two roundings."""
    x, a, b = (finite_magnitude(computed.inputs[name]) for name in ("x", "a", "b"))
    item, steps = computed.dtype.operand, computed.dims[1]
    magnitude = reference(x, a, b, steps)["y"]
    return {
        "y": Bound(magnitude * gamma(2 * steps + 2, item.unit_roundoff) + steps * item.tiny, magnitude >= item.largest)
    }


def _kernel(backend: str, ilp: int, *, best: bool = False) -> Kernel:
    return Kernel(
        backend,
        f"ilp_{ilp}",
        f"kernels_{backend}.register_bandwidth:register_bandwidth",
        ("f32",),
        options={"ilp": ilp},
        tile=(256 * ilp,),
        best=best,
    )


OPERATION = Operation(
    name="register_bandwidth",
    summary="v = a v + b, steps times",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims[:1], shifted=False),
        Argument("a", Role.IN, lambda dims: dims[:1], shifted=False, data=near_one),
        Argument("b", Role.IN, lambda dims: dims[:1], shifted=False),
        Argument("y", Role.OUT, lambda dims: dims[:1], shifted=False),
    ),
    reference=reference,
    work=work,
    tolerance=Tolerance(bound, "|error| <= gamma_2n m_n with m = |a| m + |b| (Higham, Lemma 3.1), plus underflow"),
    shapes=Shapes(
        drawn=lambda tile: small((tile[0], tile[0] + 9), (16, 20)),
        # 8 elements for each of 1024 threads on each of 132 SMs.
        sweep=("1081344x8192",),
        representative=("1081344x8192",),
        counted=("1024x16", "1000x19", "7x1", "0x16", "5x0"),
        full=("1081344x1024",),
    ),
    kernels=(
        _kernel("triton", 1),
        _kernel("triton", 8, best=True),
        _kernel("cuda", 1),
        _kernel("cuda", 8, best=True),
    ),
    depth=lambda dims: 2 * dims[1],
    scalars=lambda dims: {"steps": dims[1]},
)
