"""Lines with styles in them, which the edge turns into colours of pytest, of rich, or into none. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_roofline.reports.ranking import FAILED, WARNED

PLAIN, BAD, DOUBTFUL, GOOD, FAINT, HEAD = "", "bad", "doubtful", "good", "faint", "head"


@dataclass(frozen=True)
class Segment:
    """A piece of a line in one style. No style carries anything that the text does not say."""

    text: str
    style: str = PLAIN


Line = tuple[Segment, ...]


def line(*parts: str | Segment) -> Line:
    """A line from text and segments."""
    return tuple(Segment(part) if isinstance(part, str) else part for part in parts)


def text(found: Line) -> str:
    """The line without its styles."""
    return "".join(segment.text for segment in found).rstrip()


def texts(lines: Iterable[Line]) -> list[str]:
    """Lines without their styles."""
    return [text(found) for found in lines]


def of_severity(severity: str, word: str) -> str:
    """The style of a verdict."""
    if severity in (FAILED, WARNED):
        return BAD if severity == FAILED else DOUBTFUL
    return GOOD if word in ("same", "improvement") else PLAIN


def cut(name: str, width: int) -> str:
    """A long name without its middle, so that both ends stay readable."""
    if len(name) <= width:
        return name
    half = (width - 2) // 2
    return f"{name[: width - 2 - half]}..{name[-half:]}"
