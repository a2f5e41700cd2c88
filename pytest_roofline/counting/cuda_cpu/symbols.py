"""From places in a compiled module to source lines, through ``addr2line``."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from pytest_roofline.counting.cuda_cpu.build import HERE

Location = tuple[str, int]
_SYSTEM = ("/include/c++/", "/lib/gcc/", "/lib/clang/")  # inline functions of the library and the compiler


class Symboliser:
    """Source locations of one module; every place is looked up once."""

    def __init__(self, module: Path) -> None:
        self._module = module
        self._known: dict[int, Location] = {}

    def locate(self, places: Iterable[int]) -> dict[int, Location]:
        """File and line of each place (a return address relative to the module); ``("?", 0)`` where unknown."""
        wanted = sorted({p for p in places if p and p not in self._known})
        tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
        if wanted and tool:
            arguments = [tool, "-e", str(self._module), "-a", "-i", *(hex(p - 1) for p in wanted)]
            text = subprocess.run(arguments, capture_output=True, text=True, check=False).stdout
            self._known.update(zip(wanted, _parse(text), strict=False))
        return {p: self._known.get(p, ("?", 0)) for p in places}


def _parse(text: str) -> list[Location]:
    """For every address asked about, the innermost frame outside this package's and the compiler's headers."""
    locations: list[Location] = []
    found = True
    for line in text.splitlines():
        if line.startswith("0x"):
            locations.append(("?", 0))
            found = False
        elif not found and locations:
            file, _, number = line.split(" (")[0].rpartition(":")
            ours = file.startswith(("?", str(HERE))) or any(part in file for part in _SYSTEM)
            if file and not ours and number.isdigit():
                locations[-1] = (file, int(number))
                found = True
    return locations
