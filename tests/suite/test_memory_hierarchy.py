"""The table of the memory hierarchy: right units, and every figure says what it is."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from suite.memory_hierarchy.__main__ import main
from suite.memory_hierarchy.levels import NOTHING, lines
from suite.memory_hierarchy.results import ResultsError, read
from suite.memory_hierarchy.tables import occupancy_lines, stride_lines


def entry(case: str, seconds: float, device: str = "NVIDIA H200", clock: int | None = 1980) -> dict[str, object]:
    """What the plugin puts into pytest-benchmark's results."""
    clocks = None if clock is None else [clock, clock]
    timing = {"host": 4e-6, "launch_floor": 5e-7, "telemetry": {"sm_clock_mhz": clocks}}
    return {"extra_info": {"roofline": {"case": case, "device": device, "seconds": seconds, "timing": timing}}}


@pytest.fixture
def results(tmp_path):
    """``results(*entries)``: a results file."""

    def write(*entries):
        path = tmp_path / "results.json"
        path.write_text(json.dumps({"benchmarks": [{"extra_info": {}}, *entries]}))
        return path

    return write


def lines_of(path):
    """The lines of a results file by name."""
    return {line.name: line for line in lines(*read(path))}


def test_bandwidths_are_bytes_over_time_of_the_fastest_kernel(results):
    """132 TB/s of shared memory would be 1056 tiles of 4 KiB, read 2048 times, in 67.1 us; reads alone are counted."""
    found = lines_of(
        results(
            entry("shared_bandwidth/cuda/scalar/f32/1056x2048", 1.0),
            entry("shared_bandwidth/cuda/vectorised/f32/1056x2048", 1056 * 2048 * 4096 / 30e12),
            entry("register_bandwidth/cuda/ilp_8/f32/1000x1000", 12e6 / 240e12),
        )
    )
    shared, registers = found["shared memory, read"], found["registers, operands read"]
    assert (shared.here.text, shared.here.kind) == ("30 TB/s", "measured")
    assert shared.here.source == "shared_bandwidth/cuda/vectorised/f32/1056x2048"
    assert registers.here.text == "240 TB/s"
    assert found["registers, operands and results"].here.text == "320 TB/s"
    assert (found["shared memory, roof"].here.text, found["shared memory, roof"].here.kind) == ("33.5 TB/s", "derived")


def test_a_latency_is_the_difference_of_two_chases(results):
    """What both have, launch and first round, cancels; with a clock it is told in cycles as well."""
    path = results(
        entry("pointer_chase/cuda/shared/i32/64x16384", 1e-3),
        entry("pointer_chase/cuda/shared/i32/64x65536", 1e-3 + 49152 * 10e-9),
        entry("pointer_chase/cuda/cached/i32/64x16384", 1e-3, clock=None),
        entry("pointer_chase/cuda/cached/i32/64x65536", 1e-3 + 49152 * 20e-9, clock=None),
        entry("pointer_chase/cuda/uncached/i32/2097152x8192", 1e-3),
    )
    found = lines_of(path)
    assert found["shared memory, latency"].here.text == "10.0 ns (20 cycles)"
    assert found["L1, latency"].here.text == "20.0 ns"
    assert found["device memory, latency"].here is NOTHING  # one chase is no latency


def test_overhead_ends_where_moving_the_bytes_takes_as_long_as_the_launch(results):
    """256 launches in 1.28 ms are 5 us each; at 4 TB/s, 20 MB move in that time."""
    path = results(
        entry("launch_chain/cuda/stream/i32/256", 1.28e-3),
        entry("occupancy/cuda/ilp_8/f32/67108864x64", 67108864 * 8 / 4e12),
        entry("empty_launch/cuda/stream/i32/1", 9e-6),
    )
    found = lines_of(path)
    assert found["launch in a stream"].here.text == "5.00 us"
    below = found["launch in a stream: overhead-bound below"].here
    assert (below.text, below.kind) == ("20.00 MB", "derived")
    assert found["empty kernel, call to completion"].here.text == "9.00 us"
    assert found["empty kernel, host's share"].here.text == "4.00 us"
    assert found["empty kernel, in a graph of many"].here.text == "0.50 us"


def test_a_link_is_told_by_direction_and_an_exchange_by_both(results):
    """Bytes are counted as the operation declares them."""
    path = results(
        entry("upload/cuda/pinned/i8/1000000", 20e-6),
        entry("exchange/cuda/overlapped/i8/1000000", 25e-6),
        entry("upload/torch/pinned/i8/1000000", 1e-9),
    )
    found = lines_of(path)
    assert found["upload, pinned"].here.text == "50 GB/s"  # a library's time is not ours
    assert found["exchange, overlapped"].here.text == "80 GB/s"


