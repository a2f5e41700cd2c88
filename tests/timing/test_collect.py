"""Samples taken while the GPU throttles are discarded and taken again."""

import itertools

import pytest

from pytest_roofline.timing.collect import CHUNK, RETRIES, collect
from pytest_roofline.timing.errors import Throttled


def sampler():
    """1, 2, 3, …"""
    numbers = itertools.count(1)
    return lambda: float(next(numbers))


def test_a_quiet_gpu_gives_just_the_samples_wanted():
    """Nothing is discarded and nobody waits."""
    found = collect(sampler(), 25, lambda: (), sleep=lambda s: pytest.fail("waited"))
    assert (found.samples, found.discarded, found.reasons) == (tuple(map(float, range(1, 26))), 0, ())


def test_a_throttled_chunk_is_taken_again_after_a_growing_pause():
    """The samples of both bad looks are gone, and the reason is kept."""
    looks = iter([("HwSlowdown",), ("HwSlowdown",), (), ()])
    pauses = []
    found = collect(sampler(), 2 * CHUNK, lambda: next(looks), sleep=pauses.append)
    assert found.samples == tuple(map(float, range(2 * CHUNK + 1, 4 * CHUNK + 1)))
    assert (found.discarded, found.reasons) == (2 * CHUNK, ("HwSlowdown",))
    assert pauses == sorted(pauses)
    assert pauses[0] < pauses[1]


def test_a_gpu_that_goes_on_throttling_gives_no_timing():
    """After the retries the caller gets an error that carries what was measured."""
    with pytest.raises(Throttled, match=r"the GPU throttled \(HwThermalSlowdown\)") as caught:
        collect(sampler(), 50, lambda: ("HwThermalSlowdown",), sleep=lambda s: None)
    assert len(caught.value.samples) == (RETRIES + 1) * CHUNK
    assert caught.value.telemetry.throttle_reasons == ("HwThermalSlowdown",)


def test_samples_that_are_not_enough_are_followed_by_more():
    """In chunks, up to as many as are allowed; none where they are enough at once."""
    asked = []

    def enough(samples):
        asked.append(len(samples))
        return len(samples) >= 17

    assert len(collect(sampler(), 5, lambda: (), most=100, enough=enough).samples) == 5 + 2 * CHUNK
    assert asked == [5, 5 + CHUNK, 5 + 2 * CHUNK]
    assert len(collect(sampler(), 5, lambda: (), most=12, enough=lambda samples: False).samples) == 12
    assert len(collect(sampler(), 5, lambda: (), most=12, enough=lambda samples: True).samples) == 5
