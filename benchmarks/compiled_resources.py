"""Registers and shared memory: what a GPU's driver reports of each kernel, and what is compiled without one.

    python benchmarks/compiled_resources.py report OUT.json      # on the GPU, through CuPy and Triton
    python benchmarks/compiled_resources.py compare OUT.json     # anywhere, with pytest-roofline[compiled]

Both walk over the counted cases and compile what their launchers launch; ``compare`` compiles for the GPU's
architecture and prints a table. Equal figures need equal compilers, so each side's are printed.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.checking.check import load_launcher  # noqa: E402
from pytest_roofline.counting.compiled import process, triton_target  # noqa: E402
from pytest_roofline.counting.compiled.client import Compiler  # noqa: E402
from pytest_roofline.discovery import LoadedOperation, discover  # noqa: E402

FIGURES = ("registers", "local", "shared")


def wanted() -> list[tuple[str, LoadedOperation]]:
    """Every counted case of a kernel of ours, with its operation."""
    catalogue = discover(ROOT, ["suite/operations"])
    return [
        (str(case), entry)
        for entry in catalogue.loaded
        for case in entry.operation.cases("counted")
        if not case.kernel.peer
    ]


class Reported(process.Recorder):
    """A recorder that asks the driver instead of reading the cubin."""

    def cuda(self, function: Any, grid: Any, block: Any, shared_bytes: int) -> None:
        """Compile as a launch would, load, and read the function's attributes."""
        import cupy

        from pytest_roofline.nvrtc import compile_kernel

        source = function.source
        key = process.cuda_key(function, block, shared_bytes)
        if key not in self.kernels:
            compiled = compile_kernel(
                source.path, source.text, function.name, source.options, self.arch, source.fingerprint
            )
            kernel = cupy.RawModule(path=str(compiled.path)).get_function(compiled.symbol)
            self.kernels[key] = dict(
                zip(FIGURES, (kernel.num_regs, kernel.local_size_bytes, kernel.shared_size_bytes), strict=True)
            )

    def triton(self, kernel: Any, key: str) -> None:
        """What Triton learnt from the driver."""
        if key not in self.kernels:
            kernel._init_handles()
            figures = (kernel.n_regs, 4 * kernel.n_spills, kernel.metadata.shared)
            self.kernels[key] = dict(zip(FIGURES, figures, strict=True))


def report(path: pathlib.Path) -> None:
    """Write what the driver says about every kernel."""
    import cupy
    import triton
    from cupy.cuda import nvrtc
    from triton.runtime.jit import JITFunction

    recorder = Reported(f"sm_{cupy.cuda.Device().compute_capability}")
    original = JITFunction.run

    def run(self: Any, *arguments: Any, grid: Any, warmup: bool, **keywords: Any) -> Any:
        kernel = original(self, *arguments, grid=grid, warmup=True, **keywords)
        recorder.triton(kernel, triton_target.key(kernel))
        return kernel

    JITFunction.run = run
    found: dict[str, Any] = {}
    recorder.start = lambda: None  # keeps every kernel
    for case, entry in wanted():
        before = set(recorder.kernels)
        try:
            chosen = entry.operation.case(process.CaseId.parse(case))
            process.record(chosen, load_launcher(chosen.kernel.launcher), recorder)
        except Exception as error:  # one kernel that cannot be compiled is told, the others go on
            print(f"{case}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        for key in set(recorder.kernels) - before:
            found[f"{entry.operation.name} {key}"] = recorder.kernels[key]
    compilers = f"NVRTC {'.'.join(map(str, nvrtc.getVersion()))}, Triton {triton.__version__}"
    path.write_text(json.dumps({"arch": recorder.arch, "compilers": compilers, "kernels": found}, indent=1))
    print(f"{len(found)} kernels in {path}: {compilers}")


def compare(path: pathlib.Path) -> None:
    """Compile the same kernels here and print where the figures differ."""
    there = json.loads(path.read_text())
    compiler = Compiler(there["arch"], [str(ROOT)])
    cases = wanted()
    for case, entry in cases:
        compiler.ask(case, entry.module)
    here: dict[str, Any] = {}
    names: set[str] = set()
    for case, entry in cases:
        for key, kernel in compiler.answer(case).get("kernels", {}).items():
            names.add(kernel["compiler"])
            figures = (kernel["registers"], kernel["stack"], kernel["shared"] + triton_shared(key, kernel))
            here[f"{entry.operation.name} {key}"] = dict(zip(FIGURES, figures, strict=True))
    compiler.close()
    both = sorted(set(here) & set(there["kernels"]))
    different = [key for key in both if here[key] != there["kernels"][key]]
    print(f"there: {there['compilers']}; here: {'; '.join(sorted(names))}")
    print(f"{len(both)} kernels on both sides of {len(there['kernels'])} and {len(here)}; {len(different)} differ")
    for key in different:
        print(f"  {key}\n    there {there['kernels'][key]}\n    here  {here[key]}")


def triton_shared(key: str, kernel: Any) -> int:
    """Triton's shared memory, all of which is dynamic; the driver's figure for CUDA C++ is the static part."""
    return int(kernel["dynamic"]) if " warps=" in key else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("report", "compare"):
        sys.exit(__doc__)
    (report if sys.argv[1] == "report" else compare)(pathlib.Path(sys.argv[2]))
