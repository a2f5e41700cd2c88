"""The command that prints the tables of a results file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import suite.memory_hierarchy
from suite.memory_hierarchy.levels import lines
from suite.memory_hierarchy.results import ResultsError, read
from suite.memory_hierarchy.tables import occupancy_lines, stride_lines, table


def main(arguments: Sequence[str]) -> int:
    """Print the tables of the results file that is named."""
    if len(arguments) != 1:
        print(suite.memory_hierarchy.__doc__, file=sys.stderr)
        return 2
    try:
        device, results = read(Path(arguments[0]))
    except ResultsError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join([*table(device, lines(device, results)), *stride_lines(results), *occupancy_lines(results)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
