"""Tensor-core rates are taken for exactly the formats that the tensor cores of a GPU multiply."""

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline.contract import Pipeline  # noqa: E402
from pytest_roofline.devices import tensor_peaks  # noqa: E402

FLOATS = {"fp16_tensor", "bf16_tensor", "tf32_tensor", "fp64_tensor"}


def run(seconds=lambda call: call() is None or 1e-3, capability=(9, 0)):
    """A measurement on the CPU, of 64 x 64 matrices; every product counts as a millisecond."""
    return tensor_peaks.measure(seconds, capability, "cpu", 64)


@pytest.mark.parametrize(
    ("capability", "formats"),
    [
        ((7, 0), {"fp16_tensor"}),
        ((7, 5), {"fp16_tensor", "int8_tensor"}),
        ((8, 0), FLOATS | {"int8_tensor"}),
        ((8, 6), FLOATS - {"fp64_tensor"} | {"int8_tensor"}),
        ((8, 9), FLOATS - {"fp64_tensor"} | {"int8_tensor", "fp8_tensor"}),
        ((9, 0), FLOATS | {"int8_tensor", "fp8_tensor"}),
    ],
)
def test_only_what_tensor_cores_do_is_measured(capability, formats):
    """A V100 multiplies bf16 and tf32 elsewhere, and a consumer part has double precision for compatibility only."""
    assert set(run(capability=capability)[1]) == formats


def test_rates_count_two_operations_per_product():
    """2 n^3 operations in the time that was measured; the way it was done is written down."""
    peaks, how = run()
    assert peaks["fp16_tensor"] == 2 * 64**3 / 1e-3
    assert how["fp16_tensor"] == "torch.matmul 64^3, random data"


def test_every_product_multiplies_its_own_format():
    """The operands of each call have the format that the rate is named after, and the result has the product's."""
    found = {p.pipeline: p.call(64, "cpu")().dtype for p in tensor_peaks.PRODUCTS if not p.private}
    assert found == {
        Pipeline.FP16_TENSOR: torch.float16,
        Pipeline.BF16_TENSOR: torch.bfloat16,
        Pipeline.TF32_TENSOR: torch.float32,
        Pipeline.FP64_TENSOR: torch.float64,
    }


def test_tf32_is_allowed_for_its_own_product_alone():
    """What the user had set is restored, also after a failure."""
    allowed, before = [], torch.backends.cuda.matmul.allow_tf32

    def seconds(call):
        allowed.append(torch.backends.cuda.matmul.allow_tf32)
        return 1e-3

    run(seconds)
    order = [p.pipeline for p in tensor_peaks.PRODUCTS]
    assert [p for p, on in zip(order, allowed, strict=True) if on] == [Pipeline.TF32_TENSOR]

    def failing(call):
        raise RuntimeError("throttled")

    with pytest.raises(RuntimeError, match="throttled"):
        run(failing)
    assert torch.backends.cuda.matmul.allow_tf32 is before


@pytest.mark.parametrize("error", [AttributeError("gone"), TypeError("gone"), RuntimeError("gone\nand a long story")])
def test_a_private_function_that_changed_costs_one_rate(monkeypatch, error):
    """The other ceilings are still measured, and the reason is kept."""

    def broken(*args, **kwargs):
        raise error

    monkeypatch.setattr(torch, "_int_mm", broken)
    peaks, how = run()
    assert "int8_tensor" not in peaks
    assert how["int8_tensor"] == "not measured: torch._int_mm: gone"
    assert set(peaks) >= FLOATS
