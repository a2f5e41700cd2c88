"""What whole runs on a GPU that is not there store, and what they leave alone."""

import math
from pathlib import Path

import pytest

from pytest_roofline.runs import read
from pytest_roofline.runs.accepting import baselines_of
from tests.retest.conftest import CASE, US


def test_a_throttled_run_is_invalid_and_stores_nothing(baseline):
    """Not even with --roofline-update: the case fails, and the baseline stays as it was."""
    path = baseline.pytester.path / "baselines" / "h200" / "negate.json"
    before = path.read_text()
    found = baseline(None, "--roofline-update")
    assert found.ret == 1
    found.stdout.fnmatch_lines([f"*{CASE}: invalid: the GPU throttled (HwThermalSlowdown)*"])
    assert path.read_text() == before


def test_calibration_is_stored_and_used(on_gpu):
    """Each kernel beside itself in so many processes; the file holds a number for each."""
    found = on_gpu(50 * US, "--roofline-calibrate=3", pairs=[0.001, -0.001, 0.0005])
    assert found.ret == 0
    found.stdout.fnmatch_lines(["*calibration: stored the noise of 1 cases in *negate.json"])
    text = (on_gpu.pytester.path / "baselines" / "h200" / "negate.json").read_text()
    assert '"differences": [0.001, -0.001, 0.0005]' in text
    assert on_gpu(50 * US).ret == 0


def test_an_accepted_change_starts_the_baseline_anew(baseline):
    """Campaigns of the faster kernel do not mix with those of the slower one, once two more processes are as fast."""
    assert baseline(40 * US, "--roofline-update", fresh=[40 * US] * 2).ret == 0
    text = (baseline.pytester.path / "baselines" / "h200" / "negate.json").read_text()
    assert text.count('"log_mean"') == 1
    assert text.count('"driver"') == 1


def test_one_fast_process_drops_no_campaign(baseline):
    """Two more processes are as slow as ever: the campaigns stay, and the middle one of the three joins them."""
    found = baseline(40 * US, "--roofline-update", fresh=[50 * US, 50.1 * US])
    assert found.ret == 0
    found.stdout.fnmatch_lines(["1 cases timed: 1 same"])
    text = (baseline.pytester.path / "baselines" / "h200" / "negate.json").read_text()
    means = [math.exp(float(part.split(",")[0])) for part in text.split('"log_mean": ')[1:]]
    assert means == [pytest.approx(50 * US, rel=0.002)] * 6


def test_a_campaign_stores_the_middle_one_of_several_processes(on_gpu):
    """Whole, with its own samples; the report and the run's file show it, too. The verdict is not judged again."""
    found = on_gpu(50 * US, "--roofline-update", "--roofline-processes=3", fresh=[56 * US, 52 * US])
    assert found.ret == 0
    found.stdout.fnmatch_lines(["*1 case in 2 more processes, to store the middle one*", "1 cases timed: 1 new"])
    text = (on_gpu.pytester.path / "baselines" / "h200" / "negate.json").read_text()
    stored_mean = float(text.split('"log_mean": ')[1].split(",")[0])
    assert stored_mean == pytest.approx(math.log(52 * US), abs=0.005)


def test_a_campaign_that_is_killed_stores_nothing(baseline):
    """The baseline is as it was, and the next run is compared with it."""
    path = baseline.pytester.path / "baselines" / "h200" / "negate.json"
    before = path.read_text()
    suite = baseline.pytester.path / "test_suite.py"
    whole = suite.read_text()
    suite.write_text(whole + "\n\ndef test_zz(benchmark):\n    import os\n    os.kill(os.getpid(), 9)\n")
    assert baseline(50 * US, "--roofline-update").ret != 0
    assert path.read_text() == before
    suite.write_text(whole)
    found = baseline(50 * US, "--roofline-strict")
    assert found.ret == 0
    found.stdout.fnmatch_lines(["1 cases timed: 1 same"])


FULL = """

def test_zz(benchmark):
    from pytest_roofline.baselines import Store

    def save(self, baseline):
        raise OSError(28, "No space left on device")

    Store.save = save
"""


def test_a_campaign_that_cannot_be_stored_is_not_lost(baseline):
    """The disk became full while the run went on: the run fails, and its results can be accepted from a run file."""
    suite = baseline.pytester.path / "test_suite.py"
    suite.write_text(suite.read_text() + FULL)
    found = baseline(50 * US, "--roofline-update")
    assert found.ret == 1
    found.assert_outcomes(passed=3, deselected=4, warnings=1)
    found.stdout.fnmatch_lines(["roofline: NOT stored: 1 cases: *No space left on device"])
    kept = Path(found.stdout.str().split("its results are in ")[1].split(": ")[0])
    assert set(baselines_of(read(kept))[0].measured) == {CASE}
    kept.unlink()


@pytest.mark.parametrize(("campaigns", "kind"), [(0, "new"), (1, "same")])
def test_few_campaigns_are_enough_for_a_verdict(on_gpu, campaigns, kind):
    """None at all, and a provisional one."""
    for _ in range(campaigns):
        on_gpu(50 * US, "--roofline-update")
    found = on_gpu(50 * US)
    assert found.ret == 0
    found.stdout.fnmatch_lines([f"1 cases timed: 1 {kind}", *(["*~same*"] if campaigns else [])])
