"""How long a large history takes to answer: 10,000 runs of 400 cases by default, made up, in the store's own layout.

    python benchmarks/history.py [--runs 10000] [--cases 400] [--samples 10] [--store FOLDER]

The files are what ingesting one run after the other leaves behind: packs of two sizes and single files. Prints the best
and the worst of several answers to each question, each by a connection of its own.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.history import queries  # noqa: E402
from pytest_roofline.history.changes import change_points  # noqa: E402
from pytest_roofline.history.rows import COLUMNS  # noqa: E402
from pytest_roofline.history.store import FANOUT, LOOSE, Store  # noqa: E402

REPEATS = 5


def main() -> None:
    """Make the history, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--samples", type=int, default=10, help="samples kept per case and run")
    parser.add_argument("--store", type=Path, help="keep the history here (default: a temporary folder)")
    options = parser.parse_args()
    folder = options.store or Path(tempfile.mkdtemp())
    begin = time.perf_counter()
    files = make(folder, options.runs, options.cases, options.samples)
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet")) / 1e6
    print(
        f"{options.runs} runs of {options.cases} cases with {options.samples} samples each: {files} files, "
        f"{size:.0f} MB, made in {time.perf_counter() - begin:.0f} s"
    )
    ask(Store(folder))
    if options.store is None:
        shutil.rmtree(folder)


def ask(store: Store) -> None:
    """Time each question."""
    case = name(7)
    points = queries.series(store, case)
    middle = len(points) // 2
    assert any(abs(change.at - middle) < 20 for change in change_points(points)), "the planted change was not found"
    timed("list the latest 20 runs", lambda: queries.runs(store))
    timed("list the latest 20 runs of a branch", lambda: queries.runs(store, branch="main"))
    timed("list all cases", lambda: queries.cases(store))
    timed(f"one case over {len(points)} runs", lambda: queries.series(store, case))
    timed("the same with its change points", lambda: change_points(queries.series(store, case)))
    timed("all cases of the latest 200 runs", lambda: queries.table(store, "h200", limit=200))


def timed(what: str, question: Callable[[], object]) -> None:
    """Print how long a question takes."""
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        question()
        seconds.append(time.perf_counter() - begin)
    print(f"{what:40} {min(seconds):6.3f} s to {max(seconds):6.3f} s", flush=True)


def make(folder: Path, runs: int, cases: int, samples: int) -> int:
    """Write the packs and single files that so many ingests leave; returns their number."""
    first, files = 0, 0
    for size in (LOOSE * FANOUT, LOOSE):
        while runs - first >= size:
            write(folder, first, size, cases, samples, runs, pack=True)
            first, files = first + size, files + 1
    while first < runs:
        write(folder, first, 1, cases, samples, runs, pack=False)
        first, files = first + 1, files + 1
    return files


def write(folder: Path, first: int, size: int, cases: int, samples: int, runs: int, *, pack: bool) -> None:
    """One file of runs ``first`` to ``first + size``: 1 % noise, and case 7 is 3 % slower in the second half."""
    import duckdb

    path = folder / ("packs" if pack else "runs") / (f"{first:016x}.parquet" if pack else f"run{first:06d}.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    spread = f"[seconds * (1 + 0.001 * random()) FOR x IN range({samples})]"
    given = {
        "run": "'run' || lpad(r::VARCHAR, 6, '0')",
        "started": "TIMESTAMP '2020-01-01' + INTERVAL (r) HOUR",
        "committed": "TIMESTAMP '2020-01-01' + INTERVAL (r) HOUR",
        "source": "'roofline'",
        "kind": "'timed'",
        "device": "'h200'",
        "gpu": "'NVIDIA H200'",
        "branch": "'main'",
        "commit": "md5(r::VARCHAR) || '00000000'",
        "dirty": "false",
        "best": "true",
        "peer": "false",
        "outcome": "'ok'",
        "case": "'operation' || c // 10 || '/cuda/variant' || c % 10 || '/f32/' || 1000 + c",
        "operation": "'operation' || c // 10",
        "seconds": "seconds",
        **{q: f"seconds * {factor}" for q, factor in (("q25", 0.999), ("q50", 1), ("q75", 1.001))},
        "samples": spread,
        "fraction": "0.8",
        "verdict": "CASE WHEN random() < 0.001 THEN 'regression' ELSE 'same' END",
    }
    columns = ", ".join(f'({given.get(column, "NULL")})::{kind} AS "{column}"' for column, kind in COLUMNS.items())
    source = f"""
        SELECT r, c, (20e-6 + c * 1e-6) * (1 + 0.01 * (random() - 0.5))
                     * (CASE WHEN c = 7 AND r >= {runs // 2} THEN 1.03 ELSE 1 END) AS seconds
        FROM range({first}, {first + size}) a(r), range({cases}) b(c)"""
    sql = f'SELECT {columns} FROM ({source}) ORDER BY device, "case", started'
    duckdb.connect().execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    if pack:
        listed = {"runs": [f"run{r:06d}" for r in range(first, first + size)]}
        path.with_suffix(".json").write_text(json.dumps(listed))


def name(case: int) -> str:
    """The id of a case."""
    return f"operation{case // 10}/cuda/variant{case % 10}/f32/{1000 + case}"


if __name__ == "__main__":
    main()
