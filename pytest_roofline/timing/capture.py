"""Capture launches into a CUDA graph such that a launcher that may not be captured does no harm."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pytest_roofline.timing.errors import AllocatedWhileTimed, NotCapturable

if TYPE_CHECKING:
    import torch

Call = Callable[[], object]


class Graph(Protocol):
    """Captured work. ``replay`` enqueues it on torch's current stream; ``address`` is the driver's handle of it."""

    def replay(self) -> None: ...

    @property
    def address(self) -> int: ...


def capture(calls: Sequence[Call], launches: int, *, may_allocate: bool = False, head: Call | None = None) -> Graph:
    """A CUDA graph of ``launches`` launches, rotating over ``calls``, behind one of ``head``.

    Raises :class:`NotCapturable` when a launcher synchronises or otherwise cannot be captured, and
    :class:`AllocatedWhileTimed` when it allocates GPU memory although it must not. The context stays usable.
    """
    import torch

    torch.cuda.synchronize()
    try:
        with torch.cuda.stream(_side_stream(torch.cuda.current_device())):
            in_turn = [*([head] if head else []), *(calls[i % len(calls)] for i in range(launches))]
            graph, allocated = _captured(in_turn, _private_pools if may_allocate else contextlib.nullcontext)
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


@functools.lru_cache(maxsize=32)  # a tensor is found by its identity, and kept: a graph holds its address
def recorded(launcher: Callable[..., object], tensor: torch.Tensor, **numbers: int) -> Graph:
    """The graph of one ``launcher(tensor, **numbers)``, captured by the first call with them. Raises as
    :func:`capture`."""
    return capture([functools.partial(launcher, tensor, **numbers)], 1)


def _captured(
    in_turn: Sequence[Call], memory: Callable[[], contextlib.AbstractContextManager[Any]]
) -> tuple[Graph, int]:
    """The graph, and how often memory was allocated meanwhile.

    Through CuPy and not through ``torch.cuda.graph``: a capture that fails there leaves torch's random generators and
    allocator in capture mode, so that later, unrelated cases fail. Its price: a routine that draws from torch's random
    generators is refused.
    """
    import torch

    from pytest_roofline.streams import on_torch_stream

    device = torch.device("cuda", torch.cuda.current_device())
    with on_torch_stream(device) as cupy:
        stream = cupy.cuda.get_current_stream()
        # Relaxed: a launcher may then allocate without ending the capture, and is told that it did.
        stream.begin_capture(cupy.cuda.runtime.streamCaptureModeRelaxed)
        try:
            with memory() as pools, _counting_allocations() as allocations:
                for call in in_turn:
                    call()
                allocated = allocations()
        except BaseException:
            with contextlib.suppress(cupy.cuda.runtime.CUDARuntimeError):
                stream.end_capture()
            raise
        return _Captured(stream.end_capture(), device, pools), allocated


class _Captured:
    def __init__(self, graph: Any, device: Any, pools: Any) -> None:
        self._graph = graph
        self._device = device
        self._pools = pools  # scratch memory of a library routine must not be given to anybody else before a replay

    @property
    def address(self) -> int:
        return int(self._graph.graph)

    def replay(self) -> None:
        from pytest_roofline.streams import torch_stream

        self._graph.launch(torch_stream(self._device.index))


@contextlib.contextmanager
def _private_pools() -> Iterator[tuple[Any, Any]]:
    """What the body allocates comes from pools that live as long as somebody holds the value."""
    import cupy
    import torch

    pools = torch.cuda.MemPool(), cupy.cuda.MemoryPool()
    with torch.cuda.use_mem_pool(pools[0]), cupy.cuda.using_allocator(pools[1].malloc):
        yield pools


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
