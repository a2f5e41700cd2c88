"""Arguments, launch configurations, views, the cache and the missing compiler."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import (
    CompilerMissing,
    CudaBuildError,
    CudaFault,
    FaultKind,
    build,
    cache,
    checking,
    include_directory,
    load,
)
from pytest_roofline.counting.cuda_cpu.build import launch_bound, lay_out_shared
from pytest_roofline.counting.cuda_cpu.elf import variable_name

HERE = Path(__file__).parent
BASICS = load(HERE / "basics.cu")


def vadd(**changes: Any) -> None:
    args: dict[str, Any] = {
        "a": np.ones(32, np.float32),
        "b": np.ones(32, np.float32),
        "c": np.ones(32, np.float32),
        "n": np.int32(32),
        "offset": np.int32(0),
    }
    args.update(changes)
    BASICS.function("vadd")((1,), (32,), tuple(args.values()))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"a": np.ones(32)}, "a .*float32 elements, got float64"),
        ({"a": np.ones(32, np.float16)}, "got float16"),
        ({"c": np.ones(32, np.int32)}, "c .*got int32"),
        ({"n": np.int64(32)}, "n .* takes an int32, got an int64"),
        ({"n": np.float32(32)}, "got a float32"),
        ({"n": 32}, r"takes an int32, got Python's int; pass np\.int32\(\.\.\.\)"),
        ({"n": True}, r"takes an int32, got Python's bool; pass np\.int32"),
        ({"n": "32"}, "got str$"),
        ({"n": np.ones(32, np.int32)}, "takes an int32, got ndarray"),
        ({"a": np.float32(1)}, "takes a tensor"),
    ],
)
def test_argument_of_another_type_is_refused(changes: dict[str, Any], words: str) -> None:
    """A TypeError names the parameter and both types."""
    with pytest.raises(TypeError, match=words):
        vadd(**changes)


def test_a_table_of_pointers_hides_no_names(tmp_path: Path) -> None:
    """A parameter that the signature's reader does not know leaves the other names of the file as they are."""
    source = tmp_path / "mixed.cu"
    source.write_text(
        "__global__ void table(float* const* rows, float* out) { out[0] = rows[0][0]; }\n"
        "__global__ void plain(const float* first, int count) {}\n",
        encoding="utf-8",
    )
    module = load(source)
    assert [p.name for p in module.function("plain").parameters] == ["first", "count"]
    assert [p.name for p in module.function("table").parameters] == ["rows", "out"]


def test_number_of_arguments() -> None:
    """Too few arguments are refused with the list of parameters."""
    with pytest.raises(TypeError, match="4 arguments for the parameters a "):
        BASICS.function("vadd")((1,), (32,), (np.ones(1, np.float32),) * 3 + (np.int32(1),))


@pytest.mark.parametrize(
    ("name", "grid", "block", "shared"),
    [
        ("vadd", (1,), (1025,), 0),
        ("vadd", (1,), (32, 32, 2), 0),
        ("vadd", (1, 65536), (32,), 0),
        ("vadd", (1, 1, 65536), (32,), 0),
        ("vadd", (0,), (32,), 0),
        ("vadd", (1,), (32,), 227 * 1024 + 1),
        ("sgemm_tiled<16>", (1,), (257,), 0),
    ],
)
def test_configuration_that_a_gpu_refuses(name: str, grid: Any, block: Any, shared: int) -> None:
    """Too many threads, too large grids, more shared memory than a block has, more threads than __launch_bounds__."""
    with pytest.raises(ValueError, match=r"threads|grid|block|shared"):
        BASICS.function(name)(grid, block, (), shared)


def test_torch_views_are_exact() -> None:
    """The gap behind a pitched row is no part of the view, although it is part of the storage."""
    import torch

    rows = torch.zeros(4, 40)[:, :30]
    flat = torch.ones(200)
    with pytest.raises(CudaFault) as caught:
        BASICS.function("vadd")((1,), (64,), (flat, flat, rows, np.int32(64), np.int32(0)))
    fault = caught.value
    assert (fault.kind, fault.buffer, fault.offset) == (FaultKind.OUT_OF_BOUNDS, "c", 120)


