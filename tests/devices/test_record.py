"""Device records: every figure has a source, and the figures agree with each other."""

import dataclasses
import json

import pytest

from pytest_roofline.contract import Memory, Pipeline
from pytest_roofline.devices.record import FOLDER, Figure, RecordError, all_records, keys, load, read
from pytest_roofline.devices.throughput import derive


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


def test_special_functions_are_derived_and_say_so():
    """16 results per clock and SM: an eighth of the results of a H200's 128 ordinary cores."""
    found = load("h200").peak_figure(Pipeline.SPECIAL)
    assert found.value == pytest.approx(16 * 132 * 1980e6)
    assert (found.derived, found.confidence) == (True, "derived")
    assert found.source.startswith("derived: 16 per clock and SM (CUDA C++ Programming Guide")
    assert found.source.endswith("x 132 SMs x 1980 MHz")


BOTH = [
    (record, pipeline)
    for record in all_records()
    for pipeline in (Pipeline.FP16, Pipeline.BF16, Pipeline.INT32)
    if record.peak(pipeline) and not record.peak_figure(pipeline).derived
]


@pytest.mark.parametrize(("record", "pipeline"), BOTH, ids=[f"{r.key}-{p.value}" for r, p in BOTH])
def test_derived_peaks_agree_with_published_ones(record, pipeline):
    """Where a datasheet gives the figure, the rate per clock that other models rely on gives the same."""
    derived = derive(pipeline, record.compute_capability, record.sm_count, record.number("boost_mhz"))
    assert derived.rate == pytest.approx(record.peak(pipeline), rel=0.01)


def test_published_peaks_were_there_to_compare():
    """The four A100s publish all three, the V100-SXM2 its half precision."""
    assert len(BOTH) == 13


def test_a_published_figure_comes_before_a_derived_one():
    """A H200's half-precision rate follows from its clock; an A100's is on its datasheet."""
    assert load("a100_sxm4_80gb").peak_figure(Pipeline.FP16) == Figure(78e12, *_source("fp16_nontensor_tflops"))
    assert load("h200").peak(Pipeline.FP16) == pytest.approx(2 * load("h200").peak(Pipeline.FP32), rel=0.01)
    assert load("h200").peak_figure(Pipeline.FP16).derived
    assert load("v100_sxm2").peak(Pipeline.FP16) == 31.4e12


def _source(field):
    figure = load("a100_sxm4_80gb").fields[field]
    return figure.source, figure.confidence, figure.note


@pytest.mark.parametrize(("cc", "sms", "mhz"), [("9.9", 100, 1000), ("9.0", None, 1000), ("9.0", 100, None)])
def test_nothing_is_derived_from_the_unknown(cc, sms, mhz):
    """Without architecture, SM count or clock there is no derived peak."""
    assert derive(Pipeline.SPECIAL, cc, sms, mhz) is None


def test_a_range_is_no_number():
    """Sources give 75 to 80 TFLOPS for a B200: no roof is made of that, so there is no percentage of it."""
    record = load("b200")
    assert record.fields["fp32_tflops"].value == "75-80"
    assert record.peak(Pipeline.FP32) is None
    assert record.bandwidth(Memory.DEVICE) == 8e12


def test_what_a_device_lacks_is_told_from_what_nobody_published():
    """An A100 has no fp8 tensor cores; a RTX 3090 has tf32, but its sources contradict each other."""
    lacking, unknown = load("a100_sxm4_80gb"), load("rtx_3090")
    assert (lacking.peak(Pipeline.FP8_TENSOR), lacking.peak_figure(Pipeline.FP8_TENSOR).supported) == (None, False)
    assert (unknown.peak(Pipeline.TF32_TENSOR), unknown.peak_figure(Pipeline.TF32_TENSOR).supported) == (None, True)
    assert unknown.peak_figure(Pipeline.TF32_TENSOR).note == "35.6 vs 71 in secondary tables"
    assert load("h200").bandwidth(Memory.L2) is None


def test_nothing_is_derived_for_what_the_hardware_lacks():
    """A record that denies a pipeline is believed, although its clock would give a rate."""
    without = Figure(None, "a table", "high", "not supported", supported=False)
    record = dataclasses.replace(load("h200"), fields={**load("h200").fields, "bf16_nontensor_tflops": without})
    assert record.peak_figure(Pipeline.BF16) == without