def test_every_figure_says_what_it_is_and_where_it_comes_from(results):
    """Measured, published or derived; with a case, a document or a formula."""
    found = lines_of(results(entry("l2_bandwidth/cuda/scalar/f32/4224x16", 1e-4)))
    for line in found.values():
        for figure in (line.here, line.a100):
            if figure is not NOTHING:
                assert figure.kind in ("measured", "published", "derived")
                assert figure.source
    assert all(line.a100.kind != "measured" for line in found.values())


def test_a_figure_of_another_card_names_it(results, capsys):
    """A column of one card would give it what an unknown one or another one did."""
    path = results(
        entry("upload/cuda/pinned/i8/1000000", 20e-6),
        entry("upload/cuda/pageable/i8/1000000", 90e-6),
        entry("pointer_chase/cuda/cached/i32/64x16384", 1e-3),
    )
    found = lines_of(path)
    assert found["upload, pageable"].a100.card == "A100-SXM4-40GB, direction not stated"
    assert found["L2, latency"].a100.card == found["device memory, latency"].a100.card == "variant not stated"
    assert found["upload, pinned"].a100.card == found["L1, latency"].a100.card == ""
    main([str(path)])
    assert "12.7 GB/s published A100-SXM4-40GB, direction not stated" in capsys.readouterr().out


def test_launch_times_of_the_a100_are_derived(results):
    """The source prints GB/s of a small kernel; the time is 16 bytes for each of 4096 elements over that."""
    found = lines_of(
        results(
            entry("launch_chain/cuda/stream/i32/256", 2e-3),
            entry("launch_chain/cuda/graph/i32/256", 2e-4),
        )
    )
    for name, text in (("launch in a stream", "2.62 us"), ("launch in a graph", "1.34 us")):
        assert (found[name].a100.text, found[name].a100.kind) == (text, "derived")
        assert "GB/s" in found[name].a100.source


def test_strides_are_told_beside_their_conflicts(results):
    """Time over that of stride 1, and the greatest common divisor with 32."""
    path = results(*(entry(f"shared_stride/cuda/scalar/f32/1056x{s}", s * 1e-5) for s in (1, 3, 8)))
    text = stride_lines(read(path)[1])
    assert [line.split() for line in text[2:]] == [["1:", "1", "1.00"], ["3:", "1", "3.00"], ["8:", "8", "8.00"]]
    assert stride_lines({}) == []


def test_occupancy_is_told_in_bytes_in_flight(results):
    """16 warps of 32 lanes with 4 loads of 4 bytes are 8 KiB on each SM."""
    path = results(entry("occupancy/cuda/ilp_4/f32/67108864x16", 67108864 * 8 / 2e12))
    assert occupancy_lines(read(path)[1])[2].split() == ["16", "4", "8.0", "2.000"]


def test_a_gpu_without_record_has_no_roofs(results):
    """What was measured is told all the same."""
    found = lines_of(results(entry("l2_bandwidth/cuda/scalar/f32/4224x16", 1e-4, device="NVIDIA Z1")))
    assert found["L2, read"].here.kind == "measured"
    assert found["shared memory, roof"].here is NOTHING


def test_what_is_no_result_of_one_gpu_is_refused(results, tmp_path):
    """The message names the file and what is wrong with it."""
    case = "l2_bandwidth/cuda/scalar/f32/4224x16"
    with pytest.raises(ResultsError, match="holds timings of 2 devices"):
        read(results(entry(case, 1e-4), entry(case, 1e-4, device="other")))
    with pytest.raises(ResultsError, match="holds timings of 0 devices"):
        read(results())
    (tmp_path / "no.json").write_text("[]")
    with pytest.raises(ResultsError, match=r"no\.json is no result of --benchmark-json"):
        read(tmp_path / "no.json")


def test_the_command_prints_the_tables(results, capsys):
    """Columns under the devices' names, then the sources; an error is one line and exit status 1."""
    assert main([str(results(entry("l2_bandwidth/cuda/scalar/f32/4224x16", 1e-4)))]) == 0
    out = capsys.readouterr().out
    assert "NVIDIA H200  |  A100-SXM4-80GB" in out
    assert "5.45 TB/s published" in out
    assert main(["missing.json"]) == 1
    assert "missing.json is no result" in capsys.readouterr().err
    assert main([]) == 2
