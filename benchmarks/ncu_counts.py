"""Compare the CPU's counts with the hardware counters of a GPU; needs a GPU, CuPy and Nsight Compute.

    python benchmarks/ncu_counts.py                  # measures with ncu, counts on the CPU, prints both columns
    python benchmarks/ncu_counts.py --rows matmul    # only the rows whose name matches
    python benchmarks/ncu_counts.py --operations     # additions, multiplications and fused ones by threads
    python benchmarks/ncu_counts.py --save new.json  # keeps what was measured
    python benchmarks/ncu_counts.py --measured benchmarks/ncu_h200.json  # compares with a file, without a GPU

Exit status 1 when a figure differs whose reason is not known (``KNOWN`` in ncu_pattern_rows.py). What each
figure is, docs/cuda-on-cpu.md says.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ncu_pattern_rows import KNOWN, PATTERN_ROWS  # noqa: E402
from ncu_rows import ROWS as FITTED_ROWS  # noqa: E402
from ncu_rows import Row  # noqa: E402

from pytest_roofline.counting.cuda_cpu import LaunchRecord, checking  # noqa: E402

ROWS = (*FITTED_ROWS, *PATTERN_ROWS)
_GLOBAL, _WAVES = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_ISSUED = "smsp__inst_executed_op_{}_pred_on_any.sum"  # at least one lane takes part
_ATOMICS = ("red", "atom")  # without and with a result
_THREADS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"

# By label: the hardware's counters, which are added, and the figure of a record that must equal their sum. Shared loads
# are compared as a compiler issues them, which reads neighbouring words at once.
MEMORY = {
    "global load requests": ([_GLOBAL.format("requests", "ld")], ("global load", "requests")),
    "global load sectors": ([_GLOBAL.format("sectors", "ld")], ("global load", "sectors")),
    "global store requests": ([_GLOBAL.format("requests", "st")], ("global store", "requests")),
    "global store sectors": ([_GLOBAL.format("sectors", "st")], ("global store", "sectors")),
    "global atomic requests": (
        [_GLOBAL.format("requests", op) for op in _ATOMICS],
        ("global atomic", "requests"),
    ),
    "global atomic sectors": ([_GLOBAL.format("sectors", op) for op in _ATOMICS], ("global atomic", "sectors")),
    "shared load instructions": (
        [_ISSUED.format(op) for op in ("shared_ld", "ldsm")],
        ("shared load", "merged_requests"),
    ),
    "shared load wavefronts": ([_WAVES.format("ld")], ("shared load", "merged_wavefronts")),
    "shared store instructions": ([_ISSUED.format("shared_st")], ("shared store", "requests")),
    "shared store wavefronts": ([_WAVES.format("st")], ("shared store", "wavefronts")),
    "shared atomic instructions": ([_ISSUED.format("shared_atom")], ("shared atomic", "requests")),
    "shared atomic wavefronts": ([_WAVES.format("atom")], ("shared atomic", "wavefronts")),
    "cp.async instructions": ([_ISSUED.format("ldgsts")], ("shared copy", "requests")),
}
OPERATIONS = {
    f"{pipeline} {kind}": ([_THREADS.format(letter + kind)], (kind, pipeline))
    for pipeline, letter in (("fp32", "f"), ("fp64", "d"), ("fp16", "h"))
    for kind in ("add", "mul", "fma")
}
Metrics = dict[str, tuple[list[str], tuple[str, str]]]


def counted(rows: Sequence[Row]) -> list[LaunchRecord]:
    """Every row on the CPU."""
    with checking("count") as session:
        for row in rows:
            row.launch("cpu")
    return session.launches


def launch(rows: Sequence[Row]) -> None:
    """Every row on the GPU, once, inside the profiler's range."""
    import torch

    torch.zeros(1, device="cuda")
    torch.cuda.profiler.start()
    for row in rows:
        row.launch("cuda")
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


def measured(rows: str, metrics: Sequence[str]) -> list[dict[str, int]]:
    """Every row's counters from Nsight Compute. Raises ``RuntimeError`` with its output when it fails."""
    options = ["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    options += ["--cache-control", "none", "--profile-from-start", "off"]
    script = [sys.executable, __file__, "--launch", "--rows", rows]
    done = subprocess.run(
        ["ncu", *options, "--metrics", ",".join(metrics), *script], capture_output=True, text=True, check=False
    )
    if done.returncode or '"ID"' not in done.stdout:
        raise RuntimeError(f"ncu failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    table = list(csv.DictReader(io.StringIO(done.stdout[done.stdout.index('"ID"') :])))[1:]  # the first row holds units
    return [{metric: int(float(entry[metric].replace(",", ""))) for metric in metrics} for entry in table]


def compare(rows: Sequence[Row], hardware: Sequence[dict[str, int]], metrics: Metrics) -> set[str]:
    """Print both columns of every row; the rows of which a figure differs. What was not measured is not compared."""
    compared = differing = 0
    different: set[str] = set()
    for row, record, theirs in zip(rows, counted(rows), hardware, strict=True):
        print(row.name)
        for label, (names, what) in metrics.items():
            figure = record.executed if label in OPERATIONS else record.total
            if not all(name in theirs for name in names):
                continue
            ours, gpu = figure(*what), sum(theirs[name] for name in names)
            compared += 1
            if ours != gpu:
                differing += 1
                different.add(row.name)
            if ours or gpu:
                print(f"  {label:28} counted {ours:8} measured {gpu:8}{'' if ours == gpu else '  DIFFERENT'}")
    print(f"compared {compared} of {len(rows) * len(metrics)} figures of {len(rows)} launches, {differing} differ")
    for name in sorted(different & KNOWN.keys()):
        print(f"{name}: {KNOWN[name]}")
    return different


def main() -> int:
    """Measure or read, count, compare; 1 when a figure differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="", help="only rows whose name matches this regular expression")
    parser.add_argument("--figures", default="", help="only figures whose label matches this regular expression")
    parser.add_argument("--operations", action="store_true", help="floating-point operations instead of memory")
    parser.add_argument("--save", type=Path, help="write what was measured")
    parser.add_argument("--measured", type=Path, help="compare with such a file, without a GPU")
    parser.add_argument("--launch", action="store_true", help="only launch the rows on the GPU: what ncu runs")
    options = parser.parse_args()
    rows = [row for row in ROWS if re.search(options.rows, row.name)]
    if options.launch:
        launch(rows)
        return 0
    every = OPERATIONS if options.operations else MEMORY
    metrics = {label: what for label, what in every.items() if re.search(options.figures, label)}
    if options.measured:
        stored = json.loads(options.measured.read_text(encoding="utf-8"))["rows"]
        rows = [row for row in rows if row.name in stored]
        return int(bool(compare(rows, [stored[row.name] for row in rows], metrics) - KNOWN.keys()))
    if shutil.which("ncu") is None:
        parser.error("ncu is not on PATH; it comes with the CUDA toolkit (--measured reads a saved one instead)")
    hardware = measured(options.rows, [name for names, _ in metrics.values() for name in names])
    if options.save:
        named = {row.name: values for row, values in zip(rows, hardware, strict=True)}
        options.save.write_text(json.dumps({"kind": "measured", "rows": named}, indent=1), encoding="utf-8")
    return int(bool(compare(rows, hardware, metrics) - KNOWN.keys()))


if __name__ == "__main__":
    sys.exit(main())
