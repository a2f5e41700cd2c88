"""Triton kernels on a CPU: the interpreter, repaired, with every load, store and atomic checked.

Importing this package does not import Triton; :func:`enable` does. It must come before the first kernel is defined,
with ``TRITON_INTERPRET=1`` set before Triton's import.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from pytest_roofline.counting.triton_cpu.findings import Finding, KernelFault

__all__ = ["Finding", "InterpreterUnavailable", "KernelFault", "checking", "enable"]


class InterpreterUnavailable(RuntimeError):  # noqa: N818  (a state of the installation)
    """Triton's interpreter cannot be used; the message says what to do."""


_enabled = False


def enable() -> None:
    """Repair the interpreter, hook the checker in, and see it catch a planted bug. Does nothing the second time.

    Raises :class:`InterpreterUnavailable` when Triton was imported for a GPU, or has an interpreter that the checker
    does not know (it would check nothing, and say so to nobody).
    """
    global _enabled
    if _enabled:
        return
    import triton

    if not triton.knobs.runtime.interpret:
        raise InterpreterUnavailable(
            "Triton was imported to compile for a GPU: set TRITON_INTERPRET=1 before the first import of triton"
        )
    from pytest_roofline.counting.triton_cpu import checker, repairs, selftest

    try:
        repairs.install()
        checker.install()
        selftest.run()
    except (AttributeError, TypeError, AssertionError) as error:
        raise InterpreterUnavailable(
            f"the checker does not know the interpreter of Triton {triton.__version__} ({error}): "
            "use a version between 3.4 and 3.7, or report this one"
        ) from error
    _enabled = True


def checking(*, races: bool = True) -> AbstractContextManager[None]:
    """Check every launch of an interpreted kernel inside the context; a fault is raised at the kernel's line.

    ``races=False`` leaves out races between programs, for kernels that write the same value from several on purpose.
    Raises ``RuntimeError`` before :func:`enable`.
    """
    if not _enabled:
        raise RuntimeError("call triton_cpu.enable() first")
    from pytest_roofline.counting.triton_cpu import checker

    return checker.checking(races=races)
