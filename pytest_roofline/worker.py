"""The one door through which cases run: ``run(CaseSpec) -> Evidence``, in this process or in one of its own.

Nothing else checks, times or counts. Both sides are plain data, so a spawned worker is ``python -m
pytest_roofline.worker`` with a spec on standard input and evidence on standard output. A kernel that crashes or hangs
takes a spawned worker down, never pytest; a GPU context lost in this process sends every later case to a fresh one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace

from pytest_roofline.contract import Case
from pytest_roofline.discovery import load_operation
from pytest_roofline.evidence import CaseSpec, Evidence, Outcome, from_plain, to_plain
from pytest_roofline.ids import CaseId

_MARK = "pytest-roofline evidence: "
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
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([*spec.roots, *filter(None, sys.path)]))
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_roofline.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(json.dumps(to_plain(spec)), timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Evidence(spec.case, Outcome.HUNG, f"the case did not end within {timeout:g} s and was killed")
    except BaseException:  # Ctrl-C does not reach a process of another session
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    for line in reversed(out.splitlines()):
        if line.startswith(_MARK):
            return from_plain(Evidence, json.loads(line[len(_MARK) :]))
    how = f"exit code {process.returncode}"
    if process.returncode < 0:
        how = f"signal {signal.Signals(-process.returncode).name}"
    return Evidence(spec.case, Outcome.CRASHED, f"the process that ran the case died ({how}):\n{err[-2000:].strip()}")


def _load_case(spec: CaseSpec) -> Case:
    for root in reversed(spec.roots):
        if root not in sys.path:
            sys.path.insert(0, root)
    return load_operation(spec.module).case(CaseId.parse(spec.case))


def _run(case: Case, spec: CaseSpec) -> Evidence:
    from pytest_roofline.checking.check import WrongResultError, check

    launcher = _ready(case, spec.device)
    try:
        with _one_thread() if spec.device == "cpu" else contextlib.nullcontext():
            if spec.count:
                return _count(case, launcher, spec)
            worst = check(case, launcher, spec.device, spec.values, spec.seed)
        if spec.profile:
            _profile(case, launcher, spec)
        if spec.time and case.kernel.rejection(case.shape, case.dtype) is None:
            from pytest_roofline.timing.timed_case import time_case

            return replace(time_case(case, launcher, spec), worst=worst)
    except WrongResultError as problem:
        return Evidence(spec.case, Outcome.WRONG, str(problem))
    return Evidence(spec.case, Outcome.OK, worst=worst)


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

    backend = case.kernel.backend
    if device == "cpu" and backend == "triton":
        _enable_interpreter()
    if device == "cpu" and backend == "cupy":
        raise UnavailableError("CuPy arrays live on a GPU")
    return load_launcher(case.kernel.launcher)


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
    if kinds & {"KernelFault", "CudaFault"}:
        return Evidence(spec.case, Outcome.FAULT, str(error))
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
    """Entry of a spawned worker."""
    spec = from_plain(CaseSpec, json.loads(sys.stdin.read()))
    print(_MARK + json.dumps(to_plain(run(spec))), flush=True)
    close()
    return 0


def close() -> None:
    """Give back what runs in this process have taken from a GPU; nothing where nothing was timed."""
    if "pytest_roofline.timing" in sys.modules:
        sys.modules["pytest_roofline.timing"].close_sessions()


if __name__ == "__main__":
    sys.exit(main())
