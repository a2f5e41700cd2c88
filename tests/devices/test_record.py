"""Device records: every figure has a source, and the figures agree with each other."""

import json

import pytest

from pytest_roofline.contract import Memory, Pipeline
from pytest_roofline.devices.record import FOLDER, RecordError, keys, load, read


def test_all_seventeen_models_are_there_and_the_a100s_apart():
    """Four A100s with two bandwidths each for 40 and 80 GB."""
    assert len(keys()) == 17
    a100s = {key: load(key).bandwidth(Memory.DEVICE) for key in keys() if key.startswith("a100")}
    assert a100s == {
        "a100_sxm4_40gb": 1555e9,
        "a100_sxm4_80gb": 2039e9,
        "a100_pcie_40gb": 1555e9,
        "a100_pcie_80gb": 1935e9,
    }


@pytest.mark.parametrize("key", keys())
def test_every_figure_has_a_source(key):
    """Nothing without provenance, and what the roofline needs first is known."""
    record = load(key)
    assert all(figure.source and figure.confidence for figure in record.fields.values())
    assert record.compute_capability
    if key != "b200":
        assert record.bandwidth(Memory.DEVICE) > 0
        assert record.peak(Pipeline.FP32) > 0


@pytest.mark.parametrize("key", [k for k in keys() if load(k).number("fp32_cores_per_sm")])
def test_the_fp32_peak_follows_from_cores_and_clock(key):
    """SMs x cores x boost clock x 2 gives the datasheet's peak; an A100 SM has 64 cores, not 128 (claim a100-1)."""
    record = load(key)
    derived = record.sm_count * record.number("fp32_cores_per_sm") * record.number("boost_mhz") * 1e6 * 2
    assert derived == pytest.approx(record.peak(Pipeline.FP32), rel=0.02)
    if key.startswith("a100"):
        assert record.number("fp32_cores_per_sm") == 64


def test_the_special_function_roof_is_derived():
    """16 results per clock and SM: a sixteenth of ... the ordinary cores' results on a H200."""
    assert load("h200").peak(Pipeline.SPECIAL) == pytest.approx(16 * 132 * 1980e6)


def test_a_range_is_no_number():
    """Sources give 7.7 to 8 TB/s for a B200: no roof is made of that, so there is no percentage of it."""
    record = load("b200")
    assert record.fields["mem_bw_gbs"].value == "7700-8000"
    assert (record.bandwidth(Memory.DEVICE), record.peak(Pipeline.FP32)) == (None, None)


def test_what_a_device_lacks_is_unknown_not_zero():
    """An A100 has no fp8 tensor cores."""
    assert load("a100_sxm4_80gb").peak(Pipeline.FP8_TENSOR) is None
    assert load("h200").bandwidth(Memory.L2) is None


def test_an_unknown_key_lists_the_known_ones():
    """A misspelt device says what exists."""
    with pytest.raises(RecordError, match=r"no device record 'h300'; known are a10, "):
        load("h300")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: "", "no JSON at line 1"),
        (lambda d: json.dumps({**d, "key": "other"}), "it must be the file's name"),
        (lambda d: json.dumps({k: v for k, v in d.items() if k != "fields"}), "no device record: KeyError 'fields'"),
        (
            lambda d: json.dumps({**d, "fields": {"x": {"value": 1, "source": "", "confidence": "high"}}}),
            "x has no source",
        ),
    ],
)
def test_a_damaged_record_names_the_file_and_the_place(tmp_path, damage, message):
    """Whoever adds a record learns what is wrong with it."""
    path = tmp_path / "h200.json"
    path.write_text(damage(json.loads((FOLDER / "h200.json").read_text())))
    with pytest.raises(RecordError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)
