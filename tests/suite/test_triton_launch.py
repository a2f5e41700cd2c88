"""A Triton kernel is launched in the version that Triton would choose, found again without asking it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels_triton import _launch  # noqa: E402
from pytest_roofline.launch import Launched, observing  # noqa: E402

ON_DEVICE = 1  # a handle


class Version:
    """A compiled kernel that notes what it is launched with."""

    def __init__(self, function=ON_DEVICE):
        self.function, self.packed_metadata, self.launched = function, "packed", []

    def launch_metadata(self, grid, stream, *values):
        return (grid, *values)

    def run(self, *launch):
        self.launched.append(launch)


class Kernel:
    """Stands in for a ``JITFunction``: every launch of its own compiles a version."""

    arg_names = ("x_ptr", "n", "BLOCK", "WIDE")

    def __init__(self, function=ON_DEVICE):
        self.pre_run_hooks, self.versions, self.function = [], [], function

    def __getitem__(self, grid):
        def run(*args, **options):
            self.versions.append(Version(self.function))
            return self.versions[-1]

        return run


@pytest.fixture
def device(monkeypatch):
    """The current device; Triton's driver and hooks are replaced."""
    state = SimpleNamespace(current=0)
    active = SimpleNamespace(get_current_device=lambda: state.current, get_current_stream=lambda index: 70 + index)
    hooks = SimpleNamespace(launch_enter_hook="enter", launch_exit_hook="exit")
    triton = SimpleNamespace(
        runtime=SimpleNamespace(driver=SimpleNamespace(active=active)), knobs=SimpleNamespace(runtime=hooks)
    )
    monkeypatch.setattr(_launch, "triton", triton)
    monkeypatch.setattr(_launch, "CompiledKernel", Version)
    monkeypatch.setattr(_launch, "_known", {})
    return state


def vector(shift: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """64 elements that start ``shift`` elements past a multiple of 64 bytes."""
    held = torch.zeros(256, dtype=dtype)
    first = -held.data_ptr() % 64 // held.element_size()
    return held[first + shift : first + shift + 64]


def versions(kernel: Kernel, *launches) -> int:
    """How many versions Triton was asked for."""
    for x, n, block in launches:
        _launch.launch(kernel, (3,), x, n, WIDE=False, BLOCK=block)
    return len(kernel.versions)


def test_an_equal_launch_goes_the_known_way(device):
    """The version is launched on the current stream with compile-time values where the kernel declares them."""
    kernel, x = Kernel(), vector()
    assert versions(kernel, (x, 32, 8), (x, 48, 8)) == 1
    values = (x, 48, 8, False)
    assert kernel.versions[0].launched == [
        (3, 1, 1, 70, ON_DEVICE, "packed", ((3,), *values), "enter", "exit", *values),
    ]


@pytest.mark.parametrize(
    "other",
    [
        (vector(shift=1), 32, 8),
        (vector(dtype=torch.float16), 32, 8),
        (vector(), 33, 8),
        (vector(), 1, 8),
        (vector(), 1 << 31, 8),
        (vector(), 32, 16),
        (vector(), 32.0, 8),
    ],
    ids=["misaligned", "dtype", "not divisible", "one", "64 bits", "compile-time value", "float"],
)
def test_whatever_triton_specialises_on_is_another_version(device, other):
    """A pointer's alignment and type, a number's divisibility, width and being 1, and compile-time values."""
    assert versions(Kernel(), (vector(), 32, 8), other) == 2


def test_a_device_has_its_own_versions(device):
    """Code that was loaded on one GPU is not launched on another."""
    kernel = Kernel()
    assert versions(kernel, (vector(), 32, 8)) == 1
    device.current = 1
    assert versions(kernel, (vector(), 32, 8)) == 2


@pytest.mark.parametrize("n", [None, 1 << 63, True])
def test_what_it_does_not_know_goes_triton_s_way(device, n):
    """Anything but tensors and numbers of 64 bits is Triton's to decide on, every time."""
    assert versions(Kernel(), (vector(), n, 8), (vector(), n, 8)) == 2


def test_hooks_in_front_of_a_kernel_run(device):
    """Such a kernel is launched by Triton itself, which calls them."""
    kernel = Kernel()
    kernel.pre_run_hooks.append(print)
    assert versions(kernel, (vector(), 32, 8), (vector(), 32, 8)) == 2


def test_nothing_is_remembered_of_a_kernel_without_a_device(device):
    """What was compiled to be looked at is compiled again, so that whoever looks sees every launch."""
    assert versions(Kernel(function=None), (vector(), 32, 8), (vector(), 32, 8)) == 2


def launches(kernel: Kernel, *arguments) -> list[Launched]:
    """What somebody sees who remembers launches."""
    with observing() as seen:
        versions(kernel, *arguments)
    return seen


def test_a_launch_can_be_repeated_with_addresses(device, monkeypatch):
    """The first one as well as one of a known version; those who look at launches see everything but the tensors."""
    monkeypatch.setattr(torch.Tensor, "get_device", lambda self: 0)
    kernel, x = Kernel(), vector()
    both = launches(kernel, (x, 32, 8), (x, 48, 8))
    assert len(both) == 2
    for seen in both:
        assert seen.args == (x, seen.args[1])
        assert seen.kernel.index == 0
        seen.kernel.launch((1, 1, 1), (1, 1, 1), (4096, seen.args[1]), 0, 99)
        told = ((3,), None, seen.args[1], 8, False)
        values = (4096, seen.args[1], 8, False)
        assert kernel.versions[0].launched[-1] == (3, 1, 1, 99, ON_DEVICE, "packed", told, "enter", "exit", *values)
    assert len(kernel.versions) == 1


def test_what_triton_must_see_each_time_is_not_repeated(device, monkeypatch):
    """Tensors elsewhere than on the current GPU, hooks in front of a kernel, arguments unknown here."""
    x, hooked = vector(), Kernel()
    assert [seen.kernel for seen in launches(Kernel(), (x, 32, 8), (x, 32, 8))] == [None, None]
    monkeypatch.setattr(torch.Tensor, "get_device", lambda self: 0)
    hooked.pre_run_hooks.append(print)
    assert [seen.kernel for seen in launches(hooked, (x, 32, 8), (x, 32, 8))] == [None, None]
    assert [seen.kernel for seen in launches(Kernel(), (x, None, 8))] == [None]
    assert [seen.kernel for seen in launches(Kernel(function=None), (x, 32, 8))] == [None]
