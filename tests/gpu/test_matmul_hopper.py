"""The Hopper path of the matrix product on layouts that the copy engine takes: tails, pitches, graphs, huge results."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import kernels_triton.matmul_tensor as triton_tensor  # noqa: E402
from kernels_cuda import matmul_tensor  # noqa: E402
from kernels_cuda.matmul_tensor import hopper  # noqa: E402
from suite.operations.matmul_tensor import OPERATION  # noqa: E402

RUNGS = ("wgmma", "wgmma_specialised", "wgmma_narrow", "wgmma_persistent", "wgmma_cluster", "wgmma_overlapped")
# One tile, one past it in each direction, k of one instruction and one past a stage, more tiles than SMs.
SHAPES = [
    (128, 256, 64),
    (129, 264, 72),
    (1, 8, 16),
    (257, 1032, 40),
    (64, 2056, 8),
    (1000, 1000, 1000),
    (4200, 2312, 136),
]


@pytest.fixture(autouse=True)
def on_hopper():
    """Skip on other GPUs."""
    if not torch.cuda.is_available() or not hopper.available(torch.device("cuda", torch.cuda.current_device())):
        pytest.skip("needs a GPU of sm_90a")


def rung(variant: str):
    """A launcher with the options of its operation."""
    kernel = OPERATION.kernel("cuda", variant)
    return lambda *matrices: getattr(hopper, variant)(*matrices, **kernel.options)


def pitched(rows, columns, dtype):
    """A poisoned matrix with 16 bytes between its rows, and what holds it."""
    gap = 16 // dtype.itemsize
    whole = torch.full((rows, -(-columns // gap) * gap + gap), 77.0, device="cuda").to(dtype)
    return whole[:, :columns], whole


def operands(m, n, k, dtype, *, by_columns=True):
    """Random a and b; bytes over their whole range."""
    make = torch.Generator("cuda").manual_seed(m + n + k)
    if dtype is torch.int8:
        a, b = (torch.randint(-128, 128, s, generator=make, device="cuda", dtype=dtype) for s in ((m, k), (k, n)))
    else:
        a, b = (torch.randn(s, generator=make, device="cuda").to(dtype) for s in ((m, k), (k, n)))
    return a, b.T.contiguous().T if by_columns else b


def result_type(dtype):
    return dtype if dtype.itemsize == 2 else torch.int32 if dtype is torch.int8 else torch.float32


def assert_right(a, b, c):
    """Exact in integers, else within what operands, sums and result of this format round away, by norm."""
    exact = a.double() @ b.double()
    if a.dtype is torch.int8:
        assert torch.equal(c.double(), exact)
    else:
        limit = {torch.float32: 2e-3, torch.float8_e4m3fn: 2e-3, torch.bfloat16: 3e-3, torch.float16: 4e-4}[a.dtype]
        assert (c.double() - exact).norm() <= limit * exact.norm()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("variant", RUNGS)
@pytest.mark.parametrize("by_columns", [True, False])
def test_tails_and_layouts(variant, shape, by_columns):
    """Right inside, and untouched beside c."""
    m, n, k = shape
    a, b = operands(m, n, k, torch.bfloat16, by_columns=by_columns)
    c, whole = pitched(m, n, torch.bfloat16)
    rung(variant)(a, b, c)
    assert_right(a, b, c)
    assert (whole[:, n:] == 77).all()


@pytest.mark.parametrize("shape", [(129, 272, 80), (1000, 1040, 1072), (4200, 2320, 144)], ids=str)
@pytest.mark.parametrize("dtype", hopper.OPERANDS, ids=str)
def test_every_format(dtype, shape):
    """Also with pitched operands."""
    m, n, k = shape
    a, b = operands(m, n, k, dtype)
    wide_a, wide_b = pitched(m, k, dtype)[0], pitched(n, k, dtype)[0]
    wide_a.copy_(a)
    wide_b.copy_(b.T)
    c, whole = pitched(m, n, result_type(dtype))
    hopper.best(wide_a, wide_b.T, c)
    assert_right(a, b, c)
    assert (whole[:, n:] == 77).all()


@pytest.mark.parametrize("special", [float("nan"), float("inf")])
def test_nan_and_infinity_stay_in_their_row(special):
    """What lies outside of a matrix is zero, and zero times infinity must not come up in other rows."""
    a, b = operands(130, 264, 72, torch.float16)
    a[129, 71] = special
    c = torch.zeros(130, 264, dtype=torch.float16, device="cuda")
    hopper.best(a, b, c)
    assert c[:129].isfinite().all()
    assert not c[129].isfinite().any()


def test_a_captured_launch_keeps_its_maps():
    """The graph computes from the buffers it was captured with, whatever is launched in between."""
    a, b = operands(512, 512, 256, torch.bfloat16)
    c, other = (torch.zeros(512, 512, dtype=torch.bfloat16, device="cuda") for _ in range(2))
    hopper.best(a, b, c)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        hopper.best(a, b, c)
    hopper.best(b.T.contiguous(), a.T.contiguous(), other)
    a.mul_(2)
    graph.replay()
    torch.cuda.synchronize()
    assert_right(a, b, c)


def test_more_results_than_32_bits_count():
    """c has 2^31 + 2^20 elements; its first, middle and last rows are right."""
    m, n, k = (1 << 16) + 32, 1 << 15, 64
    if torch.cuda.mem_get_info()[0] < 8e9:
        pytest.skip("needs 8 GB of GPU memory")
    a, b = operands(m, n, k, torch.bfloat16)
    c = torch.zeros(m, n, dtype=torch.bfloat16, device="cuda")
    hopper.best(a, b, c)
    for first in (0, m // 2, m - 32):
        assert_right(a[first : first + 32], b, c[first : first + 32])


@pytest.mark.parametrize("dtype", hopper.OPERANDS, ids=str)
@pytest.mark.parametrize("n", [1, 5, 13, 250])
def test_what_lies_between_the_rows_of_c_stays_as_it_is(n, dtype):
    """The copy engine would write whole pieces of 16 bytes past their ends; in both languages."""
    m, k = 300, 512
    a, b = operands(m, n, k, dtype)
    packed = torch.empty(1 << 21, dtype=dtype, device="cuda")
    for launch in (matmul_tensor.automatic, triton_tensor.persistent):
        c, whole = pitched(m, n, result_type(dtype))
        launch(a, b, c, packed=packed)
        assert_right(a, b, c)
        assert (whole[:, n:] == 77).all()


@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize("dtype", hopper.OPERANDS, ids=str)
def test_misaligned_operands_and_results_are_copied(dtype, by_columns):
    """Odd extents in every direction, bases one element off: right, and untouched beside c."""
    m, n, k = 333, 517, 259
    a, b = operands(m, n, k, dtype, by_columns=by_columns)
    packed = torch.empty(1 << 21, dtype=dtype, device="cuda")
    whole = torch.full((m, n + 2), 77.0, device="cuda").to(result_type(dtype))
    c = whole[:, 1:-1]
    matmul_tensor._aligned(a, b, c, packed)
    assert_right(a, b, c)
    assert (whole[:, 0] == 77).all()
    assert (whole[:, -1] == 77).all()
