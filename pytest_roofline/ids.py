"""The grammar of case ids: ``operation/backend/variant/dtype/shape``.

An id is ASCII, lower case, and at once pytest id, baseline key and report row, so it must not depend on where a test
stands. A shape is ``4097x8191`` with suffixes in this order: ``.oN`` base pointers shifted by N elements, ``.pN`` rows
N elements apart, ``.t`` transposed view.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

NAME = re.compile(r"[a-z][a-z0-9_]*")
_SHAPE = re.compile(r"(\d+(?:x\d+)*)(?:\.o(\d+))?(?:\.p(\d+))?(\.t)?")


@dataclass(frozen=True)
class Shape:
    """Extents of a problem and how its tensors lie in memory.

    ``dims`` are the operation's own extents (``(n,)``, ``(rows, columns)``, ``(m, n, k)``); ``offset`` shifts base
    pointers by that many elements away from their natural 256-byte alignment; ``pitch`` is the distance between rows
    in elements (``None``: rows are dense); ``transposed`` stores the arguments that allow it column by column.
    """

    dims: tuple[int, ...]
    offset: int = 0
    pitch: int | None = None
    transposed: bool = False

    def __post_init__(self) -> None:
        if not self.dims or min(*self.dims, self.offset, self.pitch or 0) < 0:
            raise ValueError(f"a shape needs at least one extent and no negative number, got {self!r}")

    def __str__(self) -> str:
        text = "x".join(str(d) for d in self.dims)
        if self.offset:
            text += f".o{self.offset}"
        if self.pitch is not None:
            text += f".p{self.pitch}"
        return text + (".t" if self.transposed else "")

    @property
    def size(self) -> int:
        """Product of the extents."""
        return math.prod(self.dims)

    @classmethod
    def parse(cls, text: str) -> Shape:
        """Read ``4097x8191.o1.p8192.t``. Raises ``ValueError`` with the grammar."""
        match = _SHAPE.fullmatch(text)
        if match is None:
            raise ValueError(f"bad shape {text!r}: expected extents and suffixes such as 4097x8191.o1.p8192.t")
        dims, offset, pitch, transposed = match.groups()
        extents = tuple(int(d) for d in dims.split("x"))
        shape = cls(extents, int(offset or 0), int(pitch) if pitch else None, bool(transposed))
        if str(shape) != text:
            raise ValueError(f"bad shape {text!r}: its one spelling is {shape}")
        return shape


@dataclass(frozen=True)
class CaseId:
    """A case id taken apart; ``str()`` puts it together again."""

    operation: str
    backend: str
    variant: str
    dtype: str
    shape: Shape

    def __str__(self) -> str:
        return f"{self.operation}/{self.backend}/{self.variant}/{self.dtype}/{self.shape}"

    @classmethod
    def parse(cls, text: str) -> CaseId:
        """Read an id. Raises ``ValueError`` that says which part is wrong."""
        parts = text.split("/")
        if len(parts) != 5:
            raise ValueError(f"bad case id {text!r}: expected operation/backend/variant/dtype/shape")
        for kind, name in zip(("operation", "backend", "variant", "dtype"), parts[:4], strict=True):
            if not NAME.fullmatch(name):
                raise ValueError(f"bad case id {text!r}: {kind} {name!r} must be lower case letters, digits and _")
        operation, backend, variant, dtype, shape = parts
        return cls(operation, backend, variant, dtype, Shape.parse(shape))
