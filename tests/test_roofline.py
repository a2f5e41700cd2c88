"""Bounds, regimes and quantisation, by plain numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.contract import Memory, Pipeline, Traffic, Work
from pytest_roofline.devices.ceilings import Ceilings
from pytest_roofline.devices.record import all_records, load
from pytest_roofline.evidence import Environment
from pytest_roofline.roofline import (
    Regime,
    assess,
    intensity,
    rates,
    ridge,
    tile_quantisation,
    wave_quantisation,
)

H200 = load("h200")
HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {}, 132, 62914560)
CEILINGS = Ceilings(HERE, "2026-01-01", 4e12, 4.5e12, 1e-6, {"fp32": 60e12}, {})


def stream(n=10**8):
    """y = x + y on n floats."""
    return Work({Pipeline.FP32: n}, Traffic(8 * n, 4 * n))


def test_a_stream_is_bound_by_device_memory():
    """1.2 GB over 4.8 TB/s are 250 us, and a time of 280 us is 89 % of that."""
    found = assess(stream(), record=H200)
    assert found.problem.seconds == pytest.approx(250e-6)
    assert (found.regime, found.algorithm.by) == (Regime.MEMORY, "device")
    assert found.fraction(280e-6) == pytest.approx(250 / 280)


def test_a_matmul_is_bound_by_its_pipeline():
    """2 n^3 operations over 67 TFLOP/s."""
    n = 4096
    found = assess(Work({Pipeline.FP32: 2 * n**3}, Traffic(8 * n * n, 4 * n * n)), record=H200)
    assert found.algorithm.seconds == pytest.approx(2 * n**3 / 67e12)
    assert (found.regime, found.algorithm.by) == (Regime.COMPUTE, "fp32")


def test_below_the_time_of_an_empty_launch_nothing_but_overhead_counts():
    """A bound of 2.5 ns cannot be approached when an empty launch takes a microsecond."""
    assert assess(stream(1024), record=H200, launch_floor=1e-6).regime is Regime.OVERHEAD
    assert assess(stream(1024), record=H200).regime is Regime.MEMORY


def test_the_algorithms_traffic_tightens_the_bound():
    """A kernel that reads its input twice has a bound of its own; the problem's stays."""
    found = assess(stream(), (Traffic(16 * 10**8, 4 * 10**8),), H200)
    assert found.algorithm.seconds == pytest.approx(2e9 / 4.8e12)
    assert found.problem.seconds == pytest.approx(1.2e9 / 4.8e12)


def test_a_level_without_a_published_roof_does_not_count():
    """No datasheet gives the bandwidth of L2, so its traffic cannot bound anything."""
    found = assess(stream(), (Traffic(10**15, 0, Memory.L2),), H200)
    assert found.algorithm == found.problem


def test_a_pipeline_of_unknown_rate_leaves_a_stream_its_bound():
    """No source gives an RTX 3090's bf16 tensor rate, but a stream's few operations cannot matter at any rate."""
    found = assess(Work({Pipeline.BF16_TENSOR: 10**8}, Traffic(4 * 10**8, 2 * 10**8)), record=load("rtx_3090"))
    assert (found.algorithm.by, found.algorithm.complete, found.regime) == ("device", True, Regime.MEMORY)
    assert found.fraction(1e-3) == pytest.approx(6e8 / 936e9 / 1e-3)


def test_a_pipeline_of_unknown_rate_that_could_limit_leaves_no_percentage():
    """The bytes of a matmul say nothing about how fast unknown tensor cores multiply; they still forbid magic."""
    n = 4096
    work = Work({Pipeline.BF16_TENSOR: 2 * n**3}, Traffic(4 * n * n, 2 * n * n))
    found = assess(work, record=load("rtx_3090"), launch_floor=1.0)
    assert (found.algorithm.complete, found.fraction(1e-3), found.regime) == (False, None, Regime.UNKNOWN)
    assert found.impossible(1e-9)


def test_no_operations_on_an_unknown_pipeline_are_no_matter():
    """A work that lists a pipeline with zero operations is not made uncertain by it."""
    assert assess(Work({Pipeline.BF16_TENSOR: 0}, Traffic(0, 0)), record=load("rtx_3090")).algorithm.complete


def test_memory_of_unknown_bandwidth_leaves_no_bound():
    """The record of a B200 has none of its link, and no ceiling is one of a link."""
    transfer = Work({}, Traffic(10**9, 0, Memory.HOST))
    assert assess(transfer, record=load("b200")).algorithm is None
    assert assess(transfer, ceilings=CEILINGS).ceiling is None


def test_the_directions_of_a_link_do_not_share_its_bandwidth():
    """64 GB/s each way: both ways at once take as long as one, and less than that is impossible."""
    one, both = (assess(Work({}, Traffic(64 * 10**9, back, Memory.HOST)), record=H200) for back in (0, 64 * 10**9))
    assert one.algorithm == both.algorithm
    assert one.algorithm.seconds == pytest.approx(1)
    assert both.impossible(0.99)


