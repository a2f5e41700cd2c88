"""The kernel of another version of the project that a case is compared with."""

from __future__ import annotations

import functools
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

    Raises :class:`NoOldKernel`, or what importing the old files raises.
    """
    from pytest_roofline.checking.check import load_launcher

    tree = _tree(root)
    if not tree.holds(module.partition(".")[0]):  # an import would find the new one and compare it with itself
        raise NoOldKernel(f"the other version has no operation {case.operation.name}")
    try:
        found = load_operation(tree.renamed(module)).case(case.id)
    except ModuleNotFoundError as error:
        if error.name != tree.renamed(module):
            raise
        raise NoOldKernel(f"the other version has no operation {case.operation.name}") from error
    except ValueError as error:
        raise NoOldKernel(f"the other version has no such case: {error}") from error
    if found.kernel.rejection(found.shape, found.dtype) is not None:
        raise NoOldKernel("the other version's kernel rejects this shape")
    if _layout(found) != _layout(case):
        raise NoOldKernel("the other version's operation takes other arguments")
    name, _, function = found.kernel.launcher.partition(":")
    return found, load_launcher(f"{tree.renamed(name)}:{function}")


@functools.cache
def _tree(root: str) -> OldTree:
    """One tree per process: modules are loaded once."""
    return OldTree(Path(root)).install()


def _layout(case: Case) -> Sequence[object]:
    return [
        (a.name, a.role.value, a.extents(case.shape.dims), a.element(case.dtype).name, a.host, a.shifted, a.pitched)
        for a in case.operation.arguments
    ]
