"""On a GPU, planted mistakes get the right verdict, and summary, exit code, JUnit file and --lf agree."""

import json
import xml.etree.ElementTree as ET

import pytest

RIGHT = "def negate(x, y):\n    torch.neg(x, out=y)\n"
SLOWED = (
    "def negate(x, y):\n    torch.neg(x, out=y)\n    torch.neg(x[:1024], out=y[:1024])\n"  # 1024 of 8192 rows again
)
WRONG = "def negate(x, y):\n    torch.neg(x, out=y)\n    y[-1, -1] += 1\n"
CASE = "negate/host/plain/f32/8192x8192"
RUN = ("--benchmark-only", "--roofline-ceilings=off")


@pytest.fixture
def gpu_project(project):
    """The operation negate on 8192 x 8192 elements, 512 MiB of traffic."""

    def make(launcher=RIGHT):
        pytester = project(launcher)
        path = pytester.path / "operations" / "negate.py"
        path.write_text(path.read_text().replace('"64x64"', '"8192x8192"'))
        return pytester

    return make


def change(pytester, launcher, before=RIGHT):
    """Replace the kernel."""
    path = pytester.path / "operations" / "negate.py"
    source = path.read_text()
    assert before in source
    path.write_text(source.replace(before, launcher))


def test_an_unchanged_kernel_is_the_same_and_a_slowed_one_a_regression(gpu_project):
    """A stored run clears the same kernel; 12 % more work fails the run by name, everywhere alike."""
    pytester = gpu_project()
    first = pytester.runpytest_subprocess(*RUN, "--roofline-update")
    assert first.ret == 0
    first.stdout.fnmatch_lines(["*new*", "*stored 1 cases in *baselines/*/negate.json*"])
    again = pytester.runpytest_subprocess(*RUN)
    assert again.ret == 0
    again.stdout.fnmatch_lines(["*~same*"])
    change(pytester, SLOWED)
    slowed = pytester.runpytest_subprocess(*RUN, "--junitxml=junit.xml")
    assert slowed.ret == 1
    slowed.assert_outcomes(failed=1, passed=1, deselected=4)
    slowed.stdout.fnmatch_lines([f"*{CASE}: regression: +*", "*FAILED*"])
    failures = [c for c in ET.parse(pytester.path / "junit.xml").iter("testcase") if c.find("failure") is not None]
    assert [CASE in c.get("name") for c in failures] == [True]
    last = pytester.runpytest_subprocess(*RUN, "--lf")
    assert last.ret == 1
    last.stdout.fnmatch_lines([f"*{CASE}: regression: +*"])


def test_a_wrong_kernel_fails_and_is_never_timed(gpu_project):
    """There is no number for a kernel that computes something else."""
    result = gpu_project(WRONG).runpytest_subprocess(*RUN, "--benchmark-json=out.json", "--roofline-update")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*y: 1 of 67108864 elements wrong, the first at [[]8191, 8191]*"])
    result.stdout.no_fnmatch_line("*stored * cases*")


def test_a_kernel_that_claims_twice_its_bytes_is_impossible(gpu_project):
    """Faster than the datasheet allows for the claimed work is a failure, and is saved nowhere."""
    pytester = gpu_project()
    size = "shape.size * dtype.operand.itemsize"
    change(pytester, f"Traffic(2 * {size}, 2 * {size})", f"Traffic({size}, {size})")
    result = pytester.runpytest_subprocess(*RUN, "--benchmark-json=out.json", "--roofline-update")
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"*{CASE}: impossible: *of the datasheet bound*"])
    result.stdout.no_fnmatch_line("*stored * cases*")
    assert not list((pytester.path / "baselines").rglob("*.json"))  # the folder was tried before anything was timed


def test_samples_and_roofline_reach_the_json(gpu_project):
    """pytest-benchmark's file holds our samples and, in extra_info, what we know about the case."""
    pytester = gpu_project()
    assert pytester.runpytest_subprocess(*RUN, "--benchmark-json=out.json").ret == 0
    (found,) = json.loads((pytester.path / "out.json").read_text())["benchmarks"]
    info = found["extra_info"]["roofline"]
    assert info["case"] == CASE
    assert 0.5 < info["fraction_of_bound"] < 1
    assert found["group"] == "negate/f32/8192x8192"
    assert len(found["stats"]["data"]) >= 10


def test_a_baseline_of_another_device_is_refused(gpu_project):
    """A measured baseline in the wrong folder stops the run with exit code 4 before anything is timed."""
    pytester = gpu_project()
    pytester.runpytest_subprocess(*RUN, "--roofline-update")
    (path,) = (pytester.path / "baselines").glob("*/negate.json")
    other = path.parent.parent / "a100_sxm4_80gb"
    other.mkdir()
    (other / "negate.json").write_text(path.read_text().replace(f'"{path.parent.name}"', '"a100_sxm4_80gb"'))
    result = pytester.runpytest_subprocess(*RUN)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*a baseline of another device is refused*"])


@pytest.mark.parametrize(
    "option", ["--benchmark-timer=time.time", "--benchmark-cprofile=tottime", "--benchmark-min-rounds=3"]
)
def test_options_that_a_replay_cannot_honour_are_refused(gpu_project, option):
    """Such options of pytest-benchmark are usage errors for our cases."""
    result = gpu_project().runpytest_subprocess(*RUN, option)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*cannot be honoured for kernels timed on the GPU*"])


def test_a_lost_gpu_context_is_contained(gpu_project):
    """A kernel that breaks the context fails alone; the next case runs in a process of its own."""
    crash = "def negate(x, y):\n    torch.neg(x, out=y)\n    if x.shape[0] == 7: torch._assert_async(x.sum() == 1e9)\n"
    result = gpu_project(crash).runpytest_subprocess("--correctness-only", "-k", "listed")
    result.stdout.fnmatch_lines(["*crashed*", "*the kernel broke the GPU context*"])
    result.assert_outcomes(failed=1, passed=3, deselected=2)
