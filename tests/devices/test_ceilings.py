"""Measured ceilings are kept with their environment and refused elsewhere."""

import dataclasses
import json
import math

import pytest

from pytest_roofline.contract import Pipeline
from pytest_roofline.devices.ceilings import Ceilings, CeilingsError, load, path_for, save
from pytest_roofline.evidence import Environment

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11"}, 132, 62914560)
FOUND = Ceilings(HERE, "2026-11-30T00:00:00+00:00", 4.3e12, 4.5e12, 5e-7, {"fp32": 62e12}, {"copy": "torch copy_"})


def test_ceilings_come_back_as_they_were(tmp_path):
    """Saved and loaded, nothing is lost."""
    save(FOUND, tmp_path)
    assert load(HERE, tmp_path) == FOUND
    assert FOUND.peak(Pipeline.FP32) == 62e12
    assert FOUND.peak(Pipeline.FP64) is None


def test_nothing_measured_is_no_error(tmp_path):
    """A GPU that nobody measured has no ceilings."""
    assert load(HERE, tmp_path) is None


def test_another_driver_is_refused(tmp_path):
    """Ceilings of another driver say what to do instead of being used."""
    save(FOUND, tmp_path)
    with pytest.raises(
        CeilingsError, match="measured with driver 580, this is 581: run with --roofline-ceilings=measure"
    ):
        load(dataclasses.replace(HERE, driver="581"), tmp_path)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": 7}', '{"schema": 1, "copy": 1}'])
def test_a_damaged_file_is_named(tmp_path, text):
    """The message says which file to delete."""
    path = path_for("NVIDIA H200", tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(CeilingsError, match=r"nvidia_h200\.json is damaged"):
        load(HERE, tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        {"copy": 0},
        {"read": "fast"},
        {"peaks": {"fp32": -1}},
        {"empty_launch": None},
        {"empty_launch": -5e-7},
        {"empty_launch": math.nan},
    ],
)
def test_a_rate_that_is_none_is_named(tmp_path, damage):
    """Ceilings divide: a zero or a text in the file is found when it is read, not when a report needs it."""
    path = save(FOUND, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    name = next(iter(damage.get("peaks", damage)))
    with pytest.raises(CeilingsError, match=rf"nvidia_h200\.json is damaged \({name} is .*, no positive number\)"):
        load(HERE, tmp_path)


def test_the_cache_folder_can_be_chosen(tmp_path, monkeypatch):
    """PYTEST_ROOFLINE_CACHE overrides the user's cache directory."""
    monkeypatch.setenv("PYTEST_ROOFLINE_CACHE", str(tmp_path / "here"))
    assert save(FOUND) == tmp_path / "here" / "ceilings" / "nvidia_h200.json"
