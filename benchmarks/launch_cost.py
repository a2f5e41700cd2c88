"""What one launch costs the host, by several ways, on the same tensors.

    python benchmarks/launch_cost.py

Needs a GPU. The kernels are too small to fill the launch queue, so the figures hold no waiting for the device.
"""

from __future__ import annotations

import functools
import pathlib
import statistics
import sys
import tempfile
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from pytest_roofline.checking.check import load_launcher  # noqa: E402
from pytest_roofline.devices import identify  # noqa: E402
from pytest_roofline.discovery import load_operation  # noqa: E402
from pytest_roofline.launch import Source  # noqa: E402
from pytest_roofline.streams import on_torch_stream  # noqa: E402
from pytest_roofline.timing import environment  # noqa: E402
from pytest_roofline.timing.hostcost import submission_seconds  # noqa: E402

ELEMENTS = 1024
ROUNDS = 5
NOTHING = 'extern "C" __global__ void nothing(const float* x, float* y, long long n, int head) {}'


def ways(folder: pathlib.Path) -> dict[str, Callable[[], object]]:
    """Launches with two tensors and two numbers: torch's, ours, CuPy's, and the launchers of the vector_add suite."""
    import cupy

    x, y = (torch.randn(ELEMENTS, device="cuda") for _ in range(2))
    (folder / "nothing.cu").write_text(NOTHING, encoding="utf-8")
    ours = Source(folder / "nothing.cu").function("nothing")
    raw = cupy.RawKernel(NOTHING, "nothing")
    arrays, numbers = (cupy.asarray(x), cupy.asarray(y)), (cupy.int64(ELEMENTS), cupy.int32(0))

    def cupy_on_torch() -> None:
        with on_torch_stream(x.device):
            raw((1,), (256,), (*arrays, *numbers))

    ours((1,), (256,), (x, y, ELEMENTS, 0))
    loaded = ours.loaded[x.get_device()]
    values = [x.data_ptr(), y.data_ptr(), ELEMENTS, 0]

    found: dict[str, Callable[[], object]] = {
        "torch y.add_(x)": lambda: y.add_(x),
        "the driver's part of ours": lambda: loaded.launch((1, 1, 1), (256, 1, 1), values, 0, 0),
        "pytest_roofline.launch": lambda: ours((1,), (256,), (x, y, ELEMENTS, 0)),
        "CuPy RawKernel": lambda: raw((1,), (256,), (*arrays, *numbers)),
        "CuPy RawKernel on torch's stream": cupy_on_torch,
    }
    for kernel in load_operation("suite.operations.vector_add").kernels:
        if kernel.best:
            launcher = load_launcher(kernel.launcher)
            found[f"vector_add/{kernel.backend}/{kernel.variant}"] = functools.partial(launcher, x, y, **kernel.options)
    return found


def main() -> None:
    """Print the median and the extremes of several rounds per way, in microseconds."""
    if problem := identify.why_none():
        raise SystemExit(f"launch_cost needs a GPU: {problem}")
    here = environment()
    print(f"{here.device}, driver {here.driver}, CUDA {here.cuda}, Python {here.python}, {dict(here.packages)}")
    with tempfile.TemporaryDirectory() as folder:
        calls = ways(pathlib.Path(folder))
        for call in calls.values():
            submission_seconds(call)  # compiled and warm
        rounds = [{name: 1e6 * submission_seconds(call, 200) for name, call in calls.items()} for _ in range(ROUNDS)]
    print(f"{'host time of a launch, us':36}{'median':>8}{'min':>8}{'max':>8}")
    for name in calls:
        found = [each[name] for each in rounds]
        print(f"{name:36}{statistics.median(found):8.2f}{min(found):8.2f}{max(found):8.2f}", flush=True)


if __name__ == "__main__":
    main()
