"""Every kind of wrong kernel that the check claims to catch is planted here and caught."""

import importlib
import sys

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline.checking import buffers  # noqa: E402
from pytest_roofline.checking.check import WrongResultError, check  # noqa: E402
from pytest_roofline.contract import Bound  # noqa: E402
from pytest_roofline.ids import CaseId  # noqa: E402


@pytest.fixture
def operation(tmp_path, monkeypatch, operation_source):
    """The operation negate, loaded from its file."""
    (tmp_path / "negate_operation.py").write_text(operation_source)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("negate_operation").OPERATION
    del sys.modules["negate_operation"]


def run(operation, launcher, shape="5x7.o1.p9", values="random", device="cpu"):
    """Check ``launcher`` as the kernel of negate."""
    return check(operation.case(CaseId.parse(f"negate/host/plain/f32/{shape}")), launcher, device, values, 0)


def right(x, y):
    """y = -x."""
    torch.neg(x, out=y)


def beyond(tensor, elements):
    """The element ``elements`` after the first one of a tensor, wherever that is."""
    return torch.as_strided(tensor, (1,), (1,), tensor.storage_offset() + elements)


@pytest.mark.parametrize("shape", ["5x7", "5x7.o3", "5x7.p9", "5x7.t", "5x7.o1.p9.t", "0x7", "1x1", "3x0"])
@pytest.mark.parametrize("values", ["random", "nan", "both_inf", "zeros", "subnormal", "largest"])
def test_a_right_kernel_passes_everywhere(operation, shape, values):
    """No alarm on any layout or value class."""
    assert run(operation, right, shape, values) == 0


def wrong_value(x, y):
    right(x, y)
    y[2, 3] += 1


def never_written(x, y):
    y[:-1].copy_(-x[:-1])


def drops_the_sign_of_zero(x, y):
    y.copy_(0 - x)


def overwrites_its_input(x, y):
    right(x, y)
    x.zero_()


def writes_past_the_end(x, y):
    right(x, y)
    beyond(y, 4 * 9 + 7).fill_(1)


def writes_before_the_start(x, y):
    right(x, y)
    beyond(y, -1).fill_(1)


def writes_into_the_gap(x, y):
    right(x, y)
    beyond(y, 7).fill_(1)


def writes_its_own_nan_past_the_end(x, y):
    right(x, y)
    beyond(y, 4 * 9 + 7).fill_(float("nan"))


def copies_the_slack_of_its_input(x, y):
    right(x, y)
    beyond(y, 4 * 9 + 7).copy_(beyond(x, 4 * 9 + 7))


def reads_past_the_end(x, y):
    right(x, y)
    y[4, 6] = -(x[4, 6] + 0 * beyond(x, 4 * 9 + 7))


def leaves_nan(x, y):
    right(x, y)
    y[0, 0] = float("nan")


BUGS = {
    wrong_value: r"y: 1 of 35 elements wrong, the first at \[2, 3\]",
    never_written: r"y: 7 of 35 elements wrong.*7 of them were never written",
    overwrites_its_input: r"x: \d+ bytes changed.*read-only",
    writes_past_the_end: r"y: \d bytes changed.*0 bytes past its end|y: \d bytes changed.*past its end",
    writes_before_the_start: r"y: \d bytes changed.*before its start",
    writes_into_the_gap: r"y: \d bytes changed.*gap after a row, at byte 28|y: \d bytes changed.*gap after a row",
    writes_its_own_nan_past_the_end: r"y: \d bytes changed.*past its end",
    copies_the_slack_of_its_input: r"y: \d bytes changed.*past its end",
    reads_past_the_end: r"y: 1 of 35 elements wrong.*got nan",
    leaves_nan: r"y: 1 of 35 elements wrong.*got nan",
}


@pytest.mark.parametrize("launcher", BUGS, ids=lambda f: f.__name__)
def test_a_planted_bug_is_caught_and_described(operation, launcher):
    """The message names the argument and what is wrong with it."""
    with pytest.raises(WrongResultError, match=BUGS[launcher]):
        run(operation, launcher)


def test_the_sign_of_zero_is_checked_where_the_operation_says_so(operation):
    """0 - x differs from -x only in the sign of a zero."""
    with pytest.raises(WrongResultError, match="elements wrong"):
        run(operation, drops_the_sign_of_zero, values="zeros")


def test_a_declared_rejection_must_raise(operation):
    """A kernel that says it rejects a shape but computes it is wrong; one that raises ValueError is right."""
    import dataclasses

    kernel = dataclasses.replace(operation.kernels[0], rejects=lambda shape, dtype: "odd rows")
    refusing = dataclasses.replace(operation, kernels=(kernel,))
    with pytest.raises(
        WrongResultError, match=r"rejects this shape \(odd rows\), but its launcher raised no ValueError"
    ):
        run(refusing, right)

    def refuse(x, y):
        raise ValueError("odd rows")

    assert run(refusing, refuse) == 0


def test_a_kernel_that_promises_determinism_is_run_twice(operation):
    """Two different right answers from one input break the promise; a kernel without the promise may do so."""
    import dataclasses

    calls = []

    def alternates(x, y):
        torch.neg(x, out=y)
        calls.append(None)
        y[0, 0] *= 1 if len(calls) % 2 else 1 + 2**-23

    loose = dataclasses.replace(
        operation,
        tolerance=dataclasses.replace(
            operation.tolerance, bound=lambda c: {"y": Bound(torch.ones((), dtype=torch.float64))}
        ),
    )
    with pytest.raises(WrongResultError, match="y: 1 elements differ between two runs on the same input"):
        run(loose, alternates, "3x1.t")
    promise = dataclasses.replace(operation.kernels[0], deterministic=False)
    run(dataclasses.replace(loose, kernels=(promise,)), alternates, "3x1.t")