@pytest.mark.parametrize("key", [key for key in keys() if load(key).number("max_warps_per_sm")])
def test_threads_of_an_sm_are_whole_warps(key):
    """Claim simt-1: a warp has 32 threads, so an A100's 64 warps are 2048 threads; blocks are at most 32."""
    record = load(key)
    assert record.number("max_threads_per_sm") == 32 * record.number("max_warps_per_sm")
    if record.compute_capability in ("8.0", "9.0"):
        assert (record.number("max_warps_per_sm"), record.number("max_blocks_per_sm")) == (64, 32)


def test_a100_figures_of_the_source_documents():
    """Claims quant-1 and roof-5: fp16 tensor cores do 16 times the fp32 rate, and reading one 4-byte number takes as
    long as 50 operations."""
    record = load("a100_sxm4_40gb")
    assert record.peak(Pipeline.FP16_TENSOR) / record.peak(Pipeline.FP32) == 16
    assert record.peak(Pipeline.FP32) * 4 / record.bandwidth(Memory.DEVICE) > 50


def test_an_unknown_key_lists_the_known_ones():
    """A misspelt device says what exists."""
    with pytest.raises(RecordError, match=r"no device record 'h300'; known are a10, "):
        load("h300")


def _figure(value):
    return {"value": value, "source": "a table", "confidence": "high"}


def _with(data, name, figure):
    return json.dumps({**data, "fields": {**data["fields"], name: figure}})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: "", "no JSON at line 1"),
        (lambda d: json.dumps({**d, "key": "other"}), "it must be the file's name"),
        (lambda d: json.dumps({k: v for k, v in d.items() if k != "fields"}), "no device record: KeyError 'fields'"),
        (
            lambda d: _with(d, "tdp_w", {"value": 1, "source": "", "confidence": "high"}),
            "tdp_w has no source",
        ),
        (
            lambda d: _with(d, "fp32_tflop", {"value": 1, "source": "a", "confidence": "b"}),
            "no field is called fp32_tflop;",
        ),
        (lambda d: _with(d, "sm_count", _figure("132 SMs")), "sm_count is '132 SMs': expected a positive number"),
        (lambda d: _with(d, "sm_count", _figure(True)), "sm_count is True"),
        (lambda d: _with(d, "sm_count", _figure(-1)), "sm_count is -1"),
        (lambda d: _with(d, "mem_bw_gbs", _figure(float("nan"))), "mem_bw_gbs is nan"),
        (lambda d: _with(d, "compute_capability", _figure(9.0)), "compute_capability is 9.0"),
        (lambda d: _with(d, "sm_count", {**_figure(132), "supported": False}), "sm_count is 132"),
        (lambda d: json.dumps({**d, "driver_names": "H200"}), "driver_names must be a list"),
        (lambda d: "[]", "no device record: TypeError"),
    ],
)
def test_a_damaged_record_names_the_file_and_the_place(tmp_path, damage, message):
    """Whoever adds a record learns what is wrong with it."""
    path = tmp_path / "h200.json"
    path.write_text(damage(json.loads((FOLDER / "h200.json").read_text())))
    with pytest.raises(RecordError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_a_record_that_is_no_text_is_named(tmp_path):
    """Bytes that are no UTF-8 are a damaged record, not a crash."""
    path = tmp_path / "h200.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RecordError, match=r"h200\.json: no UTF-8 text"):
        read(path)


@pytest.mark.parametrize(
    ("key", "level", "terabytes"),
    [
        ("a100_sxm4_80gb", Memory.SHARED, 19.5),  # what the A100 is said to have: 108 SMs x 128 bytes x 1410 MHz
        ("a100_sxm4_80gb", Memory.L2, 7.219),
        ("a100_sxm4_80gb", Memory.HOST, 0.032),
        ("a100_sxm4_80gb", Memory.REGISTER, 156.0),  # 19.5 TFLOP/s are 9.75e12 FMA/s of 16 bytes
        ("h200", Memory.SHARED, 33.45),
        ("h200", Memory.HOST, 0.064),
    ],
)
def test_bandwidths_on_chip_and_of_the_link(key, level, terabytes):
    """Rounded as they are told, with a source or the formula that they follow from."""
    figure = load(key).bandwidth_figure(level)
    assert figure.value == pytest.approx(terabytes * 1e12, rel=2e-3)
    assert figure.derived == (level is not Memory.HOST)
    assert ("derived: " in figure.source) == figure.derived


def test_a_bandwidth_needs_all_its_inputs():
    """Without a clock there is none of shared memory, without a peak none of registers, without a width none of L2."""
    record = dataclasses.replace(load("a100_sxm4_80gb"), fields={})
    assert [record.bandwidth(level) for level in Memory] == [None] * len(Memory)
