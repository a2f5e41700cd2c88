"""Tensors without memory look to a launcher as those of the case do, on a GPU that is not there."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from pytest_roofline.checking.check import prepare
from pytest_roofline.contract import Argument, Buffer, Kernel, Operation, Role, Shapes, Tolerance, Traffic, Work
from pytest_roofline.counting.compiled import stand_ins
from pytest_roofline.ids import CaseId
from pytest_roofline.launch import GpuNeeded
from pytest_roofline.streams import torch_stream

OPERATION = Operation(
    name="stretch",
    summary="what the tests lay out",
    arguments=(
        Argument("x", Role.IN, lambda dims: dims, pitched=True, transposable=True),
        Argument("host", Role.IN, lambda dims: dims[:1], shifted=False, host=True),
        Argument("y", Role.OUT, lambda dims: dims, accumulator=True),
    ),
    reference=lambda x, host: {"y": x},
    work=lambda shape, dtype: Work({}, Traffic(0, 0)),
    tolerance=Tolerance(lambda computed: {}, "nothing is computed"),
    shapes=Shapes(lambda tile: None, (), (), ()),
    kernels=(
        Kernel(
            "cuda",
            "plain",
            "somewhere:launch",
            ("f16_f32",),
            options={"block": 8},
            workspace=lambda shape, dtype: (Buffer("partials", 3),),
        ),
    ),
)
HUGE = "stretch/cuda/plain/f16_f32/1048576x1048576"


def case(shape):
    return OPERATION.case(CaseId.parse(f"stretch/cuda/plain/f16_f32/{shape}"))


def received(chosen, gpu):
    """What a launcher is called with."""
    found = []
    stand_ins.call(chosen, lambda *arguments, **named: found.append((arguments, named)), gpu)()
    return found[0]


def look(tensor):
    shape, place = tuple(tensor.shape), tensor.data_ptr() % 256
    return shape, tensor.stride(), tensor.dtype, place, tensor.is_contiguous(), tensor.numel(), tensor.device.type


@pytest.mark.parametrize("shape", ["7x9", "8x8.o1", "3x5.p8", "4x6.t", "5x0", "33x65.o3.p72"])
def test_they_lie_as_the_tensors_of_a_check_do(shape):
    """Extents, strides, alignment, type and device of arguments and workspace, for every suffix of a shape."""
    real = []
    prepare(case(shape), lambda *given, **named: real.append((given, named)), "cpu", "random", 0).launch()
    arguments, named = received(case(shape), None)
    assert list(map(look, arguments)) == list(map(look, real[0][0]))
    assert look(named["partials"]) == look(real[0][1]["partials"])
    assert named["block"] == 8


def test_a_gigantic_shape_takes_no_memory():
    """2 TiB of x: nothing is allocated, read or written."""
    (x, _, y), _ = received(OPERATION.case(CaseId.parse(HUGE)), 0)
    assert (x.nbytes, x.device, x.is_cuda, x.get_device()) == (2 << 40, torch.device("cuda", 0), True, 0)
    assert y.zero_() is y
    assert y.copy_(x) is y
    assert torch.neg(x, out=y) is y


def test_views_keep_their_place():
    """A launcher takes tensors apart as it likes."""
    (x, *_), _ = received(case("8x16"), 0)
    view = x.t()[3:]
    assert (tuple(view.shape), view.stride(), view.data_ptr() - x.data_ptr()) == ((13, 8), (1, 16), 6)
    assert view.is_cuda
    assert view.view(torch.int16).dtype == torch.int16


def test_what_is_made_from_them_is_one_of_them():
    """And lies elsewhere."""
    (x, *_), _ = received(case("8x16"), 0)
    made = x.t().contiguous()
    assert made.is_cuda
    assert made.is_contiguous()
    assert made.data_ptr() != x.data_ptr()


def test_memory_of_the_host_is_page_locked_beside_a_gpu():
    """So a launch takes it together with tensors of the device."""
    (x, host, _), _ = received(case("8x16"), 0)
    assert (host.device.type, host.get_device(), host.is_pinned()) == ("cpu", -1, True)
    assert not x.is_pinned()


def test_torch_knows_the_gpu_that_is_compiled_for():
    """Number of SMs, shared memory and capability are those of the card's record; afterwards nothing is left of it."""
    before = torch.cuda.get_device_properties
    with stand_ins.gpus("sm_80", "sm_90a"):
        a100, h200 = map(torch.cuda.get_device_properties, (torch.device("cuda", 0), 1))
        assert (a100.multi_processor_count, a100.shared_memory_per_block_optin) == (108, 163 << 10)
        assert (h200.multi_processor_count, h200.shared_memory_per_multiprocessor) == (132, 228 << 10)
        assert torch.cuda.get_device_capability() == (8, 0)
        assert torch.cuda.get_device_capability(1) == (9, 0)
    assert torch.cuda.get_device_properties is before


def test_what_only_a_driver_can_do_needs_a_gpu():
    """A stream, a graph, the copy engine."""
    with stand_ins.gpus("sm_80"):
        for ask in (torch.cuda.synchronize, torch.cuda.Stream, lambda: torch_stream(0)):
            with pytest.raises(GpuNeeded):
                ask()
