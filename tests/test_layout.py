"""The house rules that let one more operation cost four files: one name everywhere, nothing silently missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_roofline import signature
from pytest_roofline.contract import Kernel, Operation, Protocol
from pytest_roofline.discovery import discover
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import CaseId, Shape

ROOT = Path(__file__).parents[1]
LANGUAGES = ("triton", "cuda")
CATALOGUE = discover(ROOT, ["suite/operations"])
OPERATIONS = [entry.operation for entry in CATALOGUE.loaded]
KERNELS = [(operation, kernel) for operation in OPERATIONS for kernel in operation.kernels]

ROWWISE = ("f32", "f16", "bf16")
TENSOR = ("bf16_f32", "f16_f32", "tf32_f32", "i8_i32", "fp8_f32")
DTYPES = {
    "copy": ("f32", "f16", "i8"),
    "add_one": ("f32", "f16", "bf16"),
    "add_relu": ("f32", "f16", "bf16"),
    "vector_add": ("f32", "f16"),
    "sum": ("f32", "f16_f32", "i32_i64"),
    "transpose": ("f32", "f16"),
    "matmul_tensor": TENSOR,
    "matmul_ragged": ("f16_f32", "f32"),
    "softmax": ROWWISE,
    "layernorm": ROWWISE,
    "rmsnorm": ROWWISE,
}
"""What every kernel of an operation has to compute, or to give a reason for; of all others, f32."""
PLAIN = ("download", "upload", "exchange", "empty_launch", "launch_chain", "pointer_chase")
"""Operations whose numbers are not what they are about: bytes, a token, addresses."""

each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: o.name)
each_kernel = pytest.mark.parametrize(
    ("operation", "kernel"), KERNELS, ids=[f"{o.name}-{k.backend}-{k.variant}" for o, k in KERNELS]
)


def launcher_file(kernel: Kernel) -> Path:
    """The file that defines a launcher, found without importing it."""
    module = ROOT.joinpath(*kernel.launcher.partition(":")[0].split("."))
    return module / "__init__.py" if module.is_dir() else module.with_suffix(".py")


def launcher(kernel: Kernel) -> ast.FunctionDef:
    name = kernel.launcher.partition(":")[2]
    for node in ast.parse(launcher_file(kernel).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise AssertionError(f"{launcher_file(kernel)} defines no {name}")


def test_every_operation_file_loads():
    """A file that cannot be loaded is reported here, too."""
    assert [f"{broken.path.name}: {broken.error}" for broken in CATALOGUE.broken] == []
    assert OPERATIONS


@each_operation
def test_every_variant_exists_in_both_languages_or_says_why_not(operation: Operation):
    """Nothing is silently missing, and no reason outlives its absence."""
    present = {(k.backend, k.variant) for k in operation.kernels}
    variants = {k.variant for k in operation.kernels if k.backend in LANGUAGES}
    wanted = {(language, variant) for language in LANGUAGES for variant in variants}
    assert wanted - present == set(operation.absent)
    assert all(operation.absent.values())
    assert any(language == backend for language in LANGUAGES for backend, _ in present)


@each_operation
def test_every_kernel_has_the_operations_dtypes_or_says_why_not(operation: Operation):
    """A rung in one dtype alone would leave the others to a kernel that nobody compared it with."""
    wanted = () if operation.name in PLAIN else DTYPES.get(operation.name, ("f32",))
    for kernel in operation.kernels:
        if not kernel.peer:
            assert set(wanted) - set(kernel.dtypes) == set(kernel.absent_dtypes), kernel.variant
            assert all(kernel.absent_dtypes.values())


@each_kernel
def test_every_launcher_takes_what_its_operation_declares(operation: Operation, kernel: Kernel):
    """Its file exists, and its parameters are the operation's arguments; scalars, options, workspace are keywords."""
    parameters = launcher(kernel).args
    assert [a.arg for a in parameters.args] == [a.name for a in operation.arguments]
    shape, dtype = Shape.parse(operation.shapes.counted[0]), DType.parse(kernel.dtypes[0])
    workspace = kernel.workspace(shape, dtype) if kernel.workspace else ()
    keywords = {*operation.scalars(shape.dims), *kernel.options, *(buffer.name for buffer in workspace)}
    assert {a.arg for a in parameters.kwonlyargs} == keywords


@each_kernel
def test_kernels_live_where_their_operation_says(operation: Operation, kernel: Kernel):
    """One name everywhere: operation, Triton file, CUDA folder, which may hold launchers in modules of its own."""
    folder = {"triton": "kernels_triton", "cuda": "kernels_cuda"}.get(kernel.backend)
    module = kernel.launcher.partition(":")[0]
    assert f"{module}.".startswith(f"{folder or 'suite.peers'}.{operation.name}.")
    assert kernel.peer == (folder is None)


