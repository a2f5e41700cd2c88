"""Recorded rounds: reading and packing what ``verdict_rounds.py`` has written.

    python benchmarks/rounds_data.py RESULTS benchmarks/rounds      # pack one start's rounds

A packed sample is a whole number of 1e-5 on ln(seconds), relative to the case's median: clocks tick in larger steps.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import pathlib
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.statistics import Summary, summarise  # noqa: E402
from pytest_roofline.statistics.clocks import CLOCK_SHIFT, HELD_CLOCK  # noqa: E402
from pytest_roofline.statistics.paired import of_process, precise  # noqa: E402
from pytest_roofline.timing.telemetry import POWER_CAP  # noqa: E402

CLASSES = ((20e-6, "from 20 us"), (5e-6, "5 to 20 us"), (0.0, "below 5 us"))
BLOCKS = 10  # that a round takes where they are enough; those of the first five starts never took more
OLD, NEW, SLOWED = range(3)  # places of a case's samples
_STEP = 1e-5
_HEAD = ("round", "environment", "floor", "turn", "partial")


@dataclass
class Round:
    """One process: what each case gave. ``start`` names the start of the machine and the card. Rounds of one ``turn``
    plant the same slowdowns; a ``partial`` one goes on with what those before it had left undecided. ``disturbed`` are
    cases that found the clock which the kernel before had left (:func:`mark`): their pairs count, their seconds do not.
    """

    start: str
    id: str
    environment: dict[str, object]
    floor: float
    turn: int = 0
    partial: bool = False
    cases: dict[str, dict] = field(default_factory=dict)
    disturbed: set[str] = field(default_factory=set)

    @property
    def machine(self) -> str:
        """The start of the machine, whichever card."""
        return self.start.rsplit(".", 1)[0]

    def planted(self, case: str) -> float | None:
        """The slowdown that this round has planted into a case; ``None`` where it was not measured."""
        return self.cases[case]["planted"] if case in self.cases else None

    def number(self, case: str, planted: float) -> float | None:
        """ln(new / old) of this process, ``new`` slowed by ``planted``; ``None`` where that was not measured."""
        samples = self.samples(case, planted)
        if samples is None:
            return None
        return of_process([float(d) for d in _differences(self.cases[case]["samples"][OLD], samples)])

    def precise(self, case: str) -> bool:
        """Whether this process took as many blocks of the unchanged kernel as a retest would."""
        found = self.cases.get(case)
        if found is None:
            return False
        differences = _differences(found["samples"][OLD], found["samples"][NEW])
        return len(differences) > BLOCKS or precise([float(d) for d in differences], found["seconds"])

    def samples(self, case: str, planted: float) -> np.ndarray | None:
        """Seconds of the new kernel, slowed by ``planted``."""
        found = self.cases.get(case)
        if found is None or planted not in (0.0, found["planted"]):
            return None
        return found["samples"][SLOWED if planted else NEW]

    def summary(self, case: str, planted: float = 0.0) -> Summary | None:
        """What a run of the plugin would make of these samples."""
        samples = self.samples(case, planted)
        if samples is None:
            return None
        plain = summarise(samples.tolist())
        return replace(plain, power_limited=self.limited(case), clock_mhz=self.clock(case, planted))

    def limited(self, case: str) -> bool:
        """Whether the power limit held the clocks down."""
        clock, highest = self.clock(case), self.environment.get("max_sm_clock_mhz")
        if clock and highest:
            return clock < HELD_CLOCK * highest
        return POWER_CAP in self.cases[case]["reasons"]

    def clock(self, case: str, planted: float = 0.0) -> float | None:
        """SM clock in MHz under the new kernel or the slowed one."""
        return self.cases[case]["clocks_mhz"][SLOWED if planted else NEW]


def _differences(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """ln(new / old) of each block, which holds two samples of either."""
    return np.log(new).reshape(-1, 2).mean(1) - np.log(old).reshape(-1, 2).mean(1)


def kind(seconds: float) -> str:
    """The class of a kernel."""
    return next(name for start, name in CLASSES if seconds >= start)


def asked(documentation: str) -> tuple[dict[str, list[Round]], list[str]]:
    """The starts of the folder that the command line names, those without a round left out, and what it holds out."""
    parser = argparse.ArgumentParser(description=documentation.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--held-out", nargs="*", default=[], metavar="START", help="judge these starts alone")
    chosen = parser.parse_args()
    return {name: rounds for name, rounds in load(chosen.results).items() if rounds}, chosen.held_out


def load(folder: pathlib.Path) -> dict[str, list[Round]]:
    """Rounds by start and card, in order. A line that was cut off ends its file."""
    starts: dict[str, list[Round]] = {}
    for path in sorted(folder.rglob("*.jsonl.gz")):
        name, rounds = path.name.removesuffix(".jsonl.gz"), {}
        for line in lines(path):
            if "environment" in line:
                rounds[line["round"]] = Round(name, *(line[key] for key in _HEAD))
            elif "samples" in line:
                line["samples"] = [_unpacked(s, line.get("base")) for s in line["samples"]]
                line["seconds"] = float(np.median(line["samples"][OLD]))
                rounds[line["round"]].cases[line["case"]] = line
        starts.setdefault(name, []).extend(rounds.values())
    for rounds in starts.values():
        mark(rounds)
    return starts


def mark(rounds: Sequence[Round]) -> None:
    """Find the cases of a card that ran at a lower clock than usual although no power limit holds them down.

    The rounds of the first three starts took products and other kernels in any order, with hardly a pause. A run of the
    plugin does so much in between that the clock has recovered.
    """
    for case in {case for one in rounds for case in one.cases}:
        there = [one for one in rounds if case in one.cases and one.clock(case)]
        if not there:
            continue
        usual = statistics.median(one.clock(case) or 0.0 for one in there)
        highest = there[0].environment.get("max_sm_clock_mhz")
        if highest and usual < HELD_CLOCK * highest:
            continue
        for one in there:
            if (one.clock(case) or usual) < (1 - CLOCK_SHIFT) * usual:
                one.disturbed.add(case)


def lines(path: pathlib.Path) -> Iterator[dict]:
    """What a file holds."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for text in file:
                yield json.loads(text)
    except (EOFError, json.JSONDecodeError):
        return


def _unpacked(samples: Sequence[float], base: float | None) -> np.ndarray:
    given = np.array(samples, dtype=float)
    return given if base is None else base * np.exp(_STEP * given)


def packed(line: dict) -> dict:
    """A case's line in fewer characters."""
    if "samples" not in line:
        return line
    base = float(f"{statistics.median(line['samples'][OLD]):.6g}")
    samples = [[round(math.log(s / base) / _STEP) for s in one] for one in line["samples"]]
    return {k: v for k, v in line.items() if k not in ("wall", "seconds")} | {"base": base, "samples": samples}


def main(source: pathlib.Path, target: pathlib.Path) -> None:
    """Pack every file below ``source``."""
    for path in sorted(source.rglob("*.jsonl.gz")):
        text = "".join(json.dumps(packed(line), separators=(",", ":")) + "\n" for line in lines(path))
        (target / path.name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
