"""What Nsight Compute runs: ``python -m pytest_roofline.counters.target ORDERS RESULT``. Nothing here is timed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_roofline import cache, worker
from pytest_roofline.evidence import CaseSpec, Outcome, from_plain

if TYPE_CHECKING:
    from pytest_roofline.checking.check import Prepared


def profile_once(prepared: Prepared) -> None:
    """Launch a case inside the profiler's range, after a kernel that marks where it begins.

    Once outside it comes first: whatever the launcher compiles or loads is not the case's.
    """
    import torch

    mark = torch.ones(1, device="cuda")
    torch.heaviside(mark, mark)
    prepared.reset()
    prepared.launch()
    prepared.reset()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()  # type: ignore[no-untyped-call]
    torch.heaviside(mark, mark)
    prepared.launch()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()  # type: ignore[no-untyped-call]


def main(orders: Path, result: Path) -> int:
    """Profile every case in turn; one that fails is noted and the others go on."""
    profiled, problems = [], {}
    for plain in json.loads(orders.read_text(encoding="utf-8")):
        spec = from_plain(CaseSpec, plain)
        evidence = worker.run(spec)
        if evidence.outcome is Outcome.OK:
            profiled.append(spec.case)
        else:
            problems[spec.case] = f"{evidence.outcome.value}: {evidence.detail}"
    cache.write_atomically(result, json.dumps({"profiled": profiled, "problems": problems}).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
