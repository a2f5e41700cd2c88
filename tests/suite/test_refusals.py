"""Launchers of both languages refuse tensors that their kernel cannot work on, before anything is launched."""

from __future__ import annotations

import importlib

import pytest

torch = pytest.importorskip("torch")

from tests.suite.vectors import shifted  # noqa: E402

STRIDED = torch.zeros(20)[::2]
DENSE = torch.zeros(10)
ONE = torch.zeros(1)
MATRIX = torch.zeros(3, 4)
BLOCK = {"block": 256, "num_warps": 4}
TILED = {"block_m": 32, "block_n": 32, "block_k": 32, "group": 1, "num_warps": 4, "num_stages": 2}
MESSAGE = r"takes .*(dense|records|aligned)|is not"

CUDA = [
    ("vector_add:scalar", (STRIDED, DENSE), {}),
    ("vector_add:vectorised", (DENSE, STRIDED), {}),
    ("vector_add:scalar", (DENSE, ONE), {}),
    ("sum:atomic", (STRIDED, ONE), {}),
    ("sum:shared_interleaved", (STRIDED, ONE), {}),
    ("sum:shared_sequential", (STRIDED, ONE), {}),
    ("sum:grid_stride", (STRIDED, ONE), {"max_blocks": 4}),
    ("sum:warp_shuffle", (STRIDED, ONE), {"max_blocks": 4}),
    ("sum:butterfly", (STRIDED, ONE), {"max_blocks": 4}),
    ("sum:vectorised", (DENSE, DENSE), {"max_blocks": 4}),
    ("sum:two_stage", (STRIDED, ONE), {"partials": DENSE}),
    ("transpose:naive", (MATRIX, MATRIX), {}),
    ("transpose:shared", (MATRIX, MATRIX), {}),
    ("transpose:shared_padded", (MATRIX, MATRIX), {}),
    ("transpose:shared_swizzled", (MATRIX, MATRIX), {}),
    ("transpose:vectorised", (MATRIX, MATRIX), {}),
    ("matmul:naive", (MATRIX, MATRIX, MATRIX), {}),
    ("matmul:shared_32", (MATRIX, MATRIX.t(), MATRIX), {}),
    ("copy:scalar", (STRIDED, DENSE), {}),
    ("copy:vectorised", (DENSE, STRIDED), {}),
    ("copy:grid_stride", (DENSE, ONE), {"max_blocks": 4}),
    ("copy:unrolled", (DENSE, ONE), {"unroll": 2}),
    ("copy:vectorised", (STRIDED, STRIDED), {}),
    ("copy:l2_persistent", (STRIDED, STRIDED), {}),
    ("offset_copy:scalar", (STRIDED, DENSE), {}),
    ("offset_copy:realigned", (DENSE, ONE), {}),
    ("offset_copy:realigned", (shifted(8, 0), shifted(8, 1)), {}),
    ("add_one:scalar", (STRIDED, DENSE), {}),
    ("add_one:vectorised", (DENSE, ONE), {}),
    ("add_relu:unfused", (DENSE, DENSE), {"sums": ONE}),
    ("add_relu:fused_scalar", (DENSE, ONE), {}),
    ("add_relu:fused", (STRIDED, DENSE), {}),
    ("fma:scalar", (DENSE, DENSE, ONE), {}),
    ("fma:vectorised", (DENSE, STRIDED, DENSE), {}),
    ("fma:unrolled", (DENSE, ONE, DENSE), {"unroll": 2}),
    ("vector_add:hinted", (shifted(8, 1), shifted(8, 1)), {}),
    ("vector_add:unmasked", (DENSE, DENSE), {}),
    ("vector_add:unmasked", (shifted(1024, 1), shifted(1024, 1)), {}),
    ("strided_read:strided", (MATRIX, DENSE), {}),
    ("strided_read:strided", (MATRIX[:, :0], torch.zeros(3)), {}),
    ("strided_read:aos", (MATRIX, torch.zeros(3)), {}),
    ("strided_read:soa", (MATRIX, torch.zeros(3)), {}),
    ("sin_chain:precise", (STRIDED, DENSE), {"steps": 2}),
    ("exp_chain:fast", (DENSE, ONE), {"steps": 2}),
    ("divergent_select:per_lane", (ONE, MATRIX, MATRIX), {}),
    ("divergent_select:branch_free", (torch.zeros(4), MATRIX.t(), MATRIX.t()), {}),
]
TRITON = [
    ("vector_add:vector_add", (STRIDED, DENSE), {"block": 512, "num_warps": 4}),
    ("sum:atomic", (STRIDED, ONE), {"block": 512}),
    ("sum:grid_stride", (STRIDED, ONE), {"block": 512, "num_warps": 4, "max_programs": 4}),
    ("sum:two_stage", (STRIDED, ONE), {"num_warps": 4, "partials": DENSE}),
    ("transpose:naive", (MATRIX, MATRIX), {"block": 64}),
    ("transpose:tiled", (MATRIX, MATRIX), {}),
    ("matmul:naive", (MATRIX, MATRIX, MATRIX), {"block": 16, "num_warps": 4}),
    ("matmul:tiled", (MATRIX, MATRIX, MATRIX), TILED),
    ("copy:copy", (STRIDED, DENSE), BLOCK),
    ("copy:grid_stride", (DENSE, ONE), {**BLOCK, "programs": 4}),
    ("copy:vectorised", (STRIDED, STRIDED), {}),
    ("offset_copy:scalar", (DENSE, ONE), BLOCK),
    ("add_one:vectorised", (STRIDED, DENSE), {}),
    ("add_relu:unfused", (DENSE, DENSE), {"sums": ONE}),
    ("add_relu:fused", (DENSE, ONE), {}),
    ("fma:vectorised", (DENSE, DENSE, ONE), {}),
    ("vector_add:hinted", (DENSE, STRIDED), BLOCK),
    ("vector_add:unmasked", (DENSE, DENSE), BLOCK),
    ("vector_add:vectorised", (DENSE, ONE), {}),
    ("strided_read:strided", (MATRIX, DENSE), {"block": 256}),
    ("strided_read:aos", (MATRIX, torch.zeros(3)), {"block": 256}),
    ("strided_read:soa", (MATRIX, torch.zeros(3)), {"block": 256}),
    ("sin_chain:fast", (STRIDED, DENSE), {"steps": 2, "block": 256}),
    ("exp_chain:precise", (DENSE, ONE), {"steps": 2, "block": 256}),
    ("divergent_select:per_warp", (ONE, MATRIX, MATRIX), {"block": 128}),
]


