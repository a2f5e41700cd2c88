"""What happens after the last test: baselines are stored, and the report is printed."""

from __future__ import annotations

import datetime
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_roofline.attribution import accepted
from pytest_roofline.baselines import Baseline, BaselineError, campaign_id, device_key, run_of
from pytest_roofline.devices import describe
from pytest_roofline.devices.record import DeviceRecord, load
from pytest_roofline.evidence import Outcome
from pytest_roofline.reports import across, stored, styled, terminal
from pytest_roofline.reports.styled import BAD, DOUBTFUL, FAINT, GOOD, HEAD, PLAIN, Line
from pytest_roofline.runs import files
from pytest_roofline.state import KEY, State
from pytest_roofline.verdict import Kind

MARKUP = {
    PLAIN: {},
    BAD: {"red": True, "bold": True},
    DOUBTFUL: {"yellow": True},
    GOOD: {"green": True},
    FAINT: {"light": True},
    HEAD: {"bold": True},
}
"""How pytest's terminal shows each style."""


def report(reporter: pytest.TerminalReporter, config: pytest.Config, status: int) -> None:
    """Print the section of a benchmark run, and what was stored; of a run without tests that is nothing."""
    state = config.stash[KEY]
    verbose = config.getoption("verbose") > 0
    if state.options.reach is not None and state.options.operations:
        _print(reporter, "roofline: what could be reached", _reach_lines(state, state.options.reach))
    if not state.options.timing or not state.options.operations:
        return
    if state.rows and state.options.ncu:
        reporter.write_line("")
        reporter.write_line("roofline: everything is timed; taking hardware counters with Nsight Compute", flush=True)
    if state.rows:
        print_styled(reporter, "roofline", _timed_lines(state, verbose, reporter))
        if state.judge.record is not None:
            here = {str(row.case): row.seconds for row in state.rows}
            _print_across(reporter, state, {state.judge.record.key: here}, state.baselines, verbose=verbose)
    elif state.device == "cpu" and status != pytest.ExitCode.NO_TESTS_COLLECTED:
        if "gate" in vars(state):
            _print(reporter, "roofline: counts", _counted_lines(state, verbose))
        baselines = state.baselines
        lines = stored.lines(baselines, state.catalogue)
        _print(reporter, "roofline: stored results, nothing was timed here", lines)
        _print_across(reporter, state, stored.measured(baselines), baselines, verbose=verbose)
    for line in state.told:
        reporter.write_line(f"roofline: {line}")
    _save(reporter, state)
    if state.options.update:
        _store(reporter, state, _accepted(state))
        for line in state.gate.update() if "gate" in vars(state) else ():
            reporter.write_line(line)


def _save(reporter: pytest.TerminalReporter, state: State) -> None:
    """Write the run file, if one was asked for; what was run is worth more than an exit code of its own."""
    try:
        path = state.keeper.save()
    except OSError as error:
        reporter.write_line(f"roofline: the run file cannot be written: {error}", red=True)
        return
    if path is not None:
        reporter.write_line(f"roofline: saved this run in {path}")


def _print_across(
    reporter: pytest.TerminalReporter,
    state: State,
    measured: dict[str, dict[str, float]],
    baselines: list[Baseline],
    *,
    verbose: bool,
) -> None:
    """By device that has measured times: its cases beside what was published for others."""
    for key, seconds in measured.items():
        found = across.pairs(seconds, load(key), baselines, state.catalogue)
        if found:
            _print(reporter, "roofline: across devices", across.section(found, verbose))


def _counted_lines(state: State, verbose: bool) -> list[str]:
    from pytest_roofline.reports import counted

    blocks = {(row.case.operation.name, *row.target) for row in state.gate.rows}
    known: dict[str, int] = {}
    for block in blocks:
        for compiler, kernels in state.gate.stored(*block).compiled.items():
            known[compiler] = known.get(compiler, 0) + len(kernels)
    return counted.section(state.gate.rows, known, device=state.gate.device, verbose=verbose)


def _reach_lines(state: State, key: str) -> list[str]:
    """For the operations that this run collected, all their timed cases."""
    from pytest_roofline.reports import reach

    cases = state.catalogue.timed(full=state.options.effort == "full")
    wanted = [case for case in cases if case.operation.name in state.collected]
    expected = across.expectations(wanted, load(key), state.baselines, state.catalogue)
    return reach.section(wanted, load(key), _resident(state, load(key)), expected)


