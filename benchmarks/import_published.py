"""Attach published A100 figures to cases: ``baselines/a100/<operation>.json``.

    python benchmarks/import_published.py FIGURES.json [baselines]

``FIGURES.json`` is a list of collected figures, each with device, kernel, implementation, dtype, shape, metric, value,
unit, source and confidence. A figure is attached only if its source can be found, the card's exact variant is stated,
and operation, dtype, shape and kind of implementation are those of a case. Everything else stays out, and the script
says why. What an earlier import attached and this one does not is removed.
"""

from __future__ import annotations

import json
import math
import pathlib
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.baselines import Published, Store  # noqa: E402
from pytest_roofline.contract import Case, Traffic  # noqa: E402
from pytest_roofline.discovery import discover  # noqa: E402

DEVICE = "a100"
CARDS = {
    "A100-SXM4-40GB": "a100_sxm4_40gb",
    "A100-SXM4-80GB": "a100_sxm4_80gb",
    "A100-PCIE-40GB": "a100_pcie_40gb",
    "A100-PCIE-80GB": "a100_pcie_80gb",
}
DTYPES = {"fp32": "f32", "fp32 (TF32 off)": "f32", "fp64": "f64"}
TENSOR_DTYPES = {"bf16": "bf16_f32", "fp16": "f16_f32", "tf32": "tf32_f32", "int8": "i8_i32"}
PER_SECOND = {"us": 1e6, "ms": 1e3, "s": 1.0}

# Which operation a figure is about, by the name its collector gave to the kernel.
OPERATIONS = {
    "vector_add": r"vector add",
    "copy": r"BabelStream [Cc]opy.*",
    "softmax": r"softmax.*",
    "layernorm": r"layernorm.*|LayerNorm.*",
    "rmsnorm": r"rmsnorm.*|RMSNorm",
    "upload": r"CUDA bandwidthTest H2D",
    "download": r"CUDA bandwidthTest D2H",
    "sum": r"sum reduction.*|sum over.*|reduction \(.*",
    "transpose": r"transpose: .*",
    "matmul": r"SGEMM.*|matrixMul sample",
    "matmul_tensor": r"GEMM tensor core.*",
}
Figure = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """Figures whose kernel and implementation match are cases ``operation/backend/variant``.

    ``counted`` says which bytes the source's GB/s count: without it a rate in GB/s has no time.
    """

    kernel: str
    implementation: str
    case: str
    shape: Callable[[str], str | None]
    counted: Callable[[Traffic], int] | None = None
    counted_name: str = ""
    dtype: str = ""  # of the case, where the source moves bytes and has none
    dtypes: Mapping[str, str] = field(default_factory=lambda: DTYPES)  # of the case, by that of the figure

    def fits(self, figure: Figure) -> bool:
        """Whether the figure's kernel is this kind of implementation."""
        kernel, implementation = figure["kernel"], figure["implementation"]
        return bool(re.fullmatch(self.kernel, kernel) and re.fullmatch(self.implementation, implementation))


def vector(text: str) -> str | None:
    """``N=2^16 (256 KiB)`` or ``N=65536`` as a number of elements."""
    found = re.fullmatch(r"N=(\d+)(?:\^(\d+))?(?: \(.*\))?", text)
    return str(int(found[1]) ** int(found[2] or 1)) if found else None


def elements(text: str) -> str | None:
    """A tensor of which all elements are summed: ``64x128x128x128 (134.2M)`` as their number."""
    found = re.fullmatch(r"(\d+(?:x\d+)+)(?: \(.*\))?", text)
    return str(math.prod(map(int, found[1].split("x")))) if found else None


def rows(text: str) -> str | None:
    """``4096 x 1024``, rows of as many columns."""
    found = re.fullmatch(r"(\d+) ?x ?(\d+)", text)
    return f"{found[1]}x{found[2]}" if found else None


def images(text: str) -> str | None:
    """Rows of all but the first dim: LayerNorm over (64, 256, 256) of 16x64x256x256 is rows of 64 * 256 * 256."""
    first, *others = map(int, text.split("x"))
    return f"{first}x{math.prod(others)}"


