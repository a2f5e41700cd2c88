"""How long a case would run on a CPU, in the right order of magnitude."""

from __future__ import annotations

import pytest

from pytest_roofline.counting.duration import seconds, told
from pytest_roofline.discovery import discover


@pytest.fixture(scope="module")
def catalogue(request):
    return discover(request.config.rootpath, ["suite/operations"])


@pytest.mark.parametrize(
    ("case", "least", "most"),
    [
        ("matmul/cuda/naive/f32/128x128x128", 0.02, 0.5),  # took 0.1 s
        ("vector_add/triton/block_1024/f32/262144", 0.1, 2),  # 0.4 s
        ("matmul/triton/naive/f32/128x128x128", 2, 30),  # 6 s: a program for each result
        ("matmul/cuda/naive/f32/4096x4096x4096", 600, 10_000),
        ("matmul/torch/mm/f32/4096x4096x4096", 0, 0),  # a library routine is no kernel of ours
    ],
)
def test_the_order_of_magnitude(catalogue, case, least, most):
    """Against what such checks took on one core; a product of 4096 is nothing to wait for."""
    assert least <= seconds(catalogue.case(case)) <= most


def test_counted_cases_are_short(catalogue):
    """None is too long for the gate, so all are counted."""
    assert max(map(seconds, catalogue.counted())) < 10


@pytest.mark.parametrize(("number", "text"), [(5, "5 seconds"), (240, "4 minutes"), (136_800, "38 hours")])
def test_it_is_told_for_people(number, text):
    """In the largest unit of which there are two."""
    assert told(number) == text
