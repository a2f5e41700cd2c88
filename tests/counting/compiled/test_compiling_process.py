"""The process that compiles: what a case's launcher launches, compiled and never executed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch

from pytest_roofline.contract import Kernel
from pytest_roofline.discovery import load_operation
from pytest_roofline.ids import CaseId
from pytest_roofline.launch import Source

ROOT = Path(__file__).parents[3]


def ask(*cases, arch="sm_80", gpu=False):
    """Answers to orders for cases of this repository's own catalogue."""
    modules = [f"suite.operations.{case.split('/')[0]}" for case in cases]
    orders = [
        json.dumps({"case": case, "module": module, "roots": [str(ROOT)], "gpu": gpu})
        for case, module in zip(cases, modules, strict=True)
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest_roofline.counting.compiled.process", arch],
        input="\n".join(orders),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)},
    )
    mark = "pytest-roofline compiled: "
    return [json.loads(line[len(mark) :]) for line in done.stdout.splitlines() if line.startswith(mark)]


def test_triton_is_compiled_although_the_session_interprets():
    """The specialisation follows the arguments: an aligned length, one that is not, and a pointer off by an element."""
    aligned, odd, shifted = ask(*(f"vector_add/triton/block_1024/f32/{shape}" for shape in ("1024", "1000", "1024.o1")))
    assert "n:i32/16" in aligned["launches"][0]
    assert aligned["kernels"][aligned["launches"][0]]["mix"]["global load 16"] > 0
    assert "n:i32/16" not in odd["launches"][0]
    assert len(shifted["launches"]) >= 1


def test_an_unknown_case_is_an_answer():
    """The process survives, and says what was wrong."""
    wrong, right = ask("vector_add/triton/nonsense/f32/1024", "vector_add/triton/block_1024/f32/1024")
    assert "nonsense" in wrong["error"]
    assert right["launches"]


def test_cuda_launches_are_recorded_in_order():
    """Two kernels of a two-stage sum, with threads and what torch was asked for."""
    [reply] = ask("sum/cuda/vectorised/f32/1000")
    if reply.get("missing"):
        pytest.skip(reply["error"])
    assert reply["launches"] == ["vectorised.cu:sum_vectorised<float, float, 256> threads=256"]
    assert reply["calls"] == ["aten::zero_"]


def recorded(launcher, *, arch="sm_80", capability=""):
    """The names that a launcher of ``y = x`` launches on a GPU of 2^34 elements."""
    from pytest_roofline.counting.compiled.process import Recorder, record

    class Names(Recorder):
        def cuda(self, function, grid, block, shared_bytes):
            self.note(str(function), {})

    kernel = Kernel("cuda", "plain", "somewhere:launch", ("f32",), capability=capability)
    operation = replace(load_operation("suite.operations.copy"), kernels=(kernel,))
    recorder = Names(arch)
    record(operation.case(CaseId.parse("copy/cuda/plain/f32/17179869184")), launcher, recorder, gpu=True)
    return recorder


def launch(name, *tensors):
    source = Source(ROOT / "kernels_cuda" / "copy" / "scalar.cu")
    source.text = f'extern "C" __global__ void {name}({", ".join(f"float* p{i}" for i, _ in enumerate(tensors))}) {{}}'
    source.function(name)((1,), (32,), tensors)


@pytest.mark.parametrize(
    ("arch", "capability", "sms"), [("sm_80", "", 108), ("sm_90a", "", 132), ("sm_80", "sm_90a", 132)]
)
def test_a_timed_shape_is_launched_as_on_the_gpu(arch, capability, sms):
    """The launcher sees a tensor of that GPU and its number of SMs; of another one where the kernel needs it."""

    def launcher(x, y):
        found = torch.cuda.get_device_properties(x.device).multi_processor_count
        launch(f"for_{found}_{x.device.type}", x, y)

    assert recorded(launcher, arch=arch, capability=capability).launches == [f"scalar.cu:for_{sms}_cuda"]


def test_a_launcher_that_needs_a_driver_does_what_it_does_on_a_cpu():
    """It records a graph on a GPU and launches without one."""

    def launcher(x, y):
        launch("before", x)
        if x.is_cuda:
            torch.cuda.synchronize()
        launch("after", x, y)

    assert recorded(launcher).launches == ["scalar.cu:before", "scalar.cu:after"]


def test_a_fault_of_the_gpus_branch_is_not_hidden():
    """Only what needs a driver is tried again without."""

    def launcher(x, y):
        if x.is_cuda:
            raise TypeError("a wrong argument")

    with pytest.raises(TypeError, match="a wrong argument"):
        recorded(launcher)


def test_what_torch_is_asked_for_is_noted_with_its_line():
    """Of the launcher, not of torch."""

    def launcher(x, y):
        y.zero_()

    recorder = recorded(launcher)
    [(file, line)] = recorder.asked_at
    assert recorder.calls == ["aten::zero_"]
    assert (file, line) == (__file__, launcher.__code__.co_firstlineno + 1)


def test_specialisations_of_timed_shapes_are_compiled():
    """The larger block of a long sum, whose gigabyte nobody allocates."""
    [reply] = ask("sum/triton/two_stage/f32/268435456", gpu=True)
    first, second = reply["launches"]
    assert "BLOCK=8192, EVICTION=evict_first" in first
    assert second.startswith("_sum_partials")
    assert reply["kernels"][first]["registers"] > 0
