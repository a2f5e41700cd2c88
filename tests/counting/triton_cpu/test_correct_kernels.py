"""Correct kernels raise nothing at any drawn size, stride and offset, and compute right."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_roofline.counting.triton_cpu import checking

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

BLOCK = 64
SIZES = st.integers(1, 300)
drawn = settings(max_examples=25, deadline=None, derandomize=True, database=None)


def grid(n, block=BLOCK):
    """Enough programs for n elements, at least one."""
    return (max(1, triton.cdiv(n, block)),)


def pitched(rows, columns, pad, dtype=torch.float32):
    """A random matrix whose rows are ``pad`` elements apart from each other."""
    return torch.randn(rows, columns + pad).to(dtype)[:, :columns]


@drawn
@given(n=st.integers(0, 300), shift=st.integers(0, 3), dtype=st.sampled_from([torch.float32, torch.int8]))
def vector_add(correct, n, shift, dtype):
    x, y, out = (torch.randint(-60, 60, (n + 8,)).to(dtype)[shift : shift + n] for _ in range(3))
    correct.add[grid(n)](x, y, out, n, BLOCK=BLOCK)
    assert torch.equal(out, x + y)


@drawn
@given(n=SIZES)
def add_in_place(correct, n):
    x, y = torch.randn(n), torch.randn(n)
    wanted = x + y
    correct.add[grid(n)](x, y, x, n, BLOCK=BLOCK)
    assert torch.equal(x, wanted)


@drawn
@given(n=SIZES)
def autotuned_add(correct, n):
    x, y, out = torch.randn(n), torch.randn(n), torch.zeros(n)
    correct.tuned_add[lambda meta: grid(n, meta["BLOCK"])](x, y, out, n)
    assert torch.equal(out, x + y)
    assert correct.tuned_add.best_config.kwargs == {"BLOCK": 32}


@drawn
@given(rows=st.integers(1, 4), columns=st.integers(1, 100), pad=st.integers(0, 9))
def softmax(correct, rows, columns, pad):
    x, out = pitched(rows, columns, pad), pitched(rows, columns, 2 * pad)
    block = triton.next_power_of_2(columns)
    correct.softmax[(rows,)](x, out, columns, x.stride(0), out.stride(0), BLOCK=block)
    torch.testing.assert_close(out, torch.softmax(x, 1))


@drawn
@given(rows=st.integers(1, 4), columns=st.integers(1, 100))
def layernorm(correct, rows, columns):
    x, w, b = torch.randn(rows, columns), torch.randn(columns), torch.randn(columns)
    out = torch.empty_like(x)
    correct.layernorm[(rows,)](x, w, b, out, columns, 1e-5, BLOCK=triton.next_power_of_2(columns))
    torch.testing.assert_close(out, torch.nn.functional.layer_norm(x, (columns,), w, b), rtol=1e-4, atol=1e-4)


@drawn
@given(rows=st.integers(1, 9))
def sums_of_rows_some_undefined(correct, rows):
    x, out = torch.randn(rows, 16), torch.zeros(rows)
    correct.row_sums[grid(rows, 4)](x, out, rows, 16, BLOCK=16)
    torch.testing.assert_close(out, x.sum(1), rtol=1e-5, atol=1e-5)


@drawn
@given(
    m=st.integers(1, 40),
    n=st.integers(1, 40),
    k=st.integers(0, 70),
    transposed=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float16, torch.bfloat16]),
)
def matmul(correct, m, n, k, transposed, dtype):
    a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
    b, c = b.t().contiguous().t() if transposed else b, torch.empty(m, n, dtype=dtype)
    strides = (*a.stride(), *b.stride(), *c.stride())
    correct.matmul[(*grid(m, 32), *grid(n, 32))](a, b, c, m, n, k, *strides, BM=32, BN=32, BK=32)
    # k products summed in f32 (Higham, Accuracy and Stability, 3.1), then one rounding to the result's format.
    magnitude = a.double().abs() @ b.double().abs()
    bound = (k + 1) * 2.0**-24 * magnitude + torch.finfo(dtype).eps * magnitude + torch.finfo(dtype).tiny
    assert ((c.double() - a.double() @ b.double()).abs() <= bound).all()


@drawn
@given(m=st.integers(1, 50), n=st.integers(1, 50), pad=st.integers(0, 3))
def transpose(correct, m, n, pad):
    x, out = pitched(m, n, pad), pitched(n, m, pad)
    correct.transpose[(*grid(m, 16), *grid(n, 16))](x, out, m, n, x.stride(0), out.stride(0), BLOCK=16)
    assert torch.equal(out, x.t())


@drawn
@given(n=SIZES, kind=st.sampled_from(["two stages", "atomic", "last block", "lock"]))
def sums(correct, n, kind):
    x, out, parts = torch.randint(-99, 99, (n,)).float(), torch.zeros(BLOCK), torch.zeros(64)  # sums are exact
    if kind == "two stages":
        correct.block_sums[(3,)](x, parts[:3], n, BLOCK=BLOCK)
        correct.block_sums[(1,)](parts[:3], out, 3, BLOCK=BLOCK)
    elif kind == "atomic":
        correct.atomic_sum[grid(n)](x, out, n, BLOCK=BLOCK)
    elif kind == "last block":
        correct.last_block_sum[grid(n)](x, parts, out, n, BLOCK=BLOCK)
    else:
        correct.locked_sum[grid(n)](x, torch.zeros(1, dtype=torch.int32), out, n, BLOCK=BLOCK)
        out[0] = out.sum()
    assert out[0] == x.sum()


@drawn
@given(programs=st.integers(1, 5))
def last_block_reduction_of_rows(correct, programs):
    x, partial = torch.randint(-99, 99, (programs, BLOCK)).float(), torch.zeros(programs, BLOCK)
    out = torch.empty(BLOCK)
    correct.last_block_rows[(programs,)](x, partial, out, torch.zeros(1, dtype=torch.int32), BLOCK=BLOCK)
    assert torch.equal(out, x.sum(0))
    assert not partial.any()


@drawn
@given(n=st.integers(1, 20))
def chained_scan(correct, n):
    x, out = torch.randint(-99, 99, (n,)).float(), torch.zeros(n)
    correct.chained_scan[(n,)](x, torch.zeros(n, dtype=torch.int32), out, n, BLOCK=1)
    assert torch.equal(out, x.cumsum(0))


@drawn
@given(n=SIZES)
def histogram(correct, n):
    x, out = torch.randint(0, 7, (n,)), torch.zeros(7, dtype=torch.int32)
    correct.histogram[grid(n)](x, out, n, BLOCK=BLOCK)
    assert torch.equal(out, torch.bincount(x, minlength=7).int())


@drawn
@given(block=st.sampled_from([16, 64]))
def reversal_behind_a_barrier(correct, block):
    x, scratch, out = torch.randn(block), torch.zeros(block), torch.zeros(block)
    correct.reversed_behind_barrier[(1,)](x, scratch, out, BLOCK=block)
    assert torch.equal(out, x.flip(0))


@drawn
@given(m=st.integers(1, 40), n=st.integers(1, 3))
def host_descriptor_copy(correct, m, n):
    from triton.tools.tensor_descriptor import TensorDescriptor

    columns = 16 * n  # rows of 16 bytes would do on a GPU, but not in the interpreter of Triton 3.4
    x, out = torch.randn(m, columns), torch.zeros(m, columns)
    both = [TensorDescriptor.from_tensor(t, [16, 16]) for t in (x, out)]
    correct.descriptor_copy[(*grid(m, 16), *grid(columns, 16))](*both, BM=16, BN=16)
    assert torch.equal(out, x)


@drawn
@given(n=SIZES)
def even_and_odd_elements(correct, n):
    x, both = torch.randn(n), torch.zeros(2 * n)
    correct.interleave[grid(n)](x, both[0::2], both[1::2], n, BLOCK=BLOCK)
    assert torch.equal(both.view(n, 2), torch.stack([x, -x], 1))


@drawn
@given(rows=st.integers(1, 4), columns=st.integers(1, 30), turned=st.booleans(), spread=st.integers(1, 3))
def strided_views(correct, rows, columns, turned, spread):
    x = torch.randn(rows, columns) if not turned else torch.randn(columns, rows).t()
    out = torch.zeros(rows, columns * spread)[:, ::spread]
    correct.copy_rows[(rows,)](x, out, columns, *x.stride(), *out.stride(), BLOCK=32)
    assert torch.equal(out, x)


@drawn
@given(tokens=st.integers(1, 4), width=st.integers(1, 30))
def packed_projections(correct, tokens, width):
    packed = torch.randn(tokens, 3, width)  # query, key and value of each token behind each other
    q, k, v = packed.unbind(1)
    wanted = q + k
    for t in range(tokens):
        correct.sum_of_tuple[(1,)]((q[t], k[t]), v[t], width, BLOCK=32)
    assert torch.equal(v, wanted)
    correct.copy_rows[(tokens,)](q, v, width, *q.stride(), *v.stride(), BLOCK=32)
    assert torch.equal(v, q)


@drawn
@given(columns=st.integers(1, 30))
def broadcast_input(correct, columns):
    x, out = torch.randn(columns).expand(4, columns), torch.zeros(4, columns)
    correct.copy_rows[(4,)](x, out, columns, *x.stride(), *out.stride(), BLOCK=32)
    assert torch.equal(out, x)


@drawn
@given(n=st.integers(1, 9))
def one_lane_with_other_zero(correct, n):
    x, out = torch.ones(n), torch.full((n,), 7.0)
    correct.one_lane_other[(n,)](x, out, n)
    assert out.tolist() == [1.0] * (n - 1) + [0.0]


@drawn
@given(n=st.integers(1, 16))
def bytes_of_wider_elements(correct, n):
    x, out = torch.randint(-(2**31), 2**31 - 1, (n,), dtype=torch.int32), torch.zeros(n, dtype=torch.int32)
    correct.swap_bytes[(1,)](x, out, n, BLOCK=64)
    assert torch.equal(out.view(torch.int8), x.view(torch.int8).view(n, 4).flip(1).reshape(-1))


@drawn
@given(n=SIZES.filter(lambda n: n <= BLOCK))
def pointers_into_two_tensors(correct, n):
    x, y, out = torch.randn(n), torch.randn(n), torch.zeros(n)
    correct.merge[(1,)](x, y, out, n, BLOCK=BLOCK)
    assert torch.equal(out, torch.where(torch.arange(n) % 2 == 0, x, y))


KERNELS = [
    vector_add,
    add_in_place,
    autotuned_add,
    softmax,
    layernorm,
    sums_of_rows_some_undefined,
    matmul,
    transpose,
    sums,
    last_block_reduction_of_rows,
    chained_scan,
    histogram,
    reversal_behind_a_barrier,
    host_descriptor_copy,
    even_and_odd_elements,
    strided_views,
    packed_projections,
    broadcast_input,
    one_lane_with_other_zero,
    bytes_of_wider_elements,
    pointers_into_two_tensors,
]


@pytest.mark.parametrize("computes_right", KERNELS, ids=lambda f: f.__name__)
def test_a_correct_kernel_raises_nothing(correct, computes_right):
    """No false alarm on any drawn problem, and the values are right."""
    with checking():
        computes_right(correct)
