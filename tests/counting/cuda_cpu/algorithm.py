"""What the tests of whole algorithms share: a launch with its data, what must come out, which bugs are planted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_roofline.counting.cuda_cpu import CudaFault, FaultKind, checking, load

ORDERS = ("forward", "reverse", "random", "interleaved")
Arrays = Sequence[Any]
Check = Callable[[Arrays, Arrays], None]  # of the arguments before and after
_rng = np.random.default_rng(11)


@dataclass
class Algorithm:
    """A kernel, its launch, what its arguments must hold afterwards, and the kinds of findings of its bugs in order."""

    path: Path
    kernel: str
    block: tuple[int, ...]
    args: Callable[[], Arrays]
    right: Check
    bugs: tuple[set[FaultKind], ...]
    grid: tuple[int, ...] = (1,)
    shared: int = 0
    unset: tuple[int, ...] = field(default=())  # arguments that count as uninitialised

    def arguments(self) -> Arrays:
        """The arguments; the same data whichever algorithms ran before."""
        global _rng
        _rng = np.random.default_rng(11)
        return self.args()

    def launch(self, bug: int, order: str = "forward") -> tuple[Arrays, Arrays]:
        """The arguments before and after a launch with a planted bug; 0 is without."""
        after = self.arguments()
        before = [a.clone() if hasattr(a, "clone") else np.copy(a) for a in after]
        with checking(order=order, seed=5, uninitialised=[after[i] for i in self.unset]):
            load(self.path, options=(f"-DBUG={bug}",)).function(self.kernel)(self.grid, self.block, after, self.shared)
        return before, after

    def marked(self, bug: int) -> set[int]:
        """The lines of the kernel, and of the functions above the first kernel, that carry a bug's mark."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        name = self.kernel.split("<")[0]
        start = next(k for k, text in enumerate(lines) if f" {name}(" in text)
        end = next(k for k in range(start, len(lines)) if lines[k] == "}")
        common = next(k for k, text in enumerate(lines) if "__global__" in text)
        return {k + 1 for k, text in enumerate(lines[: end + 1]) if f"// BUG {bug}" in text and not common <= k < start}

    def assert_right(self, order: str) -> None:
        """Without a bug there is no finding, and the result is that of NumPy."""
        self.right(*self.launch(0, order))

    def assert_found(self, bug: int, order: str = "forward") -> None:
        """The first finding has an expected kind and points at a line that carries the bug's number."""
        with pytest.raises(CudaFault) as caught:
            self.launch(bug, order)
        finding = caught.value.findings[0]
        assert finding.kind in self.bugs[bug - 1], str(finding)
        assert {finding.line, finding.other_line} & self.marked(bug), str(finding)


def planted(cases: Sequence[Algorithm]) -> list[Any]:
    """Each case with the number of each of its bugs, as parameters of a test."""
    return [
        pytest.param(case, bug, id=f"{case.kernel}-{bug}") for case in cases for bug in range(1, len(case.bugs) + 1)
    ]


def rng() -> np.random.Generator:
    """The generator of the running case."""
    return _rng


def n(value: int) -> np.int32:
    return np.int32(value)


def f32(*shape: int) -> Any:
    return _rng.random(shape, dtype=np.float32)


def zeros(*shape: int, kind: Any = np.float32) -> Any:
    return np.zeros(shape, kind)


def integers(high: int, *shape: int) -> Any:
    return _rng.integers(0, high, shape, np.int32)


def close(output: int, expected: Callable[[Arrays], Any], rtol: float = 2e-5, atol: float = 1e-6) -> Check:
    """Argument ``output`` must agree with a function of the arguments before the launch."""

    def check(before: Arrays, after: Arrays) -> None:
        np.testing.assert_allclose(after[output], expected(before), rtol=rtol, atol=atol)

    return check


def softmax(x: Any) -> Any:
    weight = np.exp(x - x.max(-1, keepdims=True))
    return weight / weight.sum(-1, keepdims=True)


def sparse(rows: int, columns: int) -> tuple[Any, Any, Any]:
    """Row starts, columns and values of a matrix with up to 69 entries per row."""
    starts = np.concatenate([[0], np.cumsum(integers(70, rows))]).astype(np.int32)
    return starts, integers(columns, int(starts[-1])), f32(int(starts[-1]))


def spmv(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    products = values.astype(np.float64) * x[columns]
    return [products[a:b].sum() for a, b in zip(starts[:-1], starts[1:], strict=True)]  # noqa: RUF007
