"""Every planted bug is found with its kind and its line; correct kernels raise nothing and compute right."""

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_roofline.counting.triton_cpu import Finding, KernelFault, checking

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

BLOCK = 64
KINDS = {
    "no_mask": Finding.OUT_OF_BOUNDS,
    "no_load_mask": Finding.OUT_OF_BOUNDS,
    "no_store_mask": Finding.OUT_OF_BOUNDS,
    "mask_off_by_one": Finding.OUT_OF_BOUNDS,
    "load_off_by_one_unused": Finding.OUT_OF_BOUNDS,
    "underrun": Finding.OUT_OF_BOUNDS,
    "far_read": Finding.OUT_OF_BOUNDS,
    "index_overflow": Finding.OUT_OF_BOUNDS,
    "overlapping_same_value": Finding.RACE,
    "racy_accumulate": Finding.RACE,
    "in_place_shift": Finding.RACE,
    "lanes_collide": Finding.DUPLICATE_STORE,
    "false_multiple_of": Finding.FALSE_HINT,
    "false_contiguous": Finding.FALSE_HINT,
    "false_contiguous_late": Finding.FALSE_HINT,
    "false_constancy": Finding.FALSE_HINT,
    "atomic_out_of_bounds": Finding.OUT_OF_BOUNDS,
    "atomic_against_plain_store": Finding.RACE,
    "relaxed_ticket": Finding.RACE,
}


def grid(n):
    """Enough programs for n elements."""
    return (triton.cdiv(n, BLOCK),)


def bug_line(kernel):
    """The line marked as the bug."""
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(i for i, text in enumerate(lines) if "# BUG" in text)


@pytest.mark.parametrize("name", KINDS)
def test_a_planted_bug_is_found_at_its_line(kernels, name):
    """The fault names the kind, the file and the line of the statement."""
    kernel = getattr(kernels, name)
    x, y, out = torch.randn(100), torch.zeros(100), torch.zeros(100)
    with checking(), pytest.raises(KernelFault) as caught:
        kernel[grid(100)](x, y, out, 100, BLOCK=BLOCK)
    fault = caught.value
    assert (fault.kind, fault.line, fault.kernel) == (KINDS[name], bug_line(kernel), name)
    assert fault.file.endswith("kernels.py")
    assert f"kernels.py:{fault.line}: {fault.kind.value}" in str(fault)


def test_a_write_into_the_gap_between_rows_is_found(kernels):
    """Memory between the rows of a view belongs to somebody else."""
    out = torch.zeros(5, 9)[:, :7]
    with checking(), pytest.raises(KernelFault) as caught:
        kernels.row_with_pitch[(5,)](out, 7, 9, BLOCK=16)
    assert caught.value.kind is Finding.VIEW_GAP
    assert caught.value.line == bug_line(kernels.row_with_pitch)


def test_masked_lanes_without_other_are_poisoned(kernels):
    """They are undefined on a GPU, so a sum over them must not look right by accident."""
    x, out = torch.ones(33), torch.zeros(1)
    with checking():
        kernels.missing_other[(1,)](x, x, out, 33, BLOCK=64)
    assert torch.isnan(out).all()


def test_a_grid_beyond_the_limits_of_a_gpu_is_found(kernels):
    """The interpreter would run what no GPU launches."""
    x = torch.zeros(1)
    with checking(), pytest.raises(KernelFault) as caught:
        kernels.add[(1, 65536)](x, x, x, 0, BLOCK=1)
    assert caught.value.kind is Finding.GRID_LIMIT


def test_a_buffer_of_size_zero_has_no_legal_address(kernels):
    """Touching an empty tensor is out of bounds, not touching it is fine."""
    empty, x = torch.zeros(0), torch.zeros(4)
    with checking():
        kernels.add[(1,)](empty, empty, empty, 0, BLOCK=4)
        with pytest.raises(KernelFault, match="out of bounds"):
            kernels.add[(1,)](empty, x, x, 4, BLOCK=4)


def test_races_can_be_left_out_with_a_reason(kernels):
    """races=False admits deliberate writes of the same value by several programs, and nothing else."""
    x, out = torch.zeros(100), torch.zeros(100)
    with checking(races=False):
        kernels.overlapping_same_value[grid(100)](x, x, out, 100, BLOCK=BLOCK)
        assert (out == 1).all()
        with pytest.raises(KernelFault, match="out of bounds"):
            kernels.no_mask[grid(100)](x, x, out, 100, BLOCK=BLOCK)


