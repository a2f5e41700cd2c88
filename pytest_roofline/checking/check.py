"""One check of one case: run the kernel on guarded, poisoned buffers and hold it against its operation."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_roofline.checking.buffers import GuardedBuffer, guarded, workspaces
from pytest_roofline.checking.compare import compare
from pytest_roofline.checking.values import RANDOM, WHOLE, classes, draw
from pytest_roofline.contract import Argument, Bound, Case, Computed, Role

if TYPE_CHECKING:
    import torch

Launcher = Callable[..., None]


class WrongResultError(Exception):
    """The kernel computed something else than its operation, or touched memory it must not touch."""


@dataclass
class Prepared:
    """A case with its arguments in memory, ready to launch as often as one likes."""

    case: Case
    launcher: Launcher
    buffers: list[GuardedBuffer]
    scratch: list[GuardedBuffer]
    initial: dict[str, torch.Tensor]  # IN and INOUT data, dense, on the device that checks

    def launch(self) -> None:
        """Launch the complete operation once on the current stream."""
        self.call()

    @functools.cached_property
    def call(self) -> Callable[[], None]:
        """The launch with everything looked up beforehand, so that the host does as little as a user's call would."""
        workspace: dict[str, Any] = {b.name: b.view for b in self.scratch}
        keywords = {**self.case.scalars, **self.case.kernel.options, **workspace}
        return functools.partial(self.launcher, *(b.view for b in self.buffers), **keywords)

    def restore(self) -> None:
        """Bring every INOUT argument back to its initial value."""
        for argument, buffer in zip(self.case.operation.arguments, self.buffers, strict=True):
            if argument.role is Role.INOUT:
                buffer.view.copy_(self.initial[argument.name])

    def reset(self) -> None:
        """Poison outputs and workspace and restore INOUT arguments, as before the first launch."""
        for argument, buffer in zip(self.case.operation.arguments, self.buffers, strict=True):
            if argument.role is Role.OUT:
                buffer.poison()
        for buffer in self.scratch:
            buffer.poison()
        self.restore()

    def refill(self, values: str, seed: int) -> None:
        """Other inputs, of one class of values, and everything else as before the first launch."""
        for tag, (argument, buffer) in enumerate(zip(self.case.operation.arguments, self.buffers, strict=True)):
            if argument.role is not Role.OUT:
                data = _data(argument, buffer, values, seed * 16 + tag, self.initial[argument.name].device.type)
                buffer.view.copy_(data)
                self.initial[argument.name] = data
        self.reset()

    @property
    def footprint(self) -> int:
        """Bytes of all arguments and workspace of one execution."""
        return sum(b.view.numel() * b.item.itemsize for b in (*self.buffers, *self.scratch))


@dataclass(frozen=True)
class Expectation:
    """The exact outputs of a prepared case and how far a kernel may be from them."""

    exact: Mapping[str, torch.Tensor]
    bounds: Mapping[str, Bound]

    def verify(self, prepared: Prepared) -> float:
        """Largest error as a fraction of its bound. Raises :class:`WrongResultError` naming every wrong output."""
        worst, problems = 0.0, []
        for argument, buffer in zip(prepared.case.operation.arguments, prepared.buffers, strict=True):
            if argument.role is Role.IN:
                continue
            exact, bound = self.exact[argument.name], self.bounds[argument.name]
            got, unwritten = buffer.view.to(exact.device), buffer.unwritten().to(exact.device)
            result = compare(argument.name, got, exact, bound, buffer.item, unwritten)
            worst = max(worst, result.worst)
            problems += [result.problem] if result.problem else []
        if problems:
            raise WrongResultError("\n".join(problems))
        return worst


def load_launcher(reference: str) -> Launcher:
    """Import ``"package.module:function"``. Raises ``ImportError`` for a module or a function that is not there,
    ``TypeError`` for what is no function."""
    module, _, name = reference.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # something that the module needs
        raise ImportError(f"launcher {reference!r}: there is no module {error.name}") from error
    launcher = getattr(found, name, None)
    if launcher is None:
        raise ImportError(f"launcher {reference!r}: {module} has no {name}")
    if not callable(launcher):
        raise TypeError(f"launcher {reference!r} is not callable")
    return launcher  # type: ignore[no-any-return]


def prepare(case: Case, launcher: Launcher, device: str, values: str, seed: int) -> Prepared:
    """Allocate the case's buffers and fill the inputs with values of one class."""
    buffers, initial = [], {}
    for tag, argument in enumerate(case.operation.arguments):
        buffer = guarded(argument, case, device, tag)
        if argument.role is not Role.OUT:
            data = _data(argument, buffer, values, seed * 16 + tag, device)
            buffer.view.copy_(data)
            initial[argument.name] = data
        buffers.append(buffer)
    return Prepared(case, launcher, buffers, workspaces(case, device), initial)


