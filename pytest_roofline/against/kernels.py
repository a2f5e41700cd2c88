"""The kernel of another version of the project that a case is compared with."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_roofline.against.importing import OldTree
from pytest_roofline.discovery import load_operation

if TYPE_CHECKING:
    from pytest_roofline.contract import Case


class NoOldKernel(LookupError):  # noqa: N818  (what the other version lacks, not a mistake)
    """The other version has no such case, or one that takes other arguments."""


def old_kernel(case: Case, module: str, root: str) -> tuple[Case, Callable[..., None]]:
    """The case of the same id in the tree ``root``, where its operation's module has the same name, and its launcher.

    Raises :class:`NoOldKernel`, or what importing the old files raises: ``ImportError`` for what the other version
    lacks, and for a launcher that turns out to be the working tree's.
    """
    from pytest_roofline.checking.check import load_launcher

    tree, name = _tree(root, _project(module)), case.operation.name
    if not tree.holds(module.partition(".")[0]):  # an import would find the new one and compare it with itself
        raise NoOldKernel(f"the other version has no operation {name}")
    try:
        found = load_operation(tree.renamed(module)).case(case.id)
    except ModuleNotFoundError as error:
        if not f"{tree.renamed(module)}.".startswith(f"{error.name}."):
            raise _missing(error, tree) from error
        raise NoOldKernel(f"the other version has no operation {name}") from error
    except ValueError as error:
        raise NoOldKernel(f"the other version has no such case: {error}") from error
    if found.kernel.rejection(found.shape, found.dtype) is not None:
        raise NoOldKernel("the other version's kernel rejects this shape")
    if _layout(found) != _layout(case):
        raise NoOldKernel("the other version's operation takes other arguments")
    place, _, function = found.kernel.launcher.partition(":")
    try:
        launcher = load_launcher(f"{tree.renamed(place)}:{function}")
    except ImportError as error:
        raise _missing(error, tree) from error
    _refuse_new(launcher, found.kernel.launcher, tree)
    return found, launcher


def _project(module: str) -> Path | None:
    """The root of the working tree: where the import name of an operation's file begins."""
    file = importlib.import_module(module).__file__
    return Path(file).resolve().parents[module.count(".")] if file else None


def _missing(error: ImportError, tree: OldTree) -> ImportError:
    """The same with the names that the old files use."""
    told = str(error).replace(f"{tree.prefix}.", "")
    return error if told == str(error) else ImportError(f"{told} in the other version")


def _refuse_new(launcher: Callable[..., None], reference: str, tree: OldTree) -> None:
    """Whatever way it got here: a new kernel beside itself is as fast as itself."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(launcher))
    except TypeError:  # of an instance, or of what is built in
        file = inspect.getsourcefile(type(launcher)) if type(launcher).__module__ in sys.modules else None
    if file is not None and tree.is_new(file):
        raise ImportError(f"the other version's launcher {reference} comes from the working tree: {file}")


@functools.cache
def _tree(root: str, beside: Path | None) -> OldTree:
    """One tree per process: modules are loaded once."""
    return OldTree(Path(root), beside=beside).install()


def _layout(case: Case) -> Sequence[object]:
    return [
        (a.name, a.role.value, a.extents(case.shape.dims), a.element(case.dtype).name, a.host, a.shifted, a.pitched)
        for a in case.operation.arguments
    ]
