"""A chain of additions of one by torch."""

import functools

import torch


def torch_stream(token: torch.Tensor, *, length: int) -> None:
    """``token += 1``, ``length`` times."""
    for _ in range(length):
        token.add_(1)


def torch_graph(token: torch.Tensor, *, length: int) -> None:
    """The same through ``torch.cuda.graph``, recorded by the first call on a token; on a CPU one by one."""
    if not token.is_cuda or not length:
        return torch_stream(token, length=length)
    _recorded(token, length).replay()


@functools.lru_cache(maxsize=8)  # a tensor is found by its identity, and kept: a graph holds its address
def _recorded(token: torch.Tensor, length: int) -> torch.cuda.CUDAGraph:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch_stream(token, length=length)
    return graph