def test_every_kernel_file_belongs_to_an_operation():
    """A kernel that no operation declares would be checked by nobody."""
    written = {
        language: {o.name for o in OPERATIONS for k in o.kernels if k.backend == language} for language in LANGUAGES
    }
    triton = {p.stem for p in (ROOT / "kernels_triton").glob("*") if not p.name.startswith("_")}
    cuda = {p.name for p in (ROOT / "kernels_cuda").iterdir() if not p.name.startswith("_")}
    assert {"triton": triton, "cuda": cuda} == written


@each_operation
def test_every_cuda_source_is_one_rung(operation: Operation):
    """A .cu file holds the idea of the variant whose name it bears (``unrolled.cu`` that of ``unrolled_4``), and its
    kernels bear the operation's name."""
    sources = list((ROOT / "kernels_cuda" / operation.name).glob("*.cu"))
    variants = [k.variant for k in operation.kernels if k.backend == "cuda"]
    assert [s.name for s in sources if not any(f"{v}_".startswith(f"{s.stem}_") for v in variants)] == []
    for source in sources:
        kernels = signature.parse(source.read_text(encoding="utf-8"))
        assert kernels
        assert all(name.startswith(operation.name) for name in kernels)


@each_operation
def test_one_best_variant_per_language(operation: Operation):
    """The size sweep runs for one variant of each language; a peer is no rung of a ladder."""
    best = [k.backend for k in operation.kernels if k.best]
    assert sorted(best) == sorted({k.backend for k in operation.kernels} & set(LANGUAGES))
    assert not any(k.peer and (k.best or k.floors) for k in operation.kernels)


def test_ids_are_unique_and_read_back():
    """An id is test name, baseline key and report row at once."""
    cases = CATALOGUE.timed(full=True) + CATALOGUE.counted()
    texts = {str(case) for case in cases}
    assert len({str(c) for c in CATALOGUE.timed(full=True)}) == len(CATALOGUE.timed(full=True))
    for text in texts:
        assert str(CaseId.parse(text)) == text
        assert str(CATALOGUE.case(text)) == text


def test_a_default_run_stays_short():
    """At most about 400 timed cases, at most 100 of one operation; the full list holds the default one."""
    timed, full = CATALOGUE.timed(), CATALOGUE.timed(full=True)
    assert len(timed) <= 410
    assert max(sum(case.operation is operation for case in timed) for operation in OPERATIONS) <= 100
    assert {str(c) for c in timed} <= {str(c) for c in full}


def test_counted_shapes_are_small():
    """Counting costs tens of nanoseconds per access: at most 2^18 elements, or multiplications, per case."""
    assert max(case.shape.size for case in CATALOGUE.counted()) <= 1 << 18


@each_operation
def test_counted_shapes_have_the_classes_of_timed_ones(operation: Operation):
    """Wherever a timed shape is shifted, pitched or transposed, a counted one is, too; and one is empty."""

    def classes(texts: tuple[str, ...]) -> set[str]:
        shapes = [Shape.parse(text) for text in texts]
        return {
            kind
            for s in shapes
            for kind, holds in (("o", s.offset), ("p", s.pitch is not None), ("t", s.transposed))
            if holds
        }

    lists = operation.shapes
    assert classes(lists.sweep + lists.representative + lists.full) <= classes(lists.counted)
    assert any(Shape.parse(text).size == 0 for text in lists.counted)


@each_operation
def test_rejected_shapes_have_a_reason(operation: Operation):
    """A kernel that takes no timed shape at all would never be timed."""
    for kernel in operation.kernels:
        for dtype in kernel.dtypes:
            timed = operation.cases("timed", full=dtype not in (kernel.timed_dtypes or kernel.dtypes))
            assert any(c.kernel is kernel and str(c.dtype) == dtype for c in timed)


@each_operation
def test_models_move_at_least_something(operation: Operation):
    """Work and traffic models are positive counts for every listed case that is not empty."""
    for case in [*operation.cases("timed"), *operation.cases("counted")]:
        assert all(count >= 0 for count in case.work.operations.values())
        assert case.work.traffic.total > 0 or case.shape.size == 0 or operation.protocol is Protocol.HOST_CLOCK
        for traffic in case.kernel.model(case.shape, case.dtype) if case.kernel.model else ():
            assert traffic.read >= 0
            assert traffic.total > 0 or case.shape.size == 0


def test_a_benchmark_run_loads_none_of_the_plugins_own_tests():
    """They hold no benchmark, and loading them only to skip them would take longer than collecting the cases."""
    command = [sys.executable, "-m", "pytest", "--benchmark-only", "--roofline-on=cpu", "--collect-only", "-q"]
    found = subprocess.run([*command, "-k", "vector_add"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "suite/test_benchmarks.py::test_benchmark[vector_add/" in found
    assert "tests/test_" not in found


def test_a_case_asked_for_by_name_is_all_that_is_collected():
    """The command that a failure prints, without a path."""
    case = "transpose/cuda/naive/f32/33x65@random#0"
    command = [sys.executable, "-m", "pytest", "--roofline-on=cpu", f"--roofline-case={case}", "--collect-only", "-q"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line for line in found.splitlines() if "::" in line] == [
        "suite/test_correctness.py::test_listed_shapes[transpose/cuda/naive/f32/33x65]"
    ]
