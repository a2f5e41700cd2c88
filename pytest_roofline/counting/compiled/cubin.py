"""Read a cubin: what ptxas says about each kernel, and its machine code. Pure.

A cubin is an ELF file. Registers, stack and barriers stand in its ``.nv.info`` sections as attributes, static shared
memory is the size of ``.nv.shared.<kernel>``. NVIDIA documents neither; the names of the attributes are those that
``cuobjdump -elf`` prints, and a test holds every figure against what ``cuobjdump -res-usage`` and ``ptxas -v`` say.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_REGISTERS, _FRAME_SIZE, _BARRIERS = 0x2F, 0x11, 0x4C  # EIATTR_REGCOUNT, EIATTR_FRAME_SIZE, EIATTR_NUM_BARRIERS
_SIZED = 0x04  # format of an attribute: a length and as many bytes; else the value stands in the header itself
_PARAMETERS = ".nv.constant0"  # where a kernel finds its parameters: as long as they are, and empty in the file


class CubinError(ValueError):
    """Bytes that are no cubin, or one without the kernel asked for."""


@dataclass(frozen=True)
class CubinKernel:
    """One kernel of a cubin. Sizes in bytes; ``stack`` is the frame of one thread, ``shared`` static shared memory."""

    symbol: str
    registers: int
    stack: int
    shared: int
    barriers: int
    code: bytes


@dataclass(frozen=True)
class _Section:
    name: str
    content: bytes
    size: int


def kernels(cubin: bytes) -> dict[str, CubinKernel]:
    """Every kernel by its (mangled) symbol. Raises :class:`CubinError`."""
    try:
        sections = {section.name: section for section in _sections(cubin)}
        symbols = _symbols(sections)
        totals = _by_symbol(sections[".nv.info"].content, symbols)
    except (KeyError, IndexError, ValueError, struct.error) as error:
        raise CubinError(f"this is no cubin: {type(error).__name__} {error}") from error
    return {
        name[len(".text.") :]: _kernel(name[len(".text.") :], sections, totals)
        for name in sections
        if name.startswith(".text.") and f".nv.info.{name[len('.text.') :]}" in sections
    }


def data(cubin: bytes) -> list[tuple[str, bytes]]:
    """Constants and initialised variables by the name of their section, without the banks that parameters come in.

    Raises :class:`CubinError`.
    """
    try:
        found = list(_sections(cubin))
    except (KeyError, IndexError, ValueError, struct.error) as error:
        raise CubinError(f"this is no cubin: {type(error).__name__} {error}") from error
    kinds = (".nv.constant", ".nv.global.init")
    return sorted((s.name, s.content) for s in found if s.name.startswith(kinds) and not s.name.startswith(_PARAMETERS))


def kernel(cubin: bytes, symbol: str) -> CubinKernel:
    """The kernel called ``symbol``. Raises :class:`CubinError` naming those that are there."""
    found = kernels(cubin)
    if symbol not in found:
        raise CubinError(f"no kernel {symbol} in this cubin; it holds {', '.join(found) or 'none'}")
    return found[symbol]


def _kernel(symbol: str, sections: dict[str, _Section], totals: dict[tuple[int, str], int]) -> CubinKernel:
    own = {attribute: value for form, attribute, value in _attributes(sections[f".nv.info.{symbol}"].content)}
    shared = sections.get(f".nv.shared.{symbol}")
    barriers = own.get(_BARRIERS, b"\0\0")
    return CubinKernel(
        symbol=symbol,
        registers=totals[_REGISTERS, symbol],
        stack=totals.get((_FRAME_SIZE, symbol), 0),
        shared=max(0, shared.size - _reserved(sections)) if shared else 0,
        barriers=barriers[0],
        code=sections[f".text.{symbol}"].content,
    )


def _reserved(sections: dict[str, _Section]) -> int:
    """From sm_90 on the section also holds the 1 KiB that the system takes of every block."""
    return 1 << 10 if any(name.startswith(".nv.shared.reserved.") for name in sections) else 0


def _sections(data: bytes) -> Iterator[_Section]:
    if data[:4] != b"\x7fELF":
        raise ValueError("no ELF file")
    (offset,), (count, names) = struct.unpack_from("<Q", data, 0x28), struct.unpack_from("<HH", data, 0x3C)
    headers = [_SECTION.unpack_from(data, offset + _SECTION.size * index) for index in range(count)]
    texts = headers[names]
    for header in headers:
        start, size = header[4], header[5]
        content = b"" if header[1] == 8 else data[start : start + size]  # SHT_NOBITS takes no room in the file
        yield _Section(_text(data, texts[4] + header[0]), content, size)


def _symbols(sections: dict[str, _Section]) -> list[str]:
    table, texts = sections[".symtab"].content, sections[".strtab"].content
    return [_text(texts, _SYMBOL.unpack_from(table, at)[0]) for at in range(0, len(table), _SYMBOL.size)]


def _by_symbol(info: bytes, symbols: list[str]) -> dict[tuple[int, str], int]:
    """The attributes of ``.nv.info``, each a symbol's index and a number."""
    found = {}
    for form, attribute, value in _attributes(info):
        if form == _SIZED and len(value) == 8:
            index, number = struct.unpack("<II", value)
            found[attribute, symbols[index]] = number
    return found


def _attributes(info: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at < len(info):
        form, attribute = info[at], info[at + 1]
        size = struct.unpack_from("<H", info, at + 2)[0] if form == _SIZED else 0
        yield form, attribute, info[at + 4 : at + 4 + size] if form == _SIZED else info[at + 2 : at + 4]
        at += 4 + size


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()
