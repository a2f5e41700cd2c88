"""Import modules of another tree under names of their own, so that old and new kernels live in one process.

``kernels.copy`` of the old tree becomes ``_roofline_old.kernels.copy``. Relative imports stay within the old tree by
themselves. Absolute ones (``from kernels._helpers import ...``, also inside functions that run later) are redirected:
each old module has an ``__import__`` of its own among its builtins, which is where an import statement looks it up. So
old code never loads a new helper, and nothing has to be swapped while it runs. What the working tree finds below a
folder of its own (``src`` through ``pythonpath``, ``PYTHONPATH`` or an editable install) is looked for in the same
folder of the old tree, and nowhere else. Only a name that is put together at run time
(``importlib.import_module("kernels." + x)``) escapes.
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
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_HARNESS = "pytest_roofline"  # both versions run under the one harness that compares them


class OldTree:
    """The modules of the tree ``root``, importable as ``{prefix}.<name>`` once :meth:`install` was called.

    ``beside`` is the root of the working tree, whose modules must never stand for missing ones of this tree.
    """

    def __init__(self, root: Path, prefix: str = PREFIX, beside: Path | None = None) -> None:
        self.root = root.resolve()
        self.prefix = prefix
        self._beside = beside.resolve() if beside is not None else None
        self._known: dict[str, bool] = {}

    def install(self) -> OldTree:
        """Make the tree importable; a tree of the same prefix is replaced, with every module that came from it."""
        for finder in [f for f in sys.meta_path if isinstance(f, _Finder) and f.tree.prefix == self.prefix]:
            sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n == self.prefix or n.startswith(f"{self.prefix}.")]:
            del sys.modules[name]
        package = ModuleType(self.prefix)
        package.__path__ = self._folders()
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
        elsewhere = _spec(top)
        new = self._new(elsewhere)
        if new is not None:
            self._look_in(new)
            return True  # there or missing: it must not be the new one
        found = PathFinder.find_spec(top, self._folders())
        if found is None or (found.loader is not None and found.origin is not None):
            return found is not None
        return elsewhere is None or elsewhere.origin is None

    def is_new(self, path: str | Path) -> bool:
        """Whether a file is one of the working tree, and neither of this tree nor an installed one."""
        return self.root != self._beside and self._carries(path)

    def _carries(self, path: str | Path) -> bool:
        """The same, also where the working tree is compared with itself."""
        place = Path(path).resolve()
        if self._beside is None or not place.is_relative_to(self._beside):
            return False
        if self.root != self._beside and place.is_relative_to(self.root):
            return False
        prefixes = [Path(prefix).resolve() for prefix in (sys.prefix, sys.exec_prefix) if prefix]
        here = [prefix for prefix in prefixes if prefix.is_relative_to(self._beside)]  # an environment in the project
        installed = _INSTALLED.intersection(place.relative_to(self._beside).parts)
        return not installed and not any(place.is_relative_to(prefix) for prefix in here)

    def _folders(self) -> list[str]:
        """Where top-level names of this tree are looked for: where the working tree's are, carried over."""
        carried = [self._carried(Path(entry)) for entry in sys.path if self._carries(entry)]
        return [str(folder) for folder in dict.fromkeys([*carried, self.root])]

    def _carried(self, folder: Path) -> Path:
        """The folder of this tree in the place of one of the working tree."""
        assert self._beside is not None
        return self.root / folder.resolve().relative_to(self._beside)

    def _new(self, spec: ModuleSpec | None) -> Path | None:
        """The folder of the working tree in which it has a module, if it does."""
        if spec is None:
            return None
        places = list(spec.submodule_search_locations or ()) or [spec.origin or ""] * spec.has_location
        files = [Path(place).parent for place in places if self._carries(place)]
        return files[0] if files else None

    def _look_in(self, new: Path) -> None:
        """An editable install may find modules without an entry of ``sys.path``."""
        path, folder = sys.modules[self.prefix].__path__, str(self._carried(new))
        if folder not in path:
            path.append(folder)


def _spec(top: str) -> ModuleSpec | None:
    """How an import finds a module of this process."""
    try:
        return importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None


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
