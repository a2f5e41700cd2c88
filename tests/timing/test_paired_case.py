"""An old kernel beside the new one: what there is to compare with, and what is said where there is nothing."""

import importlib
import sys
import types

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import timing  # noqa: E402
from pytest_roofline.against import kernels  # noqa: E402
from pytest_roofline.evidence import CaseSpec, Environment, Outcome, Pair  # noqa: E402
from pytest_roofline.ids import CaseId  # noqa: E402
from pytest_roofline.timing import paired_case  # noqa: E402
from pytest_roofline.verdict import Reason  # noqa: E402

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {}, 132, 62914560)
CASE, MODULE = "negate/host/plain/f32/3x4", "negate_operation"
PAIR = Pair((0.0, 0.001), 1e-6, 1e-6, 4, "graph_cold")


class Session:
    """An engine that launches what it shall estimate and knows nothing of GPUs."""

    tools = types.SimpleNamespace(flush=lambda dirty: None)

    def estimate(self, call, protocol):
        call()
        return 1e-6

    def copies(self, footprint, estimate):
        return 2


@pytest.fixture
def paired(tmp_path, monkeypatch, operation_source):
    """``paired(old)``: evidence of negate beside what stands in the other tree's file (``None``: no such file), and
    the jobs that were measured."""
    (tmp_path / f"{MODULE}.py").write_text(operation_source)
    (tmp_path / "old").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(timing, "environment", lambda: HERE)
    monkeypatch.setattr(timing, "open_session", Session)
    monkeypatch.setattr(paired_case.pairing, "code_of", lambda job: None)
    kernels._tree.cache_clear()
    jobs = []

    def measure(session, old, new, **asked):
        jobs[:] = [old, new]
        return PAIR

    monkeypatch.setattr(paired_case.pairing, "measure", measure)

    def run(old):
        if old is not None:
            (tmp_path / "old" / f"{MODULE}.py").write_text(old)
        case = importlib.import_module(MODULE).OPERATION.case(CaseId.parse(CASE))
        spec = CaseSpec(CASE, MODULE, (), "cpu", time=True, against=str(tmp_path / "old"))
        return paired_case.time_pair(case, lambda x, y: torch.neg(x, out=y), spec), jobs

    yield run
    sys.modules.pop(MODULE, None)
    kernels._tree.cache_clear()


def test_both_launch_on_the_same_buffers(paired, operation_source):
    """Two argument sets, each seen by the old and the new kernel."""
    evidence, (old, new) = paired(operation_source)
    assert (evidence.outcome, evidence.pair) == (Outcome.OK, PAIR)
    places = [[[view.data_ptr() for view in call.args] for call in job.calls] for job in (old, new)]
    assert len(places[0]) == 2
    assert places[0] == places[1]


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        (lambda text: None, Reason.NO_OLD_KERNEL, "the other version has no operation negate"),
        (lambda text: text.replace('"plain"', '"renamed"'), Reason.NO_OLD_KERNEL, "the other version has no such case"),
        (lambda text: text + "\nthis does not parse\n", Reason.OLD_FAILS, "SyntaxError"),
        (lambda text: text + "\nimport a_module_that_is_gone\n", Reason.OLD_FAILS, "No module named"),
        (
            lambda text: text.replace("torch.neg(x, out=y)", "raise RuntimeError('negate.cu: does not compile')"),
            Reason.OLD_FAILS,
            "RuntimeError: negate.cu: does not compile",
        ),
    ],
)
def test_a_revision_without_a_kernel_that_runs(paired, operation_source, change, reason, words):
    """Missing, renamed, broken, not compiling: no pair, the reason as a code, and what was wrong in words."""
    evidence, jobs = paired(change(operation_source))
    assert (evidence.outcome, evidence.reason, evidence.pair) == (Outcome.INVALID, reason.value, None)
    assert words in evidence.detail
    assert jobs == []