def test_what_is_right_with_random_values_is_run_again_with_whole_numbers(operation):
    """Where the tolerance is made for them: one that forgives random values anything, but none of those."""
    import dataclasses

    def forgiving(computed):
        x = computed.inputs["x"]
        return {"y": Bound(x.abs() * 2 * bool((x != x.round()).any()))}

    def wrong_for_whole_numbers(x, y):
        right(x, y)
        y[1, 2] *= 1.5

    loose = dataclasses.replace(operation.tolerance, bound=forgiving)
    assert run(dataclasses.replace(operation, tolerance=loose), wrong_for_whole_numbers) == 0.25
    twice = dataclasses.replace(operation, tolerance=dataclasses.replace(loose, whole=True))
    with pytest.raises(WrongResultError, match="with whole numbers: y: 1 of 35 elements wrong"):
        run(twice, wrong_for_whole_numbers)
    assert run(twice, right) == 0


def test_buffers_have_poisons_of_their_own():
    """Two buffers never share a poison, so copying slack to slack shows."""
    from pytest_roofline.dtypes import element

    for name in ("f64", "f32", "f16", "bf16", "i32"):
        patterns = {buffers.poison_bits(element(name), tag) for tag in range(32)}
        assert len(patterns) == 32


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16"])
def test_the_poison_of_a_float_is_nan(name):
    """Reading an unwritten element spoils whatever is computed from it."""
    from pytest_roofline.dtypes import element

    item = element(name)
    integers = {2: torch.int16, 4: torch.int32, 8: torch.int64}[item.itemsize]
    for tag in range(32):
        bits = torch.tensor([buffers.poison_bits(item, tag)], dtype=torch.int64).to(integers)
        assert torch.isnan(bits.view(item.torch())).all()


def test_a_pitch_shorter_than_a_row_is_refused(operation):
    """The shape names the row and the pitch."""
    with pytest.raises(ValueError, match="a row of x has 7 elements, more than the pitch 6"):
        run(operation, right, "5x7.p6")


def with_arguments(operation, **changes):
    """negate with its input declared otherwise."""
    import dataclasses

    x, y = operation.arguments
    return dataclasses.replace(operation, arguments=(dataclasses.replace(x, **changes), y))


def test_an_argument_can_make_its_own_data(operation):
    """Where random numbers mean nothing; the extents, a seed and the device are given."""
    seen = []

    def data(extents, seed, device):
        seen.append((extents, device))
        return torch.full(extents, 3.0, device=device)

    def launcher(x, y):
        assert (x == 3).all()
        right(x, y)

    run(with_arguments(operation, data=data), launcher)
    assert seen == [((5, 7), "cpu")]


def test_scalars_reach_launcher_and_reference(operation):
    """The problem's numbers beside its tensors are the same for both; a kernel that ignores one is wrong."""
    import dataclasses

    scaled = dataclasses.replace(
        operation, scalars=lambda dims: {"factor": dims[0]}, reference=lambda x, factor: {"y": -factor * x}
    )
    run(scaled, lambda x, y, factor: y.copy_(-factor * x), "4x7")
    with pytest.raises(WrongResultError, match="y: 28 of 28 elements wrong"):
        run(scaled, lambda x, y, factor: right(x, y), "4x7")


@pytest.mark.parametrize(
    ("host", "device", "pageable", "expected"),
    [
        (False, "cuda", False, ("cuda", False)),
        (True, "cuda", False, ("cpu", True)),
        (True, "cuda", True, ("cpu", False)),
        (True, "cpu", False, ("cpu", False)),
    ],
)
def test_host_arguments_lie_on_the_host(operation, monkeypatch, host, device, pageable, expected):
    """Page-locked unless the kernel wants them pageable; without a GPU there is nothing to lock pages for."""
    import dataclasses

    asked, allocate = [], torch.empty

    def empty(*size, device, pin_memory, **keywords):
        asked.append((device, pin_memory))
        return allocate(*size, **keywords)

    monkeypatch.setattr(torch, "empty", empty)
    case = operation.case(CaseId.parse("negate/host/plain/f32/5x7"))
    case = dataclasses.replace(case, kernel=dataclasses.replace(case.kernel, pageable=pageable))
    buffers.guarded(dataclasses.replace(operation.arguments[0], host=host), case, device, 0)
    assert asked == [expected]


def test_a_buffer_lies_at_the_same_place_of_its_allocation_each_time(operation):
    """Counts of lines and sectors follow from that place, so it must not depend on what was allocated before."""
    case = operation.case(CaseId.parse("negate/host/plain/f32/5x7"))
    kept, places = [], set()
    for size in range(1, 400, 7):
        view = buffers.guarded(operation.arguments[0], case, "cpu", 0).view
        kept += [view, torch.empty(64 * size)]  # moves the next allocation by another multiple of 64 bytes
        places.add((view.data_ptr() - view.untyped_storage().data_ptr()) % 512)
        assert view.data_ptr() % buffers.ALIGNMENT == 0
    assert len(places) == 1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_a_wrong_copy_to_the_host_is_caught(operation):
    """Outputs in page-locked memory are compared where the exact result is, after the device is done."""
    import dataclasses

    x, y = operation.arguments
    download = dataclasses.replace(operation, arguments=(x, dataclasses.replace(y, host=True)))

    def launcher(x, y):
        assert y.is_pinned()
        y.copy_(-x, non_blocking=True)

    assert run(download, launcher, device="cuda") == 0
    with pytest.raises(WrongResultError, match="y: 35 of 35 elements wrong"):
        run(download, lambda x, y: y.copy_(x, non_blocking=True), device="cuda")
