"""The power curve of stored campaigns, as text."""

import dataclasses
import math
import random

import pytest

from pytest_roofline.baselines import Baseline, Noise, Run
from pytest_roofline.evidence import Environment
from pytest_roofline.reports import power

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11"}, 132, 60 << 20)


def run(seconds, **changes):
    """A stored run of that typical time."""
    return Run(math.log(seconds), (seconds,) * 5, 100, 2, 1, "graph_cold", None, **changes)


def stored(campaigns=5, noise=0.002, calibrated=False):
    """30 cases of 100 us and 30 of 2 us."""
    rng, found = random.Random(0), Baseline("h200", "op")
    for k in range(campaigns):
        name = f"2026-11-0{k + 1}.m{k}.c"
        found.campaigns[name] = dataclasses.replace(HERE, machine=f"m{k}")
        for i in range(60):
            seconds = (1e-4 if i < 30 else 2e-6) * math.exp(rng.gauss(0, noise))
            found.measured.setdefault(f"op/cuda/v{i}/f32/8", {})[name] = run(seconds)
    if calibrated:
        last = max(found.campaigns)
        found.noise = {case: {last: Noise((1e-4, -1e-4, 2e-4, 0.0), 1e-4)} for case in found.measured}
    return [found]


def figures(lines, start):
    """The numbers of the first line that begins so."""
    line = next(line for line in lines if line.strip().startswith(start))
    return [float(word.rstrip("%")) for word in line.split("cases")[1].split()]


def test_each_class_has_a_line_for_each_comparison():
    """Chances rise with the slowdown; beside the old kernel far less can hide."""
    lines = power.section(stored(), 10)
    assert lines[0].startswith(
        "60 cases as seen from campaign 2026-11-05.m4.c, 5 to 5 campaigns each, 0 of them calibrated"
    )
    alone, pairs = (figures(part, "20 us and longer, 30") for part in (lines, lines[6:]))
    assert alone[:4] == sorted(alone[:4])
    assert pairs[0] > 90 > alone[0]
    assert pairs[4] < alone[4]
    assert lines[-2] == "for 10 cases with changed code in a run, which share 0.01 false alarms"
    assert lines[-1].startswith("worked out from the noise of the cases, not counted")


def test_more_campaigns_and_fewer_suspects_show_more():
    """What the last column says falls."""
    five, three = (figures(power.section(stored(k), 10), "20 us")[4] for k in (5, 3))
    assert five < three
    assert figures(power.section(stored(), 1), "20 us")[4] < figures(power.section(stored(), 400), "20 us")[4]


def test_calibration_is_counted_and_used():
    """Quiet pairs show smaller slowdowns than stated ones."""
    plain, quiet = power.section(stored(), 10), power.section(stored(calibrated=True), 10)
    stated = "  stated, not measured, for 60 cases, whose noise of pairs --roofline-calibrate stores"
    assert stated in plain
    assert not any("not measured" in line for line in quiet)
    assert "60 of them calibrated" in quiet[0]
    assert figures(quiet[6:], "20 us")[4] < figures(plain[6:], "20 us")[4]


def test_every_case_on_request():
    """A line per case below the tables."""
    lines = power.section(stored(), 10, verbose=True)
    assert sum(line.startswith("op/cuda/v") for line in lines) == 60


def test_without_a_measurement_there_is_no_curve():
    """Figures that were published or counted say nothing about noise."""
    with pytest.raises(ValueError, match="nothing was measured on this device"):
        power.section([Baseline("a100", "op")], 10)
