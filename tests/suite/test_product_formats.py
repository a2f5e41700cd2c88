"""Products refuse formats that their kernels would read or store as others, before anything is launched."""

from __future__ import annotations

import importlib

import pytest

torch = pytest.importorskip("torch")

from kernels_cuda import matmul, matmul_ragged, matmul_tensor  # noqa: E402
from kernels_cuda.matmul_ragged import fitted, on_hopper  # noqa: E402
from kernels_cuda.matmul_tensor import hopper  # noqa: E402
from pytest_roofline.counting.cuda_cpu import checking  # noqa: E402

ROOM = {"partials": torch.empty(1 << 16), "packed": torch.empty(1 << 16)}
F16, BF16, F32, F64, I8, I32 = (
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.int8,
    torch.int32,
)


def product(a, b, c):
    """Empty matrices of 64 x 64 in three formats; b by columns."""
    return torch.empty(64, 64).to(a), torch.empty(64, 64).to(b).T, torch.empty(64, 64).to(c)


@pytest.mark.parametrize("formats", [(F16, F16, F32), (F32, F32, F16), (F32, F32, F64), (BF16, BF16, BF16)], ids=str)
@pytest.mark.parametrize("variant", ["naive", "shared_32", "vectorised", "double_buffered", "tuned_128", "tuned"])
def test_ordinary_products_take_f32_alone(launches, variant, formats):
    """Their kernels see pointers to float."""
    with pytest.raises(TypeError):
        getattr(matmul, variant)(*product(*formats))
    assert launches == []


@pytest.mark.parametrize("formats", [(F16, F16, F64), (F32, F32, F64), (F16, BF16, F16), (I8, I8, F32)], ids=str)
@pytest.mark.parametrize("variant", ["mma_simple", "tiled", "pipelined", "tuned"])
def test_mma_stores_results_of_16_and_32_bits(launches, variant, formats):
    """An f64 c was a fault in the middle of the kernel."""
    with pytest.raises(TypeError):
        getattr(matmul_tensor, variant)(*product(*formats))
    assert launches == []


@pytest.mark.parametrize("variant", ["split_k", "stream_k"])
def test_shared_products_store_results_of_16_and_32_bits(launches, variant):
    """As those of a whole k."""
    with pytest.raises(TypeError, match=r"not stored as torch\.float64"):
        getattr(matmul_ragged, variant)(*product(F16, F16, F64), partials=ROOM["partials"])
    assert launches == []


@pytest.mark.parametrize("formats", [(BF16, BF16, BF16), (F16, F16, F32), (I8, I8, I32)], ids=str)
def test_fitted_tiles_are_of_f16(launches, formats):
    """bf16 would be multiplied as f16."""
    with pytest.raises(TypeError, match=r"takes torch\.float16"):
        on_hopper.fitted(*product(*formats), **ROOM)
    assert launches == []


@pytest.mark.parametrize(
    "formats",
    [(F16, F16, F32), (BF16, BF16, F16), (F32, F32, F16), (F16, BF16, F16), (torch.float8_e4m3fn,) * 2 + (F16,)],
    ids=str,
)
@pytest.mark.parametrize("variant", ["wgmma", "wgmma_specialised", "wgmma_narrow", "wgmma_persistent", "best"])
def test_hoppers_kernels_store_one_format_for_each_operand(launches, variant, formats):
    """A tensor map of another one would make the copy engine store something else."""
    with pytest.raises(TypeError):
        getattr(hopper, variant)(*product(*formats))
    assert launches == []


def test_another_result_goes_to_the_kernel_that_stores_it(monkeypatch, launches):
    """f16 in, f32 out: mma.sync has it, also on Hopper; 8-bit floating point has no other way and is refused."""
    monkeypatch.setattr(hopper, "available", lambda device: True)
    matmul_tensor.automatic(*product(F16, F16, F32), packed=ROOM["packed"].to(F16))
    assert [launch.kernel.partition("<")[0] for launch in launches] == ["matmul_tensor_tuned"]
    launches.clear()
    fp8 = torch.float8_e4m3fn
    with pytest.raises(TypeError, match=r"takes torch\.float32 here, got torch\.float16"):
        matmul_tensor.automatic(*product(fp8, fp8, F16), packed=ROOM["packed"].to(fp8))
    assert launches == []


@pytest.mark.parametrize("variant", ["split_k", "stream_k"])
def test_cuda_shares_out_k_of_16_and_32_bits(launches, variant):
    """Parts meet in f32, and sums of integers would lose their last digits."""
    with pytest.raises(TypeError, match=r"share out k of torch\.int8"):
        getattr(matmul_ragged, variant)(*product(I8, I8, I32), partials=ROOM["partials"])
    assert launches == []


@pytest.mark.parametrize("variant", ["split_k", "stream_k", "chosen"])
def test_triton_shares_out_k_of_16_and_32_bits(variant, device):
    """The rules know no other tiles, and integers would be added up in f32."""
    ragged = importlib.import_module("kernels_triton.matmul_ragged")
    matrices = (x.to(device) for x in product(I8, I8, I32))
    room = {name: x.to(device) for name, x in ROOM.items()}
    with pytest.raises(TypeError, match=r"share out k of torch\.int8"):
        getattr(ragged, variant)(*matrices, **room)


@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize("shape", [(64, 64, 65536), (1025, 1025, 1025), (35, 8457, 2560)], ids=str)
def test_a_device_of_one_multiprocessor_has_a_plan_without_clusters(shape, by_columns):
    """It holds no two blocks that could share anything."""
    tile = fitted.plan(*shape, by_columns, 1, 1 << 23).tile
    assert tile.cluster <= tile.resident


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("bits", "kept"), [(0x7FC00000, True), (0x7F802000, True), (0x7F800001, False)], ids=hex)
def test_tf32_cuts_a_nan_as_any_number(bits, kept):
    """What the operation's documentation says: a payload in the low 13 bits alone is lost, and the NaN an infinity."""
    a, b, c = torch.ones(16, 8), torch.ones(8, 8).T, torch.empty(16, 8)
    a.view(torch.int32)[3, 5] = bits
    with checking():
        matmul_tensor.mma_simple(a, b, c)
    assert c[3].isnan().all() if kept else c[3].isposinf().all()
    assert c[:3].eq(8).all()
    assert c[4:].eq(8).all()
