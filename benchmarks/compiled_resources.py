"""Registers and shared memory: what a GPU's driver reports of each kernel, and what is compiled without one.

    python benchmarks/compiled_resources.py report OUT.json [PROCESSES]   # on the GPU, through CuPy and Triton
    python benchmarks/compiled_resources.py compare OUT.json              # anywhere, with pytest-roofline[compiled]

Both run the launchers of all counted cases on CPU tensors and compile what they launch, ``compare`` for the GPU's
architecture. Equal figures need equal compilers and equal sources, so each side's are printed. ``report`` writes
what it has every few seconds: stopped early, it compares fewer kernels.
"""

from __future__ import annotations

import collections
import copy
import hashlib
import itertools
import json
import multiprocessing
import os
import pathlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.cache import write_atomically  # noqa: E402
from pytest_roofline.checking.check import load_launcher  # noqa: E402
from pytest_roofline.counting.compiled import cubin, process, triton_target  # noqa: E402
from pytest_roofline.counting.compiled.client import Compiler  # noqa: E402
from pytest_roofline.counting.compiled.resources import assembler  # noqa: E402
from pytest_roofline.discovery import discover, load_operation  # noqa: E402
from pytest_roofline.ids import CaseId  # noqa: E402

FIGURES = ("registers", "local", "shared")
SAVE_EVERY = 2.0  # seconds
Named = tuple[str, str]  # a case, and the module of its operation
Kernels = dict[str, dict[str, Any]]


def wanted() -> list[list[Named]]:
    """The counted cases of every kernel of ours and each of its dtypes."""
    groups: dict[tuple[str, str, str, str], list[Named]] = collections.defaultdict(list)
    catalogue = discover(ROOT, ["suite/operations"])
    if catalogue.broken:
        sys.exit("\n".join(f"{failed.path}: {failed.error}" for failed in catalogue.broken))
    for entry in catalogue.loaded:
        for case in entry.operation.cases("counted"):
            kernel = case.kernel
            if not kernel.peer:
                group = groups[entry.operation.name, kernel.backend, kernel.variant, case.dtype]
                group.append((str(case), entry.module))
    return list(groups.values())


def sources() -> str:
    """A digest of everything that kernels are compiled from."""
    digest = hashlib.sha256()
    for folder in ("kernels_cuda", "kernels_triton", "suite", "pytest_roofline"):
        for path in sorted(
            path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".cu", ".h", ".cuh", ".hpp")
        ):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()[:16]


class Reported(process.Recorder):
    """A recorder that loads each kernel and asks the driver, instead of reading the cubin."""

    def __init__(self, arch: str) -> None:
        super().__init__(arch)
        self.compilers: set[str] = set()

    def of_cuda(self, function: Any, threads: int, shared_bytes: int) -> dict[str, Any]:
        """Compile as a launch would, load through CuPy, and read the function's attributes."""
        import cupy
        from cupy.cuda import nvrtc

        from pytest_roofline.nvrtc import compile_kernel

        source = function.source
        arch = source.arch or self.arch
        compiled = compile_kernel(source.path, source.text, function.name, source.options, arch, source.fingerprint)
        kernel = cupy.RawModule(path=str(compiled.path)).get_function(compiled.symbol)
        binary = compiled.path.read_bytes()
        self.compilers.add(f"nvrtc {'.'.join(map(str, nvrtc.getVersion()))}, ptxas {assembler(binary)}")
        figures = (kernel.num_regs, kernel.local_size_bytes, kernel.shared_size_bytes + shared_bytes)
        return _figures(figures, binary, compiled.symbol)

    def of_triton(self, kernel: Any) -> dict[str, Any]:
        """What Triton learnt from the driver; of shared memory it tells the dynamic part, and the driver the static."""
        from cupy_backends.cuda.api import driver

        kernel = copy.copy(kernel)  # launchers launch again without asking Triton what they see loaded
        kernel._init_handles()
        static = driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel.function)
        self.compilers.add(triton_target.compiler())
        figures = (kernel.n_regs, 4 * kernel.n_spills, static + kernel.metadata.shared)
        return _figures(figures, kernel.asm["cubin"], kernel.metadata.name)


def _figures(figures: tuple[int, ...], binary: bytes, symbol: str) -> dict[str, Any]:
    code = hashlib.sha256(cubin.kernel(binary, symbol).code).hexdigest()[:16]
    return dict(zip(FIGURES, figures, strict=True)) | {"code": code}


_recorder: Reported | None = None


def _start() -> None:
    """Make this process one that reports."""
    global _recorder
    import cupy
    import torch

    torch.set_num_threads(1)
    torch.cuda.init()
    cupy.cuda.runtime.free(0)  # makes the context that modules are loaded into
    _recorder = Reported(f"sm_{cupy.cuda.Device().compute_capability}")
    triton_target.record(_recorder.triton)


