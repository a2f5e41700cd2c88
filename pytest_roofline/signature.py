"""Read the ``__global__`` functions of a ``.cu`` file: names, template parameters and C types of their parameters.

A launch passes untyped bytes to the GPU, and a Python ``int`` or ``float`` does not say which C type it stands for. The
signature in the source does, so it is parsed and every argument is held against it. This is no C++ parser: it knows
element pointers and scalars, templates and ``extern "C"``, and says so where a kernel uses more. Pure: no torch here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class CType:
    """A C element type: how torch calls it (``None``: torch has none) and how NumPy passes it by value."""

    torch_name: str
    numpy_name: str | None


_C_TYPES = {
    "bool": CType("bool", "bool"),
    "signed char": CType("int8", "int8"),
    "unsigned char": CType("uint8", "uint8"),
    "short": CType("int16", "int16"),
    "int": CType("int32", "int32"),
    "unsigned int": CType("uint32", "uint32"),
    "long long": CType("int64", "int64"),
    "unsigned long long": CType("uint64", "uint64"),
    "__half": CType("float16", "float16"),
    "__nv_bfloat16": CType("bfloat16", None),
    "float": CType("float32", "float32"),
    "double": CType("float64", "float64"),
}
_SPELLINGS = {
    "unsigned": "unsigned int",
    "half": "__half",
    "nv_bfloat16": "__nv_bfloat16",
    "long long int": "long long",
    "unsigned long long int": "unsigned long long",
    "size_t": "unsigned long long",  # true of every 64-bit CUDA host
}

TENSOR_MAP = "TensorMap"
"""What a kernel calls its 128 bytes of a CUtensorMap, whose own name NVRTC does not know."""

_NUMBERS: dict[str, tuple[type, ...]] = {
    "b": (bool, np.bool_),
    "i": (int, np.integer),
    "u": (int, np.integer),
    "f": (int, float, np.integer, np.floating),
}

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KERNEL = re.compile(
    r"(?:template\s*<(?P<template>[^<>]*)>\s*)?"
    r'(?:extern\s+"C"\s+)?__global__\s+'
    r"(?:__(?:launch_bounds|cluster_dims)__\s*\([^()]*\)\s*)*void\s+"
    r"(?:__(?:launch_bounds|cluster_dims)__\s*\([^()]*\)\s*)*"
    r"(?P<name>\w+)\s*\((?P<parameters>(?:[^()]|\([^()]*\))*)\)"
)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+((?:[^\n\\]|\\.|\\\n)+)", re.MULTILINE)  # no function
_DEEPEST_MACRO = 3  # macros within macros
_NAME = re.compile(r"(\w+)\s*(?:\[[^\[\]]*\]\s*)*$")
_QUALIFIER = re.compile(r"\b(?:const|volatile|__restrict__|__grid_constant__)\b")
_DECLARATION = re.compile(r"(?P<type>[\w ]+?)\s*(?P<pointer>\**)\s*\b(?P<name>\w+)")
_NAME_EXPRESSION = re.compile(r"(?P<name>\w+)\s*(?:<(?P<arguments>.*)>)?")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel: ``type`` is the spelling of its (element) type without qualifiers."""

    name: str
    type: str
    pointer: bool

    def __str__(self) -> str:
        return f"{self.type}{'*' if self.pointer else ''} {self.name}"

    @property
    def tensor_map(self) -> bool:
        """Whether it is a tensor map by value, which :func:`pytest_roofline.tensor_map.tensor_map` makes."""
        return self.type == TENSOR_MAP and not self.pointer

    @property
    def c_type(self) -> CType:
        """What its type is to torch and NumPy. Raises ``TypeError`` for a type that no argument can have."""
        try:
            return _C_TYPES[_SPELLINGS.get(self.type, self.type)]
        except KeyError:
            raise TypeError(
                f"parameter {self}: arguments of this type cannot be passed; known are {', '.join(_C_TYPES)}"
            ) from None


@dataclass(frozen=True)
class Signature:
    """A kernel's parameters; ``template`` names its template parameters, which their types may mention."""

    name: str
    parameters: tuple[Parameter, ...]
    template: tuple[str, ...] = ()

    def instantiate(self, arguments: tuple[str, ...]) -> Signature:
        """The signature of ``name<arguments>``. Raises ``ValueError`` when there are more than template parameters.

        Fewer are left to the compiler, which knows their defaults.
        """
        if len(arguments) > len(self.template):
            expected = ", ".join(self.template) or "none"
            raise ValueError(f"{self.name} has the template parameters {expected}, got {', '.join(arguments)}")
        meaning = dict(zip(self.template, map(_spelling, arguments), strict=False))
        return Signature(self.name, tuple(replace(p, type=meaning.get(p.type, p.type)) for p in self.parameters))


