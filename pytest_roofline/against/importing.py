"""Import modules of another tree under names of their own, so that old and new kernels live in one process.

``kernels.copy`` of the old tree becomes ``_roofline_old.kernels.copy``. Relative imports stay within the old tree by
themselves. Absolute ones (``from kernels._helpers import ...``, also inside functions that run later) are redirected:
each old module has an ``__import__`` of its own among its builtins, which is where an import statement looks it up. So
old code never loads a new helper, and nothing has to be swapped while it runs. Only a name that is put together at run
time (``importlib.import_module("kernels." + x)``) escapes.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

PREFIX = "_roofline_old"
_HARNESS = "pytest_roofline"  # both versions run under the one harness that compares them


class OldTree:
    """The modules below ``root``, importable as ``{prefix}.<name>`` once :meth:`install` was called."""

    def __init__(self, root: Path, prefix: str = PREFIX) -> None:
        self.root = root.resolve()
        self.prefix = prefix
        self._known: dict[str, bool] = {}

    def install(self) -> OldTree:
        """Make the tree importable; a tree of the same prefix is replaced, with every module that came from it."""
        for finder in [f for f in sys.meta_path if isinstance(f, _Finder) and f.tree.prefix == self.prefix]:
            sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n == self.prefix or n.startswith(f"{self.prefix}.")]:
            del sys.modules[name]
        package = ModuleType(self.prefix)
        package.__path__ = [str(self.root)]
        sys.modules[self.prefix] = package
        sys.meta_path.insert(0, _Finder(self))
        return self

    def load(self, name: str) -> ModuleType:
        """The old module called ``name``. Raises what its import raises."""
        return importlib.import_module(f"{self.prefix}.{name}")

    def renamed(self, name: str) -> str:
        """Under which name an import finds ``name``: the old tree's own, or the same where it does not come from it."""
        return f"{self.prefix}.{name}" if self.holds(name.partition(".")[0]) else name

    def holds(self, top: str) -> bool:
        """Whether a top-level name means a module of this tree. A folder without ``__init__.py`` does unless a real
        package of that name is installed."""
        if top not in self._known:
            self._known[top] = self._holds(top)
        return self._known[top]

    def _holds(self, top: str) -> bool:
        if top == _HARNESS or top in sys.stdlib_module_names:
            return False
        found = PathFinder.find_spec(top, [str(self.root)])
        if found is None or (found.loader is not None and found.origin is not None):
            return found is not None
        try:
            elsewhere = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            elsewhere = None
        return elsewhere is None or elsewhere.origin is None


class _Finder:
    """Finds what lies below the prefix, and makes its imports stay there."""

    def __init__(self, tree: OldTree) -> None:
        self.tree = tree
        self._builtins = dict(vars(builtins), __import__=self._import)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(f"{self.tree.prefix}."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path, self._builtins)
        return spec

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if level or not self.tree.holds(name.partition(".")[0]):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        renamed = f"{self.tree.prefix}.{name}"
        if fromlist:
            return builtins.__import__(renamed, globals, locals, fromlist, 0)
        importlib.import_module(renamed)
        return sys.modules[f"{self.tree.prefix}.{name.partition('.')[0]}"]


class _Loader(SourceFileLoader):
    """Runs a module with builtins of its own; leaves no bytecode in a tree that is not ours."""

    def __init__(self, name: str, path: str, own: Mapping[str, Any]) -> None:
        super().__init__(name, path)
        self._own = own

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = self._own
        super().exec_module(module)

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        return None
