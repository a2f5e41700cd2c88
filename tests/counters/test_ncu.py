"""Nsight Compute: its output as recorded on an H200, its refusals, and a stand-in for the program."""

from __future__ import annotations

import json
import os
import stat
import sys
import textwrap
from pathlib import Path

import pytest

from pytest_roofline.counters import ncu
from pytest_roofline.counters.ncu import CountersUnavailableError
from pytest_roofline.evidence import CaseSpec

RECORDED = (Path(__file__).parent / "ncu_h200.csv").read_text(encoding="utf-8")
CASES = [
    "transpose/cuda/naive/f32/4096x4096",
    "transpose/cuda/shared/f32/4096x4096",
    "sum/cuda/atomic/f32/4194304",
    "sum/cuda/two_stage/f32/4194304",
]
SPEC = CaseSpec(CASES[0], "suite.operations.transpose", ("/nowhere",), "cuda", time=True)


def test_recorded_launches_are_assigned_to_their_cases():
    """Marks between the launches tell the cases apart, and are no launches of theirs."""
    found = ncu.assign(CASES, ncu.launches(RECORDED))
    assert [len(found[case]) for case in CASES] == [1, 1, 2, 2]
    assert "transpose_naive" in found[CASES[0]][0].kernel
    assert [launch.kernel.partition("<")[0] for launch in found[CASES[3]]] == ["void sum_blocks", "void sum_partials"]


def test_recorded_counters_are_what_the_kernels_do():
    """The naive transpose stores 32 sectors per request with an eighth of their bytes; the shared tile has its 32-way
    conflicts; every warp of the atomic sum asks once."""
    found = ncu.assign(CASES, ncu.launches(RECORDED))
    naive, shared, atomic = found[CASES[0]][0].figures, found[CASES[1]][0].figures, found[CASES[2]][1].figures
    assert (naive["store_sectors_per_request"], naive["store_used"]) == (32, 12.5)
    assert shared["shared_conflicts"] / shared["shared_passes"] > 0.9
    assert atomic["atomic_requests"] == 4194304 / 32


def test_marks_that_do_not_match_are_an_error():
    """Launches are never attributed by guess."""
    with pytest.raises(CountersUnavailableError, match="4 marks between kernels for 3 cases"):
        ncu.assign(CASES[:3], ncu.launches(RECORDED))


def test_output_without_a_table_is_told():
    """Whatever ncu said instead is in the message."""
    with pytest.raises(CountersUnavailableError, match=r"(?s)no table of counters.*something else"):
        ncu.launches("==PROF== something else\n")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "NVreg_RestrictProfilingToAdminUsers=0"),
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "--cap-add=SYS_ADMIN"),
        ("==ERROR== Profiling failed because a driver resource was unavailable.", "another profiler"),
        ("==WARNING== No kernels were profiled.", "no case could be launched"),
    ],
)
def test_refusals_say_what_to_do(line: str, advice: str):
    """Each known refusal is quoted and comes with its remedy."""
    problem = ncu.refusal(f"==PROF== Connected\n{line}\n")
    assert problem is not None
    assert line.split("== ")[1] in problem
    assert advice in problem


def test_a_table_is_no_refusal():
    """What was recorded is good."""
    assert ncu.refusal(RECORDED) is None


def test_a_machine_without_ncu_is_told_where_it_comes_from():
    """The message names the package and the page."""
    with pytest.raises(CountersUnavailableError, match=r"not on PATH.*cuda-nsight-compute"):
        ncu.profile([SPEC], executable="no-such-ncu")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called ncu that records how it was called and prints what was recorded on an H200."""
    program = tmp_path / "ncu"
    program.write_text(
        f"#!{sys.executable}\n"
        + textwrap.dedent(
            f"""\
            import json, pathlib, sys
            if sys.argv[1:] == ["--version"]:
                print("NVIDIA (R) Nsight Compute\\nVersion 2025.3.1.0 (build 1)")
                sys.exit()
            here = pathlib.Path({str(tmp_path)!r})
            orders, result = map(pathlib.Path, sys.argv[-2:])
            (here / "called.json").write_text(json.dumps([sys.argv[1:], json.loads(orders.read_text())]))
            behaviour = (here / "behaviour").read_text() if (here / "behaviour").exists() else "good"
            if behaviour == "dies":
                sys.exit("Segmentation fault")
            if behaviour == "refuses":
                sys.exit("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")
            result.write_text(json.dumps({{"profiled": {CASES!r}, "problems": {{"sum/x": "wrong: 1 is not 2"}}}}))
            print(pathlib.Path({str(Path(__file__).parent / "ncu_h200.csv")!r}).read_text())
            """
        )
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_a_profile_asks_for_the_fixed_set_and_keeps_the_machine_as_it_was(stand_in: Path):
    """Clocks are left alone and caches flushed, as when the cases were timed; the target neither times nor counts."""
    found = ncu.profile([SPEC])
    arguments, orders = json.loads((stand_in / "called.json").read_text())
    assert " ".join(arguments).count("--clock-control none --cache-control all --profile-from-start off") == 1
    assert [(o["profile"], o["time"], o["count"]) for o in orders] == [(True, False, False)]
    assert found.tool == "Nsight Compute 2025.3.1.0"
    assert list(found.cases) == CASES
    assert found.problems == {"sum/x": "wrong: 1 is not 2"}


@pytest.mark.parametrize(
    ("behaviour", "message"), [("dies", "died.*Segmentation fault"), ("refuses", "administrators")]
)
def test_a_program_that_fails_is_told(stand_in: Path, behaviour: str, message: str):
    """A crash of the profiled process and a refusal are messages, not tracebacks of ours."""
    (stand_in / "behaviour").write_text(behaviour)
    with pytest.raises(CountersUnavailableError, match=f"(?s){message}"):
        ncu.profile([SPEC])
