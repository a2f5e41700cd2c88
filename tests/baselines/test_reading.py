"""What does not belong into a baseline is refused, and where it is wrong is said."""

import dataclasses
import json
import math
from pathlib import Path

import pytest

from pytest_roofline.baselines import Baseline, BaselineError, Noise, Store, render
from tests.baselines.made import CASE, FIGURE, HERE


def edit(store, change):
    """Rewrite the file through a function of its data."""
    path = store.path("h200", "sum")
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def run_in(data):
    """The one stored run, as JSON."""
    return data["measured"][CASE]["2026-11-30.abcdef12"]


def publish(data, **changes):
    """Add a published figure to the JSON."""
    data["published"][CASE] = [{**dataclasses.asdict(FIGURE), **changes}]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema=2), "schema 2 is not 1; it was written by another version"),
        (lambda d: d.update(device="a100"), "a baseline of another device is refused"),
        (
            lambda d: d["campaigns"]["2026-11-30.abcdef12"].update(device="NVIDIA A100-SXM4-80GB"),
            "was measured on NVIDIA A100",
        ),
        (
            lambda d: d["campaigns"].clear(),
            "refers to the campaign 2026-11-30.abcdef12, which the file does not describe",
        ),
        (lambda d: d["measured"].update({"sum/cuda": {}}), "bad case id 'sum/cuda'"),
        (lambda d: d["measured"].update({"transpose/cuda/naive/f32/8x8": {}}), "belongs into another file"),
        (
            lambda d: run_in(d).update(quantiles=[1, 2, 3, 4, -5]),
            "5 positive quantiles",
        ),
        (lambda d: run_in(d).update(log_mean=0), "the mean 0 does not lie within the quantiles"),
        (lambda d: run_in(d).update(quantiles=[1, 2, 3, 5, 4]), "quantiles must ascend"),
        (lambda d: run_in(d).update(quantiles=None), "quantiles cannot be None"),
        (lambda d: run_in(d).update(surprise=1), "no field surprise"),
        (lambda d: run_in(d).pop("count"), f"{CASE} in 2026-11-30.abcdef12: count is missing"),
        (lambda d: run_in(d).update(count=1), "at least two samples, got 1"),
        (lambda d: run_in(d).update(count="many"), "count cannot be 'many'"),
        (lambda d: run_in(d).update(count=True), "count cannot be True"),
        (lambda d: run_in(d).update(launches=0), "launches must be positive, not 0"),
        (lambda d: run_in(d).update(kernel=-1e-6), "kernel must be positive, not -1e-06"),
        (lambda d: run_in(d).update(host=0.0), "host must be positive"),
        (lambda d: run_in(d).update(launch_floor=-5e-7), f"{CASE} in .*: launch_floor must be positive, not -5e-07"),
        (lambda d: run_in(d).update(launch_floor=0.0), "launch_floor must be positive"),
        (lambda d: run_in(d).update(launch_floor=math.nan), "launch_floor cannot be nan"),
        (lambda d: run_in(d).update(launch_floor="short"), "launch_floor cannot be 'short'"),
        (lambda d: run_in(d).update(clock_mhz=-1.0), "clock_mhz must be positive"),
        (lambda d: run_in(d).update(gap=math.nan), "gap cannot be nan"),
        (lambda d: run_in(d).update(gap=10**400), "gap cannot be 1000"),
        (lambda d: run_in(d).update(power_w=[1.0, math.inf]), r"power_w cannot be \[1.0, inf\]"),
        (lambda d: run_in(d).update(sm_clock_mhz=[1, 2, 3]), "out of range"),
        (lambda d: d["measured"][CASE].update({"2026-11-30.abcdef12": []}), "must be a JSON object, not list"),
        (lambda d: d["campaigns"]["2026-11-30.abcdef12"].update(driver=580), "driver cannot be 580"),
        (lambda d: d["campaigns"]["2026-11-30.abcdef12"].update(packages={"torch": 2}), "packages cannot be"),
        (lambda d: d.pop("measured"), "the block 'measured' is missing"),
        (lambda d: d.update(extra={}), "'extra' is no block of a baseline"),
        (lambda d: d["published"].update({CASE: {}}), "published figures are a list"),
        (lambda d: publish(d, device="a100"), "need an exact card"),
        (lambda d: publish(d), "a figure of a100_pcie_40gb does not belong to h200"),
        (lambda d: publish(d, device="h200", source=""), "needs a source"),
        (lambda d: publish(d, device="h200", seconds=-1.0), "positive value and time"),
        (lambda d: publish(d, device="h200", value=math.nan), "value cannot be nan"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_place(store, change, message):
    """Every kind of damage has a message that names the file, and none is silently dropped."""
    edit(store, change)
    with pytest.raises(BaselineError, match=message) as caught:
        store.load("h200", "sum")
    assert "sum.json" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("{", "line 1"),
        (" \n", "it is empty"),
        ('{"schema": 1, "schema": 1}', "'schema' stands in it twice"),
        ("[]", "must be a JSON object, not list"),
        ("null", "must be a JSON object, not NoneType"),
        ("[" * 100_000, "recursion"),
        (b"\xff\xfe", "can't decode"),
    ],
)
def test_a_corrupt_or_empty_file_says_so(store, text, message):
    """What is no baseline at all is named, with what to do."""
    store.path("h200", "sum").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BaselineError, match=f"sum.json is no baseline: .*{message}.*restore it from version control"):
        store.load_all("h200")


def test_a_file_that_cannot_be_read_says_so(store):
    """Whatever stands in a file's place is an error with its name, never an empty baseline."""
    store.path("h200", "matmul").mkdir()
    with pytest.raises(BaselineError, match=r"matmul\.json is no baseline"):
        store.load("h200", "matmul")


def test_the_stored_results_of_this_project_can_be_read():
    """Every file under baselines/ is usable, and its text is what would be written today."""
    store = Store(Path(__file__).parents[2] / "baselines")
    assert "a100" in store.devices()
    for device in store.devices():
        for baseline in store.load_all(device):
            assert render(baseline) == store.path(device, baseline.operation).read_text(encoding="utf-8")
            assert not (device == "a100" and baseline.measured), "nothing here was measured on an A100"


def test_noise_is_stored_beside_the_runs(store):
    """Merged like them, and read back as it was."""
    noise = {CASE: {"2026-11-30.abcdef12": Noise((0.001, -0.002), 1e-4, "12ab")}}
    store.save(Baseline("h200", "sum", {"2026-11-30.abcdef12": HERE}, noise=noise))
    assert store.load("h200", "sum").noise == noise
    assert store.load("h200", "sum").measured


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        ({"differences": [], "seconds": 1e-4}, "it needs a positive time and a difference"),
        ({"differences": [0.1], "seconds": -1.0}, "it needs a positive time and a difference"),
        ({"differences": [0.1]}, "seconds is missing"),
        ({"differences": ["x"], "seconds": 1e-4}, "differences cannot be"),
    ],
)
def test_noise_that_cannot_be_is_refused(store, noise, words):
    """Like every other entry, by name and with what to do."""
    path = store.path("h200", "sum")
    data = json.loads(path.read_text())
    data["noise"] = {CASE: {next(iter(data["campaigns"])): noise}}
    path.write_text(json.dumps(data))
    with pytest.raises(BaselineError, match=words):
        store.load("h200", "sum")
