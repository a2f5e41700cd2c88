"""Read a file of baselines and believe nothing in it: structure, types, units and where it belongs."""

from __future__ import annotations

import json
import types
from collections.abc import Container, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

from pytest_roofline.baselines import counted
from pytest_roofline.baselines.content import SCHEMA, Baseline, BaselineError, Noise, Published, Run, device_key
from pytest_roofline.devices.record import keys
from pytest_roofline.evidence import Environment, field_types, from_plain
from pytest_roofline.ids import CaseId

T = TypeVar("T")

BLOCKS = ("schema", "device", "operation", "campaigns", "measured", "published")
OPTIONAL = ("counted", "noise")
RESTORE = "restore it from version control"
REPAIR = f"{RESTORE}, or delete this entry"
REFUSED = "a baseline of another device is refused"


def read(path: Path) -> Baseline:
    """Read and verify one file. Raises :class:`BaselineError` naming the file, what is wrong where, and what to do."""
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}: {error.msg}" if text.strip() else "it is empty"
        raise BaselineError(f"{path} is no baseline: {problem}; {RESTORE}") from error
    except (OSError, RecursionError, ValueError) as error:
        raise BaselineError(f"{path} is no baseline: {error}; {RESTORE}") from error
    try:
        return _verified(data, path.parent.name, path.stem)
    except ValueError as error:
        raise BaselineError(f"{path} is no baseline: {error}") from error


def _verified(data: Any, device: str, operation: str) -> Baseline:
    data = _mapping(data, "the whole file")
    if data.get("schema") != SCHEMA:
        raise ValueError(
            f"schema {data.get('schema')!r} is not {SCHEMA}; it was written by another version of pytest-roofline: "
            "use that one, or delete the file and take it again with --roofline-update"
        )
    _blocks(data)
    if (data["device"], data["operation"]) != (device, operation):
        raise ValueError(f"it says {data['operation']} on {data['device']}: {REFUSED}; move it to where it belongs")
    baseline = Baseline(device, operation)
    for name, environment in _mapping(data["campaigns"], "campaigns").items():
        baseline.campaigns[name] = _environment(environment, device, name)
    for case, runs in _mapping(data["measured"], "measured").items():
        _check_id(case, operation)
        found = {name: _run(run, case, name, baseline.campaigns) for name, run in _mapping(runs, case).items()}
        baseline.measured[case] = found
    for case, figures in _mapping(data["published"], "published").items():
        _check_id(case, operation)
        if not isinstance(figures, list):
            raise ValueError(f"{case}: published figures are a list; {REPAIR}")
        baseline.published[case] = [_figure(figure, case, device) for figure in figures]
    if "counted" in data:
        baseline.counted = _counted(data["counted"], operation, device)
    for case, found in _mapping(data.get("noise", {}), "noise").items():
        _check_id(case, operation)
        baseline.noise[case] = {name: _noise(n, case, name, baseline) for name, n in _mapping(found, case).items()}
    return baseline


def _blocks(data: Mapping[str, Any]) -> None:
    for block in BLOCKS:
        if block not in data:
            raise ValueError(f"the block {block!r} is missing; {RESTORE}")
    for block in data:
        if block not in BLOCKS + OPTIONAL:
            raise ValueError(f"{block!r} is no block of a baseline ({', '.join(BLOCKS + OPTIONAL)}); remove it")


def _environment(data: Any, device: str, name: str) -> Environment:
    environment = _restored(Environment, data, f"campaign {name}")
    measured_on = device_key(environment)
    if measured_on != device:
        raise ValueError(
            f"campaign {name} was measured on {environment.device} ({measured_on}), not on {device}: "
            f"{REFUSED}; move it to where it belongs"
        )
    return environment


def _run(data: Any, case: str, name: str, campaigns: Container[str]) -> Run:
    place = f"{case} in {name}"
    run = _restored(Run, data, place)
    if name not in campaigns:
        raise ValueError(f"{case} refers to the campaign {name}, which the file does not describe; {REPAIR}")
    for what in ("launches", "copies", "kernel", "host", "launch_floor", "clock_mhz"):
        value = getattr(run, what)
        if value is not None and value <= 0:
            raise ValueError(f"{place}: {what} must be positive, not {value}; {REPAIR}")
    try:
        run.summary  # noqa: B018  (verifies the statistics)
    except ValueError as error:
        raise ValueError(f"{place}: {error}; {REPAIR}") from error
    return run


def _noise(data: Any, case: str, name: str, baseline: Baseline) -> Noise:
    place = f"noise of {case} in {name}"
    noise = _restored(Noise, data, place)
    if name not in baseline.campaigns:
        raise ValueError(f"{place}: the file does not describe that campaign; {REPAIR}")
    if noise.seconds <= 0 or not noise.differences:
        raise ValueError(f"{place}: it needs a positive time and a difference; {REPAIR}")
    return noise


def _figure(data: Any, case: str, device: str) -> Published:
    figure = _restored(Published, data, case)
    if figure.device not in keys():
        raise ValueError(f"{case}: {figure.device!r} is no device record; published figures need an exact card")
    if figure.device != device and not figure.device.startswith(f"{device}_"):
        raise ValueError(f"{case}: a figure of {figure.device} does not belong to {device}: {REFUSED}")
    if not figure.source:
        raise ValueError(f"{case}: a published figure needs a source")
    if figure.value <= 0 or (figure.seconds is not None and figure.seconds <= 0):
        raise ValueError(f"{case}: a published figure needs a positive value and time; compare it with {figure.source}")
    return figure


def _counted(data: Any, operation: str, device: str) -> counted.Counted:
    try:
        block = counted.read(data, device)
    except ValueError as error:
        raise ValueError(f"{error}; {RESTORE}, or take it again with --roofline-update") from error
    for case in block.cases:
        _check_id(case, operation)
    return block


def _check_id(case: str, operation: str) -> None:
    try:
        parsed = CaseId.parse(case)
    except ValueError as error:
        raise ValueError(f"{error}; correct or delete it") from error
    if parsed.operation != operation:
        raise ValueError(f"{case} belongs into another file: {parsed.operation}.json")


def _restored(cls: type[T], data: Any, place: str) -> T:
    """A dataclass from JSON with every field of its declared type, numbers finite."""
    data = _mapping(data, place)
    for field in fields(cls) if is_dataclass(cls) else ():
        if field.name not in data and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{place}: {field.name} is missing; {REPAIR}")
    try:
        value = from_plain(cls, data)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{place}: {error}; {REPAIR}") from error
    for name, hint in field_types(cls).items():
        if not _conforms(getattr(value, name), hint):
            raise ValueError(f"{place}: {name} cannot be {data[name]!r}; {REPAIR}")
    return value


def _conforms(value: Any, hint: Any) -> bool:
    """Whether a value is of the hinted type, down to its elements; no number may be NaN or infinite."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_conforms(value, argument) for argument in arguments)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        inner = arguments[:1] * len(value) if Ellipsis in arguments else arguments
        return len(value) == len(inner) and all(map(_conforms, value, inner))
    if origin is not None:  # the only other generic in these classes is Mapping[str, str]
        return isinstance(value, Mapping) and all(_conforms(v, arguments[1]) for v in value.values())
    if hint in (int, float):
        number = isinstance(value, int if hint is int else int | float) and not isinstance(value, bool)
        return number and -1e300 < value < 1e300
    return isinstance(value, hint)


def _mapping(data: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"{place} must be a JSON object, not {type(data).__name__}; {REPAIR}")
    return data


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} stands in it twice")
    return seen
