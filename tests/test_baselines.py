"""Baselines keep everything, refuse what does not belong, and say what is wrong where."""

import dataclasses
import json
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.baselines import (
    Baseline,
    BaselineError,
    Noise,
    Published,
    Run,
    Store,
    another_host,
    campaign_id,
    device_key,
    differences,
    latest,
    render,
    run_of,
)
from pytest_roofline.baselines.content import of_one_kernel
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


def test_a_campaign_is_a_day_a_start_of_the_machine_and_a_fingerprint():
    """Repeating a campaign replaces it; another day, start or toolchain is another one."""
    found = campaign_id(HERE, "2026-11-30T10:00:00")
    assert found.startswith("2026-11-30.abcdef12.")
    assert found == campaign_id(HERE, "2026-11-30T23:59:59")
    others = [{"machine": "fedcba987"}, {"driver": "581"}, {"packages": {"torch": "2.12", "triton": "3.6"}}]
    names = {campaign_id(dataclasses.replace(HERE, **other), "2026-11-30") for other in others}
    assert len({found, campaign_id(HERE, "2026-12-01"), *names}) == 5


def test_two_toolchains_on_one_day_stay_apart(store):
    """No run is ever filed under an environment it was not measured in."""
    newer = dataclasses.replace(HERE, packages={"torch": "2.12", "triton": "3.6"})
    names = [campaign_id(environment, "2026-11-30") for environment in (HERE, newer)]
    for name, environment in zip(names, (HERE, newer), strict=True):
        store.save(Baseline("h200", "sum", {name: environment}, {CASE: {name: RUN}}))
    found = store.load("h200", "sum")
    assert [found.campaigns[name].packages["torch"] for name in names] == ["2.11", "2.12"]


def test_a_campaign_never_changes_its_environment(store):
    """Runs that stay in the file would come to stand under an environment that was never theirs."""
    before = store.path("h200", "sum").read_text()
    newer = dataclasses.replace(HERE, driver="581")
    with pytest.raises(BaselineError, match=r"2026-11-30.abcdef12 was measured in another environment \(driver 580 ->"):
        store.save(Baseline("h200", "sum", {"2026-11-30.abcdef12": newer}, {CASE: {"2026-11-30.abcdef12": RUN}}))
    assert store.path("h200", "sum").read_text() == before


def test_replacing_writes_exactly_the_content(store):
    """Unlike saving, it takes away what is no longer there."""
    store.replace(Baseline("h200", "sum", {"c": HERE}))
    assert store.load("h200", "sum") == Baseline("h200", "sum", {"c": HERE})