@pytest.mark.parametrize("beside", [-37184, 30000])
def test_a_host_pointer_near_shared_memory_is_no_index_of_it(beside: int) -> None:
    """The thread-local segment may lie next to the heap; a kernel without shared variables indexes none."""
    vadd()
    variant = next(iter(BASICS.function("vadd")._variants.values()))
    anchor = next(s for s in variant.hidden if "rl_anchor_byte" in s.name)
    with pytest.raises(CudaFault, match="perhaps a host pointer") as caught:
        vadd(a=np.uint64(variant.anchor() - anchor.address + beside))
    assert (caught.value.kind, caught.value.buffer) == (FaultKind.INVALID_POINTER, None)
    assert "shared" not in str(caught.value)


def test_uninitialised_memory_is_remembered_between_launches() -> None:
    """What one launch has written the next may read; what none has written stays uninitialised."""
    a, b, c = (np.ones(64, np.float32) for _ in range(3))
    with checking(uninitialised=[c]):
        BASICS.function("vadd")((1,), (32,), (a, b, c, np.int32(32), np.int32(0)))
        BASICS.function("vadd")((1,), (32,), (c, b, a, np.int32(32), np.int32(0)))
        with pytest.raises(CudaFault) as caught:
            BASICS.function("vadd")((2,), (32,), (c, b, a, np.int32(64), np.int32(0)))
    assert (caught.value.kind, caught.value.offset) == (FaultKind.UNINITIALISED_READ, 128)


def test_fault_survives_pickling() -> None:
    """A fault crosses process boundaries with its fields."""
    with pytest.raises(CudaFault) as caught:
        vadd(offset=np.int32(1))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.kind, copy.line, str(copy)) == (caught.value.kind, caught.value.line, str(caught.value))


def test_missing_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler the message names packages."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CompilerMissing, match="apt-get install"):
        load(HERE / "basics.cu").function("vadd")((1,), (32,), ())


def test_compile_error_carries_the_compilers_words(tmp_path: Path) -> None:
    """A file that is no C++ gives the compiler's output."""
    source = tmp_path / "broken.cu"
    source.write_text('extern "C" __global__ void k(int* p) { p[0] = undeclared; }\n')
    with pytest.raises(CudaBuildError, match="undeclared"):
        load(source).function("k")((1,), (1,), (np.zeros(1, np.int32),))


def test_inline_assembly_is_told_what_there_is_instead(tmp_path: Path) -> None:
    """PTX is no instruction of this CPU; the message names the headers for both."""
    source = tmp_path / "ptx.cu"
    source.write_text(
        '__global__ void ptx(unsigned* y) { asm volatile("mov.u32 %0, %%laneid;" : "=r"(y[0])); }', encoding="utf-8"
    )
    with pytest.raises(CudaBuildError, match="PTX does not run on a CPU"):
        load(source).function("ptx")((1,), (1,), (np.zeros(1, np.uint32),))


@pytest.mark.parametrize(
    ("kind", "refused"), [("long long", True), ("short", True), ("unsigned long long", False), ("int", False)]
)
def test_atomic_additions_that_cuda_lacks_are_refused(tmp_path: Path, kind: str, refused: bool) -> None:
    """A kernel that no GPU would compile does not pass on a CPU: 64 bits are added as unsigned ones."""
    source = tmp_path / "add.cu"
    source.write_text(f'extern "C" __global__ void add({kind}* total) {{ atomicAdd(total, ({kind})1); }}')
    total = np.zeros(1, {"long long": "i8", "short": "i2", "unsigned long long": "u8", "int": "i4"}[kind])
    if refused:
        with pytest.raises(CudaBuildError, match="cast the pointer"):
            load(source).function("add")((1,), (32,), (total,))
    else:
        load(source).function("add")((1,), (32,), (total,))
        assert total[0] == 32


def test_changed_header_is_compiled_anew(tmp_path: Path) -> None:
    """The cache key follows quoted includes."""
    (tmp_path / "value.cuh").write_text("#define VALUE 1\n")
    source = tmp_path / "k.cu"
    source.write_text('#include "value.cuh"\nextern "C" __global__ void k(int* p) { p[0] = VALUE; }\n')
    out = np.zeros(1, np.int32)
    for value in (1, 2):
        (tmp_path / "value.cuh").write_text(f"#define VALUE {value}\n")
        load(source).function("k")((1,), (1,), (out,))
        assert out[0] == value


