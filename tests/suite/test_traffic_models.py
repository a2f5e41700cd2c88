"""What the kernels of the matrix products are said to move: at least what tiles of their sizes must, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_roofline.baselines import Store
from pytest_roofline.contract import Case, Memory, Operation
from pytest_roofline.devices.record import load
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import CaseId, Shape
from pytest_roofline.reports import stored
from pytest_roofline.roofline import assess
from suite import gemm
from suite.operations import matmul, matmul_ragged, matmul_tensor

STORE = Store(Path(__file__).resolve().parents[2] / "baselines")
OPERATIONS = (matmul.OPERATION, matmul_tensor.OPERATION, matmul_ragged.OPERATION)
BY_NAME = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


@BY_NAME
def test_every_kernel_says_what_it_moves(operation: Operation):
    """Without a model the compulsory traffic would stand for it, which no tile of a part of the matrices reaches."""
    assert [k.variant for k in operation.kernels if k.model is None and not k.peer] == []


@BY_NAME
def test_a_model_claims_no_more_than_was_counted(operation: Operation):
    """Sectors of the loads from global memory hold what is said to come from L2 at least.

    A model that claims more makes a true time look impossible.
    """
    found = STORE.load("a100", operation.name).counted
    assert found is not None
    compared = 0
    for case in operation.cases("counted"):
        entry = found.cases.get(str(case))
        if entry is None or entry.counts is None:
            continue
        loads = [a for launch in entry.counts.launches for a in launch.accesses if a.kind == "global load"]
        for traffic in case.model:
            if traffic.level is Memory.L2:
                compared += 1
                assert traffic.read <= 32 * sum(a.sectors for a in loads), str(case)
    assert compared > 50


@BY_NAME
def test_no_time_that_was_measured_is_impossible(operation: Operation):
    """Every stored time of an H200 is longer than what its kernel is said to move takes at the datasheet's rates."""
    record, times = load("h200"), stored.measured([STORE.load("h200", operation.name)])["h200"]
    assert times
    for name, seconds in times.items():
        case = operation.case(CaseId.parse(name))
        assert not assess(case.work, case.model, record).impossible(seconds), name


def test_of_several_tiles_the_one_that_reads_least_counts():
    """Of c with 64 rows a tile of 64 x 256 reads a once for 256 columns; one of 128 x 128 twice as often."""
    models = gemm.least_panel_loads((128, 128), (64, 256)), gemm.panel_loads(64, 256), gemm.panel_loads(128, 128)
    dtype = DType.parse("f16_f32")
    flat, square = Shape.parse("64x1024x512"), Shape.parse("1024x1024x512")
    least, wide, even = (model(flat, dtype) for model in models)
    assert least == wide != even
    least, wide, even = (model(square, dtype) for model in models)
    assert least == even != wide


def test_the_model_of_automatic_is_that_of_the_clusters_it_runs():
    """At 8192^3 two blocks of 128 x 256 share b: 32 panels of a and 32 of b, in 16 bits."""
    shape, dtype = Shape.parse("8192x8192x8192.t"), DType.parse("bf16_f32")
    case = Case(matmul_tensor.OPERATION, matmul_tensor.OPERATION.kernel("cuda", "automatic"), dtype, shape)
    [traffic] = case.model
    assert traffic.read == 2 * (32 + 32) * 8192 * 8192
