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
class OperationCounts:
    """The floating-point operations of one kind that one source line makes.

    ``pipeline`` is named as ``contract.Pipeline`` names it, ``kind`` is ``add`` (subtractions too), ``mul``, ``fma``,
    ``div``, ``special`` (roots and transcendental functions), ``conversion`` or ``mma``. ``requests`` are executions by
    a warp, ``lanes`` by threads. A fused operation makes two ``flops``, a conversion none, a matrix operation 2 m n k.
    Multiplications and additions are fused where the host's compiler fuses them (-ffp-contract=fast, as nvcc does).
    """

    file: str
    line: int
    pipeline: str
    kind: str
    requests: int
    lanes: int
    flops: int


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
    warp_blocks: int = 0  # basic blocks of the host's code executed by a warp, no instructions of the GPU
    thread_blocks: int = 0  # the same, summed over its active lanes
    unique_read_bytes: dict[str, int] = field(default_factory=dict)
    unique_written_bytes: dict[str, int] = field(default_factory=dict)
    operations: tuple[OperationCounts, ...] = ()

    @property
    def lane_use(self) -> float:
        """Active lanes over all lanes of the warps, averaged over executed basic blocks: 1.0 is no divergence."""
        return self.thread_blocks / (32 * self.warp_blocks) if self.warp_blocks else 1.0

    def total(self, kind: str, what: str = "requests") -> int:
        """The sum of a figure (``requests``, ``sectors``, ...) over all lines of a kind (``global load``, ...)."""
        return sum(getattr(line, what) for line in self.lines if line.kind == kind)

    @property
    def flops(self) -> dict[str, int]:
        """Floating-point operations by pipeline, those without any left out."""
        totals: dict[str, int] = {}
        for entry in self.operations:
            totals[entry.pipeline] = totals.get(entry.pipeline, 0) + entry.flops
        return {pipeline: count for pipeline, count in totals.items() if count}

    def executed(self, kind: str, pipeline: str = "fp32", what: str = "lanes") -> int:
        """How often a kind of operation was executed, by threads (``lanes``) or by warps (``requests``)."""
        return sum(getattr(o, what) for o in self.operations if (o.kind, o.pipeline) == (kind, pipeline))

    def at(self, line: int, kind: str) -> LineCounts:
        """The counts of one kind at one line. Raises ``LookupError`` unless there is exactly one such entry."""
        found = [entry for entry in self.lines if entry.line == line and entry.kind == kind]
        if len(found) != 1:
            raise LookupError(f"{len(found)} entries of kind {kind!r} at line {line}")
        return found[0]
