"""Capture launches into a CUDA graph such that a launcher that may not be captured does no harm."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from pytest_roofline.timing.errors import AllocatedWhileTimed, NotCapturable

Call = Callable[[], object]


class Graph(Protocol):
    """Captured work. ``replay`` enqueues it on torch's current stream."""

    def replay(self) -> None: ...


def capture(calls: Sequence[Call], launches: int, *, may_allocate: bool = False) -> Graph:
    """A CUDA graph of ``launches`` launches, rotating over ``calls``.

    Raises :class:`NotCapturable` when a launcher synchronises or otherwise cannot be captured, and
    :class:`AllocatedWhileTimed` when it allocates GPU memory although it must not. The context stays usable.
    """
    import torch

    def launch() -> int:
        with _counting_allocations() as allocations:
            for i in range(launches):
                calls[i % len(calls)]()
        return allocations()

    torch.cuda.synchronize()
    try:
        with torch.cuda.stream(_side_stream(torch.cuda.current_device())):
            graph, allocated = _through_torch(launch) if may_allocate else _through_cupy(launch)
    except Exception as error:
        raise NotCapturable(
            f"the launcher cannot be captured into a CUDA graph ({error}): it must only enqueue work on the current "
            "stream, without synchronising; a kernel that cannot is timed with Protocol.HOST_CLOCK"
        ) from error
    if allocated and not may_allocate:
        raise AllocatedWhileTimed(
            f"the launcher allocated GPU memory {allocated} times in {launches} launches: declare a workspace instead"
        )
    return graph


def _through_torch(launch: Callable[[], int]) -> tuple[Graph, int]:
    """For library routines that take scratch memory: torch keeps what they allocate for the life of the graph."""
    import torch

    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        allocated = launch()
    return _TorchGraph(graph, torch.device("cuda", torch.cuda.current_device())), allocated


def _through_cupy(launch: Callable[[], int]) -> tuple[Graph, int]:
    """For everything else. A capture that fails in torch leaves its random generators and its allocator in capture
    mode, so that later, unrelated cases fail; CuPy keeps no such state."""
    import torch

    from pytest_roofline.launch import on_torch_stream

    device = torch.device("cuda", torch.cuda.current_device())
    with on_torch_stream(device) as cupy:
        stream = cupy.cuda.get_current_stream()
        # Relaxed: a launcher may then allocate without ending the capture, and is told that it did.
        stream.begin_capture(cupy.cuda.runtime.streamCaptureModeRelaxed)
        try:
            allocated = launch()
        except BaseException:
            with contextlib.suppress(cupy.cuda.runtime.CUDARuntimeError):
                stream.end_capture()
            raise
        return _CupyGraph(stream.end_capture(), device), allocated


class _CupyGraph:
    def __init__(self, graph: Any, device: Any) -> None:
        self._graph = graph
        self._device = device

    def replay(self) -> None:
        from pytest_roofline.launch import on_torch_stream

        with on_torch_stream(self._device):
            self._graph.launch()


class _TorchGraph:
    """Captured by torch, instantiated and launched as CuPy's are: torch's own flags cost every node time, and two
    kernels compare only if their graphs are of one kind."""

    def __init__(self, graph: Any, device: Any) -> None:
        from pytest_roofline.launch import on_torch_stream

        self._graph = graph  # owns what was allocated
        self._device = device
        with on_torch_stream(device) as cupy:
            self._runtime = cupy.cuda.runtime
            self._instance = self._runtime.graphInstantiate(graph.raw_cuda_graph())

    def __del__(self) -> None:
        if hasattr(self, "_instance"):
            self._runtime.graphExecDestroy(self._instance)

    def replay(self) -> None:
        import torch

        self._runtime.graphLaunch(self._instance, torch.cuda.current_stream(self._device).cuda_stream)


@functools.cache
def _side_stream(device: int) -> Any:
    """The default stream cannot be captured, so that of each device all captures use is another one."""
    import torch

    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def _counting_allocations() -> Iterator[Callable[[], int]]:
    """How often torch's and CuPy's pools were asked for memory in the body."""
    import cupy
    import torch

    class Requests(cupy.cuda.MemoryHook):  # type: ignore[misc]
        name = "pytest-roofline allocations"
        count = 0

        def malloc_preprocess(self, **_: Any) -> None:
            self.count += 1

    def torch_allocations() -> int:
        return int(torch.cuda.memory_stats().get("allocation.all.allocated", 0))

    before = torch_allocations()
    with Requests() as requests:
        yield lambda: torch_allocations() - before + requests.count
