"""The pytest hooks, each a few lines; what they decide lives in the modules they call."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_roofline import closing, completeness, selection, worker
from pytest_roofline.fixtures import roofline_benchmark, roofline_case, roofline_check
from pytest_roofline.options import add_options, read_options
from pytest_roofline.retest import ending
from pytest_roofline.state import KEY, State

__all__ = ["roofline_benchmark", "roofline_case", "roofline_check"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the options; where Triton will interpret, say so before anything imports it."""
    config.addinivalue_line(
        "markers", "roofline(which): run over the 'drawn', 'listed' or 'timed' cases of the project"
    )
    state = config.stash[KEY] = State(read_options(config), config.rootpath)
    if state.options.operations:
        state.prepare_interpreter()
        config.pluginmanager.register(_Last(), "pytest_roofline.last")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Where kernels run, and that nothing is timed where nothing is."""
    return selection.header(config.stash[KEY])


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Refuse wrong directories and cases before anything is collected."""
    session.config.stash[KEY].verify()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize every test that asks for ``roofline_case``."""
    if "roofline_case" in metafunc.fixturenames:
        parameters = selection.parameters(metafunc.config, metafunc.definition)
        metafunc.parametrize("roofline_case", parameters, ids=selection.identify, indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what this mode does not run, and hand benchmarks our clock."""
    selection.apply(config, items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Remember which operations are left after all deselection."""
    session.config.stash[KEY].collected = selection.operations(session.items)


class _Last:
    """Hooks that must come after pytest-benchmark's, which would skip whatever has no benchmark fixture."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Before a benchmark run: refuse what cannot be compared, and append the test of completeness."""
        if config.stash[KEY].options.timing and config.stash[KEY].options.operations:
            completeness.prepare(session, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run benchmarks on a GPU so that the reports of suspects can wait for their retest."""
    return ending.protocol(item, nextitem)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember which cases have a report that says why they have no result."""
    report = yield
    completeness.account(item, report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """After the last test: retest the suspects, and log what was held back."""
    with ending.ending(session):
        return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    """Our section, and what was stored."""
    closing.report(terminalreporter, config, exitstatus)


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_json(config: pytest.Config, output_json: dict[str, Any]) -> None:
    """Name the run in pytest-benchmark's file too, so that a history that gets both files counts it once."""
    state = config.stash[KEY]
    if state.options.timing and state.options.operations:
        output_json["roofline_run"] = state.keeper.id


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give the GPU's memory back before the interpreter ends, and end the process that compiles."""
    worker.close()
    if KEY in config.stash:
        config.stash[KEY].close()
