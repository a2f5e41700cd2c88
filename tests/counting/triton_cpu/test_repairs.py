"""The interpreter computes bfloat16 as the compiler does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")


def test_bf16_arithmetic_rounds_like_torch(kernels):
    """Products, sums and comparisons work on values, not on bit patterns, and round once per operation."""
    x, y = torch.randn(64).bfloat16(), torch.randn(64).bfloat16()
    out = torch.empty_like(x)
    kernels.bf16_arithmetic[(1,)](x, y, out, 64, BLOCK=64)
    assert torch.equal(out, torch.where(x > y, x * y + x, x - y))


def test_f32_rounds_to_the_nearest_bf16(kernels):
    """Conversion rounds to nearest even, as torch does, on every kind of value."""
    x = torch.cat([torch.randn(60), torch.tensor([float("inf"), -0.0, 3.4e38, 1e-40])])
    out = torch.empty(64, dtype=torch.bfloat16)
    kernels.round_to_bf16[(1,)](x, out, 64, BLOCK=64)
    assert torch.equal(out.view(torch.int16), x.bfloat16().view(torch.int16))


def test_bf16_sums_in_f32(kernels):
    """257 ones are 256 in bf16 arithmetic but 256 is what 257 rounds to; 300 ones show the difference."""
    x, out = torch.ones(300, dtype=torch.bfloat16), torch.zeros(1, dtype=torch.bfloat16)
    kernels.bf16_sum[(1,)](x, out, 300, BLOCK=512)
    assert out.item() == 300


@given(st.floats(width=32, allow_nan=True))
def test_narrow_and_torch_agree(value):
    """Every float32 rounds to the bfloat16 that torch rounds it to; NaN stays NaN."""
    pytest.importorskip("triton")
    from pytest_roofline.counting.triton_cpu.repairs import narrow, widen

    bits = narrow(np.array([value], np.float32))
    wanted = torch.tensor([value], dtype=torch.float32).bfloat16()
    back = torch.tensor(widen(bits))
    assert torch.equal(back, wanted.float()) or (back.isnan().all() and wanted.isnan().all())
