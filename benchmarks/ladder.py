"""The ladder of one operation from what is stored: time, rate, share of the bound, sectors, conflicts, registers,
occupancy per rung.

    python benchmarks/ladder.py matmul
    python benchmarks/ladder.py matmul --shape 2048x2048x2048 --run run.json
    python benchmarks/ladder.py sum --dtype f32 --device h200 --counted 1024

Times come from the baselines of a device, or from the file that ``pytest --benchmark-only --roofline-save=run.json``
wrote there. Counts come from the baselines of all devices, where they were counted without a GPU. Needs none itself.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.baselines import Store  # noqa: E402
from pytest_roofline.contract import Case, Operation  # noqa: E402
from pytest_roofline.devices.record import load  # noqa: E402
from pytest_roofline.discovery import discover  # noqa: E402
from pytest_roofline.dtypes import DType  # noqa: E402
from pytest_roofline.ids import Shape  # noqa: E402
from pytest_roofline.reports import ladder, stored  # noqa: E402
from pytest_roofline.runs import files  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table. Returns 0, or 2 after a message about what is not there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("operation", help="its name, as in suite/operations")
    parser.add_argument("--shape", help="the case to compare (default: the last representative one)")
    parser.add_argument("--dtype", help="its number format (default: the first of the first kernel)")
    parser.add_argument("--counted", help="the shape whose counts are shown (default: the first counted one)")
    parser.add_argument("--device", default="h200", help="whose baselines (default: h200)")
    parser.add_argument("--run", type=pathlib.Path, help="a run file in place of the baselines")
    chosen = parser.parse_args(arguments)
    try:
        print("\n".join(lines(chosen)))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def lines(chosen: argparse.Namespace) -> list[str]:
    """The table of what was asked for. Raises ``ValueError`` for an operation, shape or file that is not there."""
    catalogue, store = discover(ROOT, ["suite/operations"]), Store(ROOT / "baselines")
    operation = catalogue.operation(chosen.operation).operation
    shape = Shape.parse(chosen.shape or operation.shapes.representative[-1])
    dtype = DType.parse(chosen.dtype or operation.kernels[0].dtypes[0])
    small = chosen.counted or operation.shapes.counted[0]
    cases = ladder_cases(operation, dtype, shape)
    blocks = [store.load(device, operation.name).counted for device in store.devices()]
    counted = [block for block in blocks if block is not None]
    device, seconds = times(chosen, store, operation.name)
    found = ladder.rungs(cases, seconds, counted, small)
    return [f"{operation.name} {dtype} {shape}: {operation.summary}", *ladder.table(found, load(device), small)]


def ladder_cases(operation: Operation, dtype: DType, shape: Shape) -> list[Case]:
    """Every kernel of that format that takes the shape, in the order of the ladder; one that is not timed there with
    the last shape that it is timed for."""
    kernels = [k for k in operation.kernels if str(dtype) in k.dtypes and k.rejection(shape, dtype) is None]
    own = {k.variant: Shape.parse(k.timed[-1]) for k in kernels if k.timed and str(shape) not in k.timed}
    return [Case(operation, kernel, dtype, own.get(kernel.variant, shape)) for kernel in kernels]


def times(chosen: argparse.Namespace, store: Store, operation: str) -> tuple[str, dict[str, float]]:
    """The key of the device's record and seconds by case id."""
    if chosen.run is None:
        found = stored.measured([store.load(chosen.device, operation)])
        return chosen.device, found.get(chosen.device, {})
    run = files.read(chosen.run)
    if run.device.record is None:
        raise ValueError(f"{chosen.run} was taken on {run.device.name}, which has no device record")
    return run.device.record, {case.id: case.times.seconds for case in run.cases if case.times is not None}


if __name__ == "__main__":
    raise SystemExit(main())
