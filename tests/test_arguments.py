"""What CUDA would misread or refuse without a word is refused by name before it gets there."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import arguments, signature  # noqa: E402

KERNELS = """
template <typename T>
__global__ void add(const T* x, T* y, int n, float factor) {}
__global__ void mapped(const __grid_constant__ TensorMap map) {}
"""


def checked(*args, kernel="add<float>"):
    """Arguments as the parameters of a kernel take them."""
    return arguments.checked(signature.find(KERNELS, kernel).parameters, args)


@pytest.fixture
def vectors():
    return torch.ones(8), torch.ones(8)


def test_arguments_become_exactly_what_the_kernel_expects(vectors):
    """Tensors stay tensors, numbers become their parameters' C types."""
    x, y, n, factor = checked(*vectors, 8, 2)
    assert (x, y) == vectors
    assert (type(n), type(factor)) == (np.int32, np.float32)


def test_the_element_type_of_tensors_is_checked(vectors):
    """A tensor of another type is refused by the parameter's name and both types."""
    x, _ = vectors
    with pytest.raises(TypeError, match=r"parameter float\* y takes a torch.float32 tensor, got torch.float64"):
        checked(x, x.double(), 8, 1.0)
    with pytest.raises(TypeError, match=r"parameter __half\* x takes a torch.float16 tensor, got torch.float32"):
        checked(x, x, 8, 1.0, kernel="add<__half>")


def test_numbers_are_no_pointers_and_tensors_no_numbers(vectors):
    """Both mistakes are named by parameter, and so is a tensor in place of a tensor map."""
    x, y = vectors
    with pytest.raises(TypeError, match=r"float\* x takes a torch.float32 tensor, got int"):
        checked(0, y, 8, 1.0)
    with pytest.raises(TypeError, match="parameter int n: got tensor"):
        checked(x, y, x, 1.0)
    with pytest.raises(TypeError, match="takes a tensor map, got Tensor"):
        checked(x, kernel="mapped")


def test_integers_are_range_checked(vectors):
    """An element count that needs 64 bits does not slip into an int."""
    with pytest.raises(OverflowError, match=r"parameter int n: 4294967296 does not fit"):
        checked(*vectors, 2**32, 1.0)


def test_grids_and_blocks_get_three_extents():
    """Those that are missing are one; nothing is launched by a grid without blocks, which is no error."""
    assert arguments.in_three((2,), (32, 4)) == ((2, 1, 1), (32, 4, 1))
    assert arguments.in_three((0,), (1,))[0] == (0, 1, 1)


@pytest.mark.parametrize(
    ("grid", "block", "message"),
    [
        ((), (1,), "a grid has one to three extents"),
        ((1, 1, 1, 1), (1,), "a grid has one to three extents"),
        ((1, 65536), (1,), "the grid .* leaves CUDA's limits"),
        ((2**31,), (1,), "the grid .* leaves CUDA's limits"),
        ((-1,), (1,), "the grid .* leaves CUDA's limits"),
        ((1,), (1, 1, 65), "the block .* leaves CUDA's limits"),
        ((1,), (64, 32), "a block has 1 to 1024 threads"),
        ((1,), (0,), "a block has 1 to 1024 threads"),
    ],
)
def test_grids_and_blocks_are_checked(grid, block, message):
    """What CUDA would refuse without saying why is refused with the reason."""
    with pytest.raises(ValueError, match=message):
        arguments.in_three(grid, block)


class Placed(torch.Tensor):
    """A tensor that says to be somewhere else."""

    device = property(lambda self: self.place)

    def get_device(self):
        return -1 if self.place.index is None else self.place.index

    def is_pinned(self):
        return self.pinned


def placed(place, *, pinned=False, of=1):
    made = torch.ones(of).as_subclass(Placed)
    made.place, made.pinned = torch.device(place), pinned
    return made


def test_the_gpu_is_that_of_the_tensors():
    """All of them, and page-locked host memory beside them, which a GPU addresses; ordinary host memory is refused."""
    locked = placed("cpu", pinned=True)
    for x, y in ((placed("cuda:1"), placed("cuda:1")), (locked, placed("cuda:1")), (placed("cuda:1"), locked)):
        assert arguments.gpu_of((x, y, 8, 1.0), (0, 1)) == 1
    assert arguments.gpu_of((locked, locked, 8, 1.0), (0, 1)) is None
    empty = placed("cpu", of=0)  # page-locked or not: torch calls no empty tensor so
    assert arguments.gpu_of((empty, placed("cuda:0", of=0), 0, 1.0), (0, 1)) == 0
    for x, y, names in (("cpu", "cuda:0", "cpu, cuda:0"), ("cuda:0", "cuda:1", "cuda:0, cuda:1")):
        with pytest.raises(ValueError, match=f"several devices: {names}"):
            arguments.gpu_of((placed(x), placed(y), 8, 1.0), (0, 1))
