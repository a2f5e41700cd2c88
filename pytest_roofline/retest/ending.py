"""How the retest enters a pytest session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from pytest_roofline.completeness import CompletenessItem
from pytest_roofline.retest.deferral import CASE
from pytest_roofline.retest.progress import teller
from pytest_roofline.state import KEY, State


def protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a benchmark on a GPU; ``None`` for every other item, which pytest then runs itself."""
    state = item.config.stash[KEY]
    if not (state.options.timing and state.options.operations and state.device == "gpu"):
        return None
    if isinstance(item, CompletenessItem):
        return state.deferred.protocol(item, nextitem, always=True)
    if "roofline_benchmark" in getattr(item, "fixturenames", ()):
        return state.deferred.protocol(item, nextitem)
    return None


@contextlib.contextmanager
def ending(session: pytest.Session) -> Iterator[None]:
    """Retest once the body is over. A run that was stopped logs what it knows instead, as it stands."""
    state = session.config.stash[KEY]
    try:
        yield
        if state.deferred.items and not session.shouldstop and not session.shouldfail:
            _retest(state, session.config)
    finally:
        state.deferred.release(lambda item: _failure(state, item))


def _retest(state: State, config: pytest.Config) -> None:
    from pytest_roofline.retest.session import Retest

    retest = Retest(state, teller(config))
    retest.run()
    state.told += retest.told
    state.failures += retest.failures


def _failure(state: State, item: pytest.Item) -> str | None:
    """Why an item whose reports were held back fails."""
    if isinstance(item, CompletenessItem):
        return "\n".join(state.failures) or None
    name = item.stash[CASE]
    verdict = next(row.verdict for row in state.rows if str(row.case) == name)
    if not verdict.fails(strict=state.options.strict):
        return None
    return f"{name}: {verdict.kind.value}: {verdict.sentence}"
