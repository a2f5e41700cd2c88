"""A GPU that is not there: what a conftest of an inner project replaces, so that its times are given and all is real
that happens after them."""

from __future__ import annotations

from pytest_roofline.baselines import Baseline, run_of
from pytest_roofline.evidence import Environment, Timing

SAMPLES = 20
_CONFTEST = """
import pytest_roofline.state as state, pytest_roofline.timing as timing, pytest_roofline.worker as worker
from pytest_roofline.evidence import Environment, Evidence, Outcome, Pair, Timing

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {{"torch": "2.11"}}, 132, 60 << 20, machine={machine!r})

def timed(seconds, code=None):
    samples = tuple(seconds * (1 + 1e-4 * k) for k in range(20))
    return Timing(samples, 20, 2, "graph_cold", 1e-9, 5e-7, 0.0, code=code)

{worker}

state.State.device = "gpu"
state.State.prepare_interpreter = lambda self: None
state._require_cuda_torch = lambda: None
timing.environment = lambda: HERE
worker.run = run
worker.run_together = run_together
"""
_ALIKE = """
def run(spec):
    if not spec.time or SECONDS is None:
        return Evidence(spec.case, Outcome.OK if not spec.time else Outcome.UNAVAILABLE, "no timing here")
    return Evidence(spec.case, Outcome.OK, timing=timed(SECONDS), environment=HERE)

def run_together(specs, timeout):
    return map(run, specs)
"""


def conftest(worker: str, machine: str = "abc", **values: object) -> str:
    """The text of a conftest: ``worker`` defines what times there, ``run(spec)`` and ``run_together(specs, timeout)``,
    from ``timed(seconds, code)`` and from ``values``, which are assigned by name before it. ``machine`` is the start of
    the machine."""
    given = "".join(f"{name} = {value!r}\n" for name, value in values.items())
    return _CONFTEST.format(machine=machine, worker=given + worker)


def alike(seconds: float | None) -> str:
    """The text of a conftest under which every case takes so long; none is timed for ``None``."""
    return conftest(_ALIKE, SECONDS=seconds)


def timed(seconds: float, code: str | None = None) -> Timing:
    """What such a GPU times of a kernel."""
    samples = tuple(seconds * (1 + 1e-4 * k) for k in range(SAMPLES))
    return Timing(samples, SAMPLES, 2, "graph_cold", 1e-9, 5e-7, 0.0, code=code)


def store_campaign(found: Baseline, k: int, cases: dict[str, float], code: str | None = None) -> None:
    """Add the campaign of the ``k``-th start of the machine: seconds by case."""
    name = f"2026-11-2{k}.start{k}.abc"
    found.campaigns[name] = Environment(
        "NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11"}, 132, 60 << 20, machine=f"before{k}"
    )
    for case, seconds in cases.items():
        found.measured.setdefault(case, {})[name] = run_of(timed(seconds, code))
