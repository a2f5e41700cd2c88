"""How launches are run for the moment: mode, inputs, uninitialised memory, and the record of what was launched."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from pytest_roofline.counting.cuda_cpu.arguments import View, view_of
from pytest_roofline.counting.cuda_cpu.buffers import Uninitialised
from pytest_roofline.counting.cuda_cpu.records import LaunchRecord

MODES = ("check", "count", "plain")
ORDERS = ("forward", "reverse", "random", "interleaved")
TIME_LIMIT, LAUNCH_LIMIT = 10.0, 60.0


@dataclass
class Session:
    """The settings of :func:`checking`, and ``launches``, which grows by one record per launch."""

    mode: str = "check"
    same_value: str | Mapping[str, str] | None = None
    read_only: list[View] = field(default_factory=list)
    uninitialised: list[Uninitialised] = field(default_factory=list)
    order: str = "forward"
    seed: int = 0
    time_limit: float = TIME_LIMIT
    launch_limit: float = LAUNCH_LIMIT
    recording: bool = False
    launches: list[LaunchRecord] = field(default_factory=list)

    def allows_same_value(self, kernel: str) -> bool:
        """Whether unordered writes of equal values are accepted from this kernel."""
        if isinstance(self.same_value, Mapping):
            return kernel in self.same_value or kernel.split("<")[0] in self.same_value
        return self.same_value is not None


_current: ContextVar[Session] = ContextVar("cuda_cpu_session")


def current() -> Session:
    """The innermost :func:`checking`, or the defaults: all checks, nothing recorded."""
    return _current.get(None) or Session()


@contextlib.contextmanager
def checking(
    mode: str = "check",
    *,
    allow_same_value_writes: str | Mapping[str, str] | None = None,
    read_only: Sequence[Any] = (),
    uninitialised: Sequence[Any] = (),
    order: str = "forward",
    seed: int = 0,
    time_limit: float | None = None,
    launch_limit: float | None = None,
    patience: float = 1.0,
) -> Iterator[Session]:
    """Run the launches inside the block in a mode and record them.

    ``check`` finds bugs and counts, ``count`` counts only (within bounds all the same), ``plain`` runs fast.
    ``allow_same_value_writes`` gives the reason why unordered writes of equal values are fine, for all kernels or by
    kernel name. ``read_only`` and ``uninitialised`` name tensors that no kernel may write, or read before writing.
    ``order`` is the order of the threads of a block: ``forward``, ``reverse`` or ``random`` by ``seed``, while blocks
    run one after another; ``interleaved`` sets some aside for others, by ``seed``, where blocks talk to each other.
    ``time_limit``: seconds that one thread may run without waiting or ending (10 if not given). ``launch_limit``:
    seconds that the processor may work on one launch, the checks included (60 if not given). ``patience`` multiplies
    both. Raises ``ValueError``.
    """
    if mode not in MODES or order not in ORDERS:
        raise ValueError(f"mode is one of {', '.join(MODES)} and order one of {', '.join(ORDERS)}: {mode!r}, {order!r}")
    if allow_same_value_writes is not None and not allow_same_value_writes:
        raise ValueError("allow_same_value_writes takes the reason why they are fine")
    session = Session(
        mode=mode,
        same_value=allow_same_value_writes,
        read_only=[view_of(t, "input") for t in read_only],
        uninitialised=[Uninitialised(view_of(t, "uninitialised")) for t in uninitialised],
        order=order,
        seed=seed,
        time_limit=patience * (TIME_LIMIT if time_limit is None else time_limit),
        launch_limit=patience * (LAUNCH_LIMIT if launch_limit is None else launch_limit),
        recording=True,
    )
    token = _current.set(session)
    try:
        yield session
    finally:
        _current.reset(token)
