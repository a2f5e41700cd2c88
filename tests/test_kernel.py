"""A kernel is declared so that it can run, or refused by name."""

import pytest

from pytest_roofline.dtypes import DType
from pytest_roofline.ids import Shape
from pytest_roofline.kernel import Kernel


def kernel(**changes):
    """A kernel ``cuda/b`` in f32 with the given fields in place of its own."""
    return Kernel(**{"backend": "cuda", "variant": "b", "launcher": "m:f", "dtypes": ("f32",), **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backend": "tritn"}, "op: kernel tritn/b: unknown backend 'tritn'; known are triton, cuda"),
        ({"variant": "B-1"}, "op: kernel cuda/B-1: a variant is lower case letters"),
        ({"launcher": "m.f"}, "launcher 'm.f' is not package.module:function"),
        ({"dtypes": ("float",)}, "unknown dtype 'float'"),
        ({"timed": "64"}, "cuda/b: timed is text, not a tuple"),
        ({"timed": ("6 4",)}, "bad shape '6 4'"),
        ({"timed_dtypes": "f32"}, "timed_dtypes 'f32' is no tuple of some of"),
        ({"timed_dtypes": ("f16",)}, "is no tuple of some of"),
        ({"absent_dtypes": {"float": "none"}}, "unknown dtype 'float'"),
        ({"absent_dtypes": {"f32": "none"}}, "f32 is among its dtypes and has a reason not to be"),
        ({"capability": "hopper"}, "capability 'hopper' is not such as sm_90"),
    ],
)
def test_what_could_never_run_is_refused(changes, message):
    """Text would be read letter by letter, a missing dtype never timed, a misspelt architecture skipped for ever."""
    with pytest.raises(ValueError, match=message):
        kernel(**changes).verify("op")


def test_a_kernel_that_can_run_is_accepted():
    """What it leaves out, and what only one architecture has, are no mistakes."""
    kernel(timed=("64",), timed_dtypes=("f32",), absent_dtypes={"i8": "none"}, capability="sm_90a").verify("op")


def test_a_kernel_tells_what_it_rejects():
    """In its own words; one without a rule takes every shape."""
    even = kernel(rejects=lambda shape, dtype: "odd" if shape.dims[0] % 2 else None)
    f32 = DType.parse("f32")
    assert [even.rejection(Shape((n,)), f32) for n in (7, 8)] == ["odd", None]
    assert kernel().rejection(Shape((7,)), f32) is None
