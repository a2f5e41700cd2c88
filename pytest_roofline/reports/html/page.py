"""A run as one HTML file. Needs Jinja2 (extra ``report``); the data are escaped as data, all else by the template."""

from __future__ import annotations

from importlib import resources

from pytest_roofline.reports import ReportUnavailableError
from pytest_roofline.reports.html.payload import payload, script
from pytest_roofline.reports.series import Series
from pytest_roofline.runs.record import RunRecord

STYLES = ("theme.css", "page.css", "parts.css", "tables.css", "plots.css", "media.css")
SCRIPTS = (
    "data.js",
    "format.js",
    "dom.js",
    "marks.js",
    "table.js",
    "roofline.js",
    "overview.js",
    "ladder.js",
    "steps_roof.js",
    "steps_chip.js",
    "steps.js",
    "kernel.js",
    "history.js",
    "devices.js",
    "environment.js",
    "app.js",
)
"""Both in the order in which they build on each other."""


def render(run: RunRecord, history: Series | None = None, title: str = "") -> str:
    """The page of a run. Raises :class:`ReportUnavailableError` without Jinja2."""
    try:
        import jinja2
    except ModuleNotFoundError as error:
        raise ReportUnavailableError(
            "the HTML report needs Jinja2: pip install 'pytest-roofline[report]' brings it"
        ) from error
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    data = payload(run, history, title)
    return environment.from_string(_asset("page.html.j2")).render(
        title=data["title"],
        run=data["run"],
        device=data["device"],
        worst=_worst(run),
        styles=[_asset(name) for name in STYLES],
        scripts=[(name, _asset(name)) for name in SCRIPTS],
        data=script(data),
    )


def _worst(run: RunRecord) -> list[tuple[str, float]]:
    """What a browser without scripts is shown: the ten cases furthest from their bound."""
    shares = [(case.id, case.fraction) for case in run.cases if case.fraction is not None and not case.kernel.peer]
    return sorted(shares, key=lambda item: item[1])[:10]


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")
