"""Times on the host's clock are taken in batches that neither fill the launch queue nor last for minutes."""

import pytest

from pytest_roofline.timing import hostcost

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(("seconds", "often"), [(1e-9, 20), (2e-6, 20), (250e-6, 20), (1e-3, 5), (4e-3, 1), (1.0, 1)])
def test_a_batch_lasts_milliseconds(seconds, often):
    """Twenty submissions of what is short, one of what is long."""
    assert hostcost.submissions(seconds) == often


@pytest.mark.parametrize(("seconds", "often"), [(1e-6, 5), (4e-3, 5), (6e-3, 1)])
def test_long_executions_need_no_median(seconds, often):
    """Their submission is hidden behind the one before."""
    assert hostcost.batches(seconds) == often


@pytest.fixture
def clock(monkeypatch):
    """A clock that the fake device and the fake calls advance; what waited for the device is in ``log``."""

    class Clock:
        now, pending, log = 0.0, 0.0, []

        def wait(self):
            self.log.append("wait")
            self.now, self.pending = self.now + self.pending, 0.0

        def call(self):
            self.log.append("call")
            self.now, self.pending = self.now + 2.0, self.pending + 10.0

    found = Clock()
    found.log = []
    monkeypatch.setattr(torch.cuda, "synchronize", found.wait)
    monkeypatch.setattr(hostcost.time, "perf_counter", lambda: found.now)
    return found


def test_completion_is_from_the_call_until_the_device_is_done(clock):
    """What the device had to do before is not in it."""
    clock.pending = 100.0
    assert hostcost.completion_seconds(clock.call) == 12.0
    assert clock.log == ["wait", "call", "wait"]


def test_submission_is_the_host_alone(clock):
    """The device's work is awaited before and after a batch, never inside."""
    assert hostcost.submission_seconds(clock.call, 3) == 2.0
    assert clock.log == ["wait", "call", "call", "call"] * 5 + ["wait"]
