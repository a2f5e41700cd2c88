"""The process that compiles: it runs launchers on tensors without memory, records what they launch, and compiles that.

``python -m pytest_roofline.counting.compiled.process ARCH`` reads one order per line from standard input, a JSON object
with ``case``, ``module``, ``roots`` and ``gpu`` (whether launchers see a GPU of that architecture, or the CPU that
counts), and answers each with a line of its own. It is a process of its own because Triton either interprets or
compiles, and a session without a GPU interprets. Kernels are compiled, never executed.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_roofline.against.kernels import old_kernel
from pytest_roofline.checking.check import load_launcher
from pytest_roofline.counting.compiled import cuda, triton_target
from pytest_roofline.counting.compiled.resources import Resources, assembler, resources, to_plain
from pytest_roofline.discovery import load_operation
from pytest_roofline.ids import CaseId

if TYPE_CHECKING:
    from pytest_roofline.contract import Case

Places = dict[str, tuple[str, int]]
MARK = "pytest-roofline compiled: "


class Recorder:
    """What one launcher launches: keys in order, the resources behind each, and the operations it asked torch for."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self.known: dict[tuple[Any, ...], tuple[str, dict[str, Any]]] = {}
        self.launches: list[str] = []
        self.kernels: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []
        self.asked_at: list[tuple[str, int]] = []

    def start(self) -> None:
        """Forget the last launcher."""
        self.launches, self.kernels, self.calls, self.asked_at = [], {}, [], []

    def note(self, key: str, found: dict[str, Any]) -> None:
        """One launch."""
        self.launches.append(key)
        self.kernels[key] = found

    def cuda(self, function: Any, grid: Any, block: Any, shared_bytes: int) -> None:
        """A launch of a CUDA kernel."""
        threads = block[0] * block[1] * block[2]
        identity = (function.source.path, function.source.options, function.name, threads, shared_bytes)
        if identity not in self.known:
            key = cuda_key(function, block, shared_bytes)
            self.known[identity] = key, self.of_cuda(function, threads, shared_bytes)
        self.note(*self.known[identity])

    def triton(self, kernel: Any, key: str) -> None:
        """A launch of a Triton kernel."""
        identity = (kernel.hash, key)
        if identity not in self.known:
            self.known[identity] = key, self.of_triton(kernel)
        self.note(*self.known[identity])

    def of_cuda(self, function: Any, threads: int, shared_bytes: int) -> dict[str, Any]:
        """The figures of a CUDA kernel in blocks of ``threads`` with ``shared_bytes`` of dynamic shared memory."""
        source = function.source
        arch = source.arch or self.arch
        program = cuda.compile_kernel(source.path, source.text, function.name, source.options, arch, source.fingerprint)
        compiler = f"{program.compiler}, ptxas {assembler(program.binary)}"
        found = resources(program.binary, program.symbol, arch, compiler, threads, shared_bytes, program.spills)
        return _plain(found, {"": (str(source.path), _line_of(source.text, function.name))})

    def of_triton(self, kernel: Any) -> dict[str, Any]:
        """The figures of a Triton kernel. It asks the driver for its shared memory with each launch: to the cubin all
        of it is dynamic."""
        binary, metadata = kernel.asm["cubin"], kernel.metadata
        threads = metadata.num_warps * 32
        found = resources(binary, metadata.name, self.arch, triton_target.compiler(), threads, metadata.shared)
        return _plain(found, triton_target.places(kernel))


def cuda_key(function: Any, block: Any, shared_bytes: int) -> str:
    """Name and specialisation of a CUDA kernel: ``sum.cu:sum_blocks<float> threads=256``."""
    options = "".join(f" {option}" for option in function.source.options)
    dynamic = f" dynamic={shared_bytes}" if shared_bytes else ""
    return f"{function}{options} threads={block[0] * block[1] * block[2]}{dynamic}"


def _plain(found: Resources, places: Places) -> dict[str, Any]:
    return {
        "arch": found.arch,
        "compiler": found.compiler,
        **to_plain(found),
        "places": {kind: list(at) for kind, at in places.items()},
    }