@given(
    samples=st.lists(st.floats(1e-8, 10.0), min_size=2, max_size=40),
    kernel=st.none() | st.floats(1e-8, 10.0),
    gap=st.none() | st.floats(-1e-6, 1e-6),
)
def test_whatever_was_measured_can_be_stored_and_read(samples, kernel, gap):
    """No honest measurement makes a file that is refused later."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        run = run_of(Timing(tuple(samples), 1, 1, "graph_cold", 3e-8, 1e-6, gap, kernel))
        store.save(Baseline("h200", "sum", {"c": HERE}, {CASE: {"c": run}}))
        assert store.load("h200", "sum").measured == {CASE: {"c": run}}


def test_the_stored_results_of_this_project_can_be_read():
    """Every file under baselines/ is usable, and its text is what would be written today."""
    store = Store(Path(__file__).parents[1] / "baselines")
    assert "a100" in store.devices()
    for device in store.devices():
        for baseline in store.load_all(device):
            assert render(baseline) == store.path(device, baseline.operation).read_text(encoding="utf-8")
            assert not (device == "a100" and baseline.measured), "nothing here was measured on an A100"


def test_a_gpu_without_a_record_has_a_folder_of_its_own():
    """An unknown GPU can be tracked too; it only gets no percentage."""
    assert device_key(HERE) == "h200"
    assert device_key(dataclasses.replace(HERE, device="NVIDIA Future-9 X")) == "nvidia_future_9_x"


def test_a_run_keeps_the_conditions():
    """Clocks, power, temperature and throttle reasons are stored with the summary."""
    state = Telemetry((1980, 1970), (3201, 3201), (300.0, 400.0), (40, 45), ("SwPowerCap",), 1975.5)
    timing = Timing((1e-4, 1.1e-4, 1.2e-4), 2, 1, "graph_cold", 3e-8, 1e-6, 4e-7, None, 8e-6, 1.0, 0, state, "12ab")
    run = run_of(timing)
    assert (run.count, run.launches, run.gap, run.kernel, run.host) == (3, 2, 4e-7, None, 8e-6)
    assert (run.sm_clock_mhz, run.memory_clock_mhz, run.power_w) == ((1980, 1970), (3201, 3201), (300.0, 400.0))
    assert (run.temperature_c, run.throttle_reasons, run.code) == ((40, 45), ("SwPowerCap",), "12ab")
    assert (run.clock_mhz, run.launch_floor) == (1975.5, 1e-6)
    assert run.summary.power_limited
    assert not RUN.summary.power_limited
    assert run.quantiles[2] == 1.1e-4


def test_an_accepted_change_supersedes_what_it_was_compared_with(store):
    """Only the campaigns named go, of that case alone; a campaign that nothing refers to is forgotten."""
    other = CASE.replace("f32", "f64")
    path = store.path("h200", "sum")
    path.unlink()
    environments = {name: dataclasses.replace(HERE, machine=name) for name in ("a", "b", "c")}
    store.save(Baseline("h200", "sum", environments, {CASE: {"a": RUN, "b": RUN, "c": RUN}, other: {"a": RUN}}))
    new = Baseline("h200", "sum", {"d": HERE}, {CASE: {"d": RUN}}, superseded={CASE: {"a", "b"}})
    store.save(new)
    found = store.load("h200", "sum")
    assert set(found.measured[CASE]) == {"c", "d"}
    assert set(found.measured[other]) == {"a"}
    assert set(found.campaigns) == {"a", "c", "d"}


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


def test_two_cards_of_one_machine_are_two_campaigns():
    """Their runs must not replace each other; a record from before cards were told apart keeps its name."""
    names = {
        campaign_id(dataclasses.replace(HERE, gpu=gpu), "2026-11-30T10:00:00") for gpu in ("aaaa1111", "bbbb2222", "")
    }
    assert len(names) == 3
    assert campaign_id(HERE, "2026-11-30").count(".") == 2


def test_only_runs_of_one_kernel_are_compared_with():
    """Those of the code that was stored last; where a code is unknown, those that are not far off."""
    at = lambda seconds, **changes: dataclasses.replace(  # noqa: E731
        RUN, log_mean=math.log(seconds), quantiles=(seconds,) * 5, **changes
    )
    runs = {
        "a": at(1e-4),
        "b": at(1.3e-4),
        "c": at(1.02e-4, code="new", date="2026-11-30T12"),
        "d": at(1.01e-4, code="new", date="2026-11-30T11"),
        "e": at(1e-4, code="old", date="2026-11-30T10"),
    }
    assert latest(runs) is runs["c"]
    assert set(of_one_kernel(runs)) == {"a", "c", "d"}
    assert of_one_kernel({}) == {}


@pytest.mark.parametrize(
    ("protocol", "machines", "other"),
    [
        ("host_clock", ["aaaaaaaa-1", "bbbbbbbb-2"], True),
        ("transfer", ["aaaaaaaa-1"], True),
        ("host_clock", ["aaaaaaaa-1", "cccccccc-3"], False),
        ("graph_cold", ["aaaaaaaa-1"], False),
    ],
)
def test_a_host_is_another_one_if_no_campaign_was_on_its_start(protocol, machines, other):
    """Only where the host is what was timed; of a host that is not known nothing is said."""
    names = [campaign_id(dataclasses.replace(HERE, machine=machine), "2026-11-30") for machine in machines]
    here = dataclasses.replace(HERE, machine="cccccccc-3")
    assert another_host(protocol, here, names) is other
    assert not another_host(protocol, dataclasses.replace(HERE, machine=""), names)


def test_a_change_is_written_if_there_was_one(store):
    """Of the file as it is then; what a killed process left of it goes, what is of another file stays."""
    path = store.path("h200", "sum")
    for name in (".sum.json.abc.tmp", ".copy.json.abc.tmp"):
        (path.parent / name).write_text("{")
    before = path.stat().st_mtime_ns
    assert store.change("h200", "sum", lambda _: 0) == 0
    assert path.stat().st_mtime_ns == before
    assert store.change("h200", "sum", lambda found: len(found.measured.pop(CASE))) == 1
    assert store.load("h200", "sum").measured == {}
    assert sorted(found.name for found in path.parent.iterdir()) == [".copy.json.abc.tmp", "sum.json"]


def test_nobody_saves_while_a_file_is_changed(store, tmp_path):
    """Its folder is locked from reading to writing, for processes with any cache."""
    import subprocess
    import sys

    code = (
        "import fcntl, os, sys\ndescriptor = os.open(sys.argv[1], os.O_RDONLY)\n"
        "try:\n    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n    print('free')\n"
        "except BlockingIOError:\n    print('busy')\n"
    )

    def asked():
        command = [sys.executable, "-c", code, str(tmp_path / "h200")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert store.change("h200", "sum", lambda _: asked()) == "busy"
    assert asked() == "free"


def test_a_folder_that_cannot_be_written_is_found_before_anything_is_stored(tmp_path):
    """That of the device may be a file; neither needs to exist, and no empty one is made of a device."""
    Store(tmp_path / "new").verify_writable("h200")
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "new" / "h200").write_text("")
    with pytest.raises(OSError, match="h200"):
        Store(tmp_path / "new").verify_writable("h200")