def test_outside_the_context_nothing_is_checked(kernels):
    """A race raises only inside checking()."""
    x, out = torch.ones(100), torch.zeros(100)
    kernels.racy_accumulate[grid(100)](x, x, out, 100, BLOCK=BLOCK)
    assert out[0] == 100


def test_hypothesis_shrinks_a_fault(kernels):
    """A fault is an ordinary exception: the smallest racy problem has one element more than a block."""
    seen = []

    @settings(max_examples=200, database=None, deadline=None, derandomize=True)
    @given(n=st.integers(1, 300))
    def sums(n):
        x, out = torch.ones(n), torch.zeros(1)
        try:
            with checking():
                kernels.racy_accumulate[grid(n)](x, x, out, n, BLOCK=BLOCK)
        except KernelFault:
            seen.append(n)
            raise

    with pytest.raises(KernelFault):
        sums()
    assert seen[-1] == BLOCK + 1


@settings(max_examples=40, deadline=None, derandomize=True)
@given(n=st.integers(1, 400), shift=st.integers(0, 3))
def check_add(kernels, n, shift):
    """vector add on misaligned views"""
    x, y, out = (torch.randn(n + 8)[shift : shift + n] for _ in range(3))
    kernels.add[grid(n)](x, y, out, n, BLOCK=BLOCK)
    torch.testing.assert_close(out, x + y)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(n=st.integers(1, 400))
def check_sums(kernels, n):
    """sums by atomics, by the last block, under a lock and in a loop"""
    x = torch.randn(n)
    for kernel, first in (("atomic_sum", ()), ("looped_sum", ()), ("last_block_sum", (torch.zeros(64),))):
        out = torch.zeros(2)
        getattr(kernels, kernel)[(1,) if kernel == "looped_sum" else grid(n)](x, *first, out, n, BLOCK=BLOCK)
        torch.testing.assert_close(out[0], x.sum(), rtol=1e-4, atol=1e-4)
    out = torch.zeros(1)
    kernels.locked_sum[grid(n)](x, torch.zeros(1, dtype=torch.int32), out, n, BLOCK=BLOCK)
    torch.testing.assert_close(out[0], x.sum(), rtol=1e-4, atol=1e-4)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(rows=st.integers(1, 5), columns=st.integers(1, 100))
def check_softmax(kernels, rows, columns):
    """softmax of rows"""
    x, out = torch.randn(rows, columns), torch.empty(rows, columns)
    kernels.softmax[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    torch.testing.assert_close(out, torch.softmax(x, 1))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    m=st.integers(1, 40),
    n=st.integers(1, 40),
    k=st.integers(0, 70),
    dtype=st.sampled_from([torch.float32, torch.float16, torch.bfloat16]),
)
def check_matmul(kernels, m, n, k, dtype):
    """matmul with a loop over k in three formats"""
    a, b, c = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype), torch.empty(m, n, dtype=dtype)
    programs = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    kernels.matmul[programs](a, b, c, m, n, k, BM=32, BN=32, BK=32)
    exact = a.double() @ b.double()
    bound = (torch.finfo(dtype).eps + k * 2.0**-24) * (a.double().abs() @ b.double().abs()) + 1e-7
    assert ((c.double() - exact).abs() <= bound).all()


@pytest.mark.parametrize("correct", [check_add, check_sums, check_softmax, check_matmul], ids=lambda f: f.__doc__)
def test_correct_kernels_raise_nothing(kernels, correct):
    """No false alarm on any drawn size, and the values are right."""
    with checking():
        correct(kernels)


def test_one_lane_with_other_zero_is_not_taken_for_none(kernels):
    """A scalar other=0 is a value, although it is false."""
    x, out = torch.ones(5), torch.full((5,), 7.0)
    with checking():
        kernels.one_lane_other[(5,)](x, out, 5, BLOCK=1)
    assert out.tolist() == [1, 1, 1, 1, 0]


def test_interleaved_views_of_one_allocation_are_legal(kernels):
    """Even and odd elements of one buffer, written through two arguments, raise nothing."""
    x, both = torch.randn(100), torch.zeros(200)
    with checking():
        kernels.interleave[grid(100)](x, both[0::2], both[1::2], 100, BLOCK=BLOCK)
    torch.testing.assert_close(both[0::2], -both[1::2])


def test_the_same_tensor_twice_is_one_buffer(kernels):
    """An input that is also the output is no race within a program."""
    x, y = torch.randn(100), torch.randn(100)
    wanted = x + y
    with checking():
        kernels.add[grid(100)](x, y, x, 100, BLOCK=BLOCK)
    torch.testing.assert_close(x, wanted)
