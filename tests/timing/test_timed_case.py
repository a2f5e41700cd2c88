"""What stands between a check and its samples: a measurement that says nothing comes back with its reason."""

import importlib
import sys

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import timing  # noqa: E402
from pytest_roofline.contract import Protocol  # noqa: E402
from pytest_roofline.evidence import CaseSpec, Environment, Outcome, Timing  # noqa: E402
from pytest_roofline.ids import CaseId  # noqa: E402
from pytest_roofline.timing.timed_case import time_case  # noqa: E402
from pytest_roofline.verdict import Reason  # noqa: E402

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {}, 132, 62914560)
SPEC = CaseSpec("negate/host/plain/f32/3x4", "negate_operation", (), "cpu", time=True)


class Session:
    """An engine that answers with what it is given, and notes what it was asked."""

    def __init__(self, answer):
        self.answer, self.asked = answer, {}

    def estimate(self, call, protocol):
        self.asked["estimated"] = protocol
        return 1e-6

    def copies(self, footprint, estimate):
        return 3

    def measure(self, calls, **asked):
        self.asked.update(asked, calls=len(calls))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def timed(tmp_path, monkeypatch, operation_source):
    """``timed(answer, **changes)``: evidence of negate, changed so, and what the engine was asked."""
    (tmp_path / "negate_operation.py").write_text(operation_source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(timing, "environment", lambda: HERE)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)

    def run(answer, **changes):
        import dataclasses

        session = Session(answer)
        monkeypatch.setattr(timing, "open_session", lambda: session)
        operation = dataclasses.replace(importlib.import_module("negate_operation").OPERATION, **changes)
        case = operation.case(CaseId.parse(SPEC.case))
        return time_case(case, lambda x, y: torch.neg(x, out=y), SPEC), session.asked

    yield run
    sys.modules.pop("negate_operation", None)


SAMPLES = Timing((1e-6,), 1, 1, "graph_cold", 1e-9, 5e-7, None)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (timing.Throttled("HwSlowdown, three pauses did not help", (1.0,), ("HwSlowdown",)), Reason.THROTTLED),
        (timing.HoldExpired("the host needed more than 2 s"), Reason.HOST_STALLED),
    ],
)
def test_a_measurement_that_says_nothing_is_invalid_with_its_reason(timed, state, reason):
    """In words and as the code that a verdict carries; without samples, so that nothing can store them."""
    evidence, _ = timed(state)
    assert (evidence.outcome, evidence.detail, evidence.reason) == (Outcome.INVALID, str(state), reason.value)
    assert (evidence.timing, evidence.environment) == (None, HERE)


@pytest.mark.parametrize(
    ("protocol", "calls"),
    [(Protocol.GRAPH_COLD, 3), (Protocol.GRAPH_HOT, 1), (Protocol.HOST_CLOCK, 1), (Protocol.TRANSFER, 1)],
)
def test_only_cold_data_rotates_over_copies(timed, protocol, calls):
    """The protocol of the operation reaches the estimate and the measurement."""
    evidence, asked = timed(SAMPLES, protocol=protocol)
    assert (evidence.outcome, evidence.timing) == (Outcome.OK, SAMPLES)
    assert (asked["estimated"], asked["protocol"], asked["calls"]) == (protocol, protocol, calls)
