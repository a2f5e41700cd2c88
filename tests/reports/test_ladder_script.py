"""``benchmarks/ladder.py`` prints what is stored, and says what is not there."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "ladder.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("ladder_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_arguments_the_whole_family_is_printed(script, capsys):
    """All three products, each in all formats of its kernels, with what the columns mean once at the end."""
    assert script.main([]) == 0
    text = capsys.readouterr().out
    titles = [" ".join(table.split()[:2]) for table in text.split("\n\n")[:-1]]
    assert titles[0] == "matmul f32"
    assert {f"matmul_tensor {dtype}" for dtype in ("bf16_f32", "f16_f32", "tf32_f32", "i8_i32", "fp8_f32")} < {*titles}
    assert titles[-2:] == ["matmul_ragged f16_f32", "matmul_ragged f32"]
    assert text.count("step: how much faster") == 1


def test_a_row_has_the_registers_of_the_device_of_its_times(script, capsys):
    """No kernel of an A100 stands beside a time of an H200: automatic runs wgmma there, and has no counts."""
    assert script.main(["matmul_tensor", "--dtype", "bf16_f32"]) == 0
    text = capsys.readouterr().out
    assert "compiled for sm_90a by" in text
    assert "sm_80" not in text
    [automatic] = [line for line in text.splitlines() if line.startswith("cuda/automatic ")]
    [overlapped] = [line for line in text.splitlines() if line.startswith("cuda/wgmma_overlapped ")]
    assert automatic.split()[8:-1] == overlapped.split()[8:-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no operation nothing"),
        (["matmul", "--dtype", "f64"], "matmul has no kernel in f64; it has f32"),
        (["matmul", "--device", "b200"], "no times of matmul on b200 are stored; on h200"),
        (["matmul", "--shape", "77x77"], "77x77 is no shape of matmul: its are such as 4096x4096x4096"),
        (["matmul", "--shape", "77x77x77"], "matmul has no time in f32 at 77x77x77, but at "),
        (["matmul", "--counted", "3x3x3"], "nothing of matmul was counted in f32 at 3x3x3"),
    ],
)
def test_what_is_not_there_is_an_error(script, capsys, arguments, message):
    """No table of dashes: status 2, and a line that says what there is."""
    assert script.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
