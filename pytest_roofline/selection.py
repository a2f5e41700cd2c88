"""Which tests run in which mode, and under which id."""

from __future__ import annotations

import pytest

from pytest_roofline.discovery import BrokenOperation
from pytest_roofline.replay import clock, refused_options
from pytest_roofline.state import KEY, Parameter, State

LISTS = ("drawn", "listed", "timed")


def which(definition: pytest.Item) -> str:
    """The list that a test's ``roofline`` marker names. Raises ``pytest.UsageError`` for anything else."""
    marker = definition.get_closest_marker("roofline")
    if marker is None:
        return "listed"
    if marker.kwargs or len(marker.args) != 1 or marker.args[0] not in LISTS:
        raise pytest.UsageError(
            f"{definition.nodeid}: bad marker roofline{marker.args}; it takes one of {', '.join(map(repr, LISTS))}"
        )
    return str(marker.args[0])


def identify(parameter: Parameter) -> str:
    """The pytest id of a parameter: the case id itself."""
    return f"{parameter.name}/broken" if isinstance(parameter, BrokenOperation) else str(parameter)


def apply(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what this mode does not run, and give timed cases the replay clock.

    Raises ``pytest.UsageError`` for options of pytest-benchmark that a replay cannot honour.
    """
    state = config.stash[KEY]
    unwanted = [item for item in items if _ours(item) and not _wanted(state, item)]
    if unwanted:
        config.hook.pytest_deselected(items=unwanted)
        items[:] = [item for item in items if item not in set(unwanted)]
    timed = [item for item in items if _is_benchmark(item)]
    if timed and state.options.timing:
        refused = refused_options(config.invocation_params.args)
        if refused:
            raise pytest.UsageError("\n".join(refused))
        for item in timed:
            _hand_over_clock(item)


def header(state: State) -> list[str]:
    """Lines for the head of the session; none for a project without operations."""
    if not state.options.operations:
        return []
    where = "GPU" if state.device == "gpu" else "CPU (Triton interpreter, CUDA C++ on the host)"
    lines = [f"roofline: kernels run on the {where}, hypothesis profile {state.options.profile}"]
    if state.options.timing and state.device == "cpu":
        lines.append("roofline: no GPU here, so nothing is timed: kernels are checked, stored results are compared")
    return lines


def _ours(item: pytest.Item) -> bool:
    return "roofline_case" in getattr(item, "fixturenames", ())


def _is_benchmark(item: pytest.Item) -> bool:
    return "roofline_benchmark" in getattr(item, "fixturenames", ())


def _wanted(state: State, item: pytest.Item) -> bool:
    options, benchmark, kind = state.options, _is_benchmark(item), which(item)
    if options.timing:
        return benchmark
    if options.cases:
        return kind == "listed"
    if options.correctness_only:
        return not benchmark
    # Without a GPU the benchmark tests run the listed cases themselves, once.
    return kind != "listed" or state.device == "gpu"


def _hand_over_clock(item: pytest.Item) -> None:
    """Only the closest benchmark marker counts, so ours repeats what the user's says."""
    existing = item.get_closest_marker("benchmark")
    settings = dict(existing.kwargs) if existing else {}
    item.add_marker(pytest.mark.benchmark(**{**settings, "timer": clock}), append=False)
