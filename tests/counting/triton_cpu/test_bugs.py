"""Every planted bug is found with its kind, at its line."""

import pickle
import traceback
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_roofline.counting.triton_cpu import Finding, KernelFault, checking
from tests.counting.triton_cpu.conftest import blamed, bug_line

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
    "far_read_unused": Finding.OUT_OF_BOUNDS,
    "index_overflow": Finding.OUT_OF_BOUNDS,
    "atomic_out_of_bounds": Finding.OUT_OF_BOUNDS,
    "wrong_pointer_of_two": Finding.OUT_OF_BOUNDS,
    "half_an_element_off": Finding.MISALIGNED,
    "false_multiple_of": Finding.FALSE_HINT,
    "multiple_of_false_in_last_row": Finding.FALSE_HINT,
    "misaligned_pointer_hint": Finding.FALSE_HINT,
    "false_contiguous": Finding.FALSE_HINT,
    "contiguous_until_it_wraps": Finding.FALSE_HINT,
    "false_constancy": Finding.FALSE_HINT,
}


def grid(n):
    """Enough programs for n elements."""
    return (triton.cdiv(n, BLOCK),)


@pytest.mark.parametrize("name", KINDS)
def test_a_planted_bug_is_found_at_its_line(bugs, name):
    """The fault names the kind, the kernel, the file and the line of the statement."""
    kernel = getattr(bugs, name)
    fault = blamed(kernel, grid(100), torch.randn(100), torch.zeros(100), torch.zeros(100), 100, BLOCK=BLOCK)
    assert (fault.kind, fault.line, fault.kernel) == (KINDS[name], bug_line(kernel), name)
    assert Path(fault.file).parts[-2:] == ("bugs", "kernels.py")
    assert f"kernels.py:{fault.line}: {fault.kind.value}" in str(fault)


@pytest.mark.parametrize(
    ("name", "buffer", "offset", "program"),
    [("underrun", "x", -1, 0), ("mask_off_by_one", "out", 100, 1), ("far_read_unused", "x", 1 << 20, 0)],
)
def test_a_fault_names_buffer_element_and_program(bugs, name, buffer, offset, program):
    """The element is counted from the start of the argument, negative before it."""
    kernel = getattr(bugs, name)
    fault = blamed(kernel, grid(100), torch.randn(100), torch.zeros(100), torch.zeros(100), 100, BLOCK=BLOCK)
    assert (fault.buffer, fault.offset, fault.program) == (buffer, offset, (program, 0, 0))


def test_the_traceback_ends_at_the_kernel_statement(bugs):
    """No frame of the interpreter or the checker stands behind the kernel's, so that a debugger opens the right one."""
    fault = blamed(bugs.no_mask, (2,), torch.zeros(99), torch.zeros(99), torch.zeros(99), 99, BLOCK=BLOCK)
    last = traceback.extract_tb(fault.__traceback__)[-1]
    assert (last.name, last.lineno) == ("no_mask", fault.line)


def test_a_fault_survives_pickling(bugs):
    """A fault found in another process arrives with all its fields."""
    fault = blamed(bugs.no_mask, (2,), torch.zeros(99), torch.zeros(99), torch.zeros(99), 99, BLOCK=BLOCK)
    arrived = pickle.loads(pickle.dumps(fault))
    assert (type(arrived), str(arrived), arrived.place) == (type(fault), str(fault), fault.place)


def test_a_bug_in_a_device_function_is_blamed_there(bugs):
    """The line is that of the load, not of the call."""
    x, out = torch.zeros(64), torch.zeros(64)
    fault = blamed(bugs.device_function, (1,), x, x, out, 64, BLOCK=64)
    assert (fault.kind, fault.line) == (Finding.OUT_OF_BOUNDS, bug_line(bugs._shifted))


def test_the_next_slice_of_the_same_buffer_is_out_of_bounds(bugs):
    """Two slices of one allocation are two buffers, although the address behind the first is legal memory."""
    both = torch.zeros(128)
    fault = blamed(bugs.neighbouring_slice, (1,), both[:64], both[64:], both[64:], 64, BLOCK=64)
    assert (fault.kind, fault.buffer, fault.offset) == (Finding.OUT_OF_BOUNDS, "x", 64)


