"""The ``counted`` block of a baseline: exact figures of an architecture, taken without a GPU. Read and written here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_roofline.capability import CAPABILITY, runs_on
from pytest_roofline.counting import counts
from pytest_roofline.counting.compiled import resources
from pytest_roofline.counting.compiled.occupancy import CAPABILITIES
from pytest_roofline.counting.compiled.resources import Resources
from pytest_roofline.counting.counts import CaseCounts

ARCHITECTURES = {"a100": "sm_80", "h200": "sm_90a"}
"""Which architecture is counted for which folder of baselines."""
RECORDS = {"a100": "a100_sxm4_80gb", "h200": "h200"}
"""Whose datasheet bounds what is counted for a folder; all A100 have the same SM."""
DEVICE = "a100"
"""The folder that is counted for unless another is asked for."""


def counted_for(capability: str, wanted: str = DEVICE) -> tuple[str, str]:
    """Folder and architecture that a kernel is counted for which needs ``capability`` (empty: nothing special):
    ``wanted``, or the first that can run it.

    Raises ``ValueError`` where no folder is of such an architecture.
    """
    for folder in (wanted, *ARCHITECTURES):
        arch = ARCHITECTURES[folder]
        match = CAPABILITY.fullmatch(arch)
        assert match is not None
        if not capability or runs_on(capability, (int(match["major"]), int(match["minor"]))):
            return folder, arch
    raise ValueError(f"no folder of baselines is counted for {capability}; there are {ARCHITECTURES}")


@dataclass(frozen=True)
class CountedCase:
    """Counts of one case from its source, the keys of the kernels it launches and the operations it asks of torch."""

    counts: CaseCounts
    kernels: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


@dataclass
class Counted:
    """Counts by case id, and compiled kernels by compiler (its version included) and key."""

    arch: str
    cases: dict[str, CountedCase] = field(default_factory=dict)
    compiled: dict[str, dict[str, Resources]] = field(default_factory=dict)

    def update(self, other: Counted) -> None:
        """Take over everything that ``other`` has; figures of other cases, kernels and compilers stay."""
        self.cases.update(other.cases)
        for compiler, kernels in other.compiled.items():
            self.compiled.setdefault(compiler, {}).update(kernels)
        self.drop_unused()

    def drop_unused(self) -> None:
        """Forget kernels that no case launches any more."""
        used = {key for case in self.cases.values() for key in case.kernels}
        self.compiled = {
            compiler: kept
            for compiler, kernels in self.compiled.items()
            if (kept := {key: found for key, found in kernels.items() if key in used})
        }


def lines(block: Counted) -> list[str]:
    """The block as the lines of its JSON object: a case or a kernel is a line."""
    cases = [f"   {_json(case)}: {_json(_case(found))}" for case, found in sorted(block.cases.items())]
    compilers = []
    for compiler, kernels in sorted(block.compiled.items()):
        inner = [f"    {_json(key)}: {_json(resources.to_plain(found))}" for key, found in sorted(kernels.items())]
        compilers.append(f"   {_json(compiler)}: {{\n" + ",\n".join(inner) + "}")
    return [
        f'  "arch": {_json(block.arch)},',
        '  "cases": {' + _joined(cases) + "},",
        '  "compiled": {' + _joined(compilers) + "}",
    ]


def read(data: Any, device: str) -> Counted:
    """The block of a file in the folder ``device``. Raises ``ValueError`` saying what is wrong where."""
    block = _mapping(data, "counted")
    arch = ARCHITECTURES.get(device)
    if block.get("arch") != arch or arch not in CAPABILITIES:
        raise ValueError(f"counted: {block.get('arch')!r} is not the architecture of {device} ({arch})")
    found = Counted(arch)
    for case, entry in _mapping(block.get("cases"), "counted cases").items():
        entry = _mapping(entry, case)
        try:
            kernels, calls = (tuple(map(str, entry[name])) for name in ("kernels", "calls"))
            found.cases[case] = CountedCase(counts.from_plain(entry), kernels, calls)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{case}: {error}") from error
    for compiler, entries in _mapping(block.get("compiled"), "compiled kernels").items():
        for key, entry in _mapping(entries, compiler).items():
            try:
                plain = resources.from_plain(_mapping(entry, key), arch, compiler)
            except ValueError as error:
                raise ValueError(f"{key} of {compiler}: {error}") from error
            found.compiled.setdefault(compiler, {})[key] = plain
    return found


def _case(found: CountedCase) -> dict[str, Any]:
    return {**counts.to_plain(found.counts, places=False), "kernels": list(found.kernels), "calls": list(found.calls)}


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


def _joined(entries: list[str]) -> str:
    return "\n" + ",\n".join(entries) if entries else ""


def _mapping(data: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"{place} must be a JSON object, not {type(data).__name__}")
    return data
