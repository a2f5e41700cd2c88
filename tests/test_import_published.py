"""Published figures are attached by strict match only, and a rate becomes a time by what its source counted."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pytest_roofline.baselines import Baseline, Store
from pytest_roofline.discovery import discover

ROOT = Path(__file__).parents[1]
CASES = {str(case): case for case in discover(ROOT, ["suite/operations"]).timed(full=True)}
CUB = {
    "device": "A100-PCIE-40GB",
    "kernel": "sum reduction (device-wide, library)",
    "implementation": "CUB DeviceReduce::Sum, nvbench",
    "dtype": "fp32",
    "shape": "N=2^16 (256 KiB)",
    "metric": "GPU time",
    "value": 9.49,
    "unit": "us",
    "clock_power_notes": "nvbench",
    "derived": False,
    "source": "NVIDIA/cccl PR #9101",
    "confidence": "high",
}
CUBLAS = {
    **CUB,
    "device": "A100-SXM4-80GB",
    "kernel": "SGEMM (cuBLAS)",
    "implementation": "cuBLAS CUBLAS_COMPUTE_32F_PEDANTIC",
    "dtype": "fp32 (TF32 off)",
    "shape": "2048^3",
    "value": 17.667,
    "unit": "TFLOP/s",
}


@pytest.fixture(scope="module")
def importer() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("import_published", ROOT / "benchmarks" / "import_published.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_a_time_is_kept_as_it_is(importer):
    """Value and unit as printed, the same in seconds, on the exact card."""
    case, figure = importer.attach(CUB, CASES)
    assert case == "sum/cupy/sum/f32/65536"
    assert (figure.device, figure.value, figure.unit) == ("a100_pcie_40gb", 9.49, "us")
    assert (figure.seconds, figure.formula) == (pytest.approx(9.49e-6), "as published")


def test_a_bandwidth_is_what_its_source_counted(importer):
    """The same measurement, published as a time and as a rate, gives the same time."""
    _, figure = importer.attach({**CUB, "value": 27.624, "unit": "GB/s"}, CASES)
    assert figure.seconds == pytest.approx((65536 + 1) * 4 / 27.624e9)
    assert figure.seconds == pytest.approx(9.49e-6, rel=1e-3)
    assert figure.formula == "bytes read and written by the case / published rate"


def test_a_rate_of_operations_is_two_per_multiplication(importer):
    """TFLOP/s of a GEMM count a multiplication and an addition."""
    case, figure = importer.attach(CUBLAS, CASES)
    assert case == "matmul/torch/mm/f32/2048x2048x2048"
    assert figure.seconds == pytest.approx(2 * 2048**3 / 17.667e12)


@pytest.mark.parametrize(("dtype", "found"), [("bf16", "bf16_f32"), ("fp16", "f16_f32"), ("fp32", None)])
def test_a_product_on_tensor_cores_has_b_by_columns(importer, dtype, found):
    """As its source multiplies; the dtype of the case names the accumulator, too."""
    figure = {**CUBLAS, "kernel": "GEMM tensor core", "implementation": "cuBLAS 13.0", "dtype": dtype}
    attached = importer.attach({**figure, "shape": "8192^3"}, CASES)
    if found is None:
        assert attached == "no such dtype here"
    else:
        assert attached[0] == f"matmul_tensor/torch/mm/{found}/8192x8192x8192.t"


def test_without_knowing_what_was_counted_there_is_no_time(importer):
    """GB/s of a GEMM might count anything: only the published unit is kept."""
    _, figure = importer.attach({**CUBLAS, "unit": "GB/s"}, CASES)
    assert (figure.value, figure.unit, figure.seconds) == (17.667, "GB/s", None)
    assert figure.formula.startswith("not convertible")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"device": "A100 (variant not stated)"}, "the exact card is not stated"),
        ({"device": "A100 (40GB inferred)"}, "the exact card is not stated"),
        ({"device": "A100 80GB class (SXM or PCIe not stated)"}, "the exact card is not stated"),
        ({"source": "stored public file (repository name not returned)"}, "the source cannot be found"),
        ({"derived": True}, "derived by its collector, not published"),
        ({"dtype": "tf32"}, "no such dtype here"),
        ({"clock_power_notes": "MIG 7g.40gb slice = 98 of 108 SMs"}, "a slice of a card"),
        ({"implementation": "PyTorch"}, "another kind of implementation"),
        ({"kernel": "sum reduction: v6 multi-add / grid-stride", "implementation": "CUDA"}, "another kind of"),
        ({"shape": "128x1000000"}, "the shape is not stated exactly"),
        ({"shape": "N=65535"}, "no case sum/cupy/sum/f32/65535"),
    ],
)
def test_everything_else_stays_out_with_its_reason(importer, changes, why):
    """No figure is attached to a case that is not exactly its own."""
    found = importer.attach({**CUB, **changes}, CASES)
    assert isinstance(found, str)
    assert found.startswith(why)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("4096^3", "4096x4096x4096"),
        ("1024x4096x2048 (MxKxN)", "1024x2048x4096"),
        ("8192x4096x1024", None),
        ("1024x4096x4096", "1024x4096x4096"),
        ("best size", None),
    ],
)
def test_the_order_of_extents_is_read_or_unknown(importer, text, shape):
    """Ids are m x n x k; a rectangle whose source does not say which is which has no shape."""
    assert importer.matrices(text) == shape


@pytest.mark.parametrize(("text", "shape"), [("N=2^20 (4 MiB)", "1048576"), ("N=4096", "4096"), ("16M", None)])
def test_lengths_of_vectors(importer, text, shape):
    """Powers and plain numbers, nothing that must be guessed."""
    assert importer.vector(text) == shape


@pytest.mark.parametrize(
    ("changes", "case"),
    [
        ({"kernel": "BabelStream Copy", "implementation": "BabelStream 5.0 CUDA", "dtype": "fp64",
          "shape": "N=33554432 (268 MB/array)"}, "copy/cuda/scalar/f64/33554432"),
        ({"kernel": "softmax", "implementation": "PyTorch eager", "shape": "16x16384"},
         "softmax/torch/softmax/f32/16x16384"),
        ({"kernel": "LayerNorm over (64,256,256)", "implementation": "PyTorch eager", "shape": "16x64x256x256"},
         "layernorm/torch/layer_norm/f32/16x4194304"),
        ({"kernel": "layernorm forward", "implementation": "PyTorch (nn.LayerNorm)", "shape": "4096 x 1024"},
         "layernorm/torch/layer_norm/f32/4096x1024"),
        ({"kernel": "sum reduction (all)", "implementation": "PyTorch", "shape": "64x128x128x128 (134.2M)"},
         "sum/torch/sum/f32/134217728"),
        ({"kernel": "CUDA bandwidthTest H2D", "implementation": "CUDA samples", "dtype": "-",
          "shape": "32,000,000 B, pinned, quick mode"}, "upload/cuda/pinned/i8/32000000"),
    ],
)  # fmt: skip
def test_shapes_of_other_kinds_are_those_of_their_cases(importer, changes, case):
    """What the source calls a tensor, rows, bytes or arrays is the same problem."""
    assert importer.attach({**CUB, **changes}, CASES)[0] == case


def test_the_report_accounts_for_every_figure(importer):
    """Attached, left out with a reason, or about something else."""
    figures = [CUB, {**CUB, "device": "A100"}, CUBLAS, {**CUB, "kernel": "SpMV"}]
    found, lines = importer.sort(figures, CASES)
    assert {name: sum(map(len, cases.values())) for name, cases in found.items() if cases} == {"sum": 1, "matmul": 1}
    assert "sum: 1 figures attached to 1 cases" in lines
    assert "    1 left out: the exact card is not stated" in lines
    assert lines[-1] == "2 of 4 attached; 1 are about operations that are not here"


def test_an_import_replaces_the_last_one(importer, tmp_path):
    """A figure that no longer matches does not stay behind, and importing twice changes nothing."""
    figures, store = tmp_path / "figures.json", Store(tmp_path / "baselines")
    _, published = importer.attach(CUB, CASES)
    store.save(Baseline("a100", "sum", published={"sum/cuda/grid_stride/f32/33554432": [published]}))
    figures.write_text(json.dumps([CUB]), encoding="utf-8")
    importer.main([str(figures), str(store.root)])
    assert store.load("a100", "sum").published == {"sum/cupy/sum/f32/65536": [published]}
    before = store.path("a100", "sum").read_text(encoding="utf-8")
    importer.main([str(figures), str(store.root)])
    assert store.path("a100", "sum").read_text(encoding="utf-8") == before
    assert store.operations("a100") == ["sum"]