@pytest.mark.parametrize("name", ["store_into_row_gap", "load_from_row_gap"])
def test_memory_between_the_rows_of_a_view_is_not_the_views(bugs, name):
    """Nine columns are allocated, seven belong to the view."""
    kernel = getattr(bugs, name)
    fault = blamed(kernel, (5,), torch.zeros(5, 9)[:, :7], 7, 9, BLOCK=16)
    assert (fault.kind, fault.line, fault.offset) == (Finding.VIEW_GAP, bug_line(kernel), 7)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["missing_other_in_sum", "missing_other_in_max"])
def test_undefined_lanes_are_recognised_in_every_format(bugs, name, dtype):
    """The poison survives the widening that reductions start with."""
    x, out = torch.ones(33, dtype=dtype), torch.zeros(1, dtype=dtype)
    fault = blamed(getattr(bugs, name), (1,), x, x, out, 33, BLOCK=64)
    assert (fault.kind, fault.line) == (Finding.UNDEFINED_VALUE, bug_line(getattr(bugs, name)))


def test_a_nan_in_the_data_is_not_taken_for_an_undefined_lane(correct):
    """Only masked lanes carry the poison."""
    x, out = torch.tensor([[1.0, float("nan"), -float("nan")]]), torch.zeros(1, 3)
    with checking():
        correct.softmax[(1,)](x, out, 3, 3, 3, BLOCK=4)
    assert out.isnan().all()


@pytest.mark.parametrize(
    ("dtype", "poison"), [(torch.float32, "nan"), (torch.bfloat16, "nan"), (torch.int32, -1), (torch.uint8, 255)]
)
def test_masked_lanes_without_other_are_poisoned(correct, dtype, poison):
    """NaN in floating formats, all ones in integers: zeros would look right by accident."""
    x, out = torch.ones(8, dtype=dtype), torch.zeros(8, dtype=dtype)
    with checking():
        correct.load_three[(1,)](x, out, BLOCK=8)
    rest = out[3:]
    assert (out[:3] == 1).all()
    assert rest.isnan().all() if poison == "nan" else (rest == poison).all()


@pytest.mark.parametrize("programs", [(1, 65536), (1, 1, 65536), (2**31,)])
def test_a_grid_beyond_the_limits_of_a_gpu_is_found(correct, programs):
    """The interpreter would run what no GPU launches."""
    x = torch.zeros(1)
    with checking(), pytest.raises(KernelFault) as caught:
        correct.add[programs](x, x, x, 0, BLOCK=1)
    fault = caught.value
    assert (fault.kind, fault.kernel) == (Finding.GRID_LIMIT, "add")
    assert Path(fault.file).name == Path(__file__).name  # where it was launched


def test_touching_a_tensor_without_elements_is_out_of_bounds(correct):
    """Passing it is fine, also one whose address lies inside another argument."""
    empty, x = torch.zeros(0), torch.zeros(4)
    with checking():
        correct.add[(1,)](empty, empty, empty, 0, BLOCK=4)
        correct.add[(1,)](x, x[2:2], x, 0, BLOCK=4)
    for nothing in (empty, x[2:2]):
        assert blamed(correct.add, (1,), x, nothing, x, 4, BLOCK=4).kind is Finding.OUT_OF_BOUNDS


def test_a_grid_too_short_shows_in_what_was_written(correct):
    """No access is wrong then, but the bytes written fall short of the output."""
    x, out = torch.randn(100), torch.zeros(100)
    with checking(counts=True) as seen:
        correct.add[(100 // BLOCK,)](x, x, out, 100, BLOCK=BLOCK)
    assert seen.launches[0].stores.unique_bytes == 4 * BLOCK < out.nbytes


def test_outside_the_context_nothing_is_checked(races):
    """A race raises only inside checking()."""
    x, out = torch.ones(100), torch.zeros(100)
    races.racy_accumulate[grid(100)](x, x, out, 100, BLOCK=BLOCK)
    assert out[0] == 100


def test_hypothesis_shrinks_a_fault(races):
    """A fault is an ordinary exception: the smallest racy problem has one element more than a block."""
    seen = []

    @settings(max_examples=100, database=None, deadline=None, derandomize=True)
    @given(n=st.integers(1, 300))
    def sums(n):
        x, out = torch.ones(n), torch.zeros(1)
        try:
            with checking():
                races.racy_accumulate[grid(n)](x, x, out, n, BLOCK=BLOCK)
        except KernelFault:
            seen.append(n)
            raise

    with pytest.raises(KernelFault):
        sums()
    assert seen[-1] == BLOCK + 1
