"""The Hopper path of the matrix product, as far as a machine without a GPU can see it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from kernels_cuda import matmul_tensor  # noqa: E402
from kernels_cuda.matmul_tensor import hopper  # noqa: E402
from pytest_roofline.checking.buffers import guarded  # noqa: E402
from pytest_roofline.contract import Case, Role  # noqa: E402
from pytest_roofline.dtypes import DType  # noqa: E402
from pytest_roofline.ids import Shape  # noqa: E402
from pytest_roofline.launch import GpuNeeded  # noqa: E402
from suite.operations.matmul_tensor import DTYPES, OPERATION  # noqa: E402
from tests.suite.compiling import compiled, launched  # noqa: E402

RUNGS = ("wgmma", "wgmma_specialised", "wgmma_narrow", "wgmma_persistent", "wgmma_cluster", "wgmma_overlapped")


def operands(m, n, k, dtype=torch.bfloat16, *, by_columns=True):
    """a, b and c of a product."""
    result = dtype if dtype.itemsize == 2 else torch.int32 if dtype is torch.int8 else torch.float32
    a, b = torch.zeros(m, k, dtype=dtype), torch.zeros(n, k, dtype=dtype).T
    return a, b if by_columns else torch.zeros(k, n, dtype=dtype), torch.ones(m, n, dtype=result)


def rung(variant: str):
    """A call of one launcher, with the options of its operation."""
    kernel = OPERATION.kernel("cuda", variant)
    return lambda *matrices: getattr(hopper, variant)(*matrices, **kernel.options)


WIDE = [dtype for dtype in hopper.OPERANDS if dtype.itemsize != 2]
INSTANCES = [
    *((variant, torch.bfloat16, by_columns) for variant in RUNGS for by_columns in (True, False)),
    ("wgmma_overlapped", torch.float16, True),
    ("wgmma_overlapped", torch.float16, False),
    *((variant, dtype, True) for variant in ("wgmma_narrow", "wgmma_cluster") for dtype in WIDE),
]


@pytest.mark.parametrize(("variant", "dtype", "by_columns"), INSTANCES, ids=str)
def test_every_instance_compiles_without_a_spill(variant, dtype, by_columns):
    """For sm_90a, with all wgmma in it, no stack frame, at most the registers a block of its size can start with."""
    matrices = operands(64, 64, 64, dtype, by_columns=by_columns)
    [(function, _, block, dynamic)] = launched(lambda: rung(variant)(*matrices))
    found = compiled(function, block, dynamic, function.source.arch)
    assert (found.spills, found.stack, found.excess_shared) == (0, 0, 0)
    assert found.registers <= 65536 // block[0] // 8 * 8
    assert found.mix.count("wgmma") % 4 == 0 < found.mix.count("wgmma")
    assert found.mix.count("tma") > 0
    assert found.mix.count("local load") == found.mix.count("local store") == 0


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(DTYPES))
def test_what_is_declared_as_rejected_is_rejected_and_nothing_else(data, dtype):
    """The rule of the operation and the launcher's own look at addresses and pitches agree on every layout."""
    kernel = OPERATION.kernel("cuda", "wgmma_cluster")
    shape = data.draw(OPERATION.shapes.drawn((16, 16, 16)))
    case = Case(OPERATION, kernel, DType.parse(dtype), shape)
    a, b, c = (guarded(argument, case, "cpu", 0).view for argument in OPERATION.arguments)
    declared = OPERATION.kernel("cuda", "wgmma_cluster").rejection(shape, DType.parse(dtype))
    if declared is None:
        told = launched(lambda: rung("wgmma_cluster")(a, b, c))
        assert len(told) == (0 not in shape.dims)
    else:
        with pytest.raises(ValueError, match=r"copy engine cannot take|only with b by columns"):
            rung("wgmma_cluster")(a, b, c)


