"""CUDA C++ compiled without a driver, and read as NVIDIA's own tools read it."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch")

from pytest_roofline.counting.compiled import cubin, cuda, sass
from pytest_roofline.counting.compiled.resources import resources
from pytest_roofline.nvrtc import CudaCompileError

SOURCE = Path(__file__).with_name("instructions.cu")
KERNELS = ("widths", "atomics", "asynchronous", "tensor_cores", "local_memory")
ARCHITECTURES = ("sm_80", "sm_90")
NAMES = {
    "LDG": "global load",
    "STG": "global store",
    "LDS": "shared load",
    "STS": "shared store",
    "LDL": "local load",
    "STL": "local store",
    "LD": "generic load",
    "ST": "generic store",
    "LDGSTS": "cp.async",
    "LDSM": "ldmatrix",
    "HMMA": "mma",
    "IMMA": "mma",
    "DMMA": "mma",
    "ATOM": "atomic",
    "ATOMG": "atomic",
    "RED": "atomic",
    "REDG": "atomic",
    "ATOMS": "shared atomic",
    "MUFU": "special",
    "DADD": "fp64",
    "DMUL": "fp64",
    "DFMA": "fp64",
    "BAR": "barrier",
    "SHFL": "shuffle",
}
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def compiled(name, arch, text=None, options=()):
    """The kernel of the source beside this file, or of a text; skips where the compiler is not installed."""
    try:
        return cuda.compile_kernel(SOURCE, text or SOURCE.read_text(), name, options, arch, "")
    except cuda.CompilerMissing as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_instructions_are_those_that_nvdisasm_prints(tmp_path, nvdisasm, arch):
    """Kinds, widths and numbers agree with the disassembler, so the undocumented encoding is right."""
    program = compiled("widths", arch)
    (tmp_path / "a.cubin").write_bytes(program.binary)
    text = subprocess.run([nvdisasm, "-c", tmp_path / "a.cubin"], capture_output=True, text=True, check=True).stdout
    printed: Counter[object] = Counter()
    for code in re.findall(r"/\*[0-9a-f]{4}\*/\s+(?:@!?U?P\w+ )?([A-Z][A-Z0-9_.a-z]*)", text):
        operation, *parts = code.split(".")
        kind = NAMES.get(operation)
        if kind in sass.MEMORY.values():
            printed[kind, next((WIDTHS[part] for part in parts if part in WIDTHS), 4)] += 1
        elif kind:
            printed[kind] += 1
    found: Counter[object] = Counter()
    for kernel in cubin.kernels(program.binary).values():
        mix = sass.mix(kernel.code)
        found.update(mix.others)
        found.update({(kind, width): n for kind, widths in mix.memory.items() for width, n in widths.items()})
    assert found == printed
    assert set(NAMES.values()) <= {entry if isinstance(entry, str) else entry[0] for entry in found}


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_resources_are_those_that_cuobjdump_prints(tmp_path, cuobjdump, arch):
    """Registers, stack and shared memory; cuobjdump adds the system's 1 KiB of shared memory from sm_90 on."""
    for name in KERNELS:
        program = compiled(name, arch)
        (tmp_path / "a.cubin").write_bytes(program.binary)
        told = subprocess.run(
            [cuobjdump, "-res-usage", tmp_path / "a.cubin"], capture_output=True, text=True, check=True
        )
        usage = re.search(rf"Function {program.symbol}:\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", told.stdout)
        registers, stack, shared = map(int, usage.groups())
        kernel = cubin.kernel(program.binary, program.symbol)
        system = 1024 if arch == "sm_90" and shared else 0
        assert (kernel.registers, kernel.stack, kernel.shared) == (registers, stack, shared - system)


def test_barriers_and_static_shared_memory():
    """As ptxas reports them: one barrier, 256 floats and 8 integers."""
    program = compiled("atomics", "sm_80")
    kernel = cubin.kernel(program.binary, program.symbol)
    assert (kernel.barriers, kernel.shared) == (1, 256 * 4 + 8 * 4)


def test_spills_are_told_apart_from_local_arrays():
    """An array indexed at run time is local memory, but nothing was spilled; too few registers make spills."""
    program = compiled("local_memory", "sm_80")
    array = resources(program.binary, program.symbol, "sm_80", "", 256, 0, program.spills)
    assert (array.spills, array.stack) == (0, 256)
    assert array.mix.count("local store") > 0
    squeezed = compiled("widths", "sm_80", SPILLING)
    spilled = resources(squeezed.binary, squeezed.symbol, "sm_80", "", 1024, 0, squeezed.spills)
    assert spilled.spills > 0
    assert spilled.mix.bytes("local store") >= spilled.spills


SPILLING = """
extern "C" __global__ void __launch_bounds__(1024, 2) widths(const float* x, float* y) {
    float a[64];
    #pragma unroll
    for (int i = 0; i < 64; i++) a[i] = x[threadIdx.x + 1024 * i];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 64; i++) y[threadIdx.x + 1024 * i] = a[i] * a[63 - i];
}
"""


def test_a_second_compilation_comes_from_the_cache(monkeypatch):
    """The key holds text, name, options, architecture and version; the compiler is not asked again."""
    first = compiled("widths", "sm_80")
    monkeypatch.setattr(cuda, "_compile", lambda *given: pytest.fail("compiled twice"))
    assert compiled("widths", "sm_80") == first


def test_an_error_names_the_file():
    """The compiler's log is in the message."""
    with pytest.raises(CudaCompileError, match=r"instructions.cu.*(?s:.*)nonsense"):
        compiled("widths", "sm_80", 'extern "C" __global__ void widths() { nonsense; }')


def test_something_else_is_no_cubin():
    """Bytes that are no ELF file, and a kernel that is not there, are errors with names."""
    with pytest.raises(cubin.CubinError, match="no cubin"):
        cubin.kernels(b"nothing")
    program = compiled("widths", "sm_80")
    with pytest.raises(cubin.CubinError, match=r"it holds .*widths"):
        cubin.kernel(program.binary, "heights")
