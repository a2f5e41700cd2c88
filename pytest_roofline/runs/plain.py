"""Dataclasses from JSON, believing nothing: every field of its declared type down to the innermost, numbers finite."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

_LARGEST = 1e300


def read(cls: type[T], data: Any, place: str) -> T:
    """An instance of ``cls`` from JSON values. Raises ``ValueError`` that names the place and what is wrong there.

    Fields that a newer version added are ignored, so that an older one still reads its files.
    """
    value: T = _dataclass(cls, data, place)
    return value


def _dataclass(cls: Any, data: Any, place: str) -> Any:
    if not isinstance(data, Mapping):
        raise ValueError(f"{place} must be an object, not {_named(data)}")
    values = {}
    for name, hint, needed in _fields(cls):
        if name in data:
            values[name] = _value(hint, data[name], f"{place}.{name}")
        elif needed:
            raise ValueError(f"{place}.{name} is missing")
    return cls(**values)


@functools.cache
def _fields(cls: Any) -> tuple[tuple[str, Any, bool], ...]:
    """Name and type of every field, and whether it has no default. Resolving the types takes longer than the rest."""
    hints = get_type_hints(cls)
    return tuple(
        (item.name, hints[item.name], item.default is MISSING and item.default_factory is MISSING)
        for item in fields(cls)
    )


def _value(hint: Any, data: Any, place: str) -> Any:
    if hint is Any:
        return data
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if data is None:
            return None
        return _value(next(a for a in arguments if a is not type(None)), data, place)
    if origin is tuple:
        return _tuple(arguments, data, place)
    if origin is not None:  # the only other generic is Mapping
        if not isinstance(data, Mapping):
            raise ValueError(f"{place} must be an object, not {_named(data)}")
        return {str(k): _value(arguments[1], v, f"{place}[{str(k)!r}]") for k, v in data.items()}
    if is_dataclass(hint):
        return _dataclass(hint, data, place)
    return _scalar(hint, data, place)


def _tuple(arguments: tuple[Any, ...], data: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(data, list | tuple):
        raise ValueError(f"{place} must be a list, not {_named(data)}")
    inner = arguments[:1] * len(data) if Ellipsis in arguments else arguments
    if len(inner) != len(data):
        raise ValueError(f"{place} must have {len(inner)} elements, not {len(data)}")
    return tuple(_value(hint, item, f"{place}[{i}]") for i, (hint, item) in enumerate(zip(inner, data, strict=True)))


def _scalar(hint: Any, data: Any, place: str) -> Any:
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        try:
            return hint(data)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    if hint in (int, float):
        good = isinstance(data, int if hint is int else int | float) and not isinstance(data, bool)
        if not good or not -_LARGEST < data < _LARGEST:
            raise ValueError(f"{place} must be a finite {'integer' if hint is int else 'number'}, not {_named(data)}")
        return data if hint is int else float(data)
    if not isinstance(data, hint):
        raise ValueError(f"{place} must be {'text' if hint is str else hint.__name__}, not {_named(data)}")
    return data


def _named(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 60 else f"{text[:57]}..."
