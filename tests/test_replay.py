"""pytest-benchmark gets exactly our samples and goes on working."""

import itertools
import json

import pytest

from pytest_roofline.replay import REFUSED, ReplayClock, refused_options

PLAY = """
from pytest_roofline.replay import clock, replay
import pytest

@pytest.mark.benchmark(timer=clock, group="g")
def test_played(benchmark):
    replay(benchmark, [3e-6, 1e-6, 2e-6])

def test_own_clock(benchmark):
    benchmark(sum, range(3))
"""


def test_samples_reach_the_json_unchanged(pytester):
    """--benchmark-json holds the samples bit for bit, and another benchmark keeps its own timer."""
    pytester.makepyfile(PLAY)
    result = pytester.runpytest_subprocess("--benchmark-json=out.json", "--benchmark-max-time=0.01")
    result.assert_outcomes(passed=2)
    played, own = json.loads((pytester.path / "out.json").read_text())["benchmarks"]
    assert played["stats"]["data"] == [3e-6, 1e-6, 2e-6]
    assert own["stats"]["min"] > 0


def test_saved_runs_compare_and_a_slowdown_fails(pytester):
    """--benchmark-save, --benchmark-compare and --benchmark-compare-fail work on replayed samples."""
    pytester.makepyfile(PLAY)
    pytester.runpytest_subprocess("--benchmark-save=first", "-k", "played").assert_outcomes(passed=1)
    pytester.makepyfile(PLAY.replace("[3e-6, 1e-6, 2e-6]", "[6e-6, 2e-6, 4e-6]"))
    result = pytester.runpytest_subprocess("--benchmark-compare", "--benchmark-compare-fail=median:50%", "-k", "played")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*test_played (0001_first)*"])


def test_an_idle_clock_never_stands_still():
    """Calibration waits for the clock to advance: outside a replay it always does."""
    clock = ReplayClock()
    readings = [clock() for _ in range(100)]
    assert all(a < b for a, b in itertools.pairwise(readings))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_options_that_cannot_be_honoured_are_named(name):
    """Each such option of pytest-benchmark gives one message with its flag."""
    flag = "--" + name.replace("_", "-")
    (message,) = refused_options([flag + "=1", "--benchmark-only"])
    assert message.startswith(f"{flag} cannot be honoured")


def test_other_options_pass():
    """Options that only store or show results are not refused."""
    assert refused_options(["--benchmark-json=x", "--benchmark-columns=min", "--benchmark-only"]) == []
