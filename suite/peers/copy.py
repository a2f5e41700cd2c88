"""A copy by torch, by CuPy and by CUDA's runtime.

All three are ``cudaMemcpyAsync``, which a captured graph holds as a memcpy node: on an H200 2.69 TB/s read and written,
where the same call on a stream reaches 4.2. What is timed is the node (docs/timing.md).
"""

import torch

from pytest_roofline.streams import on_torch_stream
from suite.peers.cupy_memory import cupy_on_torch


def torch_copy(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x``; torch hands dense copies of one dtype to ``cudaMemcpyAsync``."""
    y.copy_(x)


def cupy_copy(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x`` by ``cupy.copyto``."""
    with cupy_on_torch(y) as cupy:
        cupy.copyto(cupy.asarray(y), cupy.asarray(x))


def memcpy(x: torch.Tensor, y: torch.Tensor) -> None:
    """``y = x`` by ``cudaMemcpyAsync``, device to device."""
    with on_torch_stream(y.device) as cupy:
        runtime = cupy.cuda.runtime
        stream = torch.cuda.current_stream(y.device).cuda_stream
        runtime.memcpyAsync(y.data_ptr(), x.data_ptr(), y.nbytes, runtime.memcpyDeviceToDevice, stream)
