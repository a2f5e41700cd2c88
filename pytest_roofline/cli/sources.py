"""What the command line names: run files, folders of them, and baselines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pytest_roofline.baselines import Baseline, BaselineError, Store
from pytest_roofline.baselines import read as read_baseline
from pytest_roofline.runs import RunFileError, RunRecord, read
from pytest_roofline.runs.accepting import baselines_of, run_of_baselines
from pytest_roofline.runs.files import FORMAT


def stored(path: Path) -> list[Baseline]:
    """Results to compare with: a run file, a folder of run files, a file of baselines, or their folder of one device.

    Raises :class:`RunFileError` or :class:`BaselineError` for anything else, and for a damaged file.
    """
    if path.is_dir():
        return _folder(path)
    if _is_baseline(path):
        return [read_baseline(path)]
    return _baselines_of(read(path))


def newer(path: Path) -> RunRecord:
    """The results that are compared: a run file, or stored baselines as a run."""
    if path.is_dir() or _is_baseline(path):
        try:
            return run_of_baselines(stored(path), str(path))
        except ValueError as error:
            raise BaselineError(f"{path}: {error}") from error
    return read(path)


def run_files(paths: Sequence[Path]) -> list[Path]:
    """The files that are named, and the ``.json`` files of the folders that are. Raises :class:`RunFileError`."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise RunFileError(f"there is no {path}")
        found += sorted(path.glob("*.json")) if path.is_dir() else [path]
    return found


def _folder(path: Path) -> list[Baseline]:
    files = sorted(path.glob("*.json"))
    if not files:
        below = Store(path).devices()
        hint = f"; it has folders of {', '.join(below)}: name one of them" if below else ""
        raise BaselineError(f"there are neither baselines nor run files in {path}{hint}")
    if any(_is_baseline(file) for file in files):  # then the others are damaged, or do not belong there
        return [read_baseline(file) for file in files]
    merged: dict[tuple[str, str], Baseline] = {}
    for file in files:
        for baseline in _baselines_of(read(file)):
            known = merged.setdefault((baseline.device, baseline.operation), baseline)
            if known is not baseline:
                _merge(known, baseline)
    return list(merged.values())


def _merge(into: Baseline, other: Baseline) -> None:
    into.campaigns.update(other.campaigns)
    for case, runs in other.measured.items():
        into.measured.setdefault(case, {}).update(runs)
    if other.counted is not None:
        if into.counted is None:
            into.counted = other.counted
        else:
            into.counted.update(other.counted)


def _baselines_of(run: RunRecord) -> list[Baseline]:
    try:
        return baselines_of(run)
    except ValueError as error:
        raise RunFileError(f"run {run.id}: {error}") from error


def _is_baseline(path: Path) -> bool:
    """A file of baselines has campaigns; whether all of it is right is for its reader to say."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and data.get("format") != FORMAT and "campaigns" in data