def _report(cases: list[Named]) -> tuple[str, set[str], Kernels, dict[str, str]]:
    """Architecture, compilers, kernels and failures of some cases of one operation."""
    assert _recorder is not None
    found: Kernels = {}
    failed: dict[str, str] = {}
    for case, module in cases:
        try:
            chosen = load_operation(module).case(CaseId.parse(case))
            process.record(chosen, load_launcher(chosen.kernel.launcher), _recorder)
        except Exception as error:  # one kernel that cannot be compiled is told, the others go on
            if type(error).__name__ != "GpuNeeded":  # that is a copy between host and device: no kernel
                failed[case] = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
        found.update(_named(case, _recorder.kernels))
    return _recorder.arch, _recorder.compilers, found, failed


def _named(case: str, kernels: Kernels) -> Iterable[tuple[str, dict[str, Any]]]:
    operation = case.partition("/")[0]
    return ((f"{operation} {key}", kernel) for key, kernel in kernels.items())


def report(path: pathlib.Path, processes: int) -> None:
    """Write what the driver says about every kernel."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    groups, digest = wanted(), sources()
    # One case of each group first: what is left then has nearly nothing to compile.
    orders = [group[:1] for group in groups] + [group[1:] for group in groups if group[1:]]
    kernels: Kernels = {}
    failed: dict[str, str] = {}
    compilers: set[str] = set()
    saved = began = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(processes, _start) as pool:
        for done, answer in enumerate(pool.imap_unordered(_report, orders), 1):
            arch, names, found, problems = answer
            compilers |= names
            kernels |= found
            failed |= problems
            if done == len(orders) or time.monotonic() - saved > SAVE_EVERY:
                content = {"arch": arch, "compilers": sorted(compilers), "sources": digest}
                content |= {"kernels": kernels, "failed": failed}
                write_atomically(path, json.dumps(content, indent=1, sort_keys=True).encode())
                saved = time.monotonic()
                print(f"{done} of {len(orders)} orders, {len(kernels)} kernels, {saved - began:.0f} s", flush=True)
    for case, problem in sorted(failed.items()):
        print(f"{case}: {problem}")


def compiled_here(arch: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each kernel of the counted cases as it is compiled for ``arch``: its name, its figures, its compiler.

    Prints which case could not be compiled, and why.
    """
    compiler = Compiler(arch, [str(ROOT)])
    cases = list(itertools.chain.from_iterable(wanted()))
    for case, module in cases:
        compiler.ask(case, module)
    for case, _ in cases:
        answer = compiler.answer(case)
        if not answer.get("missing", True):
            print(f"{case}: {answer['error'].splitlines()[-1]}")
        for key, kernel in _named(case, answer.get("kernels", {})):
            figures = (kernel["registers"], kernel["stack"], kernel["shared"] + kernel["dynamic"])
            yield key, dict(zip(FIGURES, figures, strict=True)) | {"code": kernel["code"]}, kernel["compiler"]
    compiler.close()


def compare(path: pathlib.Path) -> int:
    """Compile the same kernels here and print where the figures differ; the exit code."""
    there = json.loads(path.read_text())
    here: Kernels = {}
    names: set[str] = set()
    for key, figures, name in compiled_here(there["arch"]):
        if here.setdefault(key, figures) != figures:
            sys.exit(f"two kernels are called {key}")
        names.add(name)
    print(f"there: {'; '.join(there['compilers'])}; sources {there['sources']}")
    print(f"here:  {'; '.join(sorted(names))}; sources {sources()}")
    lines, different = table(there["kernels"], here)
    print("\n".join(lines))
    return 1 if different else 0


def table(there: Kernels, here: Kernels) -> tuple[list[str], int]:
    """How many figures of how many kernels are equal, the kernels that one side alone has, and each difference."""
    both = sorted(set(there) & set(here))
    lines = [f"{len(both)} kernels on both sides, of {len(there)} there and {len(here)} here"]
    for language, chosen in _languages(both):
        equal = {name: sum(there[key][name] == here[key][name] for key in chosen) for name in (*FIGURES, "code")}
        lines.append(f"  {language}: {len(chosen)} kernels, equal: " + ", ".join(f"{n} {k}" for n, k in equal.items()))
    lines += [f"  there alone: {key}" for key in sorted(set(there) - set(here))]
    lines += [f"  here alone: {key}" for key in sorted(set(here) - set(there))]
    different = [key for key in both if any(there[key][name] != here[key][name] for name in FIGURES)]
    for key in different:
        lines += [f"  {key}", f"    there {there[key]}", f"    here  {here[key]}"]
    return lines, len(different)


def _languages(keys: list[str]) -> list[tuple[str, list[str]]]:
    cuda = [key for key in keys if ".cu:" in key]
    return [("CUDA C++", cuda), ("Triton", [key for key in keys if ".cu:" not in key])]


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("report", "compare"):
        sys.exit(__doc__)
    if sys.argv[1] == "compare":
        sys.exit(compare(pathlib.Path(sys.argv[2])))
    report(pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count() or 1)
