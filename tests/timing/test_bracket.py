"""A held stream hides the host; what precedes a bracket stays outside."""

import time

import pytest

from pytest_roofline.timing import bracket
from pytest_roofline.timing.bracket import Bracket
from pytest_roofline.timing.errors import HoldExpired

torch = pytest.importorskip("torch")


class Recorder:
    """Stands for the tools and the graph, and notes who was called."""

    def __init__(self):
        self.log = []

    def seconds(self, enqueue):
        self.log.append("start")
        enqueue()
        self.log.append("end")
        return 1.0

    def replay(self):
        self.log.append("replay")


def test_restoring_and_flushing_happen_before_the_timed_region():
    """In this order, since restoring would warm the cache again."""
    noted = Recorder()
    found = Bracket(noted, noted, lambda: noted.log.append("flush"), lambda: noted.log.append("restore")).seconds()
    assert (found, noted.log) == (1.0, ["restore", "flush", "start", "replay", "end"])


def test_host_time_between_launches_is_not_in_the_reading(engine):
    """The device starts when everything is enqueued, so a slow host leaves no trace."""
    waited = []

    def enqueue():
        engine.tools.nothing()
        start = time.perf_counter()
        sum(range(500_000))
        waited.append(time.perf_counter() - start)
        engine.tools.nothing()

    assert engine.tools.seconds(enqueue) < waited[0] / 10


def test_a_launcher_that_waits_for_the_device_ends_the_hold(engine, monkeypatch):
    """Instead of a deadlock or a reading that contains the wait; the next reading is right again."""
    monkeypatch.setattr(bracket, "HOLD_TIMEOUT_NS", 1_000_000)
    with pytest.raises(HoldExpired, match=r"0\.001 s"):
        engine.tools.seconds(torch.cuda.synchronize)
    monkeypatch.undo()
    assert 0 < engine.tools.seconds(engine.tools.nothing) < 1e-3


def test_an_error_while_enqueueing_releases_the_stream(engine):
    """The hold would otherwise block everybody until it expires."""
    with pytest.raises(ZeroDivisionError):
        engine.tools.seconds(lambda: 1 / 0)
    assert 0 < engine.tools.seconds(engine.tools.nothing) < 1e-3


@pytest.mark.parametrize("dirty", [0.0, 0.5, 1.0])
def test_a_flush_changes_no_value(engine, dirty):
    """Its buffer stays zero, or a later flush would write more than its share."""
    engine.tools.flush(dirty)
    assert not engine.tools._words.any()


def test_lines_to_be_kept_change_no_value(engine):
    """Nor do the ones that take their places."""
    engine.tools.displace_kept()
    assert not engine.tools._words.any()
