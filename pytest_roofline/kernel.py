"""How a kernel is declared: its launcher, its options, and all that holds for it rather than for its operation.

Users import these names from :mod:`pytest_roofline.contract`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_roofline.capability import CAPABILITY
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import NAME, Shape
from pytest_roofline.work import Traffic

BACKENDS = ("triton", "cuda", "torch", "cupy", "host")
"""What a kernel may be written in. ``host`` is Python on tensors, whose accesses nothing watches: for tests."""


@dataclass(frozen=True)
class Buffer:
    """Workspace that a launcher receives as keyword ``name``: allocated before timing, poisoned before each check."""

    name: str
    extent: int
    element: str = "f32"


@dataclass(frozen=True)
class Floor:
    """Smallest acceptable fraction of the bound on a device (``h200``), for shapes of at least ``size`` elements."""

    device: str
    fraction: float
    reason: str
    size: int = 0


@dataclass(frozen=True)
class Kernel:
    """One way to compute an operation.

    ``launcher`` is ``"package.module:name"``, called as ``launcher(*arguments, **scalars, **options, **workspace)``:
    it launches on the current stream without synchronising or allocating, computes the whole operation (zeroing what
    it accumulates into, inside the timed bracket), and raises ``ValueError`` on what the kernel cannot do.
    ``rejects(shape, dtype)`` says in advance which shapes those are and why; the suite checks that they are rejected.
    ``depth(dims)`` is the longest chain of rounded additions (default: the operation's). ``model`` is the traffic this
    variant must cause beyond the compulsory one. ``best`` gives it the size sweep. ``peer`` marks a library routine
    timed beside the kernels (it has no floor and never fails a run). ``deterministic`` promises bitwise equal results
    from run to run. ``capability`` is the architecture that its instructions need, such as ``sm_90``, or ``sm_90a`` for
    those of no other; elsewhere its cases are skipped with that reason, and no CPU has a model of them. ``tile`` is
    what one block computes, in the units of the operation's dims. ``pageable`` gives it the host's arguments in
    ordinary memory instead of page-locked. ``timed`` are shapes of its own in place of the operation's timed lists, for
    a rung that would take far longer than the others. ``after`` is the variant of the same language that this rung
    changes, where that is not the one declared before it. ``uncounted`` names kernels that its launcher launches on a
    GPU alone, with the reason: no counted case can have them, their code is compared all the same.
    ``timed_dtypes`` are those of ``dtypes`` that are timed by default (empty: all of them); the others are checked and
    counted, and timed under ``--roofline-effort=full``. ``absent_dtypes`` gives the reason for each dtype of the
    operation that this kernel does not compute.
    """

    backend: str
    variant: str
    launcher: str
    dtypes: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    tile: tuple[int, ...] = ()
    workspace: Callable[[Shape, DType], tuple[Buffer, ...]] | None = None
    model: Callable[[Shape, DType], tuple[Traffic, ...]] | None = None
    rejects: Callable[[Shape, DType], str | None] | None = None
    depth: Callable[[tuple[int, ...]], int] | None = None
    floors: tuple[Floor, ...] = ()
    best: bool = False
    peer: bool = False
    deterministic: bool = True
    pageable: bool = False
    capability: str = ""
    timed: tuple[str, ...] = ()
    after: str = ""
    uncounted: Mapping[str, str] = field(default_factory=dict)
    timed_dtypes: tuple[str, ...] = ()
    absent_dtypes: Mapping[str, str] = field(default_factory=dict)

    def rejection(self, shape: Shape, dtype: DType) -> str | None:
        """Why this kernel refuses ``shape``; ``None`` if it takes it."""
        return self.rejects(shape, dtype) if self.rejects else None

    def verify(self, operation: str) -> None:
        """Raise ``ValueError``, which names ``operation``, for what would only fail, or pass unwatched, in a run."""
        what = f"operation {operation}: kernel {self.backend}/{self.variant}"
        if self.backend not in BACKENDS:
            raise ValueError(f"{what}: unknown backend {self.backend!r}; known are {', '.join(BACKENDS)}")
        if not NAME.fullmatch(self.variant):
            raise ValueError(f"{what}: a variant is lower case letters, digits and _")
        module, colon, function = self.launcher.partition(":")
        if not (module and colon and function):
            raise ValueError(f"{what}: launcher {self.launcher!r} is not package.module:function")
        if isinstance(self.timed, str):
            raise ValueError(f"{what}: timed is text, not a tuple: a comma is missing")
        for text in self.timed:
            Shape.parse(text)
        for dtype in (*self.dtypes, *self.absent_dtypes):
            DType.parse(dtype)
        if isinstance(self.timed_dtypes, str) or not set(self.timed_dtypes) <= set(self.dtypes):
            raise ValueError(f"{what}: timed_dtypes {self.timed_dtypes!r} is no tuple of some of {self.dtypes}")
        if both := set(self.absent_dtypes) & set(self.dtypes):
            raise ValueError(f"{what}: {', '.join(sorted(both))} is among its dtypes and has a reason not to be")
        if self.capability and not CAPABILITY.fullmatch(self.capability):
            raise ValueError(f"{what}: capability {self.capability!r} is not such as sm_90 or sm_90a")
