"""The ladders of operations from what is stored: time, rate, share of the bound, sectors, conflicts, registers,
occupancy per rung.

    python benchmarks/ladder.py                      # the matrix products, in all their formats
    python benchmarks/ladder.py matmul
    python benchmarks/ladder.py matmul --shape 2048x2048x2048 --run run.json
    python benchmarks/ladder.py sum --dtype f32 --device h200 --counted 1024

Times come from the baselines of a device, or from the file that ``pytest --benchmark-only --roofline-save=run.json``
wrote there; counts and compiled code from that device's baselines, where they were taken without a GPU. Needs none
itself.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_roofline.baselines import Store  # noqa: E402
from pytest_roofline.contract import Case, Operation  # noqa: E402
from pytest_roofline.devices.record import load  # noqa: E402
from pytest_roofline.discovery import Catalogue, discover  # noqa: E402
from pytest_roofline.dtypes import DType  # noqa: E402
from pytest_roofline.ids import Shape  # noqa: E402
from pytest_roofline.reports import ladder, stored  # noqa: E402
from pytest_roofline.runs import files  # noqa: E402

FAMILY = ("matmul", "matmul_tensor", "matmul_ragged")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables. Returns 0, or 2 after a message about what is not there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("operation", nargs="*", help=f"names as in suite/operations (default: {' '.join(FAMILY)})")
    parser.add_argument("--shape", help="the case to compare (default: the last representative one)")
    parser.add_argument("--dtype", help="its number format (default: all that the operation has)")
    parser.add_argument("--counted", help="the shape whose counts are shown (default: the first counted one)")
    parser.add_argument("--device", default="h200", help="whose baselines (default: h200)")
    parser.add_argument("--run", type=pathlib.Path, help="a run file in place of the baselines")
    chosen = parser.parse_args(arguments)
    try:
        catalogue = discover(ROOT, ["suite/operations"])
        tables = [text for name in chosen.operation or FAMILY for text in tables_of(chosen, catalogue, name)]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n\n".join(["\n".join(lines) for lines in tables] + ["\n".join(ladder.LEGEND)]))
    return 0


def tables_of(chosen: argparse.Namespace, catalogue: Catalogue, name: str) -> list[list[str]]:
    """A table for each format of an operation. Raises ``ValueError`` for what is not there."""
    operation = catalogue.operation(name).operation
    device, seconds, ran = times(chosen, Store(ROOT / "baselines"), name)
    formats = [text for kernel in operation.kernels for text in kernel.dtypes]
    if chosen.dtype is not None and str(DType.parse(chosen.dtype)) not in formats:
        raise ValueError(f"{name} has no kernel in {chosen.dtype}; it has {', '.join(dict.fromkeys(formats))}")
    wanted = [chosen.dtype] if chosen.dtype else list(dict.fromkeys(formats))
    return [table(chosen, operation, DType.parse(text), device, seconds, ran) for text in wanted]


def table(
    chosen: argparse.Namespace,
    operation: Operation,
    dtype: DType,
    device: str,
    seconds: Mapping[str, float],
    ran: str,
) -> list[str]:
    """The table of one format. Raises ``ValueError`` for shapes of another rank, or of which nothing is stored."""
    shape = shape_of(operation, chosen.shape or operation.shapes.representative[-1])
    small = shape_of(operation, chosen.counted or operation.shapes.counted[0])
    cases = ladder_cases(operation, dtype, shape)
    block = Store(ROOT / "baselines").load(device, operation.name).counted
    if not any(str(case) in seconds for case in cases if case.shape == shape):
        known = sorted({name.split("/")[4] for name in seconds if name.split("/")[3] == str(dtype)})
        raise ValueError(f"{operation.name} has no time in {dtype} at {shape}, but at {', '.join(known) or 'none'}")
    if chosen.counted and block and not any(name.endswith(f"/{dtype}/{small}") for name in block.cases):
        raise ValueError(f"nothing of {operation.name} was counted in {dtype} at {small}; see Shapes.counted")
    found = ladder.rungs(cases, seconds, block, str(small))
    title = f"{operation.name} {dtype} {shape}: {operation.summary}"
    return [title, *ladder.table(found, load(device), str(small), ran)]


def shape_of(operation: Operation, text: str) -> Shape:
    """A shape of the operation. Raises ``ValueError`` for one that cannot be read or has another rank."""
    shape, example = Shape.parse(text), operation.shapes.representative[-1]
    if len(shape.dims) != len(Shape.parse(example).dims):
        raise ValueError(f"{text} is no shape of {operation.name}: its are such as {example}")
    return shape


def ladder_cases(operation: Operation, dtype: DType, shape: Shape) -> list[Case]:
    """Every kernel of that format that takes the shape, in the order of the ladder; one that is not timed there with
    the last shape that it is timed for."""
    kernels = [k for k in operation.kernels if str(dtype) in k.dtypes and k.rejection(shape, dtype) is None]
    own = {k.variant: Shape.parse(k.timed[-1]) for k in kernels if k.timed and str(shape) not in k.timed}
    return [Case(operation, kernel, dtype, own.get(kernel.variant, shape)) for kernel in kernels]


def times(chosen: argparse.Namespace, store: Store, operation: str) -> tuple[str, dict[str, float], str]:
    """The key of the device's record, seconds by case id, and what they ran with. Raises ``ValueError`` where nothing
    was timed."""
    if chosen.run is None:
        baseline = store.load(chosen.device, operation)
        found = stored.measured([baseline]).get(chosen.device)
        if not found:
            timed = [key for key in store.devices() if store.load(key, operation).measured]
            raise ValueError(f"no times of {operation} on {chosen.device} are stored; on {', '.join(timed) or 'none'}")
        versions = sorted({f"triton {found.packages['triton']}" for found in baseline.campaigns.values()})
        return chosen.device, found, ", ".join(versions)
    run = files.read(chosen.run)
    if run.device.record is None:
        raise ValueError(f"{chosen.run} was taken on {run.device.name}, which has no device record")
    return run.device.record, {case.id: case.times.seconds for case in run.cases if case.times is not None}, ""


if __name__ == "__main__":
    raise SystemExit(main())
