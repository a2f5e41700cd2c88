"""What a user writes: an :class:`Operation`, the :class:`Kernel`\\ s that compute it, and nothing else.

An operation file holds one ``OPERATION``; the plugin finds it, builds a :class:`Case` for every kernel, dtype and
shape, and checks, times and counts them. Importing this module loads no GPU library: references and peers receive torch
tensors but are only called when a case runs, kernels are named by import string and loaded late.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pytest_roofline.dtypes import DType, Element
from pytest_roofline.ids import NAME, CaseId, Shape
from pytest_roofline.kernel import Buffer as Buffer
from pytest_roofline.kernel import Floor as Floor
from pytest_roofline.kernel import Kernel as Kernel
from pytest_roofline.tolerance import Bound as Bound
from pytest_roofline.tolerance import Computed as Computed
from pytest_roofline.tolerance import Tolerance as Tolerance
from pytest_roofline.work import Memory as Memory
from pytest_roofline.work import Pipeline as Pipeline
from pytest_roofline.work import Traffic as Traffic
from pytest_roofline.work import Work as Work

if TYPE_CHECKING:
    import torch
    from hypothesis.strategies import SearchStrategy

    Tensors = Mapping[str, torch.Tensor]


class Role(enum.Enum):
    """What a kernel does with an argument. The check restores an INOUT before each launch, timing rotates copies."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


class Protocol(enum.Enum):
    """How a case is timed (see ``docs/timing.md``)."""

    GRAPH_COLD = "graph_cold"
    GRAPH_HOT = "graph_hot"
    HOST_CLOCK = "host_clock"
    TRANSFER = "transfer"


@dataclass(frozen=True)
class Argument:
    """One tensor that a launcher receives, in the order of ``Operation.arguments``.

    ``extents`` maps the shape's dims to the tensor's logical shape (row-major). ``accumulator`` gives it the
    accumulator format of the dtype instead of the operand's, always or where ``accumulator(dtype)`` holds (a product of
    16-bit operands is stored like them, that of bytes is not). The three switches say which layout suffixes of a shape
    it follows; ``pitched`` and ``transposable`` need a rank of two. ``host`` puts it into the host's memory,
    page-locked unless the kernel is ``pageable``; on a machine without a GPU it is memory like any other.
    ``data(extents, seed, device)`` makes a dense tensor of its values where random ones mean nothing (indices).
    """

    name: str
    role: Role
    extents: Callable[[tuple[int, ...]], tuple[int, ...]]
    accumulator: bool | Callable[[DType], bool] = False
    shifted: bool = True
    pitched: bool = False
    transposable: bool = False
    host: bool = False
    data: Callable[[tuple[int, ...], int, str], torch.Tensor] | None = None

    def element(self, dtype: DType) -> Element:
        """The number format this argument has in a case of ``dtype``."""
        accumulates = self.accumulator(dtype) if callable(self.accumulator) else self.accumulator
        return dtype.accumulator if accumulates else dtype.operand


