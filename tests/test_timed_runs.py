"""A whole benchmark run on a GPU that is not there: its times are given, everything after them is real."""

import pytest

from tests.absent_gpu import alike


@pytest.fixture
def on_gpu(project):
    """``on_gpu(seconds, *arguments)`` runs the project in a process of its own; ``None`` times nothing."""
    pytester = project()

    def run(seconds, *arguments):
        pytester.makeconftest(alike(seconds))
        return pytester.runpytest_subprocess("--benchmark-only", "--roofline-ceilings=off", *arguments)

    return run


def test_a_first_run_is_new_and_strict_fails_it(on_gpu):
    """``new`` warns: the run passes, and fails under --roofline-strict."""
    found = on_gpu(50e-6)
    assert found.ret == 0
    found.stdout.fnmatch_lines(["1 cases timed: 1 new"])
    assert on_gpu(50e-6, "--roofline-strict").ret == 1


def test_a_stored_run_is_what_the_next_is_compared_with(on_gpu, pytester):
    """--roofline-update writes; the same time passes, a tenth more fails by name, with the same outcome in JUnit."""
    stored = on_gpu(50e-6, "--roofline-update")
    stored.stdout.fnmatch_lines(["roofline: stored 1 cases in *baselines/h200/negate.json"])
    assert on_gpu(50e-6, "--roofline-strict").ret == 0
    slow = on_gpu(55e-6, "--junit-xml=junit.xml")
    assert slow.ret == 1
    slow.assert_outcomes(failed=1, passed=1, deselected=4)
    assert 'failures="1"' in (pytester.path / "junit.xml").read_text()
    slow.stdout.fnmatch_lines(["negate/host/plain/f32/64x64: regression: +10.0 %*"])


def test_a_run_that_times_nothing_fails(on_gpu):
    """Skips alone must not look like a good night."""
    found = on_gpu(None)
    assert found.ret == 1
    found.stdout.fnmatch_lines(["no case was timed"])


def test_a_case_of_the_baseline_that_was_skipped_is_missing(on_gpu):
    """By name and with the reason: that this machine cannot run it contradicts its own baseline."""
    on_gpu(50e-6, "--roofline-update")
    found = on_gpu(None)
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        ["missing: negate/host/plain/f32/64x64 is in the baseline of this GPU, but did not run: *"]
    )


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_timed(on_gpu, pytester):
    """A usage error at the start, not a lost run at the end."""
    (pytester.path / "taken").write_text("")
    found = on_gpu(50e-6, "--roofline-update", "--roofline-baselines=taken/below")
    assert found.ret == 4
    found.stderr.fnmatch_lines(["*--roofline-update: *taken/below cannot be written*"])


def test_the_users_group_is_kept(on_gpu, pytester):
    """A benchmark marker with a group groups as it says."""
    suite = pytester.path / "test_suite.py"
    suite.write_text(suite.read_text().replace('"timed")', '"timed")\n@pytest.mark.benchmark(group="mine")'))
    on_gpu(50e-6).stdout.fnmatch_lines(["*benchmark 'mine'*"])


def test_a_gpu_that_torch_cannot_use_stops_the_run(project):
    """A CPU build of torch beside a driver is named, with what to do; no kernel is blamed."""
    pytester = project()
    pytester.makeconftest("import pytest_roofline.state as state\nstate.State.device = 'gpu'\n")
    found = pytester.runpytest_subprocess("--correctness-only")
    assert found.ret == 4
    found.stderr.fnmatch_lines(["*there is a GPU here, but torch * cannot use it*--roofline-on=cpu*"])
