"""Baselines keep everything, refuse what does not belong, and say what is wrong where."""

import dataclasses
import json

import pytest

from pytest_roofline.baselines import (
    Baseline,
    BaselineError,
    Published,
    Run,
    Store,
    campaign_id,
    device_key,
    differences,
    render,
    run_of,
)
from pytest_roofline.evidence import Environment, Telemetry, Timing

HERE = Environment(
    "NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11", "triton": "3.6"}, 132, 62914560, machine="abcdef123"
)
RUN = Run(-9.0, (1.22e-4, 1.23e-4, 1.234e-4, 1.24e-4, 1.25e-4), 100, 2, 1, "graph_cold", 4e-7)
FIGURE = Published(
    "a100_pcie_40gb", "GPU time", 9.49, "us", 9.49e-6, "as published", "CUB", "NVIDIA/cccl PR", "nvbench", "high"
)
CASE = "sum/cuda/atomic/f32/1024"


@pytest.fixture
def store(tmp_path):
    """A store with one measured case."""
    store = Store(tmp_path)
    store.save(Baseline("h200", "sum", {"2026-11-30.abcdef12": HERE}, {CASE: {"2026-11-30.abcdef12": RUN}}))
    return store


def test_what_is_saved_comes_back(store):
    """One campaign, one run, nothing lost."""
    found = store.load("h200", "sum")
    assert found.campaigns == {"2026-11-30.abcdef12": HERE}
    assert found.measured == {CASE: {"2026-11-30.abcdef12": RUN}}
    assert found.measured[CASE]["2026-11-30.abcdef12"].summary.seconds == pytest.approx(1.234e-4, rel=1e-3)
    assert (store.devices(), store.operations("h200"), found.case_ids()) == (["h200"], ["sum"], {CASE})


def test_saving_keeps_other_cases_and_campaigns(store):
    """A partial run adds to the file and takes nothing away; the same campaign replaces itself."""
    other = CASE.replace("1024", "2048")
    store.save(Baseline("h200", "sum", {"2026-12-01.ffff": HERE}, {CASE: {"2026-12-01.ffff": RUN}}))
    changed = dataclasses.replace(RUN, count=50)
    store.save(Baseline("h200", "sum", {"2026-12-01.ffff": HERE}, {other: {"2026-12-01.ffff": RUN}}))
    store.save(Baseline("h200", "sum", {"2026-12-01.ffff": HERE}, {CASE: {"2026-12-01.ffff": changed}}))
    found = store.load("h200", "sum")
    assert set(found.measured) == {CASE, other}
    assert found.measured[CASE] == {"2026-11-30.abcdef12": RUN, "2026-12-01.ffff": changed}


def test_published_figures_stand_apart(store):
    """A published figure is stored with its exact card and never among the measured ones."""
    store.save(Baseline("a100", "sum", published={CASE: [FIGURE]}))
    found = store.load("a100", "sum")
    assert (found.measured, found.published) == ({}, {CASE: [FIGURE]})


def test_the_text_is_stable_and_one_run_a_line(store):
    """Reading and writing again changes nothing, and a diff shows single runs."""
    path = store.path("h200", "sum")
    text = path.read_text()
    assert render(store.load("h200", "sum")) == text
    assert sum('"log_mean"' in line for line in text.splitlines()) == 1
    assert json.loads(text)["schema"] == 1


def edit(store, change):
    """Rewrite the file through a function of its data."""
    path = store.path("h200", "sum")
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


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
            lambda d: d["measured"][CASE]["2026-11-30.abcdef12"].update(quantiles=[1, 2, 3, 4, -5]),
            "5 positive quantiles",
        ),
        (lambda d: d["measured"][CASE]["2026-11-30.abcdef12"].update(log_mean=0), "does not lie within its quantiles"),
        (lambda d: d["measured"][CASE]["2026-11-30.abcdef12"].update(surprise=1), "no field surprise"),
        (lambda d: d["measured"][CASE]["2026-11-30.abcdef12"].pop("count"), "count"),
        (lambda d: d.pop("measured"), "measured"),
        (
            lambda d: d["published"].update({CASE: [{**dataclasses.asdict(FIGURE), "device": "a100"}]}),
            "need an exact card",
        ),
        (lambda d: d["published"].update({CASE: [{**dataclasses.asdict(FIGURE), "source": ""}]}), "needs a source"),
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
        ('{"schema": 1, "schema": 1}', "'schema' stands in it twice"),
        ("[]", "no baseline"),
    ],
)
def test_a_corrupt_or_empty_file_says_so(store, text, message):
    """What is no baseline at all is named, with what to do."""
    store.path("h200", "sum").write_text(text)
    with pytest.raises(BaselineError, match=message):
        store.load_all("h200")


def test_an_absent_file_is_an_empty_baseline(tmp_path):
    """Nothing stored is no error."""
    assert Store(tmp_path / "none").load("h200", "sum").case_ids() == set()
    assert Store(tmp_path / "none").devices() == []


def test_a_failed_save_leaves_the_file_as_it_was(store, monkeypatch):
    """Writing is atomic: an error on the way loses nothing."""
    before = store.path("h200", "sum").read_text()
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        store.save(Baseline("h200", "sum", {"x": HERE}, {CASE: {"x": RUN}}))
    assert store.path("h200", "sum").read_text() == before


def test_differences_are_named():
    """What could explain a change of time is listed by name."""
    there = dataclasses.replace(HERE, driver="581", packages={"torch": "2.12", "triton": "3.6"}, machine="other")
    assert differences(HERE, there) == ["driver 580 -> 581", "torch 2.11 -> 2.12"]
    assert differences(HERE, HERE) == []


def test_a_campaign_is_a_day_and_a_start_of_the_machine():
    """Repeating a campaign replaces it, another start of the machine is another one."""
    assert campaign_id(HERE, "2026-11-30T10:00:00") == "2026-11-30.abcdef12"


def test_a_gpu_without_a_record_has_a_folder_of_its_own():
    """An unknown GPU can be tracked too; it only gets no percentage."""
    assert device_key(HERE) == "h200"
    assert device_key(dataclasses.replace(HERE, device="NVIDIA Future-9 X")) == "nvidia_future_9_x"


def test_a_run_keeps_the_conditions():
    """Clocks, power, temperature and throttle reasons are stored with the summary."""
    state = Telemetry((1980, 1970), (3201, 3201), (300.0, 400.0), (40, 45), ("SwPowerCap",))
    run = run_of(Timing((1e-4, 1.1e-4, 1.2e-4), 2, 1, "graph_cold", 3e-8, 1e-6, 4e-7, None, 8e-6, 1.0, 0, state))
    assert (run.count, run.sm_clock_mhz, run.throttle_reasons) == (3, (1980, 1970), ("SwPowerCap",))
    assert run.quantiles[2] == 1.1e-4
