"""Rounds of every kernel beside itself and beside a slowed copy of itself: the data behind the verdict's power.

    python benchmarks/verdict_rounds.py RESULTS --seconds 240      # on a GPU; run again to add rounds

A round is one fresh process. For each timed case it takes blocks of brackets of the kernel as loaded from a copy of the
tree (as ``--roofline-against`` loads an old one), of the kernel itself, and of the kernel slowed on the device by a
known length. As many cases are taken, in an order drawn once and for all, as the time allows to carry to the end: four
rounds over all of them, then up to sixteen over those whose retest would have to go on. So no verdict is cut off by the
end of the recording. What time is left goes to the cases that follow, or to the next slowdown. A round appends a line
per case to RESULTS/<start of the machine>.<card>.jsonl.gz. ``verdict_power.py`` evaluates them.

While a round is measured, the processes of the next ones import their modules: work of the CPU alone, behind which
no bracket waits (its stream is held until all of it is enqueued).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.retests import Starts, undecided  # noqa: E402
from benchmarks.round_case import Loaded, load, measure  # noqa: E402
from benchmarks.rounds_data import load as load_rounds  # noqa: E402
from pytest_roofline.baselines.content import HOST_TIMED  # noqa: E402
from pytest_roofline.contract import Case  # noqa: E402
from pytest_roofline.discovery import Catalogue, discover  # noqa: E402
from pytest_roofline.evidence import to_plain  # noqa: E402
from pytest_roofline.statistics.paired import LOOKS  # noqa: E402

# Seconds on an H200 with 16 CPU cores: of a case, from its first round to its verdict; of beginning the rounds after
# the first look, however few cases they have; of compiling.
CASE, ROUNDS, COMPILING = 0.5, 15.0, 20.0
FEWEST = 20  # cases that are worth beginning with
SPARE = 1.25  # times as many are compiled as should fit
AHEAD = 3  # processes that import in advance: of few cases a round takes less time than that
SMALL, CHOSEN = 1 << 20, (0, 4, 8)  # of every 16 cases of at most so many elements


def main() -> int:
    """Start rounds until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--pattern", default="*", help="ids of cases, as a shell pattern")
    parser.add_argument("--compilers", type=int, default=12, help="processes that compile everything beforehand")
    parser.add_argument("--turn", type=int, default=0, help="which of the slowdowns to plant")
    parser.add_argument("--claims", type=pathlib.Path, help="folder through which several of us share the compiling")
    parser.add_argument("--round", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--share", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.round:
        return one_round(chosen.round, chosen.results, chosen.pattern)
    if chosen.share:
        return compile_share(chosen.pattern, chosen.claims, json.load(sys.stdin))
    chosen.results.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + chosen.seconds
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy"
        for name in ("kernels_cuda", "kernels_triton", "suite"):
            shutil.copytree(ROOT / name, copy / name)
        command = [sys.executable, __file__, str(chosen.results), "--pattern", chosen.pattern, "--round", str(copy)]
        waiting = deque(start(command) for _ in range(AHEAD))
        names = drawn(str(case) for case in wanted(discover(ROOT, ["suite/operations"]), chosen.pattern))
        names = names[: int(SPARE * affordable(chosen.seconds - COMPILING))]
        claims = chosen.claims or pathlib.Path(folder) / "claims"
        compilers = compile_all(chosen.pattern, chosen.compilers, claims, names)
        stored = load_rounds(ROOT / "benchmarks" / "rounds")
        for process in compilers:
            process.wait()
        print(f"compiled by {chosen.seconds - (end - time.monotonic()):.0f} s", flush=True)
        for message in schedule(chosen.results, stored, names, lambda: end - time.monotonic(), chosen.turn):
            running = waiting.popleft()
            tell(running, message | {"until": end})
            waiting.append(start(command))
            running.wait()
        for process in waiting:
            tell(process, None)
            process.wait()
    return 0


def drawn(names: Iterable[str]) -> list[str]:
    """The order in which cases are taken: random, the same at every start."""
    ordered = sorted(names)
    random.Random(6).shuffle(ordered)
    return ordered


def affordable(seconds: float) -> int:
    """How many cases can be carried to the end in a time."""
    return max(0, int((seconds - ROUNDS) / CASE))


def schedule(
    results: pathlib.Path, stored: Starts, names: Sequence[str], left: Callable[[], float], turn: int = 0
) -> Iterator[dict[str, object]]:
    """What the rounds shall do, as a retest would: some cases until the first look, then those that are undecided,
    until the last look; then the next cases, and after all of them the next slowdowns. ``left`` are the seconds that
    remain, ``stored`` rounds of other starts serve as calibration."""
    place = 0
    while True:
        count = affordable(left())
        if count < FEWEST:
            return
        cases = list(names[place : place + count])
        for _ in range(LOOKS[0]):
            yield {"turn": turn, "only": cases, "partial": False}
        rest: list[str] = []
        for process in range(LOOKS[0], LOOKS[-1]):
            if process in LOOKS:
                open_ = set(undecided(load_rounds(results), turn, stored))
                rest = [case for case in cases if case in open_]
                print(
                    f"{len(rest)} of {len(cases)} cases undecided after {process} rounds, {left():.0f} s left",
                    flush=True,
                )
            if rest:
                yield {"turn": turn, "only": rest, "partial": True}
        place += count
        if place >= len(names):
            place, turn = 0, turn + 1


def start(command: Sequence[str]) -> subprocess.Popen[str]:
    """The process of a round: it imports everything, touches no GPU, and waits to be told to begin."""
    return subprocess.Popen(command, stdin=subprocess.PIPE, text=True)


def tell(process: subprocess.Popen[str], message: dict[str, object] | None) -> None:
    """Let a round begin, or end without one."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        if message is not None:
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.close()


def compile_all(
    pattern: str, processes: int, claims: pathlib.Path, names: Sequence[str]
) -> list[subprocess.Popen[str]]:
    """Compile kernels into the caches on disk, in several processes: a round shall measure, not compile."""
    claims.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, __file__, "-", "--pattern", pattern, "--claims", str(claims), "--share"]
    found = [start(command) for _ in range(processes)]
    for process in found:
        assert process.stdin is not None
        json.dump(names, process.stdin)
        process.stdin.close()
    return found


def compile_share(pattern: str, claims: pathlib.Path, names: Container[str]) -> int:
    """Launch the cases of every kernel that no other process has claimed, once each."""
    import torch

    from pytest_roofline.checking.check import load_launcher, prepare

    groups: dict[str, list[Case]] = {}
    for case in wanted(discover(ROOT, ["suite/operations"]), pattern):
        if str(case) in names:
            groups.setdefault("/".join(str(case).split("/")[:4]), []).append(case)
    for name in sorted(groups, key=lambda name: ("matmul" not in name, name)):  # those take longest
        begun = time.monotonic()
        try:
            os.close(os.open(claims / name.replace("/", "."), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        for case in groups[name]:
            try:
                prepare(case, load_launcher(case.kernel.launcher), "cuda", "random", 0).call()
                torch.cuda.synchronize()
            except Exception as error:  # the round says so again, in its record
                print(f"{case}: {type(error).__name__}: {error}"[:200], flush=True)
            torch.cuda.empty_cache()
        if (spent := time.monotonic() - begun) > 10:
            print(f"{name}: compiled in {spent:.0f} s", flush=True)
    return 0


def one_round(copy: pathlib.Path, results: pathlib.Path, pattern: str) -> int:
    """One process: every case once, in an order of its own with products last, until the time is over."""
    catalogue = discover(ROOT, ["suite/operations"])
    loaded = dict(load_all(catalogue, pattern, copy))
    told = sys.stdin.readline()
    if not told:
        return 0
    message = json.loads(told)
    begun, end = time.monotonic(), message["until"]
    from pytest_roofline.timing import close_sessions, environment, open_session

    session, here = open_session(), environment()
    round_id = f"{int(time.time())}.{random.randrange(1 << 16):04x}"
    path = results / f"{here.machine[:8]}.{here.gpu[:8]}.jsonl.gz"
    estimates = known_estimates(path)
    head = {"round": round_id, "environment": to_plain(here), "floor": session.launch_floor}
    head |= {"delay": dataclasses.asdict(session.delay), "turn": message["turn"], "partial": message["partial"]}
    append(path, head)
    started = time.monotonic() - begun
    done, stages = 0, dict.fromkeys(("prepare", "warm", "blocks", "record"), 0.0)
    names = [name for name in message["only"] if name in loaded]
    # Products last: the clock that they lower stays low for some hundred milliseconds, in kernels that came next.
    for name in sorted(random.sample(names, len(names)), key=lambda name: name.startswith("matmul")):
        if time.monotonic() > end - 1:
            break
        line = {"round": round_id, "case": name}
        try:
            found = measure(session, loaded[name], message["turn"], estimates.get(name))
            for stage, seconds in found["wall"].items():
                stages[stage] += seconds
        except Exception as error:  # one case that cannot be paired must not end the round
            found = {"failed": f"{type(error).__name__}: {error}"[:300]}
            print(f"{name}: {found['failed']}"[:250], flush=True)
        append(path, line | found)
        done += 1
    shares = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in stages.items())
    spent = f"{time.monotonic() - begun:.1f} s: start {started:.1f}, {shares}"
    print(f"turn {message['turn']}: {done} of {len(names)} cases in {spent}", flush=True)
    close_sessions()
    return 0


def load_all(catalogue: Catalogue, pattern: str, copy: pathlib.Path) -> Iterator[tuple[str, Loaded]]:
    """Every case with its launchers; one that does not load is told and left out."""
    for case in wanted(catalogue, pattern):
        try:
            yield str(case), load(catalogue, case, copy)
        except Exception as error:
            print(f"{case}: {type(error).__name__}: {error}"[:200], flush=True)


def wanted(catalogue: Catalogue, pattern: str) -> Iterator[Case]:
    """Our own kernels that are timed in graphs, and small problems of the full list: few kernels of the default list
    take less than 5 us."""
    import fnmatch

    listed = {str(case): case for case in catalogue.timed()}
    others = {str(case): case for case in catalogue.timed(full=True) if case.shape.size <= SMALL}
    small = {name: case for place, (name, case) in enumerate(others.items()) if place % 16 in CHOSEN}
    for name, case in {**listed, **small}.items():
        graphed = case.operation.protocol.value not in HOST_TIMED
        if graphed and not case.kernel.peer and fnmatch.fnmatchcase(name, pattern):
            yield case


def known_estimates(path: pathlib.Path) -> dict[str, float]:
    """Seconds of each case from earlier rounds of this start: every round then has the same brackets."""
    found: dict[str, float] = {}
    with contextlib.suppress(FileNotFoundError, EOFError, json.JSONDecodeError), gzip.open(path, "rt") as file:
        for line in map(json.loads, file):
            if "estimate" in line:
                found.setdefault(line["case"], line["estimate"])
    return found


def append(path: pathlib.Path, line: dict[str, object]) -> None:
    """Add a line; a gzip file may hold any number of members."""
    with gzip.open(path, "at", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    sys.exit(main())