def parse(source: str) -> dict[str, Signature]:
    """Every kernel of a source text by name. Raises ``ValueError`` for a parameter that is no scalar or pointer."""
    return {name: _signature(match) for name, match in _kernels(source).items()}


def find(source: str, expression: str) -> Signature:
    """The signature of ``name`` or ``name<arguments>``.

    Raises ``ValueError`` listing the kernels of the source, or for a parameter of this kernel as :func:`parse`.
    """
    match, kernel = _find(source, expression)
    return _signature(kernel).instantiate(tuple(_split(match["arguments"] or "")))


def parameter_names(source: str, expression: str) -> list[str]:
    """The names of a kernel's parameters, whatever their types; raises ``ValueError`` for an unknown kernel.

    A parameter without a name, or one whose name is not where it usually is, gives an empty string.
    """
    parts = _split(_find(source, expression)[1]["parameters"])
    names = [_NAME.search(part.split("=")[0].strip()) for part in parts]
    return [name[1] if name else "" for name in names]


def _kernels(source: str) -> dict[str, re.Match[str]]:
    """The declarations of a source text, macros in their parameters replaced by what they stand for."""
    text = _COMMENT.sub(" ", source)
    macros = {name: " ".join(body.replace("\\\n", " ").split()) for name, body in _MACRO.findall(text)}
    found = {match["name"]: match for match in _KERNEL.finditer(text)}
    for name, match in found.items():
        expanded = match["parameters"]
        for _ in range(_DEEPEST_MACRO):
            expanded = re.sub(r"\w+", lambda word: macros.get(word[0], word[0]), expanded)
        if expanded != match["parameters"] and (again := _KERNEL.match(_with_parameters(match, expanded))):
            found[name] = again
    return found


def _with_parameters(match: re.Match[str], parameters: str) -> str:
    """The text of a declaration with other parameters."""
    start = match.start("parameters") - match.start()
    return match[0][:start] + parameters + match[0][start + len(match["parameters"]) :]


def _find(source: str, expression: str) -> tuple[re.Match[str], re.Match[str]]:
    match = _NAME_EXPRESSION.fullmatch(expression.strip())
    kernels = _kernels(source)
    if match is None or match["name"] not in kernels:
        raise ValueError(f"no kernel {expression!r}; there are {', '.join(sorted(kernels)) or 'none'}")
    return match, kernels[match["name"]]


def scalar(parameter: Parameter, value: Any) -> np.generic:
    """``value`` (Python or NumPy number) as exactly the C type of a by-value parameter.

    Raises ``TypeError`` for a value of another kind (a float for an int, a bool for either) and ``OverflowError`` for
    one that the type cannot hold.
    """
    numpy_name = parameter.c_type.numpy_name
    if numpy_name is None:
        raise TypeError(f"parameter {parameter}: NumPy has no such number; pass float and convert in the kernel")
    kind = np.dtype(numpy_name)
    truth = isinstance(value, bool | np.bool_)
    if truth != (kind.kind == "b") or not isinstance(value, _NUMBERS[kind.kind]):
        raise TypeError(f"parameter {parameter}: got {value!r} of type {type(value).__name__}")
    number: Any = value
    if kind.kind in "iu" and not np.iinfo(kind).min <= number <= np.iinfo(kind).max:
        raise OverflowError(f"parameter {parameter}: {number} does not fit")
    with np.errstate(over="ignore"):
        converted: np.generic = kind.type(number)
    if kind.kind == "f" and np.isinf(converted) and abs(number) != float("inf"):
        raise OverflowError(f"parameter {parameter}: {number} is larger than the largest finite {parameter.type}")
    return converted


def _signature(match: re.Match[str]) -> Signature:
    template = tuple(_split(match["template"] or ""))
    parameters = tuple(_parameter(match["name"], text) for text in _split(match["parameters"]))
    return Signature(match["name"], parameters, tuple(t.split("=")[0].split()[-1] for t in template))


def _parameter(kernel: str, text: str) -> Parameter:
    declaration = _DECLARATION.fullmatch(" ".join(_QUALIFIER.sub(" ", text).split()))
    if declaration is None or len(declaration["pointer"]) > 1:
        raise ValueError(f"kernel {kernel}: cannot read the parameter {text.strip()!r}; use a scalar or one pointer")
    return Parameter(declaration["name"], _spelling(declaration["type"]), bool(declaration["pointer"]))


def _spelling(text: str) -> str:
    return " ".join(text.split())


def _split(text: str) -> list[str]:
    """Comma-separated parts, commas inside ``<>`` not counted."""
    parts = re.split(r",(?![^<]*>)", text)
    return [part.strip() for part in parts if part.strip() and part.strip() != "void"]
