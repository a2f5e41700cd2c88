"""A process of ours gets lines, gives marked lines, and does not outlive its owner's patience."""

from __future__ import annotations

import queue
import signal

import pytest

from pytest_roofline.child import Child

MODULE = """
import os, subprocess, sys

print("noise")
for line in sys.stdin:
    match line.split():
        case ["pid"]:
            print("answer:", os.getpid(), flush=True)
        case ["start"]:
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            print("answer: started", flush=True)
        case ["print", *words]:
            print(*words, flush=True)
        case ["variable", name]:
            print("answer:", os.environ[name], flush=True)
        case ["die", code]:
            print("last words", file=sys.stderr)
            sys.exit(int(code))
"""


@pytest.fixture
def child(tmp_path):
    """Runs the module above, which is found by ``roots``."""
    (tmp_path / "planted_child.py").write_text(MODULE)
    made = Child("planted_child", mark="answer:", roots=[str(tmp_path)], environment={"PLANTED": "there"})
    yield made
    made.close()


def test_answers_come_in_the_order_of_the_orders(child):
    """Only marked lines are answers; the environment of the child is its owner's and what was added."""
    for line in ("print no answer", "print answer: one", "variable PLANTED", "pid"):
        child.order(line)
    assert [child.answer(60).split() for _ in range(3)] == [["one"], ["there"], [str(child.pid)]]


def test_an_answer_that_does_not_come_is_not_waited_for(child):
    """The owner decides what that means."""
    with pytest.raises(queue.Empty):
        child.answer(0.01)


def test_a_child_that_ends_says_how(child):
    """Every further wait ends at once, and orders that nobody reads are no error."""
    child.order("die 3")
    assert child.answer(60) is None
    child.order("pid")
    assert child.answer(60) is None
    assert child.ended() == (3, "last words")


def test_a_child_ends_with_its_orders(child):
    """Given time, it ends by itself."""
    child.order("pid")
    child.no_more()
    assert child.answer(60) is not None
    assert child.answer(60) is None
    assert child.ended() == (0, "")


def test_what_a_child_started_is_ended_with_it(child):
    """Compilers and profilers do not stay behind: the last process that holds the output is gone when that ends."""
    child.order("start")
    assert child.answer(60) is not None
    child.kill()
    assert child.answer(60) is None
    assert child.ended()[0] == -signal.SIGKILL


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_closing_ends_a_child_that_waits_for_orders(child, patience):
    """Killed at once, or, with patience, by the end of its orders."""
    child.order("pid")
    child.answer(60)
    child.close(patience)
    assert child._process.returncode == (0 if patience else -signal.SIGKILL)