@pytest.mark.parametrize(
    ("level", "bytes_per_second"), [(Memory.SHARED, 132 * 128 * 1.98e9), (Memory.REGISTER, 67e12 * 8)]
)
def test_reads_and_writes_share_what_is_on_chip(level, bytes_per_second):
    """The bound counts both, and a loop that the compiler removed is faster than any SM could be."""
    found = assess(Work({}, Traffic(3 * 10**12, 10**12, level)), record=H200)
    assert found.algorithm.seconds == pytest.approx(4e12 / bytes_per_second)
    assert found.algorithm.by == level.value
    assert found.impossible(found.algorithm.seconds * 0.99)


def test_what_was_not_measured_has_the_datasheets_rate():
    """Ceilings without a double-precision rate bound a matmul by the 34 TFLOP/s of the datasheet, not by its bytes."""
    work = Work({Pipeline.FP64: 2 * 4096**3}, Traffic(16 * 4096**2, 8 * 4096**2))
    with_record = assess(work, record=H200, ceilings=CEILINGS)
    assert (with_record.ceiling.by, with_record.ceiling.seconds) == ("fp64", pytest.approx(2 * 4096**3 / 34e12))
    alone = assess(work, ceilings=CEILINGS)
    assert (alone.ceiling.by, alone.fraction_of_ceiling(1.0)) == ("device", None)


def test_special_functions_have_a_roof_of_their_own():
    """Claim roof-2: 16 exponentials per byte-poor element are limited far below the FMA peak."""
    n = 10**8
    found = assess(Work({Pipeline.FP32: 16 * n, Pipeline.SPECIAL: 16 * n}, Traffic(4 * n, 4 * n)), record=H200)
    assert (found.algorithm.by, found.regime) == ("special", Regime.COMPUTE)
    assert found.algorithm.seconds == pytest.approx(16 * n / (16 * 132 * 1980e6))


def test_an_unknown_gpu_gets_no_percentage():
    """Without a record there is no bound and no share of it, only rates."""
    found = assess(stream())
    assert (found.problem, found.fraction(1.0), found.regime) == (None, None, Regime.UNKNOWN)
    assert not found.impossible(1e-12)


def test_faster_than_the_datasheet_is_impossible():
    """250 us is the datasheet's time for a stream of 1.2 GB."""
    found = assess(stream(), record=H200)
    assert found.impossible(249e-6)
    assert not found.impossible(251e-6)


@pytest.mark.parametrize(
    ("read", "write", "seconds"),
    [(1, 1, 2 / 4e12), (1, 0, 1 / 4.5e12), (2, 1, 2 / 4e12 + 1 / 4.5e12), (0, 1, 1 / 4e12)],
)
def test_measured_ceilings_mix_copy_and_read_as_the_traffic_does(read, write, seconds):
    """Equal reads and writes move at the copy's rate, further reads at the read rate."""
    found = assess(Work({}, Traffic(read, write)), ceilings=CEILINGS)
    assert found.ceiling.seconds == pytest.approx(seconds)


def test_rates_come_from_counts_and_a_time():
    """The one conversion: bytes and operations per second."""
    found = rates(stream(), 1e-3)
    assert found.bytes_per_second == pytest.approx(1.2e12)
    assert found.operations_per_second == pytest.approx(1e11)
    with pytest.raises(ValueError, match="positive"):
        rates(stream(), 0.0)


def test_nothing_to_do_takes_no_time():
    """A problem of size zero has the bound zero and no intensity."""
    found = assess(Work({}, Traffic(0, 0)), record=H200)
    assert (found.algorithm.seconds, found.intensity) == (0, 0)
    assert intensity(Work({Pipeline.FP32: 5}, Traffic(0, 0))) == math.inf


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6), st.integers(2, 100))
def test_the_bound_scales_with_the_work(operations, read, write, factor):
    """Twice the work takes twice as long at the roof, and its intensity is the same."""
    one = Work({Pipeline.FP32: operations}, Traffic(read, write))
    many = Work({Pipeline.FP32: factor * operations}, Traffic(factor * read, factor * write))
    a, b = assess(one, record=H200), assess(many, record=H200)
    assert b.algorithm.seconds == pytest.approx(factor * a.algorithm.seconds)
    assert b.intensity == pytest.approx(a.intensity)


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.sampled_from(all_records()))
def test_the_bound_is_the_classic_roofline(operations, total, record):
    """In time: the larger of operations / peak and bytes / bandwidth, which is min(peak, bandwidth x intensity).
    Without a published peak it is the time of the bytes."""
    peak, bandwidth = record.peak(Pipeline.FP32), record.bandwidth(Memory.DEVICE)
    found = assess(Work({Pipeline.FP32: operations}, Traffic(total, 0)), record=record).algorithm
    assert found.seconds == max(operations / (peak or math.inf), total / bandwidth)


