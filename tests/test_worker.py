"""Whatever a kernel does, the worker comes back with evidence."""

import signal

import pytest

from pytest_roofline import worker
from pytest_roofline.child import Child
from pytest_roofline.evidence import CaseSpec, Outcome

KERNELS = """
def negate(x, y):
    torch.neg(x, out=y)


def wrong(x, y):
    y.zero_()


def raises(x, y):
    raise RuntimeError("no luck")


def crashes(x, y):
    import os, signal
    os.kill(os.getpid(), signal.SIGSEGV)


def exits(x, y):
    import os
    os._exit(3)


def hangs(x, y):
    while True:
        pass


def needs_a_gpu(x, y):
    from pytest_roofline.launch import GpuNeeded
    raise GpuNeeded("negate: there is no GPU here")


def prints(x, y):
    print("noise on standard output")
    torch.neg(x, out=y)
"""


@pytest.fixture
def spec(tmp_path, monkeypatch, operation_source, imported_once):
    """Orders for the kernels above."""
    names = ["negate", "wrong", "raises", "crashes", "exits", "hangs", "prints", "absent", "needs_a_gpu"]
    kernels = "".join(f'Kernel("host", "{n}", "planted_kernels:{n}", ("f32",)),' for n in names)
    kernels += 'Kernel("host", "needs_cupy", "planted_import:f", ("f32",)),'
    kernels += 'Kernel("host", "broken_import", "planted_broken:f", ("f32",)),'
    kernels += 'Kernel("host", "for_hopper", "planted_kernels:raises", ("f32",), capability="sm_90a"),'
    start = operation_source.index("    kernels=(")
    (tmp_path / "negate.py").write_text(operation_source[:start] + f"    kernels=({kernels}),\n)\n")
    (tmp_path / "planted_kernels.py").write_text("import torch\n" + KERNELS)
    (tmp_path / "planted_import.py").write_text("raise ModuleNotFoundError('no cupy', name='cupy')")
    (tmp_path / "planted_broken.py").write_text("import nonexistent_helper")
    monkeypatch.syspath_prepend(tmp_path)

    def make(variant, **changes):
        return CaseSpec(f"negate/host/{variant}/f32/3x4", "negate", (str(tmp_path),), "cpu", **changes)

    yield make
    import sys

    for name in ("negate", "planted_kernels"):
        sys.modules.pop(name, None)


def both(spec):
    """The evidence of both doors, which must agree."""
    here, spawned = worker.run(spec), worker.run_spawned(spec, 60)
    assert (here.case, here.outcome) == (spawned.case, spawned.outcome)
    return here


def test_a_right_kernel_is_ok_in_this_process_and_in_another(spec):
    """Both doors give the same evidence."""
    assert both(spec("negate")).outcome is Outcome.OK


def test_a_wrong_kernel_is_wrong_and_says_where(spec):
    """The detail is the check's message."""
    evidence = both(spec("wrong"))
    assert evidence.outcome is Outcome.WRONG
    assert "y: 12 of 12 elements wrong" in evidence.detail


def test_an_exception_of_the_launcher_is_an_error_with_its_traceback(spec):
    """The launcher's own message reaches the reader."""
    evidence = both(spec("raises"))
    assert evidence.outcome is Outcome.ERROR
    assert "RuntimeError: no luck" in evidence.detail


@pytest.mark.parametrize(("variant", "how"), [("crashes", "signal SIGSEGV"), ("exits", "exit code 3")])
def test_a_crash_takes_the_spawned_worker_down_and_nothing_else(spec, variant, how):
    """A dead process is evidence that names how it died."""
    evidence = worker.run_spawned(spec(variant), 60)
    assert evidence.outcome is Outcome.CRASHED
    assert how in evidence.detail


def test_a_hang_is_killed(spec):
    """An endless kernel is killed after the time allowed."""
    evidence = worker.run_spawned(spec("hangs"), 8)
    assert evidence.outcome is Outcome.HUNG
    assert "did not end within 8 s" in evidence.detail


def test_output_of_a_kernel_does_not_disturb_the_evidence(spec):
    """What a launcher prints is not taken for evidence."""
    assert worker.run_spawned(spec("prints"), 60).outcome is Outcome.OK


def test_what_only_a_gpu_can_do_is_a_reason_to_skip(spec):
    """The launcher's own words are the reason."""
    evidence = both(spec("needs_a_gpu"))
    assert (evidence.outcome, evidence.detail) == (Outcome.UNAVAILABLE, "negate: there is no GPU here")


def test_missing_gpu_packages_are_a_reason_to_skip(spec):
    """A package of the GPU stack that is not installed makes a kernel unavailable, with what to install."""
    evidence = both(spec("needs_cupy"))
    assert evidence.outcome is Outcome.UNAVAILABLE
    assert "pip install 'pytest-roofline[cuda13]'" in evidence.detail


@pytest.mark.parametrize("variant", ["broken_import", "absent"])
def test_a_broken_import_is_a_failure(spec, variant):
    """A launcher that cannot be imported for any other reason is an error, never a skip."""
    assert both(spec(variant)).outcome is Outcome.ERROR


def test_an_unknown_case_is_an_error_that_lists_kernels(spec):
    """A stale id says what exists."""
    assert "it has host/negate" in worker.run(spec("nothing")).detail


def test_ctrl_c_takes_the_spawned_worker_along(spec, monkeypatch):
    """The worker has a session of its own, so that the terminal's signal does not reach it."""
    waited_for = []

    def interrupted(child, timeout):
        waited_for.append(child)
        raise KeyboardInterrupt

    monkeypatch.setattr(Child, "answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        worker.run_spawned(spec("hangs"))
    (child,) = waited_for
    assert child._process.returncode == -signal.SIGKILL


def test_a_launcher_that_is_not_there_is_named(spec):
    """The string that the operation gives, and which part of it is wrong."""
    assert "launcher 'planted_kernels:absent': planted_kernels has no absent" in both(spec("absent")).detail


def test_what_one_architecture_alone_runs_is_skipped_elsewhere(spec):
    """Its launcher is not even called; where kernels are counted there is nothing to count, and that is no failure."""
    evidence = both(spec("for_hopper"))
    assert evidence.outcome is Outcome.UNAVAILABLE
    assert evidence.detail == "needs a GPU of sm_90a: its instructions have no model on a CPU"
    counted = worker.run(spec("for_hopper", count=True))
    assert counted.outcome is Outcome.OK
    assert (counted.counts["launches"], counted.counts["uncounted"]) == ([], True)


def test_what_is_only_compiled_does_not_run(spec):
    """Its launcher is not called, whatever it would do: the shape may need more memory than there is."""
    found = worker.run(spec("crashes", count=True, compile_only=True))
    assert (found.outcome, found.counts["uncounted"]) == (Outcome.OK, True)


def test_several_cases_run_in_one_process_until_one_kills_it(spec):
    """Evidence comes in the order asked for; what crashes takes no other case with it, and what hangs is ended."""
    wanted = [spec("negate"), spec("crashes"), spec("negate"), spec("raises")]
    found = [evidence.outcome for evidence in worker.run_together(wanted, 60)]
    assert found == [Outcome.OK, Outcome.CRASHED, Outcome.OK, Outcome.ERROR]


def test_a_case_that_hangs_is_ended_and_the_next_runs(spec):
    """After its time, in a process of its own again."""
    found = [evidence.outcome for evidence in worker.run_together([spec("hangs"), spec("negate")], 20)]
    assert found == [Outcome.HUNG, Outcome.OK]
