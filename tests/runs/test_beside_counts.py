"""What a timed case is shown with: counts of a small shape, and the code of its own."""

from __future__ import annotations

from pytest_roofline.baselines import Baseline, Counted, CountedCase, Store
from pytest_roofline.counting.counts import CaseCounts, Launch
from pytest_roofline.discovery import discover
from pytest_roofline.runs.beside import Beside
from tests.counting.test_comparing import code

TIMED, SMALL = "sum/cuda/two_stage/f32/67108864", "sum/cuda/two_stage/f32/1024"


def test_counts_come_from_a_counted_shape_and_code_from_the_case_itself(request, tmp_path):
    """A large shape may be launched otherwise than a small one, of which alone the source was counted."""
    case = discover(request.config.rootpath, ["suite/operations"]).case(TIMED)
    compiled = {code().compiler: {"small": code(32), "large": code(64)}}
    cases = {
        SMALL: CountedCase(CaseCounts((Launch("sum"),)), ("small",)),
        TIMED: CountedCase(CaseCounts(uncounted=True), ("large", "small")),
    }
    store = Store(tmp_path)
    store.save(Baseline("a100", "sum", counted=Counted("sm_80", cases, compiled)))
    found = Beside(store).counted(case)
    assert (found.case, [launch["kernel"] for launch in found.counts["launches"]]) == (SMALL, ["sum"])
    assert found.launched == ("large", "small")
    assert [kernel["registers"] for kernel in found.kernels] == [64, 32]
    del cases[TIMED]
    other = Store(tmp_path / "other")
    other.save(Baseline("a100", "sum", counted=Counted("sm_80", cases, {code().compiler: {"small": code(32)}})))
    assert Beside(other).counted(case).launched == ("small",)
