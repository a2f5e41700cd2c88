"""Floating-point operations are counted by kind, pipeline and line, for the lanes that execute them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import LaunchRecord, checking, load
from pytest_roofline.counting.cuda_cpu.operations import add_table, read_table

SOURCE = Path(__file__).parent / "arithmetic.cu"
ARITHMETIC = load(SOURCE)
N = 96


def count(name: str, args: Any, grid: int = 1, block: int = N) -> LaunchRecord:
    with checking("count") as session:
        ARITHMETIC.function(name)((grid,), (block,), args)
    return session.launches[0]


def kinds(record: LaunchRecord) -> dict[tuple[str, str], int]:
    """Executions per element by pipeline and kind."""
    found: dict[tuple[str, str], int] = {}
    for entry in record.operations:
        key = (entry.pipeline, entry.kind)
        found[key] = found.get(key, 0) + entry.lanes
    return {key: lanes // N for key, lanes in found.items()}


@pytest.mark.parametrize(
    ("c_type", "dtype", "pipeline"), [("float", np.float32, "fp32"), ("double", np.float64, "fp64")]
)
def test_kinds_of_a_type(c_type: str, dtype: Any, pipeline: str) -> None:
    """Neighbouring products and sums are fused; lines and totals are the source's."""
    record = count(f"arithmetic<{c_type}>", (np.ones(N, dtype), np.zeros(4 * N, dtype), np.int32(N)))
    assert kinds(record) == {(pipeline, "fma"): 2, (pipeline, "add"): 1, (pipeline, "mul"): 1}
    assert record.flops == {pipeline: 6 * N}
    assert record.executed("fma", pipeline, "requests") == 2 * N // 32
    text = SOURCE.read_text(encoding="utf-8").splitlines()
    assert {(text[o.line - 1].strip(), o.kind) for o in record.operations} == {
        ("y[i] = v * v + v;", "fma"),
        ("y[n + i] = v + static_cast<T>(3);", "add"),
        ("y[2 * n + i] = v * static_cast<T>(5);", "mul"),
        ("y[3 * n + i] = v - v * static_cast<T>(7);", "fma"),
    }


@pytest.mark.parametrize(("c_type", "pipeline"), [("__half", "fp16"), ("__nv_bfloat16", "bf16")])
def test_short_floats_count_as_themselves(c_type: str, pipeline: str) -> None:
    """What a short float is computed with here does not show; constants are converted by the compiler."""
    import torch

    kind = torch.float16 if pipeline == "fp16" else torch.bfloat16
    record = count(f"arithmetic<{c_type}>", (torch.ones(N, dtype=kind), torch.zeros(4 * N, dtype=kind), np.int32(N)))
    assert record.flops == {pipeline: 6 * N}
    assert set(kinds(record)) == {(pipeline, "add"), (pipeline, "mul")}


def test_special_functions_and_conversions() -> None:
    """Fast and accurate transcendental functions are special; a conversion makes no FLOP."""
    record = count("special", (np.ones(N, np.float32), np.zeros(4 * N, np.float32), np.int32(N)))
    assert kinds(record) == {("fp32", "special"): 3, ("fp32", "conversion"): 2}
    assert record.flops == {"fp32": 3 * N}


def test_operations_by_name() -> None:
    """Intrinsics that must not be fused are not; pairs of halves count both elements."""
    record = count("by_name", (np.ones(N, np.float32), np.zeros(4 * N, np.float32), np.int32(N)))
    assert kinds(record) == {
        ("fp32", "add"): 1,
        ("fp32", "mul"): 2,
        ("fp32", "fma"): 1,
        ("fp32", "div"): 1,
        ("fp32", "special"): 1,
        ("fp16", "fma"): 2,
        ("fp16", "conversion"): 3,  # the constant is converted by the compiler
    }


def test_only_what_lanes_execute_counts() -> None:
    """Branches not taken and trips not made do not count; a warp executes as often as its longest lane."""
    record = count("branches", (np.ones(64, np.float32), np.zeros(64, np.float32), np.int32(64)), block=64)
    assert record.executed("mul") == sum(range(32))
    assert record.executed("mul", what="requests") == 31
    assert record.executed("add") == 32