def test_a_product_over_nothing_is_zero():
    """k = 0: no map can be made of an empty matrix, and none is needed."""
    a, b, c = operands(8, 16, 0)
    for variant in RUNGS:
        c.fill_(1)
        assert launched(lambda v=variant: rung(v)(a, b, c)) == []
        assert not c.any()


def test_blocks_cover_all_tiles_and_clusters_are_whole():
    """One block per tile, or as many clusters as fit on the GPU, never part of one."""
    a, b, c = operands(300, 704, 64)
    for variant in ("wgmma", "wgmma_specialised"):
        [(_, grid, _, _)] = launched(lambda v=variant: rung(v)(a, b, c))
        assert grid == (3 * 3, 1, 1)
    [(_, grid, _, _)] = launched(lambda: rung("wgmma_cluster")(a, b, c))
    assert grid[0] % OPERATION.kernel("cuda", "wgmma_cluster").options["cluster"] == 0


def test_shapes_that_do_not_multiply_are_refused():
    """By every rung, naming the shapes."""
    a, b, c = operands(64, 64, 64)
    for variant in RUNGS:
        with pytest.raises(ValueError, match="is not"):
            rung(variant)(a, b[:32], c)


def test_the_automatic_choice_follows_the_device_and_the_matrices(monkeypatch):
    """mma.sync without a Hopper GPU and where copies do not pay, wgmma else; fp8 has one way only."""

    def names(a, b, c):
        packed = torch.empty(1 << 21, dtype=a.dtype)
        launches = launched(lambda: matmul_tensor.automatic(a, b, c, packed=packed))
        return [str(function).split("<")[0] for function, *_ in launches]

    tuned, align = "tuned.cu:matmul_tensor_tuned", "automatic.cu:matmul_tensor_align"
    narrow = "wgmma_specialised.cu:matmul_tensor_wgmma_specialised"
    fp8 = torch.float8_e4m3fn
    assert names(*operands(64, 64, 64)) == [tuned]
    with pytest.raises(GpuNeeded, match="need a GPU of sm_90a"):
        names(*operands(64, 64, 64, fp8))
    monkeypatch.setattr(hopper, "available", lambda device: True)
    assert names(*operands(64, 64, 64)) == [narrow]
    assert names(*operands(256, 2048, 64)) == ["wgmma_overlapped.cu:matmul_tensor_wgmma_overlapped"]
    assert names(*operands(256, 2048, 64, torch.int8)) == ["wgmma_cluster.cu:matmul_tensor_wgmma_cluster"]
    assert names(*operands(64, 64, 63)) == [tuned]
    assert names(*operands(256, 256, 1023)) == [align, narrow]
    assert names(*operands(256, 250, 1024)) == [narrow, align]  # the results of b by columns alone
    assert names(*operands(64, 64, 64, torch.int8, by_columns=False)) == [tuned]
    assert names(*operands(512, 256, 512, torch.int8, by_columns=False)) == [align, narrow]
    assert names(*operands(64, 64, 64, fp8)) == [narrow]
    assert names(*operands(64, 63, 63, fp8)) == [align, narrow, align]


def test_arguments_are_those_of_the_operation():
    """The maps are made of a, b and c in this order."""
    assert [(a.name, a.role) for a in OPERATION.arguments] == [("a", Role.IN), ("b", Role.IN), ("c", Role.OUT)]
    a, b, c = operands(256, 512, 128)
    maps = hopper._maps(a, b, c, 128)
    assert [m.address for m in maps] == [t.data_ptr() for t in (a, b, c)]
    assert [(m.rows, m.columns, m.box) for m in maps] == [
        (256, 128, (128, 64)), (512, 128, (128, 64)), (256, 512, (64, 64)),
    ]  # fmt: skip
    across = hopper._maps(*operands(256, 512, 128, by_columns=False), 128)[1]
    assert (across.rows, across.columns, across.box) == (128, 512, (64, 64))
    assert Shape.parse("64x64x64.t").transposed
