"""What a run says of each level, its capacity, bandwidth and latency, beside what is published of an A100."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_roofline.contract import Memory, Traffic
from pytest_roofline.devices.identify import match
from pytest_roofline.devices.record import DeviceRecord, load
from pytest_roofline.evidence import Provenance
from suite.memory_hierarchy.results import Results

MEASURED, PUBLISHED, DERIVED = (kind.value for kind in (Provenance.MEASURED, Provenance.PUBLISHED, Provenance.DERIVED))
A100 = load("a100_sxm4_80gb")
_GPU_BENCHES = "RRZE-HPC/gpu-benches @1038c5d"
_DEMYSTIFYING = "arXiv 2208.11174, tables 3-4, as transcribed in kayzee3327/the-cuda-cache @791565c"
_UNKNOWN_A100 = "variant not stated"


@dataclass(frozen=True)
class Figure:
    """A value as text, what it is, and where it comes from; ``card`` is of which card, if not of the column's."""

    text: str
    kind: str = ""
    source: str = ""
    card: str = ""


NOTHING = Figure("-")


@dataclass(frozen=True)
class Line:
    """One property of one level, here and on an A100."""

    name: str
    here: Figure
    a100: Figure = NOTHING


def lines(device: str, results: Results) -> list[Line]:
    """The table, without what the run did not measure."""
    record = match(device)
    found = [*_capacities(record), *_bandwidths(results, record), *_latencies(results), *_launches(results)]
    return [line for line in found if line.here is not NOTHING or line.a100 is not NOTHING]


def _capacities(record: DeviceRecord | None) -> Iterator[Line]:
    for name, field, unit, size in (
        ("registers of an SM", "regs_per_sm", "KiB", 4 / 1024),
        ("shared memory of an SM", "smem_per_sm_kib", "KiB", 1),
        ("L2", "l2_bytes", "MiB", 2**-20),
        ("device memory", "mem_size_gb", "GB", 1),
    ):
        yield Line(f"{name}, capacity", *(_published(r, field, unit, size) for r in (record, A100)))


def _published(record: DeviceRecord | None, field: str, unit: str, size: float) -> Figure:
    number = record.number(field) if record else None
    if record is None or number is None:
        return NOTHING
    return Figure(f"{number * size:g} {unit}", PUBLISHED, record.fields[field].source)


def _bandwidths(results: Results, record: DeviceRecord | None) -> Iterator[Line]:
    peaks = {
        Memory.REGISTER: ("registers, operands read", "register_bandwidth", NOTHING),
        Memory.SHARED: (
            "shared memory, read",
            "shared_bandwidth",
            Figure("19.2 TB/s", PUBLISHED, f"{_GPU_BENCHES} gpu-cache/a100_80.txt, L1 of 148 KiB: the same memory"),
        ),
        Memory.L2: (
            "L2, read",
            "l2_bandwidth",
            Figure("5.45 TB/s", PUBLISHED, f"{_GPU_BENCHES} gpu-l2-cache/a100_80.txt, 16.9 MB"),
        ),
    }
    for level, (name, operation, a100) in peaks.items():
        yield Line(name, _best(results, f"{operation}/", lambda traffic: traffic.read), a100)
        if level is Memory.REGISTER:
            yield Line(
                "registers, operands and results", _best(results, f"{operation}/", lambda traffic: traffic.total)
            )
        yield Line(f"{name.split(',')[0]}, roof", _roof(record, level), _roof(A100, level))
    device = Figure("1.74 TB/s", PUBLISHED, f"{_GPU_BENCHES} gpu-stream/a100_80.txt, scale")
    streams = {n: r for n, r in results.items() if r.case.work.traffic.level is Memory.DEVICE}
    yield Line("device memory, read + written", _best(streams, "", lambda traffic: traffic.total), device)
    yield Line("device memory, roof", _roof(record, Memory.DEVICE), _roof(A100, Memory.DEVICE))
    yield from _transfers(results, record)


def _transfers(results: Results, record: DeviceRecord | None) -> Iterator[Line]:
    published = {
        "upload/cuda/pinned/": Figure("24.8 GB/s", PUBLISHED, "NVIDIA developer forum, thread 352186, nvbandwidth 0.8"),
        "upload/cuda/pageable/": Figure(
            "12.7 GB/s",
            PUBLISHED,
            "pc2/GPUInspector.jl @b0bea3a docs/src/devices/a100_sxm2.md, 11.84 GiB/s",
            "A100-SXM4-40GB, direction not stated",
        ),
    }
    for operation, variants in (
        ("upload", ("pinned", "pageable", "zero_copy")),
        ("download", ("pinned", "pageable", "zero_copy")),
        ("exchange", ("in_turn", "overlapped", "zero_copy")),
    ):
        for variant in variants:
            name = f"{operation}/cuda/{variant}/"
            yield Line(f"{operation}, {variant}", _best(results, name, lambda t: t.total), published.get(name, NOTHING))
    yield Line("link to the host, roof each way", _roof(record, Memory.HOST), _roof(A100, Memory.HOST))


