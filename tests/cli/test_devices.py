"""``pytest-roofline devices`` and ``ceilings``."""

from __future__ import annotations

import pytest

from pytest_roofline.devices import identify
from pytest_roofline.devices.ceilings import Ceilings, save
from pytest_roofline.devices.identify import Gpu
from pytest_roofline.devices.record import keys
from tests.runs.made import HERE


def test_every_record_is_listed(command):
    """A line per key, with bandwidth and peak."""
    lines = command("devices", "list").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(keys())
    (h200,) = [line for line in lines if line.startswith("h200 ")]
    assert h200.split()[:4] == ["h200", "9.0", "4.80", "67.0"]


def test_a_record_is_shown_with_its_sources(command):
    """An unknown key lists the known ones."""
    assert "mem_bw_gbs = 4800" in command("devices", "show", "h200").out
    ended = command("devices", "show", "h300")
    assert ended.code == 4
    assert "known are a10, " in ended.err


def test_the_gpus_here_are_identified(command, monkeypatch):
    """With the record that belongs to each; none is exit code 1 and a reason."""
    gpu = Gpu("NVIDIA H200", int(150e9), {"sm_count": 132, "compute_major": 9})
    monkeypatch.setattr(identify, "gpus", lambda: (gpu,))
    assert "record: h200" in command("devices", "identify").out
    monkeypatch.setattr(identify, "gpus", lambda: ())
    monkeypatch.setattr(identify, "why_none", lambda: "the driver is not installed")
    ended = command("devices", "identify")
    assert (ended.code, ended.out) == (1, "no GPU: the driver is not installed\n")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("PYTEST_ROOFLINE_CACHE", str(tmp_path))
    return tmp_path


def test_stored_ceilings_are_printed(command, cache):
    """Rates, how they were reached, and when; without any, how to take them."""
    ended = command("ceilings")
    assert ended.code == 1
    assert "--measure takes those of this GPU" in ended.out
    save(Ceilings(HERE, "2026-11-30T12:00:00", 4.21e12, 4.6e12, 5e-7, {"fp32": 63.3e12}, {"copy": "torch"}))
    out = command("ceilings").out
    assert "NVIDIA H200, driver 580, measured 2026-11-30" in out
    assert ["copy", "4.210", "TB/s", "torch"] in [line.split() for line in out.splitlines()]
    assert ["fp32", "63.3", "TFLOP/s"] in [line.split() for line in out.splitlines()]
    assert "0.500 us" in out


def test_measuring_needs_a_gpu(command, cache, monkeypatch):
    """Exit code 4 and the reason there is none."""
    monkeypatch.setattr(identify, "gpu_count", lambda: 0)
    ended = command("ceilings", "--measure")
    assert ended.code == 4
    assert "--measure needs a GPU" in ended.err


def test_damaged_ceilings_are_named(command, cache):
    """The file and what to do."""
    (cache / "ceilings").mkdir()
    (cache / "ceilings" / "x.json").write_text("{")
    ended = command("ceilings")
    assert ended.code == 4
    assert "x.json is damaged" in ended.err
