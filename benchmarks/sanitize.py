"""compute-sanitizer over one launch of every CUDA kernel, on the GPU at hand.

    python benchmarks/sanitize.py                  # memcheck, racecheck, initcheck and synccheck
    python benchmarks/sanitize.py memcheck sum     # one tool, one operation

Every kernel in CUDA C++ runs once in each dtype on each of its counted shapes, whose tails and misalignments are those
of the drawn ones. Dense tensors are allocations of their own of exactly their size, so that memcheck sees a read one
element past the end, which guard zones would hide. The pass is shared out over processes; each prints what it ran, and
the sanitizer's own report follows where it found something. Exits with 1 then.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
FOUND = 99  # exit code by which compute-sanitizer says that there were errors
# The caching allocator would hand out pieces of large blocks, whose neighbours the sanitizer allows.
SETTINGS = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "CUPY_CACHE_IN_MEMORY": "0"}


def main(arguments: list[str]) -> int:
    """Run the tools one after another, each in as many processes as there are cores."""
    if arguments[:1] == ["--share"]:
        run_share(int(arguments[1]), int(arguments[2]), arguments[3:])
        return 0
    if shutil.which("compute-sanitizer") is None:
        print("compute-sanitizer is not on PATH; it comes with the CUDA toolkit", file=sys.stderr)
        return 2
    tools = [a for a in arguments if a in TOOLS] or list(TOOLS)
    operations = [a for a in arguments if a not in TOOLS]
    shares = min(16, os.cpu_count() or 1)
    print("warming the compile cache", flush=True)
    failed = any([run_tool(None, shares, operations), *(run_tool(tool, shares, operations) for tool in tools)])
    return int(failed)


def run_tool(tool: str | None, shares: int, operations: list[str]) -> bool:
    """Whether a process failed or the sanitizer found something; ``None`` runs the kernels without one."""
    sanitizer = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(FOUND)] if tool else []
    with tempfile.TemporaryDirectory() as folder:
        logs = [pathlib.Path(folder, f"{share}.log") for share in range(shares)]
        running = []
        for share, log in enumerate(logs):
            command = [*sanitizer, sys.executable, __file__, "--share", str(share), str(shares), *operations]
            with log.open("w", encoding="utf-8") as sink:
                running.append(
                    subprocess.Popen(command, stdout=sink, stderr=subprocess.STDOUT, env={**os.environ, **SETTINGS})
                )
        codes = [process.wait() for process in running]
        texts = [log.read_text(encoding="utf-8", errors="replace") for log in logs]
    launched = sum(text.count("\nran ") + text.startswith("ran ") for text in texts)
    failed = [(code, text) for code, text in zip(codes, texts, strict=True) if code]
    for code, text in failed:
        print(f"exit {code}:\n{text[-6000:]}")
    print(f"{tool or 'no tool'}: {launched} cases, {len(failed)} of {shares} processes with findings", flush=True)
    return bool(failed)


def run_share(share: int, shares: int, operations: list[str]) -> None:
    """Run every ``shares``-th case once; what a launcher refuses on this device is said and passed over."""
    import torch

    from pytest_roofline.checking.check import load_launcher, prepare
    from pytest_roofline.discovery import discover

    catalogue = discover(ROOT, ["suite/operations"])
    cases = [case for case in catalogue.counted() if case.kernel.backend == "cuda" and case.shape.size]
    wanted = [case for case in cases if not operations or case.operation.name in operations]
    for case in wanted[share::shares]:
        prepared = prepare(case, load_launcher(case.kernel.launcher), "cuda", "random", 0)
        views = [alone(buffer.view) for buffer in prepared.buffers]
        scratch = {buffer.name: alone(buffer.view) for buffer in prepared.scratch}
        print(f"at {case}", flush=True)
        try:
            prepared.launcher(*views, **case.scalars, **case.kernel.options, **scratch)
        except ValueError as refused:
            print(f"refused: {refused}", flush=True)
            continue
        torch.cuda.synchronize()
        print(f"ran {case}", flush=True)


def alone(view):  # type: ignore[no-untyped-def]  # a torch tensor; torch is loaded in the children only
    """A dense tensor at an aligned address as an allocation of its own; a strided or shifted one stays in its arena."""
    dense = view.is_cuda and view.is_contiguous() and view.data_ptr() % 256 == 0
    return view.clone() if dense else view


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