def _best(results: Results, prefix: str, count: Callable[[Traffic], int]) -> Figure:
    """The highest rate among the kernels whose case ids begin so."""
    found = [(r.rate(count), name) for name, r in results.items() if name.startswith(prefix)]
    if not found:
        return NOTHING
    rate, name = max(found)
    return Figure(_bytes_per_second(rate), MEASURED, name)


def _roof(record: DeviceRecord | None, level: Memory) -> Figure:
    figure = record.bandwidth_figure(level) if record else None
    if figure is None or figure.value is None:
        return NOTHING
    return Figure(_bytes_per_second(figure.value), DERIVED if figure.derived else PUBLISHED, figure.source)


def _latencies(results: Results) -> Iterator[Line]:
    for name, kernel, lines, a100 in (
        ("shared memory", "cuda/shared", 64, Figure("23 cycles", PUBLISHED, _DEMYSTIFYING, _UNKNOWN_A100)),
        ("L1", "cuda/cached", 64, Figure("33 cycles", PUBLISHED, f"{_GPU_BENCHES} gpu-latency/a100_80.txt")),
        ("L2", "cuda/uncached", 32768, Figure("200 cycles", PUBLISHED, _DEMYSTIFYING, _UNKNOWN_A100)),
        ("device memory", "cuda/uncached", 2097152, Figure("290 cycles", PUBLISHED, _DEMYSTIFYING, _UNKNOWN_A100)),
    ):
        yield Line(f"{name}, latency", latency(results, kernel, lines), a100)


def latency(results: Results, kernel: str, lines: int) -> Figure:
    """Time of a step of the pointer chase over so many lines, from its shortest and its longest chase."""
    chases = [r for name, r in results.items() if name.startswith(f"pointer_chase/{kernel}/")]
    chases = sorted((r for r in chases if r.case.shape.dims[0] == lines), key=lambda r: r.case.shape.dims[1])
    if len(chases) < 2:
        return NOTHING
    short, long = chases[0], chases[-1]
    seconds = (long.seconds - short.seconds) / (long.case.shape.dims[1] - short.case.shape.dims[1])
    cycles = f" ({seconds * long.clock_mhz * 1e6:.0f} cycles)" if long.clock_mhz else ""
    return Figure(f"{seconds * 1e9:.1f} ns{cycles}", MEASURED, f"{long.case} - {short.case}")


def _launches(results: Results) -> Iterator[Line]:
    """What a launch costs, and the bytes below which a kernel is over before that."""
    rates = [r.rate(lambda t: t.total) for r in results.values() if r.case.work.traffic.level is Memory.DEVICE]
    bandwidth = max(rates, default=0.0)
    graph, stream = (
        Figure(
            f"{16 * 4096 / rate / 1e3:.2f} us",
            DERIVED,
            f"16 B x 4096 elements / {rate} GB/s, rounded so in {_GPU_BENCHES} gpu-small-kernels/a100_80{suffix}.txt",
        )
        for rate, suffix in ((49, "_graph"), (25, ""))
    )
    for name, prefix, a100 in (
        ("launch in a stream", "launch_chain/cuda/stream", stream),
        ("launch in a stream, Triton", "launch_chain/triton/stream", NOTHING),
        ("launch in a graph", "launch_chain/cuda/graph", graph),
    ):
        result = next((r for case, r in results.items() if case.startswith(f"{prefix}/")), None)
        if result is None:
            continue
        seconds = result.seconds / result.case.shape.size
        yield Line(name, Figure(f"{seconds * 1e6:.2f} us", MEASURED, str(result.case)), a100)
        formula = f"{seconds * 1e6:.2f} us x {_bytes_per_second(bandwidth)}, the most this run moved"
        yield Line(f"{name}: overhead-bound below", Figure(f"{seconds * bandwidth / 1e6:.2f} MB", DERIVED, formula))
    empty = next((r for case, r in results.items() if case.startswith("empty_launch/cuda/stream/")), None)
    if empty is not None:
        floor = f"{empty.launch_floor * 1e6:.2f} us"
        yield Line("empty kernel, in a graph of many", Figure(floor, MEASURED, f"launch_floor of {empty.case}"))
        yield Line(
            "empty kernel, call to completion", Figure(f"{empty.seconds * 1e6:.2f} us", MEASURED, str(empty.case))
        )
        yield Line("empty kernel, host's share", Figure(f"{empty.host * 1e6:.2f} us", MEASURED, str(empty.case)))


def _bytes_per_second(rate: float) -> str:
    return f"{rate / 1e12:.3g} TB/s" if rate >= 1e12 else f"{rate / 1e9:.3g} GB/s"
