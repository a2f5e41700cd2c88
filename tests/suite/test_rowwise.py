"""The row-wise kernels mean what torch means, survive a large mean, and their launchers cover every row."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from kernels_cuda import _rowwise as rowwise  # noqa: E402
from kernels_cuda import layernorm as cuda_layernorm  # noqa: E402
from kernels_cuda import rmsnorm as cuda_rmsnorm  # noqa: E402
from kernels_cuda import softmax as cuda_softmax  # noqa: E402
from pytest_roofline.contract import Computed  # noqa: E402
from pytest_roofline.counting.cuda_cpu import CompilerMissing  # noqa: E402
from pytest_roofline.dtypes import DType  # noqa: E402
from pytest_roofline.launch import GpuNeeded  # noqa: E402
from suite.operations import layernorm, rmsnorm, softmax  # noqa: E402

F32 = DType.parse("f32")
INF, NAN = float("inf"), float("nan")
BLOCK = 32  # of the looped Triton kernels: three blocks a row, the last one partial
COLUMNS = 80


def rows() -> torch.Tensor:
    """Random rows of which each but the first has something special, also in a block or a word of its own."""
    x = torch.randn(9, COLUMNS, generator=torch.Generator().manual_seed(0))
    x[1, 5] = -INF
    x[2] = -INF
    x[3, :BLOCK] = -INF
    x[4, 70:] = -INF
    x[5, 40] = NAN
    x[6, 3] = INF
    x[7] = NAN
    x[8, 0] = 3.4e38
    return x


def softmax_launchers():
    """Every variant in both languages; the looped Triton kernel takes several steps per row."""
    pytest.importorskip("triton")
    from kernels_triton import softmax as triton_softmax

    return {
        "triton fused": triton_softmax.fused,
        "triton looped": functools.partial(triton_softmax.fused_looped, block=BLOCK, num_warps=1),
        "cuda fused": cuda_softmax.fused,
        "cuda looped": cuda_softmax.fused_looped,
        "cuda cluster": cuda_softmax.fused_cluster,
    }


def launch(function, *tensors, **keywords) -> None:
    try:
        function(*tensors, **keywords)
    except (CompilerMissing, GpuNeeded) as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("name", ["triton fused", "triton looped", "cuda fused", "cuda looped", "cuda cluster"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy, in the interpreter, on what is tested here
def test_softmax_of_special_rows_is_torch_s(device, name):
    """-inf gives 0, a row of nothing else NaN; NaN or +inf anywhere makes the whole row NaN."""
    x = rows().to(device)
    y = torch.empty_like(x)
    launch(softmax_launchers()[name], x, y)
    want = torch.softmax(x.double(), dim=1)
    torch.testing.assert_close(y.double(), want, rtol=1e-5, atol=1e-7, equal_nan=True)
    assert y.isnan().any(dim=1).tolist() == [False, False, True, False, False, True, True, True, False]


def norm_launchers(eps: float):
    pytest.importorskip("triton")
    from kernels_triton import layernorm as triton_layernorm

    return {
        "triton fused": functools.partial(triton_layernorm.fused, eps=eps),
        "triton looped": functools.partial(triton_layernorm.fused_looped, eps=eps, block=BLOCK, num_warps=1),
        "cuda fused": functools.partial(cuda_layernorm.fused, eps=eps),
        "cuda looped": functools.partial(cuda_layernorm.fused_looped, eps=eps),
    }


def layernorm_limits(x: torch.Tensor, depth: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Exact result and error bound of a layer normalisation with weights 1 and 0."""
    inputs = {"x": x.double(), "weight": torch.ones(x.shape[1]).double(), "bias": torch.zeros(x.shape[1]).double()}
    outputs = layernorm.reference(**inputs)
    bound = layernorm.bound(Computed(inputs, outputs, F32, tuple(x.shape), depth))["y"]
    return outputs["y"], bound.absolute


@pytest.mark.parametrize("name", ["triton fused", "triton looped", "cuda fused", "cuda looped"])
@pytest.mark.parametrize("mean", [0.0, 1e4])
def test_a_large_mean_cancels_nothing(device, name, mean):
    """The error stays within the bound, which sums of x and of x^2 in f32 exceed by far."""
    x = torch.randn(3, COLUMNS, generator=torch.Generator().manual_seed(1)) + mean
    exact, limit = layernorm_limits(x, 80)
    y = torch.empty_like(x, device=device)
    ones, zeros = torch.ones(COLUMNS, device=device), torch.zeros(COLUMNS, device=device)
    launch(norm_launchers(layernorm.EPS)[name], x.to(device), ones, zeros, y)
    assert ((y.cpu().double() - exact).abs() <= limit).all()


def test_the_textbook_variance_exceeds_the_bound():
    """mean(x^2) - mean(x)^2 loses the variance of a row whose mean is 10^4 times its deviation."""
    x = torch.randn(3, COLUMNS, generator=torch.Generator().manual_seed(1)) + 1e4
    exact, limit = layernorm_limits(x, 80)
    mean = x.mean(dim=1, keepdim=True)
    naive = (x - mean) / ((x * x).mean(dim=1, keepdim=True) - mean * mean + layernorm.EPS).sqrt()
    assert ((naive.double() - exact).abs() > limit).any()


@pytest.mark.parametrize("name", ["triton fused", "triton looped", "cuda fused", "cuda looped"])
def test_constant_rows_normalise_to_the_bias(device, name):
    """Their variance is nothing but rounding; eps keeps that from being blown up."""
    x = torch.full((2, COLUMNS), 3.0)
    bias = torch.arange(COLUMNS, dtype=torch.float32)
    y = torch.empty_like(x, device=device)
    arguments = (x, torch.ones(COLUMNS), bias)
    launch(norm_launchers(layernorm.EPS)[name], *(t.to(device) for t in arguments), y)
    torch.testing.assert_close(y.cpu(), bias.expand(2, -1), rtol=0, atol=1e-3)