def launch(language, launcher, arguments, keywords):
    """Call ``operation:variant`` of a language."""
    module, _, name = launcher.partition(":")
    getattr(importlib.import_module(f"kernels_{language}.{module}"), name)(*arguments, **keywords)


HALF, WIDE = DENSE.half(), DENSE.double()
SQUARE = torch.zeros(8, 8)
BYTES = torch.zeros(16, dtype=torch.int8)
INTEGERS = torch.zeros(10, dtype=torch.int32)
OTHER_TYPES = [
    ("cuda", "fma:scalar", (WIDE, WIDE, WIDE), {}),
    ("cuda", "fma:vectorised", (HALF, HALF, HALF), {}),
    ("cuda", "fma:evict_last", (WIDE, WIDE, WIDE), {}),
    ("cuda", "fma:unrolled", (INTEGERS, INTEGERS, INTEGERS), {"unroll": 2}),
    ("cuda", "copy:vectorised", (DENSE, INTEGERS), {}),
    ("cuda", "sum:atomic", (DENSE, INTEGERS[:1]), {}),
    ("cuda", "sum:vectorised", (HALF, HALF[:1]), {"max_blocks": 4}),
    ("cuda", "sum:two_stage", (DENSE, ONE), {"partials": WIDE}),
    ("cuda", "transpose:vectorised", (SQUARE, SQUARE.half()), {}),
    ("cuda", "softmax:fused", (SQUARE.double(), SQUARE.double()), {}),
    ("cuda", "softmax:fused", (SQUARE.int(), SQUARE.int()), {}),
    ("cuda", "rmsnorm:fused", (SQUARE.char(), SQUARE[0].char(), SQUARE.char()), {"eps": 1e-5}),
    ("cuda", "strided_read:strided", (SQUARE, SQUARE[0].half()), {}),
    ("cuda", "divergent_select:per_lane", (SQUARE[0], SQUARE, SQUARE.int()), {}),
    ("cuda", "sin_chain:fast", (WIDE, WIDE), {"steps": 2}),
    ("cuda", "matmul:naive", (SQUARE, SQUARE, SQUARE.int()), {}),
    ("cuda", "upload:engine", (BYTES, BYTES.int()), {}),
    ("cuda", "exchange:zero_copy", (BYTES, BYTES, BYTES.int(), BYTES), {}),
    ("triton", "copy:vectorised", (DENSE, INTEGERS), {}),
    ("triton", "vector_add:vector_add", (WIDE, DENSE), BLOCK),
    ("triton", "add_one:vectorised", (DENSE, HALF), {}),
    ("triton", "add_relu:unfused", (DENSE, DENSE), {"sums": HALF}),
    ("triton", "fma:vectorised", (DENSE, HALF, DENSE), {}),
    ("triton", "offset_copy:scalar", (HALF, HALF), BLOCK),
    ("triton", "sum:atomic", (DENSE, INTEGERS[:1]), {"block": 512}),
    ("triton", "sum:two_stage", (DENSE, ONE), {"num_warps": 4, "partials": INTEGERS}),
    ("triton", "transpose:tiled", (SQUARE, SQUARE.half()), {}),
    ("triton", "softmax:fused", (SQUARE, SQUARE.int()), {}),
    ("triton", "strided_read:strided", (SQUARE, SQUARE[0].int()), {"block": 256}),
    ("triton", "divergent_select:branch_free", (SQUARE[0].int(), SQUARE, SQUARE), {"block": 256}),
    ("triton", "exp_chain:fast", (DENSE, HALF), {"steps": 2, "block": 256}),
    ("triton", "register_bandwidth:register_bandwidth", (DENSE, DENSE, HALF, DENSE), {"steps": 2, "ilp": 1}),
    ("triton", "l2_bandwidth:block", (torch.zeros(1, 1024).half(),) * 2, {"passes": 2}),
    ("triton", "download:zero_copy", (BYTES, BYTES.int()), {}),
    ("triton", "exchange:zero_copy", (BYTES, BYTES, BYTES.int(), BYTES), {}),
    ("triton", "matmul:tiled", (SQUARE, SQUARE.half(), SQUARE), TILED),
]
NO_WORK = [
    ("cuda", "copy:grid_stride", (DENSE, DENSE), {"max_blocks": 0}),
    ("cuda", "copy:unrolled", (DENSE, DENSE), {"unroll": 0}),
    ("cuda", "sum:grid_stride", (DENSE, ONE), {"max_blocks": 0}),
    ("cuda", "sum:warp_shuffle", (DENSE, ONE), {"max_blocks": 0}),
    ("cuda", "sum:vectorised", (DENSE, ONE), {"max_blocks": 0}),
    ("cuda", "sum:butterfly", (DENSE, ONE), {"max_blocks": -1}),
    ("cuda", "sum:two_stage", (DENSE, ONE), {"partials": DENSE[:0]}),
    ("triton", "copy:grid_stride", (DENSE, DENSE), {**BLOCK, "programs": 0}),
    ("triton", "sum:grid_stride", (DENSE, ONE), {**BLOCK, "max_programs": 0}),
    ("triton", "sum:two_stage", (DENSE, ONE), {"num_warps": 4, "partials": DENSE[:0]}),
]


