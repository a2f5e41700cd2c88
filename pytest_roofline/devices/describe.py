"""Lines that say which device a report is about and what its roofs are."""

from __future__ import annotations

from pytest_roofline.contract import Memory, Pipeline
from pytest_roofline.devices.ceilings import Ceilings
from pytest_roofline.devices.identify import Gpu, differences, match, unknown_device_help
from pytest_roofline.devices.record import DeviceRecord, Figure
from pytest_roofline.evidence import Environment


def lines(environment: Environment, record: DeviceRecord | None, ceilings: Ceilings | None) -> list[str]:
    """The device, its datasheet roofs and its measured ceilings."""
    packages = ", ".join(f"{name} {version}" for name, version in environment.packages.items())
    found = [f"{environment.device}, driver {environment.driver}, CUDA {environment.cuda}, {packages}"]
    if record is None:
        return [*found, unknown_device_help(environment.device, environment.sm_count)]
    roofs = [_bandwidth(record.bandwidth(Memory.DEVICE)), _peak("fp32", record.peak(Pipeline.FP32))]
    found.append(f"datasheet ({record.name}): {', '.join(roofs)}")
    if record.number("l2_bytes") not in (None, environment.l2_bytes):
        source = record.fields["l2_bytes"].source
        found.append(
            f"L2: the driver says {environment.l2_bytes / 2**20:.0f} MiB (used here), "
            f"the record {record.number('l2_bytes') / 2**20:.0f} MiB ({source})"  # type: ignore[operator]
        )
    if ceilings is None:
        return [*found, "measured ceilings: none stored; --roofline-ceilings=measure takes them"]
    measured = f"copy {_bandwidth(ceilings.copy)}, read {_bandwidth(ceilings.read)}"
    peak = _peak("fp32", ceilings.peak(Pipeline.FP32))
    launch = f"empty launch {ceilings.empty_launch * 1e6:.2f} us"
    return [*found, f"measured ceilings ({ceilings.date[:10]}): {measured}, {peak}, {launch}"]


def record_lines(record: DeviceRecord) -> list[str]:
    """Everything a record knows, each figure with its source; then the roofs of the pipelines."""
    found = [f"{record.name} ({record.key}), called {', '.join(record.driver_names)} by its driver"]
    found += [f"  {name} = {_figure(figure)}" for name, figure in sorted(record.fields.items())]
    found.append("roofs, operations per second:")
    for pipeline in Pipeline:
        figure = record.peak_figure(pipeline)
        rate = f"{figure.value / 1e12:.4g}e12" if figure.value is not None else _missing(figure)
        found.append(f"  {pipeline.value} = {rate}" + (f" [{figure.source}]" if figure.derived else ""))
    return [*found, *(f"note: {note}" for note in record.notes)]


def gpu_lines(gpu: Gpu) -> list[str]:
    """A GPU as its driver describes it, its record, and where the two contradict each other."""
    found = [
        f"{gpu.name} at {gpu.pci_id}, {gpu.memory_bytes / 1e9:.1f} GB, compute capability {gpu.compute_capability}"
    ]
    sms = gpu.attributes.get("sm_count")
    record = match(gpu.name, sms, gpu.memory_bytes)
    if record is None:
        return [*found, f"  {unknown_device_help(gpu.name, sms)}"]
    found.append(f"  record: {record.key}")
    return [*found, *(f"  {line}" for line in differences(record, gpu))]


def _figure(figure: Figure) -> str:
    value = _missing(figure) if figure.value is None else f"{figure.value}"
    note = f"; {figure.note}" if figure.note else ""
    return f"{value} [{figure.source}; confidence {figure.confidence}{note}]"


def _missing(figure: Figure) -> str:
    return "unknown" if figure.supported else "not supported"


def _bandwidth(rate: float | None) -> str:
    return "bandwidth unknown" if rate is None else f"{rate / 1e12:.2f} TB/s"


def _peak(name: str, rate: float | None) -> str:
    return f"{name} unknown" if rate is None else f"{name} {rate / 1e12:.1f} TFLOP/s"