def transfer(text: str) -> str | None:
    """``32,000,000 B, pinned, quick mode`` as a number of bytes."""
    found = re.fullmatch(r"([\d,]+) B, pinned, quick mode", text)
    return found[1].replace(",", "") if found else None


def matrices(text: str) -> str | None:
    """``4096^3`` or ``1024x4096x2048 (MxKxN)`` as m x n x k. Rectangles without that note stay out unless the last two
    extents are equal: their sources do not say which is which."""
    cube = re.fullmatch(r"(\d+)\^3", text)
    if cube:
        return "x".join([cube[1]] * 3)
    noted = re.fullmatch(r"(\d+)x(\d+)x(\d+) \(MxKxN\)", text)
    if noted:
        return f"{noted[1]}x{noted[3]}x{noted[2]}"
    plain = re.fullmatch(r"(\d+)x(\d+)x\2", text)  # m first; which of the equal extents is n makes no difference
    return f"{plain[1]}x{plain[2]}x{plain[2]}" if plain else None


def by_columns(text: str) -> str | None:
    """:func:`matrices` with b by columns."""
    shape = matrices(text)
    return f"{shape}.t" if shape else None


RULES = (
    # cub/benchmarks/bench/reduce/base.cuh in NVIDIA/cccl counts every element read and the one result written. The
    # published ladders of reductions are no rules here: their kernels leave one partial sum per block, not the sum.
    Rule(
        r"sum reduction \(device-wide, library\)",
        r"CUB DeviceReduce::Sum.*",
        "sum/cupy/sum",
        vector,
        lambda traffic: traffic.total,
        "bytes read and written",
    ),
    Rule(r"sum reduction \(all\)", r"PyTorch", "sum/torch/sum", elements),
    # BabelStream's Copy is one element per thread, and counts what it reads and writes.
    Rule(
        r"BabelStream Copy|BabelStream copy kernel duration",
        r"BabelStream [\d.]+ CUDA",
        "copy/cuda/scalar",
        vector,
        lambda traffic: traffic.total,
        "bytes read and written",
    ),
    # KernelBench, level 1: torch.softmax(x, dim=1) of a matrix.
    Rule(r"softmax", r"PyTorch eager", "softmax/torch/softmax", rows),
    Rule(r"layernorm forward", r"PyTorch \(nn.LayerNorm\)", "layernorm/torch/layer_norm", rows),
    Rule(r"LayerNorm over \(64,256,256\)", r"PyTorch eager", "layernorm/torch/layer_norm", images),
    Rule(r"LayerNorm over \(64,256,256\)", r"torch.compile inductor default", "layernorm/torch/compile", images),
    # The sample copies from and to page-locked memory with cudaMemcpyAsync, and counts each byte once.
    Rule(
        r"CUDA bandwidthTest H2D",
        r"CUDA samples",
        "upload/cuda/pinned",
        transfer,
        lambda traffic: traffic.total,
        "bytes transferred",
        "i8",
    ),
    Rule(
        r"CUDA bandwidthTest D2H",
        r"CUDA samples",
        "download/cuda/pinned",
        transfer,
        lambda traffic: traffic.total,
        "bytes transferred",
        "i8",
    ),
    Rule(r"SGEMM \(cuBLAS\)|SGEMM: cuBLAS.*", r"cuBLAS .*|CUDA .*", "matmul/torch/mm", matrices),
    Rule(r"SGEMM \(torch\.matmul\)", r"PyTorch eager", "matmul/torch/mm", matrices),
    Rule(r"SGEMM: v1 naive \(coalesced\)", r"CUDA .*", "matmul/cuda/naive", matrices),
    # gau-nernst/learn-cuda, 02b_matmul_sm80: torch.matmul of a by rows and b by columns, results as the operands are.
    Rule(r"GEMM tensor core", r"cuBLAS [\d.]+", "matmul_tensor/torch/mm", by_columns, dtypes=TENSOR_DTYPES),
)