COLUMN, SHORT = torch.zeros(8), torch.zeros(7)
NORM = (SQUARE, COLUMN, SQUARE)
WORKSPACES = [
    ("cuda", "softmax:unfused", (SQUARE, SQUARE), {"maxima": SHORT, "sums": COLUMN}),
    ("cuda", "softmax:unfused", (SQUARE, SQUARE), {"maxima": COLUMN, "sums": torch.zeros(16)[::2]}),
    ("cuda", "layernorm:unfused", (SQUARE, COLUMN, COLUMN, SQUARE), {"eps": 0.1, "means": COLUMN, "variances": SHORT}),
    ("cuda", "rmsnorm:unfused", NORM, {"eps": 0.1, "squares": SHORT}),
    ("triton", "softmax:unfused", (SQUARE, SQUARE), {"block": 8, "maxima": COLUMN, "sums": SHORT}),
    ("triton", "softmax:fused_split", (SQUARE, SQUARE), {"shares": torch.zeros(8, dtype=torch.int64)}),
    (
        "triton",
        "layernorm:unfused",
        (SQUARE, COLUMN, COLUMN, SQUARE),
        {"eps": 0.1, "block": 8, "means": SHORT, "variances": COLUMN},
    ),
    ("triton", "rmsnorm:unfused", NORM, {"eps": 0.1, "block": 8, "squares": SHORT}),
]