ASSEMBLY = """
\t.file 1 "/kernels/k.cu"
\t.file 2 "/package/include/rl/half.hpp"
kernel:
\tvaddss\t%xmm0, %xmm1, %xmm0
\tcall\t__sanitizer_cov_trace_pc@PLT
\t.loc 1 5 3
\tvfnmadd231sd\t%xmm0, %xmm1, %xmm0
\tvaddps\t%ymm0, %ymm1, %ymm0
\tcall\tsinf@PLT
\tcall\tmemset@PLT
\tvxorps\t%xmm0, %xmm1, %xmm0
\t.loc 2 7 3
\tvaddss\t%xmm0, %xmm1, %xmm0
/* rl_op __half mul */
"""


def test_table_of_an_assembly_text() -> None:
    """Code before the first block and of own headers is left out; marks, packed instructions and calls are read."""
    text = add_table(ASSEMBLY, "/package/include")
    entries = [line.split(",") for line in text.splitlines() if ".quad" in line]
    data = b"".join(
        number.to_bytes(8, "little") for i, entry in enumerate(entries) for number in (100, i, int(entry[2]))
    )
    found = [(o.pipeline, o.kind, o.count) for o in read_table(data)]
    assert found == [("fp64", "fma", 1), ("fp32", "add", 8), ("fp32", "special", 1), ("fp16", "mul", 1)]
    assert all(f"{entry[0].split()[-1]}:" in text and f"{entry[1].strip()}:" in text for entry in entries)


SPLIT = """
kernel:
\tcall\t__sanitizer_cov_trace_pc@PLT
\tja\t.L13
\tjmp\t.L7
.L13:
\tcall\t__ubsan_handle_out_of_bounds_abort@PLT
.L6:
\tvaddss\t%xmm0, %xmm1, %xmm0
\tjmp\t.L9
.L7:
\tcall\t__sanitizer_cov_trace_pc@PLT
\tja\t.L13
\tjmp\t.L6
.L9:
\tret
"""


def test_pieces_of_a_block_belong_to_it() -> None:
    """A check of bounds splits a block; what comes after belongs to the block that leads there, not the one above."""
    text = add_table(SPLIT, "/package")
    blocks = [line[:-1] for line in text.splitlines() if line.startswith(".Lrl_block")]
    (entry,) = [line for line in text.splitlines() if ".quad" in line]
    assert entry.split()[1].rstrip(",") == blocks[1]


def test_a_tree_adds_once_per_pair() -> None:
    """A reduction of 256 values makes 255 additions, in the 12 warps of its eight steps."""
    with checking("count") as session:
        tree = load(SOURCE.with_name("basics.cu")).function("reduce_tree")
        tree((1,), (256,), (np.ones(256, np.float32), np.zeros(1, np.float32), np.int32(256)))
    record = session.launches[0]
    assert (record.executed("add"), record.executed("add", what="requests")) == (255, 12)


def test_assembly_without_operations_stays_as_it_is() -> None:
    """A kernel that only copies gets no table."""
    text = "kernel:\n\tcall\t__sanitizer_cov_trace_pc@PLT\n\tmovl\t%eax, %ebx\n"
    assert add_table(text, "/package") == text


def test_arm_instructions_are_read_too() -> None:
    """Scalar instructions of aarch64: fused, special, of both widths."""
    text = "\tbl\t__sanitizer_cov_trace_pc\n\tfmadd\ts0, s1, s2, s3\n\tfsqrt\td0, d1\n\tscvtf\ts0, w1\n\tfmov\ts0, s1\n"
    codes = [int(line.split(",")[2]) for line in add_table(text, "/package").splitlines() if ".quad" in line]
    data = b"".join(number.to_bytes(8, "little") for code in codes for number in (0, 0, code))
    assert [(o.pipeline, o.kind) for o in read_table(data)] == [
        ("fp32", "fma"),
        ("fp64", "special"),
        ("fp32", "conversion"),
    ]
