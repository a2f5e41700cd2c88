"""Run CUDA C++ kernels on a CPU: the same ``.cu`` file, every access checked and counted. See ``docs/cuda-on-cpu.md``.

::

    kernel = load(Path("transpose.cu")).function("transpose<float, 32>")
    with checking() as record:
        kernel((4, 4, 1), (32, 8, 1), (x, y, np.int32(128), np.int32(128)))
    print(record.launches[0].total("global load", "sectors"))
"""

from __future__ import annotations

from pathlib import Path

from pytest_roofline.counting.cuda_cpu.build import PUBLIC_INCLUDE
from pytest_roofline.counting.cuda_cpu.faults import CompilerMissing, CudaBuildError, CudaFault, FaultKind, Finding
from pytest_roofline.counting.cuda_cpu.module import Function, Module, load
from pytest_roofline.counting.cuda_cpu.records import LaunchRecord, LineCounts, OperationCounts
from pytest_roofline.counting.cuda_cpu.session import ORDERS, Session, checking


def include_directory() -> Path:
    """The folder of the headers for device code that also run here; NVRTC and nvcc need it as ``-I``."""
    return PUBLIC_INCLUDE


__all__ = [
    "ORDERS",
    "CompilerMissing",
    "CudaBuildError",
    "CudaFault",
    "FaultKind",
    "Finding",
    "Function",
    "LaunchRecord",
    "LineCounts",
    "Module",
    "OperationCounts",
    "Session",
    "checking",
    "include_directory",
    "load",
]
