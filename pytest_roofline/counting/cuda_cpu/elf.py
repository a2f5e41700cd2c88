"""Read the symbols of a shared object: where its shared-memory variables and its constants lie. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

_SYMTAB, _WRITABLE = 2, 1
CONSTANT_SECTION = b".rl_constant."
_OBJECT, _TLS = 1, 6
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


@dataclass(frozen=True)
class Symbol:
    """A variable: for a thread-local one, ``address`` counts from the start of the module's segment."""

    name: str
    address: int
    size: int
    constant: bool = False


def _read(path: Path) -> tuple[bytes, list[tuple[int, ...]], int]:
    """A file's bytes, its section headers, and the number of the section that holds their names."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is no 64-bit little-endian ELF file")
    (offset,), (entry_size, count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HHH", data, 58)
    return data, [_SECTION.unpack_from(data, offset + i * entry_size) for i in range(count)], names


def section(path: Path, wanted: str) -> bytes:
    """The content of a named section; empty without it. ``ValueError`` for a file of another kind."""
    data, sections, names = _read(path)
    start = sections[names][4]
    for name_at, _, _, _, offset, size, *_ in sections:
        if data[start + name_at : data.index(b"\0", start + name_at)].decode() == wanted:
            return data[offset : offset + size]
    return b""


def variables(path: Path) -> tuple[list[Symbol], list[Symbol]]:
    """Thread-local and ordinary variables of a 64-bit little-endian ELF file; ``ValueError`` for another file.

    Of the ordinary ones those are constant that cannot be written or lie in a section of ``__constant__`` variables.
    """
    data, sections, names = _read(path)
    start_of_names = sections[names][4]
    constant = [
        not header[2] & _WRITABLE or data.startswith(CONSTANT_SECTION, start_of_names + header[0])
        for header in sections
    ]
    thread_local: list[Symbol] = []
    ordinary: list[Symbol] = []
    for _, kind, _, _, start, size, link, _, _, _ in sections:
        if kind != _SYMTAB:
            continue
        strings = sections[link][4]
        for position in range(start, start + size, _SYMBOL.size):
            name_at, info, _, section, value, extent = _SYMBOL.unpack_from(data, position)
            if not section or not extent or info & 15 not in (_OBJECT, _TLS):
                continue
            name = data[strings + name_at : data.index(b"\0", strings + name_at)].decode()
            found = Symbol(name, value, extent, section < len(sections) and constant[section])
            (thread_local if info & 15 == _TLS else ordinary).append(found)
    return thread_local, ordinary


def variable_name(mangled: str) -> str:
    """The source name of a variable from its Itanium-mangled symbol: ``_ZZ1kPfE4tile`` is ``tile``."""
    if not mangled.startswith("_Z"):
        return mangled
    name, position = mangled, 0
    while position < len(mangled):
        digits = position
        while digits < len(mangled) and mangled[digits].isdigit():
            digits += 1
        if digits == position:
            position += 1
            continue
        length = int(mangled[position:digits])
        if 0 < length <= len(mangled) - digits:
            name = mangled[digits : digits + length]
            position = digits + length
        else:
            position = digits
    return name
