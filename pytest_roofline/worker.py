"""The one door through which cases run: ``run(CaseSpec) -> Evidence``, in this process or in one of its own.

Nothing else checks, times or counts. Both sides are plain data, so a spawned worker is ``python -m
pytest_roofline.worker`` with specs on standard input and evidence on standard output. A kernel that crashes or hangs
takes a spawned worker down, never pytest; a GPU context lost in this process sends every later case to a fresh one.
"""

from __future__ import annotations

import contextlib
import json
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_roofline.capability import lacking
from pytest_roofline.contract import Case
from pytest_roofline.discovery import load_operation
from pytest_roofline.evidence import CaseSpec, Evidence, Outcome, from_plain, to_plain
from pytest_roofline.ids import CaseId
from pytest_roofline.processes import MARK, Batch

_GPU_PACKAGES = ("torch", "triton", "cupy")  # a kernel may need them; where one is missing, that is a reason to skip
_state = {"context_lost": False}


class UnavailableError(Exception):
    """This machine cannot run the kernel; the message is the reason of a skip."""


def run(spec: CaseSpec) -> Evidence:
    """Run one case in this process; every failure of the kernel comes back as evidence, none is raised."""
    if _state["context_lost"]:
        return run_spawned(spec)
    case: Case | None = None
    try:
        case = _load_case(spec)
        return _run(case, spec)
    except UnavailableError as reason:
        return Evidence(spec.case, Outcome.UNAVAILABLE, str(reason))
    except ModuleNotFoundError as error:
        if error.name in _GPU_PACKAGES:
            return Evidence(
                spec.case, Outcome.UNAVAILABLE, f"{error.name} is not installed: {_how_to_install(error.name)}"
            )
        return _failure(spec, error)
    except Exception as error:
        return _failure(spec, error)


def run_spawned(spec: CaseSpec, timeout: float = 300.0) -> Evidence:
    """Run one case in a fresh process, killed with its children after ``timeout`` seconds."""
    with Batch([spec]) as batch:
        return batch.next(spec, timeout)


def run_together(
    specs: Sequence[CaseSpec], timeout: float = 300.0, environment: Mapping[str, str] | None = None
) -> Iterator[Evidence]:
    """Run cases one after the other in one fresh process; each one's evidence comes as soon as it is there.

    A case that kills the process or takes longer than ``timeout`` seconds is ``CRASHED`` or ``HUNG``, and the cases
    after it run in another process. ``environment`` adds to this process's.
    """
    left = list(specs)
    while left:
        with Batch(left, environment) as batch:
            for spec in list(left):
                evidence = batch.next(spec, timeout)
                left.remove(spec)
                yield evidence
                if evidence.outcome in (Outcome.CRASHED, Outcome.HUNG):
                    break


def _load_case(spec: CaseSpec) -> Case:
    for root in reversed(spec.roots):
        if root not in sys.path:
            sys.path.insert(0, root)
    return load_operation(spec.module).case(CaseId.parse(spec.case))


def _run(case: Case, spec: CaseSpec) -> Evidence:
    from pytest_roofline.checking.check import WrongResultError, check

    if spec.count and (case.kernel.capability or spec.compile_only):
        return _uncounted(case, spec)
    launcher = _ready(case, spec.device)
    try:
        with _one_thread() if spec.device == "cpu" else contextlib.nullcontext():
            if spec.count:
                return _count(*((case, launcher) if not spec.against else _old(case, spec)), spec)
            if spec.against:
                from pytest_roofline.timing.paired_case import time_pair

                return time_pair(case, launcher, spec)
            worst = check(case, launcher, spec.device, spec.values, spec.seed, spec.patience)
        if spec.profile:
            _profile(case, launcher, spec)
        if spec.time and case.kernel.rejection(case.shape, case.dtype) is None:
            from pytest_roofline.timing.timed_case import time_case

            return replace(time_case(case, launcher, spec), worst=worst)
    except WrongResultError as problem:
        return Evidence(spec.case, Outcome.WRONG, str(problem))
    return Evidence(spec.case, Outcome.OK, worst=worst)


def _uncounted(case: Case, spec: CaseSpec) -> Evidence:
    """Of what no CPU has a model of, or the time for, nothing is counted; what it compiles to is."""
    from pytest_roofline.counting.counts import CaseCounts
    from pytest_roofline.counting.counts import to_plain as plain

    if spec.against:
        _old(case, spec)  # there may be none
    return Evidence(spec.case, Outcome.OK, counts=plain(CaseCounts(uncounted=True), places=True))


