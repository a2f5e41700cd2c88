"""What a reader is told about a device: figures with their sources, and who contradicts whom."""

import dataclasses

import pytest

from pytest_roofline.devices import describe
from pytest_roofline.devices.ceilings import Ceilings
from pytest_roofline.devices.identify import Gpu
from pytest_roofline.devices.record import all_records, load
from pytest_roofline.evidence import Environment

HERE = Environment("NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11"}, 132, 62914560)
FOUND = Ceilings(HERE, "2026-11-30T00:00:00+00:00", 4.3e12, 4.5e12, 5e-7, {"fp32": 62e12}, {"copy": "torch copy_"})


def test_a_device_is_described_with_its_roofs_and_contradictions():
    """Datasheet, measured ceilings and the driver's L2 each have a line."""
    lines = "\n".join(describe.lines(HERE, load("h200"), FOUND))
    assert "datasheet (H200-SXM-141GB): 4.80 TB/s, fp32 67.0 TFLOP/s" in lines
    assert "L2: the driver says 60 MiB (used here), the record 50 MiB" in lines
    assert (
        "measured ceilings (2026-11-30): copy 4.30 TB/s, read 4.50 TB/s, fp32 62.0 TFLOP/s, empty launch 0.50 us"
        in lines
    )
    assert "--roofline-ceilings=measure takes them" in "\n".join(describe.lines(HERE, load("h200"), None))
    assert "has no device record" in "\n".join(describe.lines(dataclasses.replace(HERE, device="NVIDIA X"), None, None))


@pytest.mark.parametrize("record", all_records(), ids=lambda r: r.key)
def test_every_figure_of_a_record_is_shown_with_its_source(record):
    """Nothing that is stored stays hidden."""
    text = "\n".join(describe.record_lines(record))
    assert all(f"  {name} = " in text and figure.source in text for name, figure in record.fields.items())
    assert all(f"note: {note}" in text for note in record.notes)


def test_derived_unknown_and_missing_roofs_are_told_apart():
    """A reader sees which roof is published, which derived, which unknown and which the hardware lacks."""
    lines = describe.record_lines(load("a30"))
    assert "  fp32 = 10.3e12" in lines
    assert any(line.startswith("  special = 1.29e12 [derived: 16 per clock and SM (") for line in lines)
    assert "  fp8_tensor = not supported" in lines
    assert "  tf32_tensor = unknown" in describe.record_lines(load("rtx_3090"))


def test_a_gpu_is_described_with_its_contradictions():
    """The driver's L2 of a H200 is not the record's."""
    attributes = {"sm_count": 132, "compute_major": 9, "compute_minor": 0, "l2_bytes": 62914560, "pci_bus": 27}
    lines = describe.gpu_lines(Gpu("NVIDIA H200", 150109880320, attributes))
    assert lines[:2] == ["NVIDIA H200 at 0000:1b:00, 150.1 GB, compute capability 9.0", "  record: h200"]
    assert lines[2].startswith("  l2_bytes: the driver says 62914560, the record 52428800")
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("gpu", "reason"),
    [
        (Gpu("NVIDIA X1", 10**10, {}), "NVIDIA X1 has no device record"),
        (Gpu("NVIDIA H200", 150109880320, {"sm_count": 60}), "has 60 SMs here, its model 132"),
        (Gpu("NVIDIA H200", 75 * 10**9, {"sm_count": 132}), "another memory than its model"),
    ],
)
def test_a_gpu_without_record_says_why(gpu, reason):
    """Unknown, sliced or changed: the line says which."""
    assert reason in describe.gpu_lines(gpu)[1]
