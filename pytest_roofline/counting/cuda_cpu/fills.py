"""What uninitialised variables hold in the builds that are compared: a pattern, zeros, and the pattern turned positive.

GCC fills with bytes of 0xFE, which make large negative numbers, or with zeros: a maximum of positive numbers comes out
right from either. So a third build is made of the first one's assembly, with 0x7E in place of 0xFE. Pure.

clang's pattern (0xAA, in floating point a NaN) cannot be told from the program's numbers: there are two builds then.
"""

from __future__ import annotations

import re

# The pattern as GCC writes it for 2, 4 and 8 bytes, signed or not, and what takes its place.
_WORDS = {
    str(value): str(int.from_bytes(b"\x7e" * size, "little"))
    for size in (2, 4, 8)
    for value in (int.from_bytes(b"\xfe" * size, "little"), int.from_bytes(b"\xfe" * size, "little", signed=True))
}
_WORD = re.compile(r"(?<![\w.-])(" + "|".join(map(re.escape, _WORDS)) + r")(?![\w.])")
# Vectors are filled by one byte for all places.
_BYTES = re.compile(r"(\$)-2(, %\w+\n\s+v?movd\s+%\w+, %xmm\d+\n\s+v?pbroadcastb\s)")


def raised(patterned: str, zeroed: str) -> str:
    """The assembly ``patterned`` with its pattern turned positive; unchanged where it has none.

    What stands in the assembly ``zeroed`` too is the program's own number, and stays.
    """
    own = set(_WORD.findall(zeroed))
    words = _WORD.sub(lambda match: match[1] if match[1] in own else _WORDS[match[1]], patterned)
    return words if _BYTES.search(zeroed) else _BYTES.sub(r"\g<1>126\g<2>", words)