def test_defines_reach_the_compiler(tmp_path: Path) -> None:
    """-D options count, options for the GPU's code are ignored."""
    source = tmp_path / "k.cu"
    source.write_text('extern "C" __global__ void k(int* p) { p[0] = VALUE; }\n')
    out = np.zeros(1, np.int32)
    load(source, options=("-DVALUE=7", "--use_fast_math")).function("k")((1,), (1,), (out,))
    assert out[0] == 7


def test_another_checkout_has_builds_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its headers lie elsewhere: a build names their folder, which tells their frames from those of a kernel."""
    before = build._headers_digest()
    shutil.copytree(build.INCLUDE, tmp_path / "include")
    monkeypatch.setattr(build, "INCLUDE", tmp_path / "include")
    assert build._headers_digest() != before


def test_cache_publishes_whole_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that fails leaves nothing behind; one that succeeds is built once."""
    monkeypatch.setenv("PYTEST_ROOFLINE_CACHE", str(tmp_path))
    calls = []

    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        cache.fetch("key", fail)
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == ["locks"]
    for _ in range(2):
        cache.fetch("key", lambda folder: calls.append((folder / "x").write_text("1")))
    assert len(calls) == 1


def test_cache_builds_once_for_all_who_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who wants an entry that is being built waits for it instead of building it as well."""
    monkeypatch.setenv("PYTEST_ROOFLINE_CACHE", str(tmp_path))
    builds: list[Path] = []
    others = [threading.Thread(target=lambda: cache.fetch("key", build)) for _ in range(3)]

    def build(folder: Path) -> None:
        builds.append(folder)
        if len(builds) == 1:
            for other in others:
                other.start()
        (folder / "x").write_text("1")

    cache.fetch("key", build)
    for other in others:
        other.join()
    assert len(builds) == 1


def test_cache_drops_old_entries(tmp_path: Path) -> None:
    """Entries unused for longer than the limit go, others stay."""
    now = time.time()
    for name, age in (("old", 100), ("new", 10)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (now - age, now - age))
    cache.clean(tmp_path, now, max_age=50)
    assert [p.name for p in tmp_path.iterdir()] == ["new"]


def test_launch_bound_of_a_template() -> None:
    """The bound may be an expression of the template's parameters."""
    text = "template <int T>\n__global__ void __launch_bounds__(T * T, 2) k(float* p) {}"
    assert launch_bound(text, "k<16>") == ("int T", "T * T")
    assert launch_bound("__global__ void k() {}", "k") == ("", "1024")


def test_red_zones_and_dynamic_array() -> None:
    """Shared variables are followed by a red zone, and dynamic arrays share one address."""
    assembly = (
        '\t.section\t.tbss.s,"awT",@nobits\n\t.size\ts, 8\ns:\n\t.zero\t8\n\tleaq a@tlsgd(%rip)\n\tleaq b@tlsgd(%rip)\n'
    )
    edited = lay_out_shared(assembly)
    assert "s:\n\t.zero\t8\n\t.zero\t4096\n" in edited
    assert "a:\nb:\n\t.zero" in edited


@pytest.mark.parametrize(
    ("mangled", "name"), [("_ZZ1kPfE4tile", "tile"), ("tile", "tile"), ("_ZZ9transposeILi1EEvPKfPfiiE4tile", "tile")]
)
def test_variable_names(mangled: str, name: str) -> None:
    """Findings name shared variables as the source does."""
    assert variable_name(mangled) == name


def test_import_needs_no_torch() -> None:
    """The package loads without torch."""
    code = "import sys, pytest_roofline.counting.cuda_cpu; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "name", ["basics.cu", "correct.cu", "planted_memory.cu", "planted_sync.cu", "tensor_core.cu", "arithmetic.cu"]
)
def test_sources_compile_for_a_gpu(name: str, tmp_path: Path) -> None:
    """nvcc takes the same files unchanged."""
    import shutil

    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    command = [
        "nvcc",
        "-c",
        "-arch=sm_80",
        "-std=c++17",
        f"-I{include_directory()}",
        "-o",
        str(tmp_path / "out.o"),
        str(HERE / name),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
