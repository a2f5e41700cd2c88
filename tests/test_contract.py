"""An operation refuses what makes no sense where it is declared, and builds its cases."""

import dataclasses

import pytest
from hypothesis import strategies as st

from pytest_roofline.contract import Argument, Bound, Kernel, Operation, Role, Shapes, Tolerance, Traffic, Work
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import CaseId, Shape


def make(**changes):
    """A small operation with two kernels and a peer."""
    operation = Operation(
        name="op",
        summary="y = x",
        arguments=(Argument("x", Role.IN, lambda d: d), Argument("y", Role.OUT, lambda d: d, accumulator=True)),
        reference=lambda x: {"y": x},
        work=lambda shape, dtype: Work({}, Traffic(shape.size, shape.size)),
        tolerance=Tolerance(lambda c: {"y": Bound(None)}, "none"),
        shapes=Shapes(lambda tile: st.just(Shape((1,))), ("64", "65"), ("64",), ("7",), full=("1024",)),
        kernels=(
            Kernel("cuda", "best", "m:f", ("f32", "f16_f32"), best=True),
            Kernel("cuda", "plain", "m:g", ("f32",), rejects=lambda s, d: "odd" if s.dims[0] % 2 else None),
            Kernel("torch", "op", "m:h", ("f32",), peer=True),
        ),
        absent={("triton", "plain"): "the language has no such thing"},
    )
    return dataclasses.replace(operation, **changes)


def kernel(**changes):
    """A kernel ``cuda/b`` with the given fields replaced."""
    return dataclasses.replace(Kernel("cuda", "b", "m:f", ("f32",)), **changes)


def ids(cases):
    """The ids of cases as text."""
    return [str(case) for case in cases]


def test_best_variants_and_peers_get_the_sweep_other_rungs_one_shape():
    """The size sweep is run by the best variant of each backend and by the peers, in their first dtype."""
    assert ids(make().cases("timed")) == [
        "op/cuda/best/f32/64",
        "op/cuda/best/f32/65",
        "op/cuda/best/f16_f32/64",
        "op/cuda/plain/f32/64",
        "op/torch/op/f32/64",
        "op/torch/op/f32/65",
    ]


@pytest.mark.parametrize(("dtype", "stored"), [("f16_f32", "f16"), ("i8_i32", "i32"), ("f32", "f32")])
def test_an_argument_may_take_the_accumulators_format_by_a_rule(dtype, stored):
    """A product of 16-bit operands is stored like them, one of bytes like its accumulator."""
    c = Argument("c", Role.OUT, lambda d: d, accumulator=lambda dtype: dtype.operand.itemsize != 2)
    assert c.element(DType.parse(dtype)).name == stored


def test_full_effort_times_every_rung_on_every_shape_without_repeats():
    """--roofline-effort=full adds the rest, each id once, never a shape that the kernel rejects."""
    full = ids(make().cases("timed", full=True))
    assert len(full) == len(set(full)) == 11
    assert "op/cuda/plain/f32/1024" in full
    assert "op/cuda/plain/f32/65" not in full


def test_a_slow_rung_is_timed_on_shapes_of_its_own():
    """In place of the operation's lists, also with full effort; it is counted on the same shapes as the others."""
    slow = make(kernels=(kernel(timed=("32",)),), absent={})
    assert ids(slow.cases("timed")) == ids(slow.cases("timed", full=True)) == ["op/cuda/b/f32/32"]
    assert ids(slow.cases("counted")) == ids(make(kernels=(kernel(),), absent={}).cases("counted"))


def test_a_rung_is_timed_in_some_of_its_dtypes():
    """The others are counted by default, and timed with full effort only."""
    rung = make(kernels=(kernel(dtypes=("f32", "f16"), timed_dtypes=("f32",)),), absent={})
    assert ids(rung.cases("timed")) == ["op/cuda/b/f32/64"]
    assert "op/cuda/b/f16/64" in ids(rung.cases("timed", full=True))
    assert ids(rung.cases("counted")) == ["op/cuda/b/f32/7", "op/cuda/b/f16/7"]


def test_a_dtype_that_a_kernel_lacks_may_have_a_reason():
    """Who asks for it is told."""
    lacking = make(kernels=(kernel(absent_dtypes={"i8": "it has no product of bytes"}),), absent={})
    with pytest.raises(ValueError, match="the dtypes f32; it has no product of bytes"):
        lacking.case(CaseId.parse("op/cuda/b/i8/64"))


def test_counted_cases_leave_out_what_a_kernel_rejects():
    """A rejected shape is no case."""
    assert ids(make().cases("counted")) == ["op/cuda/best/f32/7", "op/cuda/best/f16_f32/7", "op/torch/op/f32/7"]


def test_any_shape_makes_a_case():
    """A case need not be listed: reproducing a failure needs only its id."""
    case = make().case(CaseId.parse("op/cuda/best/f16_f32/12345.o3"))
    assert str(case) == "op/cuda/best/f16_f32/12345.o3"
    assert [a.element(case.dtype).name for a in case.operation.arguments] == ["f16", "f32"]
    assert case.work.traffic.total == 2 * 12345


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("op/cuda/none/f32/1", r"no kernel cuda/none; it has cuda/best, cuda/plain, torch/op"),
        ("op/triton/plain/f32/1", "does not exist: the language has no such thing"),
        ("op/cuda/plain/f16/1", "has the dtypes f32"),
    ],
)
def test_a_wrong_id_says_what_exists(text, message):
    """Unknown kernels list the known ones, absent ones give their reason."""
    with pytest.raises(ValueError, match=message):
        make().case(CaseId.parse(text))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Op"}, "lower case"),
        ({"kernels": (kernel(), kernel(launcher="m:g"))}, "cuda/b is declared twice"),
        ({"kernels": (kernel(after="c"), kernel(variant="c"))}, "cuda/b is after c, which must come first"),
        ({"kernels": (kernel(backend="tritn"),)}, "unknown backend 'tritn'; known are triton, cuda"),
        ({"arguments": (Argument("x", Role.IN, lambda d: d),) * 2}, "argument x is declared twice"),
        ({"protocol": "graph_cold"}, "protocol 'graph_cold' is no contract.Protocol"),
        ({"shapes": Shapes(lambda tile: None, (), (), "1000")}, "shapes.counted is text, not a tuple"),
        ({"shapes": Shapes(lambda tile: None, ("6 4",), (), ())}, "bad shape '6 4'"),
    ],
)
def test_a_malformed_declaration_is_refused_at_once(changes, message):
    """Mistakes show when the file is loaded, not when a case runs."""
    with pytest.raises(ValueError, match=message):
        make(**changes)


def test_a_kernel_overrides_the_depth_of_its_operation():
    """The error bound uses the kernel's own chain of additions where it declares one."""
    deep = make(depth=lambda dims: dims[0], kernels=(kernel(depth=lambda dims: 3),))
    assert deep.case(CaseId.parse("op/cuda/b/f32/100")).depth == 3
    assert make(depth=lambda dims: dims[0]).case(CaseId.parse("op/cuda/best/f32/100")).depth == 100
