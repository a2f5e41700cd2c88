"""A campaign, a run and a published figure that the tests of baselines share."""

from pytest_roofline.baselines import Published, Run
from pytest_roofline.evidence import Environment

HERE = Environment(
    "NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11", "triton": "3.6"}, 132, 62914560, machine="abcdef123"
)
RUN = Run(-9.0, (1.22e-4, 1.23e-4, 1.234e-4, 1.24e-4, 1.25e-4), 100, 2, 1, "graph_cold", 4e-7)
FIGURE = Published(
    "a100_pcie_40gb", "GPU time", 9.49, "us", 9.49e-6, "as published", "CUB", "NVIDIA/cccl PR", "nvbench", "high"
)
CASE = "sum/cuda/atomic/f32/1024"
