"""Case ids are one spelling of one case, everywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.ids import CaseId, Shape

shapes = st.builds(
    Shape,
    st.lists(st.integers(0, 10**6), min_size=1, max_size=3).map(tuple),
    st.integers(0, 31),
    st.none() | st.integers(0, 10**6),
    st.booleans(),
)


@given(shapes)
def test_a_shape_reads_back_what_it_prints(shape):
    """Printing and parsing are inverse, so an id names exactly one layout."""
    assert Shape.parse(str(shape)) == shape


@pytest.mark.parametrize("text", ["", "x", "3x", "3.t.o1", "3.o0", "03", "-1", "3.p", "3 ", "3.o1.o2"])
def test_anything_but_the_one_spelling_is_refused(text):
    """Two spellings of one shape would be two baselines, so only one is read."""
    with pytest.raises(ValueError, match="bad shape"):
        Shape.parse(text)


def test_suffixes_follow_a_fixed_order():
    """Offset, pitch and transposition are written in this order."""
    assert str(Shape((4097, 8191), 1, 8192, True)) == "4097x8191.o1.p8192.t"


def test_an_id_has_five_parts_and_says_which_one_is_wrong():
    """A malformed id names the part that is wrong."""
    assert str(CaseId.parse("sum/cuda/atomic/f16_f32/1024.o1")) == "sum/cuda/atomic/f16_f32/1024.o1"
    with pytest.raises(ValueError, match="expected operation/backend"):
        CaseId.parse("sum/cuda")
    with pytest.raises(ValueError, match="variant 'Atomic'"):
        CaseId.parse("sum/cuda/Atomic/f32/3")


def test_negative_extents_are_refused():
    """A shape cannot be built from a negative number, however it is made."""
    with pytest.raises(ValueError, match="negative"):
        Shape((-1,))
