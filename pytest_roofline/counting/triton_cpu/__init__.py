"""Triton kernels on a CPU: the interpreter, repaired, with every load, store and atomic checked.

Importing this package does not import Triton; :func:`enable` does. It must come before the first kernel is defined,
with ``TRITON_INTERPRET=1`` set before Triton's import.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from pytest_roofline.counting.triton_cpu.counts import LaunchRecord, Traffic
from pytest_roofline.counting.triton_cpu.findings import Finding, KernelFault

if TYPE_CHECKING:
    from pytest_roofline.counting.triton_cpu.checker import Report

__all__ = ["Finding", "InterpreterUnavailable", "KernelFault", "LaunchRecord", "Traffic", "checking", "enable"]


class InterpreterUnavailable(RuntimeError):  # noqa: N818  (a state of the installation)
    """Triton's interpreter cannot be used; the message says what to do."""


class _State:
    enabled = False
    failure: str | None = None


def enable() -> None:
    """Repair the interpreter, hook the checker in, and see it catch planted bugs. Does nothing the second time.

    Raises :class:`InterpreterUnavailable` when Triton was imported to compile, or has an interpreter that the checker
    does not know (it would check nothing, and say so to nobody); ``ModuleNotFoundError`` without Triton or torch.
    """
    if _State.enabled:
        return
    if _State.failure is not None:
        raise InterpreterUnavailable(_State.failure)
    import triton

    if type(triton.language.sum).__name__ != "InterpretedFunction" or not triton.knobs.runtime.interpret:
        raise InterpreterUnavailable(
            "Triton was imported to compile for a GPU: set TRITON_INTERPRET=1 before the first import of triton "
            "(TRITON_INTERPRET=1 pytest ...)"
        )
    try:
        from pytest_roofline.counting.triton_cpu import checker, repairs, selftest, tuning

        repairs.install()
        checker.install()
        tuning.install()
        selftest.run()
    except ModuleNotFoundError as error:
        if error.name in ("torch", "numpy"):
            raise
        _fail(triton.__version__, error)
    except Exception as error:  # whatever an unknown interpreter makes of the hooks
        _fail(triton.__version__, error)
    _State.enabled = True


def checking(*, races: bool = True, counts: bool = False) -> AbstractContextManager[Report]:
    """Check every launch of an interpreted kernel inside the context; a fault is raised at the kernel's line.

    The context yields a report whose ``launches`` lists a :class:`LaunchRecord` per launch; ``counts=True`` also counts
    its memory traffic. ``races=False`` leaves out everything about order (races between programs, several lanes
    storing one element, missing barriers), for kernels that write the same value from several on purpose.
    Faults are subclasses of :class:`KernelFault`. Raises ``RuntimeError`` before :func:`enable`.
    """
    if not _State.enabled:
        raise RuntimeError("call pytest_roofline.counting.triton_cpu.enable() before checking()")
    from pytest_roofline.counting.triton_cpu import checker

    return checker.checking(races=races, counts=counts)


def _fail(version: str, error: Exception) -> None:
    _State.failure = (
        f"the checker does not know the interpreter of Triton {version} ({type(error).__name__}: {error}): "
        "use a version between 3.4 and 3.9, or report this one"
    )
    raise InterpreterUnavailable(_State.failure) from error
