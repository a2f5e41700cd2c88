"""Number formats carry the constants of their arithmetic."""

import pytest

from pytest_roofline.dtypes import DType, element


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16", "fp8"])
def test_constants_agree_with_torch(name):
    """Size, smallest normal, largest finite and unit roundoff are those that torch reports."""
    torch = pytest.importorskip("torch")
    item = element(name)
    info = torch.finfo(item.torch())
    assert (item.itemsize * 8, item.tiny, item.largest) == (info.bits, info.tiny, info.max)
    assert item.unit_roundoff == info.eps / 2


def test_tf32_is_f32_storage_with_eleven_bits():
    """tf32 takes four bytes and rounds like f16 in f32's range."""
    item = element("tf32")
    assert (item.itemsize, item.unit_roundoff, item.is_float) == (4, 2**-11, True)


def test_operand_and_accumulator_are_written_once_when_equal():
    """f32 stands for both, f16_f32 for operand and accumulator."""
    assert str(DType.parse("f32")) == "f32"
    mixed = DType.parse("f16_f32")
    assert (mixed.operand.name, mixed.accumulator.name, str(mixed)) == ("f16", "f32", "f16_f32")


@pytest.mark.parametrize("text", ["", "float", "f32_", "f16_f32_f64", "F32"])
def test_an_unknown_format_lists_the_known_ones(text):
    """A misspelt dtype says what exists."""
    with pytest.raises(ValueError, match=r"known are f64, f32"):
        DType.parse(text)
