"""Rounds of every kernel beside itself and beside slowed copies of itself: the data behind the verdict's power.

    python benchmarks/verdict_rounds.py RESULTS --seconds 240      # on a GPU; run again to add rounds

A round is one fresh process. For each timed case it takes blocks of brackets of the kernel, of the same kernel loaded
from a copy of the tree (as ``--roofline-against`` loads an old one), and of copies slowed on the device by a known
length. It appends a line per case to RESULTS/<start of the machine>.<card>.jsonl.gz, so that rounds of other starts and
cards collect in one folder; a round that is cut off loses only its last case. ``verdict_power.py`` evaluates them.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.contract import Case  # noqa: E402
from pytest_roofline.discovery import Catalogue, discover  # noqa: E402
from pytest_roofline.evidence import to_plain  # noqa: E402

LONGEST = 4e-3  # seconds of a kernel: a round shall hold many cases
BLOCKS = 10
PLANTED = ((20e-6, (0.01, 0.02)), (5e-6, (0.02, 0.05)), (0.0, (0.05,)))  # slowdowns, by seconds of the kernel
SKIPPED = frozenset({"host_clock", "transfer"})


def main() -> int:
    """Start rounds until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--pattern", default="*", help="ids of cases, as a shell pattern")
    parser.add_argument("--compilers", type=int, default=12, help="processes that compile everything beforehand")
    parser.add_argument("--round", help=argparse.SUPPRESS)
    parser.add_argument("--share", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.round:
        return one_round(pathlib.Path(chosen.round), chosen.results, chosen.pattern, chosen.seconds)
    if chosen.share is not None:
        return compile_share(chosen.pattern, chosen.share, chosen.compilers)
    chosen.results.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + chosen.seconds
    compile_all(chosen.pattern, chosen.compilers)
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in ("kernels_cuda", "kernels_triton", "suite"):
            shutil.copytree(ROOT / name, copy / name)
        while (left := end - time.monotonic()) > 15:
            command = [sys.executable, __file__, str(chosen.results), "--round", str(copy)]
            subprocess.run([*command, "--pattern", chosen.pattern, "--seconds", str(left)], check=False)
    return 0


def compile_all(pattern: str, processes: int) -> None:
    """Compile every kernel into the caches on disk, in several processes: a round shall measure, not compile."""
    start = time.monotonic()
    command = [sys.executable, __file__, "-", "--pattern", pattern, "--compilers", str(processes), "--share"]
    running = [subprocess.Popen([*command, str(share)]) for share in range(processes)]
    for process in running:
        process.wait()
    print(f"compiled in {time.monotonic() - start:.0f} s", flush=True)


def compile_share(pattern: str, share: int, of: int) -> int:
    """Launch every ``of``-th case once."""
    import torch

    from pytest_roofline.checking.check import load_launcher, prepare

    cases = list(wanted(discover(ROOT, ["suite/operations"]), pattern))
    for case in cases[share::of]:
        try:
            prepare(case, load_launcher(case.kernel.launcher), "cuda", "random", 0).call()
            torch.cuda.synchronize()
        except Exception as error:  # the round says so again, in its record
            print(f"{case}: {type(error).__name__}: {error}"[:200], flush=True)
        torch.cuda.empty_cache()
    return 0


def one_round(copy: pathlib.Path, results: pathlib.Path, pattern: str, seconds: float) -> int:
    """One process: every case once, in an order of its own, until the time is over."""
    from pytest_roofline.timing import close_sessions, environment, open_session

    end, session, here = time.monotonic() + seconds, open_session(), environment()
    catalogue = discover(ROOT, ["suite/operations"])
    cases = list(wanted(catalogue, pattern))
    random.shuffle(cases)
    round_id = f"{int(time.time())}.{random.randrange(1 << 16):04x}"
    path = results / f"{here.machine[:8]}.{here.gpu[:8]}.jsonl.gz"
    head = {"round": round_id, "environment": to_plain(here), "floor": session.launch_floor}
    head["delay"] = dataclasses.asdict(session.delay)
    append(path, head)
    done = 0
    for case in cases:
        if time.monotonic() > end - 2:
            break
        begun = time.monotonic()
        try:
            found = measure(session, catalogue, case, copy)
        except Exception as error:  # one case that cannot be paired must not end the round
            found = {"failed": f"{type(error).__name__}: {error}"[:300]}
        append(path, {"round": round_id, "case": str(case), "wall": round(time.monotonic() - begun, 3), **found})
        done += 1
    print(f"round {round_id}: {done} of {len(cases)} cases in {seconds - (end - time.monotonic()):.0f} s", flush=True)
    close_sessions()
    return 0


def wanted(catalogue: Catalogue, pattern: str) -> Iterator[Case]:
    """Our own kernels, timed in graphs."""
    import fnmatch

    for case in catalogue.timed():
        graphed = case.operation.protocol.value not in SKIPPED
        if graphed and not case.kernel.peer and fnmatch.fnmatchcase(str(case), pattern):
            yield case


def measure(session, catalogue: Catalogue, case: Case, copy: pathlib.Path) -> dict[str, object]:
    """Blocks of one case: ln of each variant over the kernel, the samples of the kernel and of each variant."""
    from pytest_roofline.against.kernels import old_kernel
    from pytest_roofline.checking.check import load_launcher, prepare
    from pytest_roofline.contract import Protocol
    from pytest_roofline.timing.paired_case import beside, job
    from pytest_roofline.timing.pairing import Blocks, code_of
    from pytest_roofline.timing.plan import Plan, plan
    from pytest_roofline.timing.timed_case import another

    module = catalogue.operation(case.operation.name).module
    protocol = case.operation.protocol
    first = prepare(case, load_launcher(case.kernel.launcher), "cuda", "random", 0)
    old_case, old_launcher = old_kernel(case, module, str(copy))
    estimate = session.estimate(first.call, protocol)
    if estimate > LONGEST:
        return {"skipped": f"{estimate * 1e3:.0f} ms"}
    count = session.copies(first.footprint, estimate) if protocol is Protocol.GRAPH_COLD else 1
    news = [first, *(another(first, "cuda") for _ in range(count - 1))]
    olds = [beside(copy, old_case, old_launcher, "cuda") for copy in news]
    for prepared in news:  # the old ones have the same arguments
        prepared.reset()
    todo = plan(estimate, "default")
    todo = Plan(todo.launches, todo.brackets, max(1, todo.warm_ups // 3))
    plain, new = job(session, olds, case), job(session, news, case)
    planted = next(by for start, by in PLANTED if estimate >= start)
    variants = [new, *session.slowed(new, todo, planted)]
    warm = Plan(todo.launches, todo.brackets, 2)  # the first has warmed up the GPU for all of them
    takers = [session.taker(plain, todo, protocol), *(session.taker(one, warm, protocol) for one in variants)]
    blocks = Blocks(takers, random.Random())
    fewer = max(4, min(BLOCKS, int(0.2 / (2 * len(takers) * todo.launches * estimate))))
    differences = [blocks.block() for _ in range(fewer)]
    return {
        "seconds": statistics.median(blocks.readings[0]),
        "planted": [0.0, *planted],
        "differences": [[round(block[k], 6) for block in differences] for k in range(len(variants))],
        "samples": [[float(f"{reading:.5g}") for reading in readings] for readings in blocks.readings],
        "launches": todo.launches,
        "code": code_of(new),
        "clock_mhz": session.clock_mhz(),
        "reasons": list(session.monitor.reasons()),
    }


def append(path: pathlib.Path, line: dict[str, object]) -> None:
    """Add a line; a gzip file may hold any number of members."""
    with gzip.open(path, "at", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    sys.exit(main())