@given(seed=st.integers(0, 2**32 - 1), columns=st.integers(1, 400), spread=st.sampled_from([0.1, 1.0, 30.0]))
def test_softmax_in_f32_is_within_its_bound_and_a_doubled_term_is_not(seed, columns, spread):
    """Shift, exponentials, left to right sum and division round as the bound says; a term added twice shows."""
    x = (np.random.default_rng(seed).standard_normal((1, columns)) * spread).astype(np.float32)
    inputs = {"x": torch.from_numpy(x.astype(np.float64))}
    outputs = softmax.reference(**inputs)
    limit = softmax.bound(Computed(inputs, outputs, F32, x.shape, columns))["y"].absolute.numpy()
    terms = np.exp(x - x.max())
    y = terms / np.cumsum(terms, dtype=np.float32)[-1]
    assert (np.abs(y - outputs["y"].numpy()) <= limit).all()
    doubled = terms / (terms.sum() + np.float32(1))  # the largest one
    assert (np.abs(doubled - outputs["y"].numpy()) > limit).any()


@given(seed=st.integers(0, 2**32 - 1), columns=st.integers(1, 400))
def test_rmsnorm_in_f32_is_within_its_bound_and_a_wrong_count_is_not(seed, columns):
    """A mean over one element too many exceeds it."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 2, (1, columns)).astype(np.float32)
    inputs = {"x": torch.from_numpy(x.astype(np.float64)), "weight": torch.ones(columns, dtype=torch.float64)}
    outputs = rmsnorm.reference(**inputs)
    limit = rmsnorm.bound(Computed(inputs, outputs, F32, x.shape, columns))["y"].absolute.numpy()
    squares = np.cumsum(x * x, dtype=np.float32)[-1]
    for count, right in ((columns, True), (columns + 1, False)):
        y = x / np.sqrt(squares / np.float32(count) + np.float32(rmsnorm.EPS))
        assert (np.abs(y - outputs["y"].numpy()) <= limit).all() == right


@pytest.mark.parametrize("width", [1, 4, 8])
@given(words=st.integers(0, 10_000))
def test_every_word_of_a_row_has_a_register(width, words):
    """The threads of a plan hold the whole row, at most 32 elements each; what does not fit has no plan."""
    plan = rowwise.plan(words, width)
    if plan is None:
        assert words * width > (32768 if width > 1 else 8192)
        return
    threads, per_thread = plan
    assert threads * per_thread >= words
    assert per_thread * width <= 32
    assert threads in (8, 16, 32, 64, 128, 256, 512, 1024)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("columns", [32776, 65536, 131072, 1 << 20])
def test_long_rows_use_the_shared_memory_there_is(launches, columns, dtype):
    """Without a GPU that of an A100, 163 KiB with static arrays; of a longer row a part is read twice."""
    x = torch.zeros(1, columns, dtype=dtype)
    cuda_softmax.fused(x, torch.empty_like(x))
    [(name, grid, *_, shared)] = launches
    if columns * dtype.itemsize <= 65536 and columns <= 32768:
        assert "long" not in name
    else:
        assert "softmax_fused_long" in name
        assert 0 <= shared <= 162 * 1024
    assert grid == (1, 1, 1)


@pytest.mark.parametrize("module", [cuda_softmax, cuda_layernorm, cuda_rmsnorm])
def test_rows_no_wide_load_fits_go_element_by_element(launches, module):
    """A pitch, an offset or a length that is no multiple of 16 bytes."""
    weights = {cuda_softmax: 0, cuda_layernorm: 2, cuda_rmsnorm: 1}[module]
    keywords = {} if weights == 0 else {"eps": 1e-5}
    for x in (torch.zeros(3, 64), torch.zeros(3, 65)[:, :64], torch.zeros(3, 72)[:, 1:65], torch.zeros(3, 63)):
        columns = x.shape[1]
        module.fused(x, *(torch.zeros(columns) for _ in range(weights)), torch.zeros(3, columns), **keywords)
    assert [name.split(", ")[1] for name, *_ in launches] == ["4", "1", "1", "1"]


@pytest.mark.parametrize("columns", [81, 8 * 64 * 256 + 4])
def test_a_cluster_refuses_rows_that_it_cannot_share(columns):
    """Rows that are not of whole 16-byte words, and rows longer than eight blocks keep."""
    x = torch.zeros(2, columns)
    with pytest.raises(ValueError, match="a cluster shares rows"):
        cuda_softmax.fused_cluster(x, torch.empty_like(x))


@given(rows=st.integers(0, 1 << 20), columns=st.integers(0, 1024))
def test_triton_programs_share_out_short_rows(rows, columns):
    """A program keeps at most 1024 elements, and no more than a 256th of the rows as long as there are that few."""
    pytest.importorskip("triton")
    from kernels_triton import _rowwise as triton_rowwise

    plan = triton_rowwise.plan(torch.empty(1).expand(rows, columns), 0)
    assert plan.block >= columns
    assert plan.rows.bit_count() == 1
    assert plan.rows * plan.block <= 1024
    assert plan.rows == 1 or plan.rows * 256 <= rows


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_several_rows_of_a_triton_program_stay_apart(device):
    """1031 rows are no multiple of the four that a program has; the last program has three."""
    pytest.importorskip("triton")
    from kernels_triton import softmax as triton_softmax

    x = torch.randn(1031, 40, generator=torch.Generator().manual_seed(0)).to(device)
    y = torch.full_like(x, NAN)
    launch(triton_softmax.fused, x, y)
    torch.testing.assert_close(y, torch.softmax(x, dim=1))
