"""How the retest enters a pytest session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from pytest_roofline.completeness import CompletenessItem, missing
from pytest_roofline.retest.deferral import CASE
from pytest_roofline.retest.progress import Progress
from pytest_roofline.state import KEY, State

_TIMING = pytest.StashKey[tuple[Progress, dict[str, int]]]()
"""What tells how far timing is, and the places of the benchmarks in the session."""


def protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a benchmark on a GPU, whose report waits; ``None`` for every other item, which pytest then runs itself."""
    state = item.config.stash[KEY]
    if not (state.options.timing and state.options.operations and state.device == "gpu"):
        return None
    if isinstance(item, CompletenessItem):
        return state.deferred.protocol(item, nextitem, always=True)
    if _is_benchmark(item):
        _tick(item)
        return state.deferred.protocol(item, nextitem)
    return None


def _is_benchmark(item: pytest.Item) -> bool:
    return "roofline_benchmark" in getattr(item, "fixturenames", ())


def _tick(item: pytest.Item) -> None:
    """Say which case is timed now: its own report waits for the end."""
    stash = item.config.stash
    if _TIMING not in stash:
        places = {each.nodeid: place for place, each in enumerate(filter(_is_benchmark, item.session.items), 1)}
        stash[_TIMING] = Progress(item.config, "timing"), places
    progress, places = stash[_TIMING]
    progress.tick(f"{places.get(item.nodeid, '?')} of {len(places)}, {item.name}")


@contextlib.contextmanager
def ending(session: pytest.Session) -> Iterator[None]:
    """Retest once the body is over. A run that was stopped logs what it knows instead, as it stands."""
    state = session.config.stash[KEY]
    stopped = True
    try:
        try:
            yield
        except (session.Failed, KeyboardInterrupt):  # pytest ends the body by the first with -x and --maxfail
            _tell_stopped(state)
            raise
        stopped = bool(session.shouldstop or session.shouldfail)
        if stopped:
            _tell_stopped(state)
        elif state.deferred.items:
            _retest(state, session.config)
    finally:
        state.deferred.release(lambda item: _failure(state, item, stopped))


def _retest(state: State, config: pytest.Config) -> None:
    from pytest_roofline.retest.session import Retest

    progress = Progress(config, "retest")
    retest = Retest(state, progress.tell, progress.tick)
    retest.run()
    state.told += retest.told
    state.failures += retest.failures


def _tell_stopped(state: State) -> None:
    if state.selected and (left := missing(state, state.baselines)):
        state.told.append(f"the run was stopped: {len(left)} cases of the baseline did not run")
    if state.old is not None and state.device == "gpu":
        state.told.append(f"the run was stopped: nothing was compared with {state.old.name}")


def _failure(state: State, item: pytest.Item, stopped: bool) -> str | None:
    """Why an item whose reports were held back fails."""
    if isinstance(item, CompletenessItem):
        return "\n".join(state.failures) or None
    name = item.stash.get(CASE, None)
    if name is None:  # skipped, a library routine, or not timed after all
        return None
    verdict = next(row.verdict for row in state.rows if str(row.case) == name)
    if not verdict.fails(strict=state.options.strict):
        return None
    sentence = f"{name}: {verdict.kind.value}: {verdict.sentence}"
    return f"{sentence}; the run was stopped before it was judged again" if stopped else sentence