def _data(argument: Argument, buffer: GuardedBuffer, values: str, seed: int, device: str) -> torch.Tensor:
    extents = tuple(buffer.view.shape)
    if argument.data is not None:
        return argument.data(extents, seed, device)
    kind = values if values in classes(buffer.item) else RANDOM
    return draw(extents, buffer.item, kind, seed, device)


def expect(prepared: Prepared) -> Expectation:
    """Run the operation's reference in float64 (integers: int64) and its tolerance rule."""
    import torch

    case = prepared.case
    inputs = {n: t.to(torch.float64 if t.is_floating_point() else torch.int64) for n, t in prepared.initial.items()}
    exact = case.operation.reference(**inputs, **case.scalars)
    bounds = case.operation.tolerance.bound(Computed(inputs, exact, case.dtype, case.shape.dims, case.depth))
    return Expectation(exact, bounds)


def check(case: Case, launcher: Launcher, device: str, values: str, seed: int, patience: float = 1.0) -> float:
    """Check one case; returns the largest error as a fraction of its bound. ``patience``: as in ``CaseSpec``.

    What is right with random values is run again with whole numbers, where the operation's tolerance is made for them.

    Raises :class:`WrongResultError`, or what the launcher raises (a fault of a CPU checker, a compile error).
    """
    prepared = prepare(case, launcher, device, values, seed)
    reason = case.kernel.rejection(case.shape, case.dtype)
    if reason is not None:
        _expect_rejection(prepared, reason)
        return 0.0
    before = [b.arena.clone() for b in prepared.buffers + prepared.scratch]
    with _instrumented(case, device, seed, patience):
        prepared.launch()
    _synchronize(device)
    _stayed_inside(prepared, before)
    worst = expect(prepared).verify(prepared)
    interpreted = device == "cpu" and case.kernel.backend in ("triton", "cuda")  # slow, and the same every time
    if case.kernel.deterministic and not interpreted:
        _repeats(prepared, device)
    # A library may add up parts in a shorter format, as torch lets cuBLAS do in 16 bits: random values allow for that.
    if values == RANDOM and case.operation.tolerance.whole and not (interpreted or case.kernel.peer):
        _adds_whole_numbers(prepared, seed, device)
    return worst


def _adds_whole_numbers(prepared: Prepared, seed: int, device: str) -> None:
    """A long sum that has lost a part, or all of it, can be within its worst-case bound; one of whole numbers not."""
    arguments = [a for a in prepared.case.operation.arguments if a.role is not Role.OUT]
    if not any(WHOLE in classes(a.element(prepared.case.dtype)) for a in arguments):
        return  # integers are exact as they are
    prepared.refill(WHOLE, seed)
    prepared.launch()
    _synchronize(device)
    try:
        expect(prepared).verify(prepared)
    except WrongResultError as problem:
        raise WrongResultError(f"with whole numbers: {problem}") from None


def _expect_rejection(prepared: Prepared, reason: str) -> None:
    try:
        prepared.launch()
    except ValueError:
        return
    raise WrongResultError(
        f"the kernel declares that it rejects this shape ({reason}), but its launcher raised no ValueError"
    )


def _stayed_inside(prepared: Prepared, before: list[torch.Tensor]) -> None:
    roles = [a.role for a in prepared.case.operation.arguments] + [Role.OUT] * len(prepared.scratch)
    problems = [
        buffer.trespass(old, may_write=role is not Role.IN)
        for buffer, old, role in zip(prepared.buffers + prepared.scratch, before, roles, strict=True)
    ]
    found = [p for p in problems if p]
    if found:
        raise WrongResultError("\n".join(found))


def _repeats(prepared: Prepared, device: str) -> None:
    """A kernel that promises determinism gives the same bits again."""
    first = [b.bits().clone() for b in prepared.buffers]
    prepared.reset()
    prepared.launch()
    _synchronize(device)
    for buffer, old in zip(prepared.buffers, first, strict=True):
        changed = int((buffer.bits() != old).sum())
        if changed:
            raise WrongResultError(
                f"{buffer.name}: {changed} elements differ between two runs on the same input, although the kernel "
                "is declared deterministic"
            )


@contextlib.contextmanager
def _instrumented(case: Case, device: str, seed: int, patience: float) -> Iterator[None]:
    """On a CPU every access of a kernel is checked, and the order of threads and blocks varies with the seed; on a GPU
    the guard zones have to do."""
    if device != "cpu" or case.kernel.peer:
        yield
    elif case.kernel.backend == "triton":
        from pytest_roofline.counting import triton_cpu

        with triton_cpu.checking():
            yield
    elif case.kernel.backend == "cuda":
        from pytest_roofline.counting import cuda_cpu

        order = cuda_cpu.ORDERS[seed % len(cuda_cpu.ORDERS)]
        with cuda_cpu.checking(order=order, seed=seed, patience=patience):
            yield
    else:
        yield


def _synchronize(device: str) -> None:
    if device != "cpu":
        import torch

        torch.cuda.synchronize()
