"""Launches become a CUDA graph; a launcher that may not be captured is named and does no harm."""

import functools

import pytest

from pytest_roofline.timing import AllocatedWhileTimed, NotCapturable
from pytest_roofline.timing.capture import capture, recorded

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("engine")


def still_usable():
    """What a failed capture must not have broken: synchronising, random numbers, the allocator, the next capture."""
    torch.cuda.synchronize()
    assert torch.rand(8, device="cuda").max() < 1
    torch.cuda.empty_cache()
    x = torch.zeros(4, device="cuda")
    graph = capture([lambda: x.add_(1)], 3)
    graph.replay()
    assert x.tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize("may_allocate", [False, True])
def test_a_replay_does_the_launches_in_turn(engine, may_allocate):
    """Five launches over two argument sets: three of the first, two of the second, and none during capture."""
    x, y = torch.zeros(2, 4, device="cuda").unbind()
    graph = capture([lambda: x.add_(1), lambda: y.add_(1)], 5, may_allocate=may_allocate)
    assert (x.sum().item(), y.sum().item()) == (0, 0)
    graph.replay()
    assert (x.tolist(), y.tolist()) == ([3] * 4, [2] * 4)


def test_cuda_kernels_are_captured_as_well(engine):
    """A launch through CuPy goes to torch's current stream, so it lands in the graph and not beside it."""
    y = torch.zeros(256, device="cuda")
    graph = capture([functools.partial(engine.tools.fill, (1,), (256,), (y, 2.0, 256))], 1)
    assert y.sum().item() == 0
    graph.replay()
    assert y.tolist() == [2.0] * 256


def test_a_launch_is_recorded_once_for_a_tensor_and_its_numbers(engine):
    """The graph holds the tensor's address, and keeps it alive; another number of launches is another graph."""

    def launch(token, *, length):
        for _ in range(length):
            token.add_(1)

    token, other = torch.zeros(1, device="cuda"), torch.zeros(1, device="cuda")
    graph = recorded(launch, token, length=3)
    assert recorded(launch, token, length=3) is graph
    assert recorded(launch, token, length=2) is not graph
    recorded(launch, other, length=1).replay()
    graph.replay()
    graph.replay()
    assert (token.item(), other.item()) == (6, 1)


def test_a_launcher_that_synchronises_is_named_and_does_no_harm(engine):
    """Waiting for the device is impossible inside a graph."""
    x = torch.zeros(4, device="cuda")
    with pytest.raises(NotCapturable, match="without synchronising"):
        capture([lambda: (x.add_(1), torch.cuda.synchronize())], 2)
    still_usable()


def test_reading_a_result_back_is_named_and_does_no_harm(engine):
    """``item`` waits too."""
    x = torch.zeros(4, device="cuda")
    with pytest.raises(NotCapturable, match="cannot be captured"):
        capture([lambda: x.sum(out=x[0]).item()], 2)
    still_usable()


def test_an_error_of_the_launcher_ends_the_capture(engine):
    """The message of the launcher's own error survives."""

    def reject():
        raise ValueError("rows must be multiples of four")

    with pytest.raises(NotCapturable, match="multiples of four"):
        capture([reject], 2)
    still_usable()


def test_a_launcher_that_allocates_is_named(engine):
    """From torch's pool or from CuPy's, whether the pool has a block at hand or not."""
    cupy = pytest.importorskip("cupy")
    x = torch.zeros(1 << 22, device="cuda")
    for allocate in (lambda: x.clone(), lambda: cupy.empty(1 << 22)):
        with pytest.raises(AllocatedWhileTimed, match="2 times in 2 launches"):
            capture([allocate], 2)
    still_usable()


def test_a_library_routine_may_allocate(engine):
    """Its scratch memory belongs to the graph and survives until the replay."""
    x, y = torch.rand(2, 1 << 16, device="cuda").unbind()
    graph = capture([lambda: torch.add(x * 2, 1, out=y)], 2, may_allocate=True)
    graph.replay()
    assert torch.equal(y, x * 2 + 1)
