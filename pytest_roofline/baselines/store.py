"""The folder of baselines: find, merge, write."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pytest_roofline import cache
from pytest_roofline.baselines import counted
from pytest_roofline.baselines.content import SCHEMA, Baseline, BaselineError, differences
from pytest_roofline.baselines.counted import Counted
from pytest_roofline.baselines.reading import read
from pytest_roofline.evidence import to_plain

T = TypeVar("T")


@dataclass(frozen=True)
class Store:
    """The folder of baselines. A file is read when asked for, and only written by :meth:`save`, :meth:`change` and
    :meth:`replace`."""

    root: Path

    def path(self, device: str, operation: str) -> Path:
        """Where a device's results of an operation are."""
        return self.root / device / f"{operation}.json"

    def devices(self) -> list[str]:
        """The devices that anything is stored for."""
        return sorted(p.name for p in self.root.iterdir() if any(p.glob("*.json"))) if self.root.is_dir() else []

    def operations(self, device: str) -> list[str]:
        """The operations that anything is stored for on a device."""
        return sorted(p.stem for p in (self.root / device).glob("*.json"))

    def load(self, device: str, operation: str) -> Baseline:
        """One file's content; empty if there is no file. Raises :class:`BaselineError`."""
        path = self.path(device, operation)
        return read(path) if path.exists() else Baseline(device, operation)

    def load_all(self, device: str) -> list[Baseline]:
        """Every file of a device. Raises :class:`BaselineError` for the first that cannot be used."""
        return [self.load(device, operation) for operation in self.operations(device)]

    def save(self, baseline: Baseline) -> Path:
        """Merge into the file and replace it atomically: other cases and campaigns in it are kept, but for those that
        it supersedes. Processes that save at the same time take turns.

        Raises :class:`BaselineError` for a file that cannot be used, and for a campaign whose name the file already has
        for another environment; either way the file stays as it is.
        """
        with cache.folder_locked(self.root / baseline.device):
            return self.replace(self._merged(baseline))

    def change(self, device: str, operation: str, edit: Callable[[Baseline], T]) -> T:
        """Let ``edit`` change what the file holds, and write it anew if that returns anything; nobody saves meanwhile.

        Raises :class:`BaselineError` for a file that cannot be used, and what ``edit`` raises.
        """
        with cache.folder_locked(self.root / device):
            baseline = self.load(device, operation)
            found = edit(baseline)
            if found:
                self.replace(baseline)
        return found

    def _merged(self, baseline: Baseline) -> Baseline:
        merged = self.load(baseline.device, baseline.operation)
        for name, environment in baseline.campaigns.items():
            changed = differences(merged.campaigns.get(name, environment), environment)
            if changed:
                raise BaselineError(
                    f"{self.path(baseline.device, baseline.operation)}: campaign {name} was measured in another "
                    f"environment ({'; '.join(changed)}); give this one another name"
                )
        merged.campaigns.update(baseline.campaigns)
        for case, names in baseline.superseded.items():
            for name in names:
                merged.measured.get(case, {}).pop(name, None)
        for case, runs in baseline.measured.items():
            merged.measured.setdefault(case, {}).update(runs)
        for case, noise in baseline.noise.items():
            merged.noise.setdefault(case, {}).update(noise)
        _forget_unused_campaigns(merged)
        merged.published.update(baseline.published)
        if baseline.counted is not None:
            merged.counted = merged.counted or Counted(baseline.counted.arch)
            merged.counted.update(baseline.counted)
        return merged

    def verify_writable(self, device: str = "") -> None:
        """See that files (of a device) can be written, before results depend on it. Raises ``OSError``."""
        place = self.root / device
        if place.exists():
            with cache.folder_locked(place), tempfile.TemporaryFile(dir=place):
                pass
        else:
            self.root.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.root).close()

    def replace(self, baseline: Baseline) -> Path:
        """Write the file anew with exactly this content; what a killed process left of it goes. For whoever holds the
        lock of its folder, as :meth:`save` and :meth:`change` do."""
        path = self.path(baseline.device, baseline.operation)
        cache.sweep(path)
        cache.write_atomically(path, render(baseline).encode())
        return path


def render(baseline: Baseline) -> str:
    """The file's text: keys sorted, one run per line, so that a diff shows what changed.

    Raises ``ValueError`` for NaN and infinity, which are not JSON.
    """
    lines = ["{", f' "schema": {SCHEMA},', f' "device": {json.dumps(baseline.device)},']
    lines.append(f' "operation": {json.dumps(baseline.operation)},')
    campaigns = [f"  {json.dumps(k)}: {_line(v)}" for k, v in sorted(baseline.campaigns.items())]
    lines.append(' "campaigns": {' + _block(campaigns) + "},")
    lines.append(' "measured": {' + _block(_by_campaign(baseline.measured)) + "},")
    figures = []
    for case, published in sorted(baseline.published.items()):
        inner = ",\n".join(f"   {_line(p)}" for p in published)
        figures.append(f"  {json.dumps(case)}: [\n{inner}]")
    lines.append(' "published": {' + _block(figures) + "}")
    if baseline.noise:
        lines[-1] += ","
        lines.append(' "noise": {' + _block(_by_campaign(baseline.noise)) + "}")
    if baseline.counted is not None:
        lines[-1] += ","
        lines += [' "counted": {', *counted.lines(baseline.counted), " }"]
    return "\n".join([*lines, "}"]) + "\n"


def _by_campaign(cases: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Case by case, a campaign is a line."""
    found = []
    for case, runs in sorted(cases.items()):
        inner = ",\n".join(f"   {json.dumps(k)}: {_line(v)}" for k, v in sorted(runs.items()))
        found.append(f"  {json.dumps(case)}: {{\n{inner}}}")
    return found


def _forget_unused_campaigns(baseline: Baseline) -> None:
    """Drop what nothing refers to any more."""
    used = {name for cases in (baseline.measured, baseline.noise) for runs in cases.values() for name in runs}
    baseline.campaigns = {name: found for name, found in baseline.campaigns.items() if name in used}
    baseline.measured = {case: runs for case, runs in baseline.measured.items() if runs}


def _line(value: Any) -> str:
    plain = to_plain(value)
    if plain.get("date") == "":
        del plain["date"]  # of runs from before dates were stored
    return json.dumps(plain, sort_keys=True, allow_nan=False)


def _block(lines: list[str]) -> str:
    return "\n" + ",\n".join(lines) if lines else ""
