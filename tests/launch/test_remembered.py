"""Launchers that remember their launches, on a GPU that only records."""

from __future__ import annotations

import inspect

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import launch  # noqa: E402
from pytest_roofline import remembered as module  # noqa: E402
from pytest_roofline.remembered import remembered  # noqa: E402

TYPES = {torch.float32: "add<float>", torch.float64: "add<double>"}


@pytest.fixture
def add(source, cupy, on_gpu):
    """A launcher; ``calls`` counts how often it ran itself."""
    calls = []

    @remembered
    def launcher(x, y, *, factor=2.0):
        calls.append(factor)
        if x.shape != y.shape:
            raise ValueError("not of one shape")
        if x.numel():
            source.function(TYPES[x.dtype])((2,), (32,), (x, y, x.numel(), factor))

    launcher.calls = calls
    return launcher


def vectors(n=8, **options):
    return torch.ones(n, **options), torch.ones(n, **options)


def arguments(cupy):
    return [entry[3] for entry in cupy.launches]


def test_an_equal_launch_is_repeated_with_its_own_addresses(add, cupy):
    """On torch's stream, without the launcher."""
    (x, y), (other_x, other_y) = vectors(), vectors()
    add(x, y)
    add(other_x, other_y)
    assert add.calls == [2.0]
    assert arguments(cupy) == [
        [x.data_ptr(), y.data_ptr(), 8, 2.0],
        [other_x.data_ptr(), other_y.data_ptr(), 8, 2.0],
    ]
    first, second = cupy.launches
    assert (second[0], second[1], second[2], second[4:]) == ("add<float>", (2, 1, 1), (32, 1, 1), (0, 1, 77))
    assert first[:3] == second[:3]


@pytest.mark.parametrize(
    "other",
    [
        lambda: vectors(9),
        lambda: vectors(8, dtype=torch.float64),
        lambda: tuple(t.view(2, 4) for t in vectors()),
        lambda: (torch.ones(16)[::2], torch.ones(8)),
        lambda: (torch.ones(8), torch.ones(9)[1:]),
    ],
    ids=["length", "element type", "rank", "strides", "alignment"],
)
def test_another_kind_of_tensor_is_for_the_launcher(add, cupy, other):
    """Any of what it may look at."""
    add(*vectors())
    add(*other())
    assert len(add.calls) == len(cupy.launches) == 2


def test_another_number_is_for_the_launcher(add, cupy):
    """Also one of another type that is equal, and one that is left out."""
    for options in ({"factor": 3.0}, {"factor": 3}, {"factor": 4.0}, {}, {"factor": 3.0}):
        add(*vectors(), **options)
    assert add.calls == [3.0, 3, 4.0, 2.0]
    assert [given[3] for given in arguments(cupy)] == [3.0, 3.0, 4.0, 2.0, 3.0]


def test_another_device_is_for_the_launcher(add, on_gpu):
    """What was loaded for one GPU is not launched on another, nor when another one is current."""
    add(*vectors())
    on_gpu.device = 0
    add(*vectors())
    on_gpu.current = 0
    add(*vectors())
    assert len(add.calls) == 3


def test_one_gpu_is_not_asked_for(add, on_gpu, monkeypatch):
    """It is the current one."""
    monkeypatch.setattr(launch, "single_gpu", lambda: True)
    add(*vectors())
    monkeypatch.setattr(launch, "current_device", lambda: pytest.fail("asked"))
    add(*vectors())
    assert len(add.calls) == 1


def test_what_is_refused_is_refused_each_time(add):
    """A warm launcher takes nothing that a cold one would not take."""
    add(*vectors())
    for _ in range(2):
        with pytest.raises(ValueError, match="not of one shape"):
            add(torch.ones(8), torch.ones(9))
        with pytest.raises(AttributeError):
            add(None, None)


def test_a_tensor_given_twice_is_not_remembered(add, cupy):
    """Which parameter it belongs to cannot be seen, and two others would be mixed up."""
    x, y = vectors()
    add(x, x)
    add(x, y)
    add(y, x)
    assert add.calls == [2.0, 2.0]
    assert [given[:2] for given in arguments(cupy)] == [[t.data_ptr() for t in ts] for ts in ((x, x), (x, y), (y, x))]


def test_a_launch_of_other_tensors_is_not_remembered(source, cupy, on_gpu):
    """A part of one lies elsewhere each time."""
    calls = []

    @remembered
    def launcher(x, y):
        calls.append(x)
        source.function("add<float>")((1,), (32,), (x[4:], y, 4, 1.0))

    for _ in range(2):
        launcher(*vectors())
    assert len(calls) == 2


def test_nothing_launched_is_not_remembered(add, cupy):
    """An empty tensor has no address."""
    for _ in range(2):
        add(*vectors(0))
    assert len(add.calls) == 2
    assert not cupy.launches


def test_on_a_cpu_the_launcher_runs_each_time(source):
    """There is nothing to be quick for, and checks are wanted."""
    calls = []

    @remembered
    def launcher(x, y):
        calls.append(x)
        source.function("add<float>")((1,), (32,), (x, y, 8, 1.0))

    for _ in range(2):
        launcher(*vectors())
    assert len(calls) == len(source.cpu_module.launches) == 2


def test_a_remembered_launcher_may_call_another(source, cupy, on_gpu, add):
    """Both launches are repeated, also where the inner one was known before; workspace finds its place."""
    x, y = vectors()
    add(x, y)

    @remembered
    def twice(x, y, *, sums):
        add(x, sums)
        add(sums, y)

    for _ in range(2):
        cupy.launches.clear()
        sums = torch.ones(8)
        twice(x, y, sums=sums)
        assert [given[:2] for given in arguments(cupy)] == [
            [x.data_ptr(), sums.data_ptr()],
            [sums.data_ptr(), y.data_ptr()],
        ]
    assert len(add.calls) == 3


def test_launches_that_are_only_told_of_are_not_remembered(add, cupy, monkeypatch):
    """Nothing is launched, and torch may know no GPU."""

    def no_gpu():
        raise AssertionError("Torch not compiled with CUDA enabled")

    recorded = []
    with launch.recording(lambda *what: recorded.append(str(what[0]))), monkeypatch.context() as patched:
        patched.setattr(launch, "current_device", no_gpu)
        for _ in range(2):
            add(*vectors())
    add(*vectors())
    assert recorded == ["add.cu:add<float>"] * 2
    assert len(add.calls) == 3
    assert len(cupy.launches) == 1


def test_no_more_is_remembered_than_fits(add, monkeypatch):
    """Drawn shapes are without end."""
    monkeypatch.setattr(module, "MOST", 2)
    for n in (1, 2, 3, 3, 1):
        add(*vectors(n))
    assert len(add.calls) == 4


def test_a_launcher_stays_what_it_was(add):
    """Name and signature are the launcher's, for those who read them."""
    assert add.__name__ == "launcher"
    assert list(inspect.signature(add).parameters) == ["x", "y", "factor"]
