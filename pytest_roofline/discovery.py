"""Find operation files and load them, without a registry.

An operation file is any ``*.py`` (not starting with ``_``) in a directory named by the ini option
``roofline_operations``; it holds one ``OPERATION`` whose name is the file's stem. A file that cannot be loaded is not
skipped: it becomes a :class:`BrokenOperation`, which the plugin turns into failing tests.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_roofline.contract import Case, Kernel, Operation
from pytest_roofline.dtypes import DType
from pytest_roofline.ids import CaseId, Shape

COMPILED = ("cuda", "triton")
"""Backends that are compiled where they cannot run."""


@dataclass(frozen=True)
class LoadedOperation:
    """An operation and the import name under which another process finds it."""

    operation: Operation
    module: str
    path: Path


@dataclass(frozen=True)
class BrokenOperation:
    """An operation file that could not be loaded; ``error`` says why, with the traceback of the file itself."""

    name: str
    path: Path
    error: str


@dataclass(frozen=True)
class Drawn:
    """A kernel and dtype whose shapes hypothesis draws."""

    operation: Operation
    kernel: Kernel
    dtype: DType

    def __str__(self) -> str:
        return f"{self.operation.name}/{self.kernel.backend}/{self.kernel.variant}/{self.dtype}/drawn"


@dataclass(frozen=True)
class Catalogue:
    """Everything that was found below a project's root."""

    root: Path
    loaded: tuple[LoadedOperation, ...]
    broken: tuple[BrokenOperation, ...]

    def operation(self, name: str) -> LoadedOperation:
        """The operation of that name. Raises ``ValueError`` listing the known ones."""
        for entry in self.loaded:
            if entry.operation.name == name:
                return entry
        for failed in self.broken:
            if failed.name == name:
                raise ValueError(f"operation {name} could not be loaded from {failed.path}:\n{failed.error}")
        known = ", ".join(e.operation.name for e in self.loaded) or "none"
        raise ValueError(f"there is no operation {name}; known are {known}")

    def case(self, text: str) -> Case:
        """The case of an id. Raises ``ValueError`` that says which part is wrong."""
        case_id = CaseId.parse(text)
        return self.operation(case_id.operation).operation.case(case_id)

    def drawn(self) -> list[Drawn]:
        """Every kernel and dtype, for hypothesis. Library peers are checked on listed shapes only."""
        return [
            Drawn(e.operation, kernel, DType.parse(dtype))
            for e in self.loaded
            for kernel in e.operation.kernels
            if not kernel.peer
            for dtype in kernel.dtypes
        ]

    def counted(self, *, brief: bool = False) -> list[Case]:
        """The small cases that a CPU can run; ``brief``: of each kernel its first dtype on its largest plain shape."""
        cases = [case for e in self.loaded for case in e.operation.cases("counted")]
        return _one_of_each_kernel(cases) if brief else cases

    def timed(self, *, full: bool = False) -> list[Case]:
        """The cases that a GPU times."""
        return [case for e in self.loaded for case in e.operation.cases("timed", full=full)]

    def compiled(self, *, full: bool = False, brief: bool = False) -> list[Case]:
        """The timed cases of kernels of ours that are no counted ones: too large for a CPU, which compiles what they
        launch."""
        counted = {str(case) for case in self.counted()}
        ours = [c for c in self.timed(full=full) if c.kernel.backend in COMPILED and not c.kernel.peer]
        cases = [case for case in ours if str(case) not in counted]
        return _one_of_each_kernel(cases) if brief else cases


def _one_of_each_kernel(cases: Sequence[Case]) -> list[Case]:
    """The first of equally large shapes; one that is dense, aligned and not transposed, where there is any."""
    kept: dict[str, Case] = {}
    for case in cases:
        name = f"{case.operation.name}/{case.kernel.backend}/{case.kernel.variant}"
        best = kept.setdefault(name, case)
        if case.dtype == best.dtype and _plainness(case.shape) > _plainness(best.shape):
            kept[name] = case
    return list(kept.values())


def _plainness(shape: Shape) -> tuple[bool, int]:
    return shape == Shape(shape.dims), shape.size


def discover(root: Path, directories: Sequence[str]) -> Catalogue:
    """Load every operation file of ``directories`` (relative to ``root``, which goes onto ``sys.path``).

    Raises ``NotADirectoryError`` for a directory that does not exist.
    """
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    loaded: list[LoadedOperation] = []
    broken: list[BrokenOperation] = []
    for directory in directories:
        folder = root / directory
        if not folder.is_dir():
            raise NotADirectoryError(f"roofline_operations names {directory!r}, but {folder} is no directory")
        for path in sorted(folder.glob("*.py")):
            if path.name.startswith("_"):
                continue
            entry = _load(root, path)
            if isinstance(entry, LoadedOperation) and any(e.operation.name == entry.operation.name for e in loaded):
                other = next(e.path for e in loaded if e.operation.name == entry.operation.name)
                entry = BrokenOperation(path.stem, path, f"{other} already holds an operation {path.stem}")
            (loaded if isinstance(entry, LoadedOperation) else broken).append(entry)  # type: ignore[arg-type]
    return Catalogue(root, tuple(loaded), tuple(broken))


def load_operation(module: str) -> Operation:
    """Import an operation file by name. Raises what the file raises, ``TypeError`` if it holds no operation."""
    operation = getattr(importlib.import_module(module), "OPERATION", None)
    if not isinstance(operation, Operation):
        raise TypeError(f"{module} defines no OPERATION of type pytest_roofline.contract.Operation")
    return operation


def _load(root: Path, path: Path) -> LoadedOperation | BrokenOperation:
    try:
        module = ".".join(path.resolve().relative_to(root.resolve()).with_suffix("").parts)
        operation = load_operation(module)
        if operation.name != path.stem:
            raise ValueError(f"the file is called {path.name}, its operation {operation.name!r}: one name everywhere")
        for case in (*operation.cases("counted"), *operation.cases("timed", full=True)):
            str(case)  # the lists call functions of the file: what they raise is its failure, too
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever is wrong in the file is its failure, sys.exit and pytest.skip included
        return BrokenOperation(path.stem, path, _relevant_traceback(error))
    return LoadedOperation(operation, module, path)


def _relevant_traceback(error: BaseException) -> str:
    """The traceback without this module's and importlib's frames."""
    frames = traceback.extract_tb(error.__traceback__)
    kept = [f for f in frames if f.filename != __file__ and "importlib" not in f.filename]
    lines = traceback.format_list(kept) + traceback.format_exception_only(type(error), error)
    return "".join(lines).rstrip()