def seconds(figure: Figure, case: Case, rule: Rule) -> tuple[float | None, str]:
    """The figure as a time, and the formula that makes it one."""
    value, unit = figure["value"], figure["unit"]
    if unit in PER_SECOND:
        return value / PER_SECOND[unit], "as published"
    if unit == "TFLOP/s":
        return sum(case.work.operations.values()) / (value * 1e12), "operations of the case / published rate"
    if unit == "GB/s" and rule.counted is not None:
        return rule.counted(case.work.traffic) / (value * 1e9), f"{rule.counted_name} by the case / published rate"
    return None, "not convertible: the source does not say what it counted"


def operation_of(figure: Figure) -> str | None:
    """The operation that a figure is about; ``None`` for one that the suite does not have."""
    return next((name for name, kernel in OPERATIONS.items() if re.fullmatch(kernel, figure["kernel"])), None)


def attach(figure: Figure, cases: Mapping[str, Case]) -> tuple[str, Published] | str:
    """The case and its figure, or why there is none."""
    if figure["device"] not in CARDS:
        return "the exact card is not stated"
    if "stored public file" in figure["source"]:
        return "the source cannot be found"
    if figure["derived"]:
        return "derived by its collector, not published"
    if "MIG" in figure["clock_power_notes"].replace("no MIG", ""):
        return "a slice of a card (MIG), not the card"
    rule = next((rule for rule in RULES if rule.fits(figure)), None)
    if rule is None:
        return "another kind of implementation"
    dtype = rule.dtype or rule.dtypes.get(figure["dtype"])
    if dtype is None:
        return "no such dtype here"
    shape = rule.shape(figure["shape"])
    if shape is None:
        return "the shape is not stated exactly"
    case_id = f"{rule.case}/{dtype}/{shape}"
    if case_id not in cases:
        return f"no case {case_id}"
    time, formula = seconds(figure, cases[case_id], rule)
    return case_id, Published(
        device=CARDS[figure["device"]],
        metric=figure["metric"],
        value=figure["value"],
        unit=figure["unit"],
        seconds=time,
        formula=formula,
        implementation=f"{figure['kernel']}, {figure['implementation']}",
        source=figure["source"],
        method=figure["clock_power_notes"],
        confidence=figure["confidence"],
    )


def sort(figures: list[Figure], cases: Mapping[str, Case]) -> tuple[dict[str, dict[str, list[Published]]], list[str]]:
    """Published figures by operation and case, and a report of what was attached and what was not."""
    found: dict[str, dict[str, list[Published]]] = {name: defaultdict(list) for name in OPERATIONS}
    left_out: dict[str, Counter[str]] = {name: Counter() for name in OPERATIONS}
    others = 0
    for figure in figures:
        operation = operation_of(figure)
        if operation is None:
            others += 1
            continue
        result = attach(figure, cases)
        if isinstance(result, str):
            left_out[operation][result] += 1
        else:
            found[operation][result[0]].append(result[1])
    lines = []
    for name, attached in found.items():
        lines.append(f"{name}: {sum(map(len, attached.values()))} figures attached to {len(attached)} cases")
        lines += [f"  {count:3} left out: {why}" for why, count in left_out[name].most_common()]
    total = sum(len(runs) for attached in found.values() for runs in attached.values())
    return found, [*lines, f"{total} of {len(figures)} attached; {others} are about operations that are not here"]


def main(arguments: list[str]) -> None:
    """Write the files and print what was attached and what was not."""
    if not 1 <= len(arguments) <= 2:
        sys.exit("usage: python benchmarks/import_published.py FIGURES.json [baselines]")
    figures = json.loads(pathlib.Path(arguments[0]).read_text(encoding="utf-8"))
    store = Store(pathlib.Path(arguments[1]) if len(arguments) > 1 else ROOT / "baselines")
    cases = {str(case): case for case in discover(ROOT, ["suite/operations"]).timed(full=True)}
    found, lines = sort(figures, cases)
    for operation, attached in found.items():
        baseline = store.load(DEVICE, operation)
        baseline.published = dict(attached)
        if baseline.case_ids() or store.path(DEVICE, operation).exists():
            store.replace(baseline)
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
