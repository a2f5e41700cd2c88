"""What a launch leaves behind: plain data, counted per source line and in total. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class LineCounts:
    """The requests of one kind that one source line makes, warp by warp.

    ``sectors`` are 32-byte pieces of global memory, ``wavefronts`` passes of shared memory; the ``ideal`` of each is
    what packed, conflict-free accesses of the same lanes need. ``max_degree`` is the worst bank conflict of a shared
    request, or the most lanes on one address of a global atomic. ``merged_*`` count shared loads as a compiler issues
    them that reads neighbouring scalars at once (a model; the other figures are exact for the source).
    """

    file: str
    line: int
    kind: str
    size: int  # bytes per lane
    requests: int
    lanes: int
    sectors: int
    ideal_sectors: int
    wavefronts: int
    ideal_wavefronts: int
    max_degree: int
    merged_requests: int
    merged_wavefronts: int

    @property
    def bytes(self) -> int:
        """Bytes that the lanes asked for."""
        return self.lanes * self.size

    @property
    def sectors_per_request(self) -> float:
        """4.0 for aligned unit-stride words of a full warp."""
        return self.sectors / self.requests


@dataclass(frozen=True)
class LaunchRecord:
    """One launch. ``unique_*_bytes`` count every byte once, by buffer (parameter name)."""

    kernel: str
    file: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int  # dynamic
    mode: str
    lines: tuple[LineCounts, ...] = ()
    threads: int = 0
    barriers: int = 0  # opened, summed over blocks
    collectives: int = 0
    warp_blocks: int = 0  # basic blocks executed by a warp
    thread_blocks: int = 0  # the same, summed over its active lanes
    unique_read_bytes: dict[str, int] = field(default_factory=dict)
    unique_written_bytes: dict[str, int] = field(default_factory=dict)
    tensor_flops: int = 0
    flops: dict[str, int] = field(default_factory=dict)

    @property
    def lane_use(self) -> float:
        """Active lanes over all lanes of the warps, averaged over executed basic blocks: 1.0 is no divergence."""
        return self.thread_blocks / (32 * self.warp_blocks) if self.warp_blocks else 1.0

    def total(self, kind: str, what: str = "requests") -> int:
        """The sum of a figure (``requests``, ``sectors``, ...) over all lines of a kind (``global load``, ...)."""
        return sum(getattr(line, what) for line in self.lines if line.kind == kind)

    def at(self, line: int, kind: str) -> LineCounts:
        """The counts of one kind at one line. Raises ``LookupError`` unless there is exactly one such entry."""
        found = [entry for entry in self.lines if entry.line == line and entry.kind == kind]
        if len(found) != 1:
            raise LookupError(f"{len(found)} entries of kind {kind!r} at line {line}")
        return found[0]