@given(st.floats(1e-9, 1e3), st.floats(1, 100))
def test_a_slower_run_reaches_a_smaller_share(seconds, factor):
    """The fraction falls as time grows, and is not below one where the time is impossible."""
    found = assess(stream(), record=H200)
    assert found.fraction(factor * seconds) <= found.fraction(seconds)
    assert found.fraction(seconds) >= 1 if found.impossible(seconds) else found.fraction(seconds) <= 1


@given(st.lists(st.tuples(st.integers(1, 10**4), st.integers(1, 512)), min_size=1, max_size=3))
def test_tiles_never_launch_less_than_is_useful(pairs):
    """Launched work covers the extents, and whole tiles waste nothing."""
    extents, tile = zip(*pairs, strict=True)
    assert tile_quantisation(extents, tile) >= 1
    assert tile_quantisation([e * t for e, t in pairs], tile) == 1


@given(st.integers(1, 10**6), st.integers(1, 200), st.integers(1, 32))
def test_waves_waste_less_than_one_wave(blocks, sms, per_sm):
    """The last wave may be almost empty, and all the others are full."""
    found = wave_quantisation(blocks, sms, per_sm)
    assert 1 <= found < 1 + sms * per_sm / blocks


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_more_bytes_never_lower_the_bound(read, more):
    """The bound is monotone in the traffic."""
    less = assess(Work({}, Traffic(read, 0)), record=H200).algorithm.seconds
    assert less <= assess(Work({}, Traffic(read + more, 0)), record=H200).algorithm.seconds


@pytest.mark.parametrize(
    ("operations", "traffic", "expected"),
    [(2, 8, 0.25), (8, 16, 0.5), (2 * 32, 8, 8.0), (2 * 64, 8, 16.0), (2, 16, 0.125), (1, 12, 1 / 12)],
    ids=["naive", "register_2x2", "tile_32", "tile_64", "fma", "vector_add"],
)
def test_intensities_of_the_source_documents(operations, traffic, expected):
    """Claims ai-1 to ai-6: operations per byte of each step of the ladder; vector add has 1/12, not 1."""
    assert intensity(Work({Pipeline.FP32: operations}, Traffic(traffic, 0))) == pytest.approx(expected)


@pytest.mark.parametrize("n", [32, 64, 128])
def test_intensity_of_a_square_tile_and_of_the_ideal(n):
    """Claim ai-4: tiles of m x n have m n / (2 (m + n)) operations per byte; reading all once, n / 6."""
    assert intensity(Work({Pipeline.FP32: 2 * n * n}, Traffic(4 * 2 * n, 0))) == pytest.approx(n * n / (2 * (n + n)))
    assert intensity(Work({Pipeline.FP32: 2 * n**3}, Traffic(8 * n * n, 4 * n * n))) == pytest.approx(n / 6)


@pytest.mark.parametrize(("tile", "regime"), [(32, Regime.MEMORY), (64, Regime.COMPUTE)])
def test_a_tile_of_32_is_memory_bound_on_an_a100_and_one_of_64_is_not(tile, regime):
    """Claim ai-3, with the panels read from device memory: 8 and 16 operations per byte around a ridge of 12.5."""
    n = 4096
    panels = Traffic(4 * 2 * n * n * (n // tile), 4 * n * n)
    work = Work({Pipeline.FP32: 2 * n**3}, Traffic(8 * n * n, 4 * n * n))
    assert assess(work, (panels,), load("a100_sxm4_40gb")).regime is regime


def test_ridges_of_the_two_a100_memories():
    """Claim roof-1: 12.5 with 1555 GB/s, 9.6 with 2039 GB/s."""
    small, large = load("a100_sxm4_40gb"), load("a100_sxm4_80gb")
    found = [ridge(r.peak(Pipeline.FP32), r.bandwidth(Memory.DEVICE)) for r in (small, large)]
    assert found == pytest.approx([12.54, 9.56], abs=0.01)


def test_tile_quantisation():
    """Claim tile-1: 65 x 65 in tiles of 32 x 32 launches 2.18 times the work."""
    assert tile_quantisation((65, 65), (32, 32)) == pytest.approx(2.18, abs=0.005)
    assert tile_quantisation((64, 64), (32, 32)) == 1
    assert tile_quantisation((0, 64), (32, 32)) == 1


def test_wave_quantisation():
    """133 blocks on 132 SMs take two waves, almost twice the ideal time."""
    assert wave_quantisation(132, 132) == 1
    assert wave_quantisation(133, 132) == pytest.approx(264 / 133)
    assert wave_quantisation(0, 132) == 1