def named(cases):
    return [f"{language}-{launcher}" for language, launcher, *_ in cases]


@pytest.mark.parametrize(("language", "launcher", "arguments", "keywords"), OTHER_TYPES, ids=named(OTHER_TYPES))
def test_launchers_refuse_other_element_types(launches, device, language, launcher, arguments, keywords):
    """Neither language converts, truncates or reads the bits as something else."""
    with pytest.raises(TypeError, match=r"torch\.(float|int)"):
        launch(language, launcher, arguments, keywords)
    assert launches == []


@pytest.mark.parametrize(("language", "launcher", "arguments", "keywords"), NO_WORK, ids=named(NO_WORK))
def test_launchers_refuse_to_do_nothing(launches, device, language, launcher, arguments, keywords):
    """Without blocks nothing would be copied, and a sum would be zero."""
    with pytest.raises(ValueError, match=r"at least one|needs 1 dense element"):
        launch(language, launcher, arguments, keywords)
    assert launches == []


@pytest.mark.parametrize(("language", "launcher", "arguments", "keywords"), WORKSPACES, ids=named(WORKSPACES))
def test_launchers_refuse_workspaces_that_are_too_short(launches, device, language, launcher, arguments, keywords):
    """What lies behind them belongs to somebody else."""
    with pytest.raises(ValueError, match=r"the workspace \w+ needs [89] dense elements"):
        launch(language, launcher, arguments, keywords)
    assert launches == []


@pytest.mark.parametrize("launcher", ["strided_read:strided", "divergent_select:per_lane"])
def test_launchers_refuse_other_ranks(launches, launcher):
    """A vector has no rows."""
    arguments = (DENSE,) * (2 if launcher.startswith("strided") else 3)
    with pytest.raises(ValueError, match=r"takes matrices, got a tensor of shape \(10,\)"):
        launch("cuda", launcher, arguments, {})
    assert launches == []


@pytest.mark.parametrize(("launcher", "arguments", "keywords"), CUDA, ids=[case[0] for case in CUDA])
def test_cuda_launchers_refuse_what_does_not_fit(launches, launcher, arguments, keywords):
    """Strided vectors and shapes that do not belong together are errors, never wrong answers."""
    with pytest.raises(ValueError, match=MESSAGE):
        launch("cuda", launcher, arguments, keywords)
    assert launches == []


@pytest.mark.parametrize(("launcher", "arguments", "keywords"), TRITON, ids=[case[0] for case in TRITON])
def test_triton_launchers_refuse_what_does_not_fit(device, launcher, arguments, keywords):
    """The same, before anything is launched."""
    with pytest.raises(ValueError, match=MESSAGE):
        launch("triton", launcher, arguments, keywords)
