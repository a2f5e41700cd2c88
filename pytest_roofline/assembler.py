"""One assembler for all Triton kernels that a run times.

``torch.compile`` points Triton at the ``ptxas`` that torch ships as soon as it compiles something, for the rest of the
process. Kernels compiled before a peer of that kind and after it would then come from two assemblers: other machine
code of the same source, and which of the two a stored time is of would depend on which tests ran before it.
"""

from __future__ import annotations

import importlib
import os

VARIABLE = "TRITON_PTXAS_PATH"  # what Triton reads each time it compiles; processes started later inherit it


def settle() -> None:
    """Choose now what ``torch.compile`` would choose later, which imports its first modules. A choice of the user's
    stands; without torch, or where it ships no assembler, Triton's own is the only one."""
    if VARIABLE in os.environ:
        return
    try:
        tasks = importlib.import_module("torch._inductor.runtime.compile_tasks")
    except ImportError:
        return
    # Not public, but torch itself calls it by this name; where a release does not have it, all is as without us.
    choose = getattr(tasks, "_set_triton_ptxas_path", None)
    if choose is not None:
        choose()
