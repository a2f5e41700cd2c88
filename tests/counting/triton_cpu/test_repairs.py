"""The repaired interpreter computes bfloat16 as compiled code does, and repairs nothing that works."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

FLOATS = st.floats(width=32, allow_nan=True)


@pytest.fixture
def bf16(interpreter):
    """Kernels on bfloat16."""
    from tests.counting.triton_cpu.bf16 import kernels

    return kernels


def same_bits(a, b):
    """Whether two bfloat16 tensors agree bit by bit, all NaNs being one."""
    return torch.equal(a.isnan(), b.isnan()) and torch.equal(
        a.nan_to_num().view(torch.int16), b.nan_to_num().view(torch.int16)
    )


def test_repairs_are_not_made_twice(interpreter):
    """After the repairs every probe holds, so a Triton without the defects stays as it is."""
    from pytest_roofline.counting.triton_cpu import repairs

    assert repairs.install() == []


def test_a_defect_is_noticed(interpreter, monkeypatch):
    """A probe that no longer holds leads to its repair, and to no other."""
    from pytest_roofline.counting.triton_cpu import bfloat16, repairs

    def dot(self, a, b, d, *rest):
        return bfloat16.Handle(np.matmul(a.data, b.data, dtype=np.float32) + d.data, d.dtype)

    monkeypatch.setattr(bfloat16.Builder, "create_dot", dot)
    assert repairs.install() == ["bfloat16 dot"]


def test_a_repair_that_does_not_hold_is_an_error(interpreter, monkeypatch):
    """A later version may have a defect that this repair does not reach."""
    from pytest_roofline.counting.triton_cpu import repairs

    monkeypatch.setitem(repairs._REPAIRS, "loops", (lambda: False, lambda: None))
    with pytest.raises(RuntimeError, match="the repair of loops does not hold"):
        repairs.install()


def test_a_dot_of_8_bits_keeps_nan_and_every_number(interpreter):
    """Without a repair NaN was 480 there; all the other patterns are the numbers that torch reads in them."""
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle, interpreter_builder

    bits = np.arange(256, dtype=np.uint8)
    one = torch.ones(1).to(torch.float8_e4m3fn).view(torch.uint8).numpy()[:, None]
    a, b = TensorHandle(bits[:, None], tl.float8e4nv), TensorHandle(one, tl.float8e4nv)
    zeros = TensorHandle(np.zeros((256, 1), np.float32), tl.float32)
    found = interpreter_builder.create_dot(a, b, zeros, None, 0).data[:, 0]
    np.testing.assert_array_equal(found, torch.from_numpy(bits).view(torch.float8_e4m3fn).float().numpy())
    assert np.isnan(found).sum() == 2


@given(st.lists(FLOATS, min_size=1, max_size=8))
def test_f32_rounds_to_the_nearest_bf16_ties_to_even(values):
    """Every float32 rounds to what torch rounds it to; infinities, subnormals and NaN too."""
    pytest.importorskip("triton")
    from pytest_roofline.counting.triton_cpu.bfloat16 import narrow

    got = torch.from_numpy(narrow(np.array(values, np.float32)).view(np.int16)).view(torch.bfloat16)
    assert same_bits(got, torch.tensor(values, dtype=torch.float32).bfloat16())


@given(st.integers(0, 0xFFFF))
def test_widening_and_narrowing_gives_the_same_bits(bits):
    """Every bfloat16, quiet NaNs with their payload included."""
    pytest.importorskip("triton")
    from pytest_roofline.counting.triton_cpu.bfloat16 import narrow, widen

    quiet = bits | 0x40 if (bits & 0x7F80) == 0x7F80 and bits & 0x7F else bits
    assert narrow(widen(np.array([bits], np.uint16)))[0] == quiet


@settings(max_examples=50, deadline=None)
@given(pairs=st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=16))
def check_arithmetic(bf16, pairs):
    x, y = torch.tensor(pairs).bfloat16().unbind(1)
    x, y, out = x.contiguous(), y.contiguous(), torch.empty(6, 16, dtype=torch.bfloat16)
    with np.errstate(all="ignore"):
        bf16.arithmetic[(1,)](x, y, out, len(pairs), BLOCK=16)
    wanted = [x + y, x - y, x * y, x / y, torch.where(x > y, x, y), x.abs()]
    for row, right in zip(out[:, : len(pairs)], wanted, strict=True):
        assert same_bits(row, right)


def test_bf16_arithmetic_and_comparison_agree_with_torch(bf16):
    """Sums, differences, products, quotients, comparisons and magnitudes work on values, rounded once each."""
    check_arithmetic(bf16)


def test_conversions_agree_with_torch(bf16):
    """bfloat16 to f16, f64 and integers, and back from integers."""
    x = torch.tensor([0.0, -1.0, 3.5, 100.0, -257.0, 0.1, 65280.0, -0.0]).bfloat16()
    half, double = torch.empty(8, dtype=torch.float16), torch.empty(8, dtype=torch.float64)
    integer, back = torch.empty(8, dtype=torch.int32), torch.empty(8, dtype=torch.bfloat16)
    bf16.convert[(1,)](x, half, double, integer, back, BLOCK=8)
    assert torch.equal(half, x.half())
    assert torch.equal(double, x.double())
    assert torch.equal(integer, x.int())
    assert torch.equal(back, x.int().bfloat16())


def test_a_bf16_sum_rounds_every_partial_sum(bf16):
    """As the compiled code does, which adds in bfloat16: 256 + 1 stays 256, whatever else is added."""
    x, out = torch.zeros(4, 512).bfloat16(), torch.empty(4).bfloat16()
    x[:, 0], x[1:, 1], x[2:, 2], x[3, 256] = 256, 1, 1, 1
    bf16.sums[(4,)](x, out, BLOCK=512)
    assert out.tolist() == [256, 256, 256, 256]
    x.fill_(1)
    bf16.sums[(4,)](x, out, BLOCK=512)
    assert out.tolist() == [512] * 4


def test_bf16_sums_along_an_axis(bf16):
    """Axes, kept dimensions and the sum over everything."""
    x = torch.randint(-4, 5, (8, 16)).bfloat16()
    rows, columns, total = torch.empty(8).bfloat16(), torch.empty(16).bfloat16(), torch.empty(1).bfloat16()
    bf16.axis_sums[(1,)](x, rows, columns, total)
    assert torch.equal(rows, x.sum(1))
    assert torch.equal(columns, x.sum(0))
    assert torch.equal(total[0], x.sum())


def test_bf16_maximum_of_negative_numbers(bf16):
    """As bit patterns the most negative would be the largest."""
    x, out = torch.tensor([-8.0, -2.0, -4.0, -16.0]).bfloat16(), torch.empty(2).bfloat16()
    bf16.extremes[(1,)](x, out, BLOCK=4)
    assert out.tolist() == [-2, -16]


def test_bf16_constants_and_atomic_additions(bf16):
    """tl.full makes the value, and colliding lanes of an atomic all add to it."""
    out = torch.empty(1).bfloat16()
    bf16.count[(1,)](out, BLOCK=8)
    assert out.item() == 1.5 + 8 * 0.5


def test_a_runtime_loop_bound_is_an_index(correct):
    """numpy >= 2.4 turns no array of one element into an index by itself."""
    x, out = torch.ones(1000), torch.zeros(1)
    correct.block_sums[(1,)](x, out, 1000, BLOCK=64)
    assert out.item() == 1000
