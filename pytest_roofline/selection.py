"""Which tests run in which mode, and under which id."""

from __future__ import annotations

import os
import shlex

import pytest

from pytest_roofline.cases import Parameter
from pytest_roofline.contract import Case
from pytest_roofline.counting import duration
from pytest_roofline.discovery import BrokenOperation, Drawn
from pytest_roofline.replay import clock, refused_options
from pytest_roofline.state import KEY, State

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


def parameters(config: pytest.Config, definition: pytest.Item) -> list[Parameter]:
    """What a test runs over. A bad marker gives nothing here: :func:`apply` refuses it with the exit code of a usage
    error, where the collection of one test would only fail."""
    try:
        return config.stash[KEY].cases.parameters(which(definition))
    except pytest.UsageError:
        return []


def identify(parameter: Parameter) -> str:
    """The pytest id of a parameter: the case id itself."""
    return f"{parameter.name}/broken" if isinstance(parameter, BrokenOperation) else str(parameter)


def operations(items: list[pytest.Item]) -> set[str]:
    """The names of the operations that tests run over."""
    specs = (getattr(item, "callspec", None) for item in items)
    parameters = (spec.params.get("roofline_case") for spec in specs if spec is not None)
    return {p.operation.name for p in parameters if isinstance(p, Case | Drawn)}


def apply(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what this mode does not run, and give timed cases the replay clock. A case asked for by name runs alone,
    also beside tests that are none of ours.

    Raises ``pytest.UsageError`` for a bad marker, for tests over cases in a project without operations, and for options
    of pytest-benchmark that a replay cannot honour.
    """
    state = config.stash[KEY]
    ours = [item for item in items if _ours(item)]
    kinds = {which(item) for item in ours if not _is_benchmark(item)}
    if ours and not state.catalogue.loaded and not state.catalogue.broken:
        raise pytest.UsageError(
            f"{ours[0].nodeid} runs over operations, but there are none: the ini option roofline_operations names the "
            "folders of their files"
        )
    # A suite without a test of listed cases shows a failure again through its test of drawn ones.
    again = "listed" if "listed" in kinds else "drawn"
    unwanted = [item for item in ours if not _wanted(state, item, again)]
    if state.options.cases:
        unwanted += [item for item in items if not _ours(item)]
    if unwanted:
        config.hook.pytest_deselected(items=unwanted)
        items[:] = [item for item in items if item not in set(unwanted)]
    timed = [item for item in items if _is_benchmark(item)]
    if timed and state.options.timing:
        refused = refused_options(_given(config))
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
        device = state.options.counted_for.upper()
        lines.append(
            f"roofline: {_why_cpu(state)}, so nothing is timed: "
            f"kernels are counted and compiled for an {device} instead"
        )
    return lines + [text for case in state.cases.named() if (text := _patience(state, case))]


def _patience(state: State, case: Case) -> str:
    """What is worth knowing about a case asked for by name before it runs on a CPU."""
    if state.device == "gpu":
        return ""
    if state.options.timing:
        why = "its shape is for a GPU, so it is only compiled and nothing of it is counted"
        return f"roofline: {case}: {why}" if state.cases.compile_only(case) else ""
    long = duration.seconds(case)
    return f"roofline: {case} will run for about {duration.told(long)} here" if long > duration.LONG else ""


def _why_cpu(state: State) -> str:
    if state.options.device == "cpu":
        return "--roofline-on=cpu"
    return "TRITON_INTERPRET=1 is set" if state.interpreting else "no GPU here"


def _given(config: pytest.Config) -> list[str]:
    """Every argument of this run, wherever it was written."""
    environment = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    return [*config.getini("addopts"), *environment, *config.invocation_params.args]


def _ours(item: pytest.Item) -> bool:
    return "roofline_case" in getattr(item, "fixturenames", ())


def _is_benchmark(item: pytest.Item) -> bool:
    return "roofline_benchmark" in getattr(item, "fixturenames", ())


def _wanted(state: State, item: pytest.Item, again: str) -> bool:
    options, benchmark, kind = state.options, _is_benchmark(item), which(item)
    if options.timing:
        return benchmark
    if options.cases:
        return kind == again and not benchmark
    if options.correctness_only:
        return not benchmark
    # Without a GPU the benchmark tests run the listed cases themselves, once.
    return kind != "listed" or state.device == "gpu"


def _hand_over_clock(item: pytest.Item) -> None:
    """Only the closest benchmark marker counts, so ours repeats what the user's says."""
    existing = item.get_closest_marker("benchmark")
    settings = dict(existing.kwargs) if existing else {}
    item.add_marker(pytest.mark.benchmark(**{**settings, "timer": clock}), append=False)
