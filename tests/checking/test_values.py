"""Input data: the classes hold what they promise, the same for the same seed."""

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline.checking.values import classes, draw  # noqa: E402
from pytest_roofline.dtypes import element  # noqa: E402

PROMISE = {
    "random": lambda x: torch.isfinite(x).all() and x.std() > 0.5,
    "nan": lambda x: torch.isnan(x).any(),
    "inf": lambda x: (x == float("inf")).any(),
    "neg_inf": lambda x: (x == float("-inf")).any(),
    "both_inf": lambda x: (x == float("inf")).any() and (x == float("-inf")).any(),
    "zeros": lambda x: (x == 0).all() and torch.signbit(x).any() and not torch.signbit(x).all(),
    "negative_zeros": lambda x: (x == 0).all() and torch.signbit(x).all(),
    "largest": lambda x: x.abs().max() == torch.finfo(x.dtype).max,
    "whole": lambda x: (x == x.round()).all() and x.abs().max() == 2 and (x == 0).any(),
    "cancellation": lambda x: x.double().sum().abs() <= 1e-6 * x.double().abs().sum(),
    "offset": lambda x: x.double().mean() ** 2 > 0.9 / torch.finfo(x.dtype).eps > 10 * x.double().var() > 0,
    "constant": lambda x: (x == x.view(-1)[0]).all() and x.abs().max() > 1,
}


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("values", sorted(PROMISE))
def test_a_class_holds_what_its_name_says(name, values):
    """Each special class really puts its values into the data."""
    assert PROMISE[values](draw((64, 32), element(name), values, 3, "cpu"))


def test_eight_bits_hold_whole_numbers():
    """They have a class of their own, so that long sums of them can be exact."""
    x = draw((64, 32), element("fp8"), "whole", 3, "cpu").double()
    assert PROMISE["whole"](x)
    assert x.abs().mean() < 0.8


@pytest.mark.parametrize("values", ["random", "nan", "zeros", "negative_zeros", "whole"])
def test_eight_bits_hold_what_a_class_promises(values):
    """Of the special values those that the format has: no infinity, and so none of its classes."""
    assert PROMISE[values](draw((64, 32), element("fp8"), values, 3, "cpu").double())
    assert not {"inf", "neg_inf", "both_inf"} & set(classes(element("fp8")))


@pytest.mark.parametrize("name", ["f32", "bf16"])
def test_subnormal_data_has_subnormals(name):
    """Data of the class 'subnormal' is not zero but below the smallest normal number."""
    x = draw((64,), element(name), "subnormal", 0, "cpu").double().abs()
    assert ((x > 0) & (x < element(name).tiny)).any()


def test_the_same_seed_gives_the_same_data():
    """A failure can be seen again from its seed."""
    a, b, c = (draw((100,), element("f32"), "random", s, "cpu") for s in (5, 5, 6))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


def test_integers_have_only_random_values():
    """Integer data covers the format's range and knows no special classes."""
    assert classes(element("i8")) == ("random",)
    x = draw((10000,), element("i8"), "random", 0, "cpu")
    assert x.min() < -100
    assert x.max() > 100
    with pytest.raises(ValueError, match="no value class 'nan' for i8"):
        draw((1,), element("i8"), "nan", 0, "cpu")


@pytest.mark.parametrize("name", ["i8", "i32", "i64"])
def test_integers_are_as_large_as_their_format_admits(name):
    """A sum of a few needs more bits than the format has: a kernel that adds them up in too few is found."""
    x = draw((100,), element(name), "random", 0, "cpu")
    assert x.dtype is element(name).torch()
    assert x.double().abs().max() > 0.9 * element(name).largest


@pytest.mark.parametrize("values", sorted(PROMISE))
def test_empty_data_is_fine(values):
    """No class fails on a problem of size zero."""
    assert draw((0, 3), element("f32"), values, 0, "cpu").numel() == 0


def test_no_nan_is_all_ones():
    """The Triton checker marks masked lanes with all ones, also after a conversion to a longer format."""
    data = draw((64,), element("bf16"), "nan", 0, "cpu")
    assert set(data.view(torch.int16)[data.isnan()].tolist()) == {0x7FC0}