def _line_of(text: str, name: str) -> int:
    """Where a kernel begins in its source."""
    match = re.search(rf"\b{re.escape(name.split('<')[0])}\s*\(", text)
    return text.count("\n", 0, match.start()) + 1 if match else 1


def record(case: Case, launcher: Callable[..., None], recorder: Recorder, *, gpu: bool = False) -> None:
    """Run the case's launcher and note what it launches on the CPU, or on a ``gpu`` of the recorder's architecture (of
    the one that the kernel needs, if that is another). Raises what the launcher or a compiler raises.

    A launcher that asks the GPU's driver for more than launches, a graph or a copy, does what it does on a CPU.
    """
    from pytest_roofline.counting.compiled import stand_ins

    if gpu:
        try:
            with stand_ins.gpus(recorder.arch, case.kernel.capability or recorder.arch):
                return _record(stand_ins.call(case, launcher, 1 if case.kernel.capability else 0), recorder)
        except Exception as error:
            if not _needs_gpu(error):
                raise
    return _record(stand_ins.call(case, launcher, None), recorder)


def _record(launch: Callable[[], None], recorder: Recorder) -> None:
    from pytest_roofline.launch import recording

    recorder.start()
    with recording(recorder.cuda), _torch_calls(recorder):
        launch()


def _needs_gpu(error: Exception) -> bool:
    """By name, because these modules are only loaded where kernels are launched."""
    lacks_cupy = isinstance(error, ModuleNotFoundError) and error.name == "cupy"
    return lacks_cupy or type(error).__name__ == "GpuNeeded" or type(error).__module__.startswith("cupy")


@contextmanager
def _torch_calls(recorder: Recorder) -> Iterator[None]:
    """Note the operations of torch that a GPU would have to launch: all but views and allocations."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Noting(TorchDispatchMode):  # type: ignore[no-untyped-call, unused-ignore]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """Torch would import its compiler, seconds of it, only to keep it away from here."""
            return False

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not (func.is_view or "empty" in func.name()):
                recorder.calls.append(func.name())
                recorder.asked_at.append(_caller())
            return func(*args, **(kwargs or {}))

    with Noting():  # type: ignore[no-untyped-call, unused-ignore]
        yield


def _caller() -> tuple[str, int]:
    """The line that asks torch for what is being dispatched: the innermost outside torch and this module."""
    own = (__file__, os.path.dirname(import_module("torch").__file__ or "") + os.sep)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def answer(order: dict[str, Any], recorder: Recorder) -> dict[str, Any]:
    """What is told about one case; a failure comes back as ``error``."""
    for root in reversed(order["roots"]):
        if root not in sys.path:
            sys.path.insert(0, root)
    reply: dict[str, Any] = {"case": order["case"], "arch": recorder.arch}
    try:
        case = load_operation(order["module"]).case(CaseId.parse(order["case"]))
        if order.get("against"):
            case, launcher = old_kernel(case, order["module"], order["against"])
        else:
            launcher = load_launcher(case.kernel.launcher)
        record(case, launcher, recorder, gpu=order.get("gpu", False))
    except Exception as error:
        missing = isinstance(error, cuda.CompilerMissing | ModuleNotFoundError) or _needs_gpu(error)
        detail = str(error) if missing else "".join(traceback.format_exception(error)).rstrip()
        return {**reply, "error": detail, "missing": missing}
    return {
        **reply,
        "launches": recorder.launches,
        "calls": recorder.calls,
        "asked_at": recorder.asked_at,
        "kernels": recorder.kernels,
    }


def main(arch: str) -> int:
    """Answer orders until standard input ends."""
    os.environ.pop("TRITON_INTERPRET", None)
    recorder = Recorder(arch)
    _install_triton(arch, recorder)
    for line in sys.stdin:
        print(MARK + json.dumps(answer(json.loads(line), recorder)), flush=True)
    return 0


def _install_triton(arch: str, recorder: Recorder) -> None:
    with suppress(ModuleNotFoundError):  # launchers of its kernels say so themselves, one by one
        triton_target.install(arch, recorder.triton)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