def _old(case: Case, spec: CaseSpec) -> tuple[Case, Callable[..., None]]:
    from pytest_roofline.against.kernels import old_kernel

    return old_kernel(case, spec.module, spec.against)


def _count(case: Case, launcher: Callable[..., None], spec: CaseSpec) -> Evidence:
    from pytest_roofline.counting.counted_case import count
    from pytest_roofline.counting.counts import to_plain as plain

    counted = count(case, launcher, spec.values, spec.seed)
    return Evidence(spec.case, Outcome.OK, counts=plain(counted, places=True))


def _profile(case: Case, launcher: Callable[..., None], spec: CaseSpec) -> None:
    from pytest_roofline.checking.check import prepare
    from pytest_roofline.counters.target import profile_once

    profile_once(prepare(case, launcher, spec.device, spec.values, spec.seed))


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Tensors of a check are small: torch's pool of threads costs more than it computes, on a busy machine tenfold."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _ready(case: Case, device: str) -> Callable[..., None]:
    """The case's launcher, with whatever its backend needs on this device switched on."""
    from pytest_roofline.checking.check import load_launcher

    missing = lacking(case.kernel.capability, _compute_capability(device) if case.kernel.capability else None)
    if missing:
        raise UnavailableError(missing)
    backend = case.kernel.backend
    if device == "cpu" and backend == "triton":
        _enable_interpreter()
    if device == "cpu" and backend == "cupy":
        raise UnavailableError("CuPy arrays live on a GPU")
    return load_launcher(case.kernel.launcher)


def _compute_capability(device: str) -> tuple[int, int] | None:
    if device == "cpu":
        return None
    import torch

    return torch.cuda.get_device_capability()


def _enable_interpreter() -> None:
    from pytest_roofline.counting import triton_cpu

    try:
        triton_cpu.enable()
    except triton_cpu.InterpreterUnavailable as error:
        raise UnavailableError(str(error)) from error


def _how_to_install(package: str) -> str:
    return f"pip install 'pytest-roofline[cuda13]' brings {package} (cuda12 for older drivers)"


def _failure(spec: CaseSpec, error: Exception) -> Evidence:
    """Sort an exception: a checker's finding, an unavailable machine, a lost GPU context, or a plain error."""
    kinds = {cls.__name__ for cls in type(error).__mro__}  # by name: their modules are only loaded where they are used
    if kinds & {"CompilerMissing", "GpuNeeded"}:
        return Evidence(spec.case, Outcome.UNAVAILABLE, str(error))
    if "NoOldKernel" in kinds:
        return Evidence(spec.case, Outcome.INVALID, str(error), reason="no_old_kernel")
    if kinds & {"KernelFault", "CudaFault"}:
        return Evidence(spec.case, Outcome.FAULT, str(error), timed_out=getattr(error, "timed_out", False))
    if spec.device != "cpu" and _context_is_lost():
        _state["context_lost"] = True
        return Evidence(spec.case, Outcome.CRASHED, f"the kernel broke the GPU context: {error}")
    return Evidence(spec.case, Outcome.ERROR, "".join(traceback.format_exception(error)).rstrip())


def _context_is_lost() -> bool:
    import torch

    if not torch.cuda.is_available():
        return False
    try:
        torch.cuda.synchronize()
    except Exception:  # torch raises AcceleratorError or RuntimeError, depending on its version
        return True
    return False


def main() -> int:
    """Entry of a spawned worker: a list of orders."""
    for order in json.loads(sys.stdin.read()):
        print(MARK + json.dumps(to_plain(run(from_plain(CaseSpec, order)))), flush=True)
    close()
    return 0


def free_memory() -> None:
    """Give the GPU's memory to other processes. Nothing can be timed in this process after that without a new start."""
    close()
    if "torch" in sys.modules and sys.modules["torch"].cuda.is_available():
        sys.modules["torch"].cuda.empty_cache()


def close() -> None:
    """Give back what runs in this process have taken from a GPU; nothing where nothing was timed."""
    if "pytest_roofline.timing" in sys.modules:
        sys.modules["pytest_roofline.timing"].close_sessions()


if __name__ == "__main__":
    sys.exit(main())
