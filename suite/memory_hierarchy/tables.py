"""The tables as lines of text: one line of a level, its sources, and two series beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from suite.memory_hierarchy.levels import A100, Figure, Line
from suite.memory_hierarchy.results import Results


def table(device: str, found: Sequence[Line]) -> list[str]:
    """Lines of text: name, value and kind here, value and kind of the A100; then the sources of both."""
    widths = [max(len(line.name) for line in found), *(max(len(f.text) for f in column) for column in _columns(found))]
    text = [f"{'':{widths[0]}}  {device}  |  {A100.name}"]
    for line in found:
        figures = zip((line.here, line.a100), widths[1:], strict=True)
        cells = (f"{f.text:>{w}} {f.kind:9} {f.card}".rstrip().ljust(w + 10) for f, w in figures)
        text.append(f"{line.name:{widths[0]}}  {'  |  '.join(cells)}".rstrip())
    sources = (f"  {line.name}: {line.here.source or '-'}  |  {line.a100.source or '-'}" for line in found)
    return [*text, "", "sources, here | A100:", *sources]


def _columns(found: Sequence[Line]) -> tuple[list[Figure], list[Figure]]:
    return [line.here for line in found], [line.a100 for line in found]


def stride_lines(results: Results) -> list[str]:
    """Time of the shared-memory strides over that of stride 1, beside the lanes that meet in a bank."""
    found = {r.case.shape.dims[1]: r.seconds for name, r in results.items() if name.startswith("shared_stride/")}
    if 1 not in found:
        return []
    return [
        "",
        "shared-memory stride: lanes per bank (derived: gcd with 32), time over that of stride 1 (measured)",
    ] + [
        f"  {stride:2}: {math.gcd(stride, 32) if stride else 1:2}  {seconds / found[1]:6.2f}"
        for stride, seconds in sorted(found.items())
    ]


def occupancy_lines(results: Results) -> list[str]:
    """Bytes in flight and what they reach: Little's law says bandwidth = bytes in flight / latency."""
    found = [r for name, r in results.items() if name.startswith("occupancy/cuda/")]
    if not found:
        return []
    text = [
        "",
        "y = 2 x by occupancy: warps per SM, loads per thread, KiB in flight per SM (derived), TB/s (measured)",
    ]
    for r in sorted(found, key=lambda r: (r.case.shape.dims[1], r.case.kernel.options["ilp"])):
        warps, ilp = r.case.shape.dims[1], r.case.kernel.options["ilp"]
        text.append(f"  {warps:2} {ilp:2} {warps * 32 * ilp * 4 / 1024:6.1f} {r.rate(lambda t: t.total) / 1e12:7.3f}")
    return text
