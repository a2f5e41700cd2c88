"""Run files: everything that one run of the suite found, on its own in one versioned JSON file.

``read`` gives a :class:`RunRecord` back on any machine: neither torch nor a GPU is needed for it.
"""

from pytest_roofline.runs.files import JOURNAL, Journal, RunFileError, read, read_text, render, save
from pytest_roofline.runs.record import (
    COUNTED,
    SCHEMA,
    TIMED,
    Bound,
    Bracket,
    CaseRecord,
    Commit,
    Comparison,
    CountedFigures,
    Device,
    KernelFacts,
    MeasuredCeilings,
    Moved,
    OperationFacts,
    PublishedFigure,
    RunRecord,
    Times,
)

__all__ = [
    "COUNTED",
    "JOURNAL",
    "SCHEMA",
    "TIMED",
    "Bound",
    "Bracket",
    "CaseRecord",
    "Commit",
    "Comparison",
    "CountedFigures",
    "Device",
    "Journal",
    "KernelFacts",
    "MeasuredCeilings",
    "Moved",
    "OperationFacts",
    "PublishedFigure",
    "RunFileError",
    "RunRecord",
    "Times",
    "read",
    "read_text",
    "render",
    "save",
]
