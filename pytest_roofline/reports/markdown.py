"""A run as Markdown, for a pull request or the summary of a CI job. Pure.

Names and sentences come from files that anybody may have written, so everything is escaped: nothing in them becomes
markup, a link or a mention. What does not fit the limit is left out, and the text says what that was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pytest_roofline.reports import counts_rows, units
from pytest_roofline.reports.ranking import FAILED, WARNED, distance, severity, word, worst_first
from pytest_roofline.runs.record import COUNTED, CaseRecord, RunRecord

SUMMARY_LIMIT = (1 << 20) - 1024
"""Bytes that GitHub accepts as the summary of a job's step (1 MiB), less what other tools may add."""
COMMENT_LIMIT = 65_000
"""The same for a comment on a pull request, which may have 65,536 characters."""

_MARKS = {FAILED: "❌", WARNED: "⚠️"}
_ENTITIES = str.maketrans({c: f"&#{ord(c)};" for c in "&<>|`*_[]()~@#!\\$"})
_COLON = re.compile(r":(?=\S)")  # of an address or an emoji
_TIMED = ("time", "rate", "of bound", "peer", "against baseline")
SHOWN_WARNINGS = 10
"""Cases that only warn in the table of what to look at; failures are all in it."""
_RESERVE = 400  # bytes for saying what was cut


def render(run: RunRecord, *, limit: int = SUMMARY_LIMIT, title: str = "GPU kernels", notes: Sequence[str] = ()) -> str:
    """The whole text in at most ``limit`` bytes of UTF-8: totals, what fails or warns, then a table per operation.

    Raises ``ValueError`` for a limit that not even the head fits into.
    """
    head = _title(run, title) + "".join(f"- {escape(note)}\n" for note in notes)
    room = limit - len(head.encode()) - _RESERVE
    if room < 0:
        raise ValueError(f"{limit} bytes are too few: the head alone takes {len(head.encode()) + _RESERVE}")
    failed = [case for case in worst_first(run.cases) if severity(case) == FAILED]
    warned = [case for case in worst_first(run.cases) if severity(case) == WARNED]
    notable = [*failed, *warned[:SHOWN_WARNINGS]]
    text, shown = _notable(run, notable, len(warned) - SHOWN_WARNINGS, room)
    parts, left_out = [head, text], []
    if shown < len(notable):
        left_out.append(f"{len(notable) - shown} of {len(notable)} cases that fail or warn")
    room -= len(text.encode())
    cut: list[str] = []
    for name, cases in _by_operation(run).items():
        section = _operation(run, name, cases)
        if len(section.encode()) > room:
            cut.append(f"{name} ({len(cases)} cases)")
            continue
        room -= len(section.encode())
        parts.append(section)
    if cut:
        left_out.append(f"the tables of {len(cut)} operations")
    if left_out:
        parts.append(_cut_note(left_out, cut, limit))
    return "".join(parts)


def escape(text: str) -> str:
    """Text that Markdown and HTML show as it is, on one line."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return _COLON.sub("&#58;", plain.translate(_ENTITIES))


def _title(run: RunRecord, title: str) -> str:
    counted = Counter((severity(case), word(case)) for case in run.cases)
    told = ", ".join(f"{_mark(how, name)} {number} {escape(name)}" for (how, name), number in counted.most_common())
    facts = [f"{escape(run.device.name)}", f"run {_code(run.id)}"]
    if run.environment is not None:
        facts.insert(1, f"driver {escape(run.environment.driver)}")
    if run.commit is not None:
        facts.append(f"commit {_code(run.commit.id[:12])}" + (" with changes" if run.commit.dirty else ""))
    if run.ended is None and run.started and run.version:
        facts.append("the run did not end")
    return f"## {escape(title)}\n\n{len(run.cases)} cases {run.kind}: {told or 'none'}\n\n{' · '.join(facts)}\n\n"


def _notable(run: RunRecord, cases: Sequence[CaseRecord], more: int, room: int) -> tuple[str, int]:
    """The table and the sentences of what fails or warns, and how many of the cases fitted; ``more`` warn as well."""
    opening = "### To look at\n\n" + _head(run)
    closing = f"\n{more} more warn: see the tables below.\n\n" if more > 0 else "\n"
    rows, sentences = [], []
    room -= len((opening + closing).encode()) + 1
    for case in cases:
        row, sentence = _row(run, case), _sentence(case)
        room -= len((row + sentence).encode())
        if room < 0:
            break
        rows.append(row)
        sentences.append(sentence)
    if not rows:
        return "", 0
    return "".join([opening, *rows, "\n", *sentences, closing]), len(rows)


def _sentence(case: CaseRecord) -> str:
    """What its row does not say; of an unresolved case that has the change and its interval."""
    if word(case) == "unresolved":
        return ""
    return f"- {_code(case.id)}: {escape(case.said)}\n"


def _by_operation(run: RunRecord) -> dict[str, list[CaseRecord]]:
    found: dict[str, list[CaseRecord]] = {}
    for case in worst_first(run.cases):
        found.setdefault(case.problem[0], []).append(case)
    return found


def _operation(run: RunRecord, name: str, cases: Sequence[CaseRecord]) -> str:
    facts = run.operations.get(name)
    summary = f"{name}: {facts.summary}" if facts else name
    told = ", ".join(f"{number} {word_}" for word_, number in Counter(map(word, cases)).most_common())
    rows = "".join(_row(run, case) for case in cases)
    return f"<details><summary>{escape(summary)} ({escape(told)})</summary>\n\n{_head(run)}{rows}\n</details>\n\n"


def _head(run: RunRecord) -> str:
    columns = [title for title, _ in counts_rows.COLUMNS.values()] if run.kind == COUNTED else _TIMED
    return f"| case | {' | '.join(columns)} | verdict |\n|---|{'--:|' * len(columns)}---|\n"


def _row(run: RunRecord, case: CaseRecord) -> str:
    cells = counts_rows.cells(case) if run.kind == COUNTED else _timed(run, case)
    verdict = f"{_mark(severity(case), word(case))} {escape(word(case))}"
    return f"| {_code(case.id)} | {' | '.join(cells)} | {verdict} |\n"


def _timed(run: RunRecord, case: CaseRecord) -> list[str]:
    time = "-" if case.times is None else units.time(case.times.seconds) + ("*" if case.times.source == "cupti" else "")
    share = "overhead" if case.regime == "overhead" else units.share(distance(case))
    change = "" if case.verdict is None or case.kernel.peer else units.interval(case.verdict)
    return [escape(time), units.rate(case), escape(share), units.ratio(run.peer_ratio(case)), change]


def _mark(how: str, name: str) -> str:
    """A sign beside the word: what was not compared is neither good nor bad."""
    return _MARKS.get(how) or ("✅" if name in ("same", "improvement") else "⚪")


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _cut_note(left_out: Sequence[str], operations: Sequence[str], limit: int) -> str:
    named = ", ".join(operations[:5]) + (" …" if len(operations) > 5 else "")
    told = f" ({escape(named)})" if operations else ""
    note = f"*Cut at {limit} bytes: {' and '.join(left_out)} are left out{told}.*\n"
    return note if len(note.encode()) <= _RESERVE else f"*Cut at {limit} bytes: {' and '.join(left_out)} left out.*\n"
