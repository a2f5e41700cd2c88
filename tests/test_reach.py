"""What kernels could reach on a device: bounds from its record, quantisation, and what is not known."""

from __future__ import annotations

import pytest

from pytest_roofline.contract import Memory, Traffic, Work
from pytest_roofline.devices.record import keys, load
from pytest_roofline.discovery import discover
from pytest_roofline.reports.reach import section
from pytest_roofline.roofline import assess, cached_limit

A100 = load("a100_sxm4_80gb")


@pytest.fixture(scope="module")
def catalogue(request):
    return discover(request.config.rootpath, ["suite/operations"])


def line(catalogue, case, record=A100, resident=()):
    [found] = [text for text in section([catalogue.case(case)], record, dict(resident), {}) if "/" in text][:1]
    return found.split()


def test_a_stream_is_bound_by_device_memory(catalogue):
    """12 bytes per element of 2^24 at 2039 GB/s; nothing fits into 40 MB of L2."""
    found = line(catalogue, "vector_add/cuda/scalar/f32/16777216")
    _, problem, unit, kernel, _, by, cached, tiles, waves, expected = found
    assert float(problem) == pytest.approx(12 * 2**24 / 2039e9 * 1e6, rel=1e-3)
    assert (unit, kernel, by, cached, tiles, waves) == ("us", problem, "device", "-", "1.00", "-")
    assert expected == "-"


def test_waves_need_the_blocks_that_an_sm_holds(catalogue):
    """16384 tiles of 32 x 32 on 108 SMs with two blocks each: 75.9 waves take the time of 76."""
    resident = {"matmul/cuda/shared_32": 2}
    waves = line(catalogue, "matmul/cuda/shared_32/f32/4096x4096x4096", resident=resident)[-2]
    assert float(waves) == pytest.approx(76 * 216 / 16384, abs=0.005)


def test_the_blocks_of_what_a_case_launches_come_before_those_of_its_kernel(catalogue):
    """A large shape may take another tile, of which fewer fit: with one block 151.7 waves take the time of 152."""
    case = "matmul/cuda/shared_32/f32/4096x4096x4096"
    waves = line(catalogue, case, resident={"matmul/cuda/shared_32": 2, case: 1})[-2]
    assert float(waves) == pytest.approx(152 * 108 / 16384, abs=0.005)


def test_what_fits_into_l2_has_another_bound():
    """Read and written side by side at the width of L2; only where the record has it."""
    small, large = (Work({}, Traffic(n, n)) for n in (1 << 20, 1 << 30))
    found = cached_limit(small, A100)
    assert found.by == "l2"
    assert found.seconds == pytest.approx((1 << 20) / A100.bandwidth(Memory.L2))
    assert cached_limit(large, A100) is None
    assert cached_limit(small, load("h200")) is None


def test_library_routines_have_no_line(catalogue):
    """Their kernels are not known."""
    assert not [
        text for text in section([catalogue.case("matmul/torch/mm/f32/256x256x256")], A100, {}, {}) if "torch" in text
    ]


@pytest.mark.parametrize("record", keys())
def test_every_timed_case_has_a_bound_on_every_device(catalogue, record):
    """But for operations about one level alone: of an L2 or a link whose width nobody published, nothing is said."""
    device = load(record)
    cases = [case for case in catalogue.timed(full=True) if not case.kernel.peer]
    unbound = {case.operation.name for case in cases if assess(case.work, case.model, device).problem is None}
    one_level = {"l2_bandwidth", "shared_bandwidth", "shared_stride", "register_bandwidth"}
    assert unbound <= one_level | {"download", "exchange", "upload"}
    lines = [text for text in section(cases, device, {}, {}) if text.startswith("  ") and "/" in text]
    assert len(lines) == len(cases)


def test_an_unknown_device_is_a_usage_error(pytester):
    """Exit code 4, and the known ones are listed."""
    result = pytester.runpytest("-p", "pytest_roofline.plugin", "--roofline-device=a100")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*no device record 'a100'; known are a10, *"])


def test_an_expected_time_stands_in_its_column(catalogue):
    """Derived elsewhere, in microseconds."""
    case = "vector_add/cuda/scalar/f32/16777216"
    [found] = [text for text in section([catalogue.case(case)], A100, {}, {case: 123e-6}) if "/" in text][:1]
    assert found.endswith("123 us")