@dataclass(frozen=True)
class Shapes:
    """The shape lists of an operation.

    ``drawn(tile)`` is a hypothesis strategy of :class:`Shape` for correctness, around the multiples of ``tile``; sizes
    stay small enough for the interpreter. ``sweep`` (best variants and peers, in their first dtype) and
    ``representative`` (everything else) are timed by default, ``full`` under ``--roofline-effort=full``. ``counted``
    are small, with the same alignment and tail classes, and launch every kernel that a timed one does. All but
    ``drawn`` are frozen text in the id grammar, so that they can never drift.
    """

    drawn: Callable[[tuple[int, ...]], SearchStrategy[Shape]]
    sweep: tuple[str, ...]
    representative: tuple[str, ...]
    counted: tuple[str, ...]
    full: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operation:
    """What is computed, once: arguments, reference, work, tolerance, shapes, and the kernels that compute it.

    ``reference`` receives every IN and INOUT argument in float64 (integers: int64) by name and returns the OUT and
    INOUT arguments by name, plainly. ``depth(dims)`` bounds the chain of rounded additions of any order of evaluation.
    ``scalars(dims)`` are numbers that belong to the problem beside its tensors (a stride, a count of steps); reference
    and launchers receive them by keyword. ``absent`` gives the reason for each ``(backend, variant)`` that a language
    cannot express.
    """

    name: str
    summary: str
    arguments: tuple[Argument, ...]
    reference: Callable[..., Tensors]
    work: Callable[[Shape, DType], Work]
    tolerance: Tolerance
    shapes: Shapes
    kernels: tuple[Kernel, ...]
    depth: Callable[[tuple[int, ...]], int] = lambda dims: 1
    protocol: Protocol = Protocol.GRAPH_COLD
    scalars: Callable[[tuple[int, ...]], Mapping[str, int]] = lambda dims: {}
    absent: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"operation name {self.name!r} must be lower case letters, digits and _")
        arguments = [argument.name for argument in self.arguments]
        for name in arguments:
            if arguments.count(name) > 1:
                raise ValueError(f"operation {self.name}: argument {name} is declared twice")
        if not isinstance(self.protocol, Protocol):
            raise ValueError(f"operation {self.name}: protocol {self.protocol!r} is no contract.Protocol")
        seen = set()
        for kernel in self.kernels:
            key = (kernel.backend, kernel.variant)
            if key in seen:
                raise ValueError(f"operation {self.name}: kernel {'/'.join(key)} is declared twice")
            if kernel.after and (kernel.backend, kernel.after) not in seen:
                raise ValueError(
                    f"operation {self.name}: {'/'.join(key)} is after {kernel.after}, which must come first"
                )
            seen.add(key)
            kernel.verify(self.name)
        for list_name in ("sweep", "representative", "counted", "full"):
            shapes = getattr(self.shapes, list_name)
            if isinstance(shapes, str):
                raise ValueError(f"operation {self.name}: shapes.{list_name} is text, not a tuple: a comma is missing")
            for text in shapes:
                Shape.parse(text)

    def kernel(self, backend: str, variant: str) -> Kernel:
        """The kernel of that name. Raises ``ValueError`` listing the known ones, or the reason in ``absent``."""
        for kernel in self.kernels:
            if (kernel.backend, kernel.variant) == (backend, variant):
                return kernel
        if (backend, variant) in self.absent:
            raise ValueError(f"{self.name}/{backend}/{variant} does not exist: {self.absent[backend, variant]}")
        known = ", ".join(f"{k.backend}/{k.variant}" for k in self.kernels)
        raise ValueError(f"operation {self.name} has no kernel {backend}/{variant}; it has {known}")

    def case(self, case_id: CaseId) -> Case:
        """The case of that id; the shape may be any, not only a listed one. Raises ``ValueError``."""
        kernel = self.kernel(case_id.backend, case_id.variant)
        if case_id.dtype not in kernel.dtypes:
            reason = kernel.absent_dtypes.get(case_id.dtype)
            why = f"; {reason}" if reason else ""
            raise ValueError(f"{case_id}: this kernel has the dtypes {', '.join(kernel.dtypes)}{why}")
        return Case(self, kernel, DType.parse(case_id.dtype), case_id.shape)

    def cases(self, which: Literal["timed", "counted"], *, full: bool = False) -> Iterator[Case]:
        """The cases of one frozen list, in declaration order, without those that a kernel rejects."""
        for kernel in self.kernels:
            for dtype in map(DType.parse, kernel.dtypes):
                for text in self._shapes(kernel, dtype, which, full):
                    shape = Shape.parse(text)
                    if kernel.rejection(shape, dtype) is None:
                        yield Case(self, kernel, dtype, shape)

    def _shapes(self, kernel: Kernel, dtype: DType, which: Literal["timed", "counted"], full: bool) -> tuple[str, ...]:
        lists = self.shapes
        if which == "counted":
            return lists.counted
        if not full and kernel.timed_dtypes and str(dtype) not in kernel.timed_dtypes:
            return ()
        if kernel.timed:
            return kernel.timed
        swept = (kernel.best or kernel.peer) and str(dtype) == kernel.dtypes[0]
        default = lists.sweep if swept else lists.representative
        return tuple(dict.fromkeys(default + (lists.sweep + lists.representative + lists.full if full else ())))


@dataclass(frozen=True)
class Case:
    """Operation x kernel x dtype x shape: the unit that is checked, timed, counted, bounded and compared."""

    operation: Operation
    kernel: Kernel
    dtype: DType
    shape: Shape

    @property
    def id(self) -> CaseId:
        """The case's id, the same in every process."""
        return CaseId(self.operation.name, self.kernel.backend, self.kernel.variant, str(self.dtype), self.shape)

    def __str__(self) -> str:
        return str(self.id)

    @property
    def scalars(self) -> Mapping[str, int]:
        """The problem's numbers beside its tensors."""
        return self.operation.scalars(self.shape.dims)

    @property
    def work(self) -> Work:
        """Operations and compulsory traffic of one execution."""
        return self.operation.work(self.shape, self.dtype)

    @property
    def model(self) -> tuple[Traffic, ...]:
        """Traffic that this variant must cause beyond the compulsory one."""
        return self.kernel.model(self.shape, self.dtype) if self.kernel.model else ()

    @property
    def depth(self) -> int:
        """Longest chain of rounded additions from an input to an output in this kernel."""
        return (self.kernel.depth or self.operation.depth)(self.shape.dims)
