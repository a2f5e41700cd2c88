"""Attach published A100 figures to cases: ``baselines/a100/<operation>.json``.

    python benchmarks/import_published.py FIGURES.json [baselines]

``FIGURES.json`` is a list of collected figures, each with device, kernel, implementation, dtype, shape, metric, value,
unit, source and confidence. A figure is attached only if the card's exact variant is known and operation, dtype, shape
and kind of implementation are those of a case; everything else stays out, and the script says why.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.baselines import Baseline, Published, Store  # noqa: E402
from pytest_roofline.discovery import discover  # noqa: E402

CARDS = {
    "A100-SXM4-40GB": "a100_sxm4_40gb",
    "A100-SXM4-80GB": "a100_sxm4_80gb",
    "A100-PCIE-40GB": "a100_pcie_40gb",
    "A100-PCIE-80GB": "a100_pcie_80gb",
}
DTYPES = {"fp32": "f32", "fp32 (TF32 off)": "f32"}
Figure = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """Figures whose kernel and implementation match are cases ``operation/backend/variant``."""

    kernel: str
    implementation: str
    case: str
    shape: Callable[[str], str | None]

    def fits(self, figure: Figure) -> bool:
        """Whether the figure's kernel is this kind of implementation."""
        kernel, implementation = figure["kernel"], figure["implementation"]
        return bool(re.fullmatch(self.kernel, kernel) and re.fullmatch(self.implementation, implementation))


def vector(text: str) -> str | None:
    """``N=2^16 (256 KiB)`` or ``N=32*1024*1024 (134.2 MB)`` as a number of elements."""
    power = re.match(r"N=2\^(\d+)\b", text)
    if power:
        return str(2 ** int(power[1]))
    product = re.match(r"N=(\d+)\*(\d+)\*(\d+)\b", text)
    return str(int(product[1]) * int(product[2]) * int(product[3])) if product else None


def cube(text: str) -> str | None:
    """``4096^3`` as m x n x k. Rectangles stay out: sources do not say which extent is which."""
    found = re.fullmatch(r"(\d+)\^3", text)
    return "x".join([found[1]] * 3) if found else None


RULES = (
    Rule(r"sum reduction \(device-wide, library\)", r"CUB DeviceReduce::Sum.*", "sum/cupy/sum", vector),
    Rule(r"sum reduction: v6 multi-add / grid-stride", r"CUDA", "sum/cuda/grid_stride", vector),
    Rule(r"SGEMM \(cuBLAS\)", r"cuBLAS .*", "matmul/torch/mm", cube),
    Rule(r"SGEMM: cuBLAS.*", r"CUDA .*", "matmul/torch/mm", cube),
    Rule(r"SGEMM \(torch\.matmul\)", r"PyTorch eager", "matmul/torch/mm", cube),
    Rule(r"SGEMM: v1 naive \(coalesced\)", r"CUDA .*", "matmul/cuda/naive", cube),
)


def seconds(figure: Figure, case: Any) -> tuple[float | None, str]:
    """The figure as a time, and how it becomes one."""
    value, unit = figure["value"], figure["unit"]
    units = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
    if unit in units:
        return value * units[unit], "as published"
    if unit == "TFLOP/s":
        return sum(case.work.operations.values()) / (value * 1e12), "operations of the case / published rate"
    if unit == "GB/s":
        return case.work.traffic.read / (value * 1e9), "bytes read by the case / published rate"
    return None, "not convertible"


def attach(figure: Figure, cases: Mapping[str, Any]) -> tuple[str, Published] | str:
    """The case and its figure, or why there is none."""
    rule = next((rule for rule in RULES if rule.fits(figure)), None)
    if rule is None:
        return "no operation here, or another kind of implementation"
    if "stored public file" in figure["source"]:
        return "the source cannot be traced"
    if figure["device"] not in CARDS:
        return "the exact card is not stated"
    if figure["dtype"] not in DTYPES:
        return "another dtype"
    shape = rule.shape(figure["shape"])
    case_id = f"{rule.case}/{DTYPES[figure['dtype']]}/{shape}"
    if shape is None or case_id not in cases:
        return "no case of this shape"
    time, formula = seconds(figure, cases[case_id])
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


def main() -> None:
    """Write the files and print what was attached and what was not."""
    figures = json.loads(pathlib.Path(sys.argv[1]).read_text())
    store = Store(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "baselines")
    cases = {str(case): case for case in discover(ROOT, ["suite/operations"]).timed(full=True)}
    found: dict[str, Baseline] = {}
    left_out: Counter[str] = Counter()
    for figure in figures:
        result = attach(figure, cases)
        if isinstance(result, str):
            left_out[result] += 1
            continue
        case_id, published = result
        operation = case_id.split("/")[0]
        baseline = found.setdefault(operation, Baseline("a100", operation))
        baseline.published.setdefault(case_id, []).append(published)
    for operation, baseline in found.items():
        store.save(baseline)
        print(f"{operation}: {sum(map(len, baseline.published.values()))} figures on {len(baseline.published)} cases")
    print(f"left out of {len(figures)}: " + "; ".join(f"{count} {why}" for why, count in left_out.most_common()))


if __name__ == "__main__":
    main()