def _resident(state: State, record: DeviceRecord) -> dict[str, int]:
    """Blocks per SM of what each case launches and of each kernel, the fewest of its forms, where the architecture of
    that device was counted."""
    from pytest_roofline.baselines.counted import ARCHITECTURES

    found: dict[str, int] = {}
    arch = f"sm_{record.compute_capability.replace('.', '')}"
    folders = [folder for folder, counted in ARCHITECTURES.items() if counted.rstrip("a") == arch]
    for block in (b.counted for folder in folders for b in state.store.load_all(folder) if b.counted):
        kernels = {name: kernel for compiled in block.compiled.values() for name, kernel in compiled.items()}
        for case, entry in block.cases.items():
            for name in (case, "/".join(case.split("/")[:3])):
                for kernel in (kernels[key] for key in entry.kernels if key in kernels):
                    found[name] = min(found.get(name, kernel.occupancy.blocks), kernel.occupancy.blocks)
    return found


def _timed_lines(state: State, verbose: bool, reporter: pytest.TerminalReporter) -> list[Line]:
    counters = state.counters.lines  # taken before the record is, which keeps them
    run = state.keeper.record()
    lines = terminal.totals(run)
    if run.environment is not None:
        lines += [
            styled.line(text) for text in describe.lines(run.environment, state.judge.record, state.judge.ceilings)
        ]
    width = reporter.config.get_terminal_writer().fullwidth
    lines += terminal.section(run, verbose=verbose, width=width, plain=not _shows("▏█±"))
    return [*lines, styled.line(), *terminal.footnotes(run), *map(styled.line, counters)]


def _shows(text: str) -> bool:
    """Whether the terminal's encoding has these characters."""
    try:
        text.encode(getattr(sys.__stdout__, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _accepted(state: State) -> list[Baseline]:
    """What this run measured, invalid and impossible results left out."""
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    found: dict[tuple[str, str], Baseline] = {}
    for row in state.rows:
        evidence = state.evidence[str(row.case)]
        environment, timing = evidence.environment, evidence.timing
        untrusted = row.verdict.kind in (Kind.INVALID, Kind.IMPOSSIBLE)
        if evidence.outcome is not Outcome.OK or timing is None or environment is None or untrusted:
            continue
        key = (device_key(environment), row.case.operation.name)
        baseline = found.setdefault(key, Baseline(*key))
        campaign, name = campaign_id(environment, date), str(row.case)
        baseline.campaigns[campaign] = environment
        baseline.measured[name] = {campaign: run_of(timing, date)}
        if accepted(row.verdict) or state.judge.changed_code(row.case, evidence):
            baseline.superseded[name] = set(state.judge.past(environment).runs.get(name, ()))
    return list(found.values())


def _store(reporter: pytest.TerminalReporter, state: State, found: Sequence[Baseline]) -> None:
    """Write them. What cannot be written makes the run fail; its results are kept where they can be accepted from."""
    failed = False
    for baseline in found:
        try:
            path = state.store.save(baseline)
        except (OSError, BaselineError) as error:
            failed = True
            reporter.write_line(f"roofline: NOT stored: {len(baseline.measured)} cases: {error}", red=True)
        else:
            reporter.write_line(f"roofline: stored {len(baseline.measured)} cases in {path}")
    if failed:
        kept = files.save(state.keeper.record(), Path(tempfile.gettempdir()) / f"roofline-{state.keeper.id}.json")
        reporter.write_line(f"roofline: its results are in {kept}: pytest-roofline baseline promote {kept} stores them")
        session: Any = reporter.config.pluginmanager.get_plugin("session")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _print(reporter: pytest.TerminalReporter, title: str, lines: list[str]) -> None:
    reporter.section(title)
    for line in lines:
        reporter.write_line(line)


def print_styled(reporter: pytest.TerminalReporter, title: str, lines: list[Line]) -> None:
    """Print lines with their styles: in colour where pytest prints in colour, so ``NO_COLOR`` and ``--color`` hold."""
    reporter.section(title)
    for found in lines:
        for segment in found:
            reporter.write(segment.text, **MARKUP[segment.style])
        reporter.line("")
