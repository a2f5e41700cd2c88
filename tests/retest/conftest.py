"""A project whose one case is timed on a GPU that is not there."""

import pytest

from pytest_roofline.baselines import Baseline, Store
from tests.absent_gpu import conftest, store_campaign

CASE = "negate/host/plain/f32/64x64"
US = 1e-6

# Times come from a plan: seconds of the run itself (none: the GPU throttled), of each fresh process, and of blocks
# beside the old kernel.
WORKER = """
fresh, pairs = iter(FRESH), iter(PAIRS)

def run(spec):
    if spec.time and not SECONDS:
        hot = "the GPU throttled (HwThermalSlowdown) and 3 pauses did not help"
        return Evidence(spec.case, Outcome.INVALID, hot, environment=HERE, reason="gpu_throttled")
    found = timed(SECONDS * (1 + spec.slowdown), CODE) if spec.time else None
    return Evidence(spec.case, Outcome.OK, timing=found, environment=HERE)

def run_together(specs, timeout):
    for spec in specs:
        print("asked", spec.case, spec.against and "pair", spec.pair_unchanged)
        if spec.against:
            what = next(pairs)
            if isinstance(what, tuple):
                yield Evidence(spec.case, Outcome(what[0]), what[2], reason=what[1])
            elif what is None:
                yield Evidence(spec.case, Outcome.OK, pair=Pair((), 0.0, 0.0, 1, "graph_cold", "a", "a"))
            else:
                blocks = (what + spec.slowdown,) * 5
                yield Evidence(spec.case, Outcome.OK, pair=Pair(blocks, SECONDS, SECONDS, 4, "graph_cold"))
        else:
            found = timed(next(fresh) * (1 + spec.slowdown), CODE)
            yield Evidence(spec.case, Outcome.OK, timing=found, environment=HERE)
"""


@pytest.fixture
def on_gpu(project, monkeypatch):
    """``on_gpu(seconds, *arguments, fresh=, pairs=)`` runs the project in a process of its own."""
    pytester = project()
    monkeypatch.setenv("COLUMNS", "300")  # sentences in one line
    starts = iter(range(100))

    def run(seconds, *arguments, fresh=(), pairs=(), code=None):
        machine = f"start{next(starts)}"
        plan = {"SECONDS": seconds, "FRESH": list(fresh), "PAIRS": list(pairs), "CODE": code}
        pytester.makeconftest(conftest(WORKER, machine, **plan))
        return pytester.runpytest_subprocess("--benchmark-only", "--roofline-ceilings=off", "-rA", *arguments)

    run.pytester = pytester
    return run


def store(on_gpu, *, code=None):
    """Five campaigns of 50 us."""
    found = Baseline("h200", "negate")
    for k in range(5):
        store_campaign(found, k, {CASE: 50 * US}, code)
    Store(on_gpu.pytester.path / "baselines").save(found)


@pytest.fixture
def baseline(on_gpu):
    """The project with five stored campaigns."""
    store(on_gpu)
    return on_gpu
