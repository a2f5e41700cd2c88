"""What one pytest session knows: options, device, catalogue, baselines, and the results so far."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_roofline import assembler
from pytest_roofline.against import AgainstError, Revision, revision
from pytest_roofline.baselines import ARCHITECTURES, Baseline, BaselineError, Store
from pytest_roofline.cases import Cases
from pytest_roofline.contract import Case
from pytest_roofline.discovery import Catalogue, discover
from pytest_roofline.evidence import CaseSpec, Evidence
from pytest_roofline.judging import Judge, Row
from pytest_roofline.options import Options
from pytest_roofline.retest.deferral import Deferred
from pytest_roofline.verdict import Verdict

if TYPE_CHECKING:
    from pytest_roofline.against.counts import OldCounts
    from pytest_roofline.counters.session import Profiled
    from pytest_roofline.gate import Gate
    from pytest_roofline.runs.session import RunKeeper


@dataclass
class State:
    """Built once per session in ``pytest_configure``; everything expensive is computed when first asked for."""

    options: Options
    root: Path
    rows: list[Row] = field(default_factory=list)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    collected: set[str] = field(default_factory=set)  # operations that this run has tests of
    selected: set[str] = field(default_factory=set)  # cases that a benchmark run has tests of
    complete: bool = False  # whether those are all timed cases of the catalogue
    unavailable: dict[str, str] = field(default_factory=dict)  # timed cases that this machine cannot run, and why
    accounted: set[str] = field(default_factory=set)  # cases whose own report says why they have no result
    missing: dict[str, Verdict] = field(default_factory=dict)  # cases that nothing accounts for
    deferred: Deferred = field(default_factory=Deferred)
    told: list[str] = field(default_factory=list)  # about the run as a whole
    failures: list[str] = field(default_factory=list)  # what only the run as a whole shows
    told_benchmark: dict[str, dict[str, object]] = field(default_factory=dict)  # what its file says about a case

    @cached_property
    def interpreting(self) -> bool:
        """Whether the user asks for Triton's interpreter; read before this session switches it on itself."""
        return os.environ.get("TRITON_INTERPRET") == "1"

    @cached_property
    def device(self) -> str:
        """``"gpu"`` or ``"cpu"``: where kernels run in this session.

        Raises ``pytest.UsageError`` for ``--roofline-on=gpu`` on a machine without a GPU.
        """
        wanted = self.options.device
        if (wanted == "auto" and self.interpreting) or wanted == "cpu":
            return "cpu"
        import pytest_roofline.devices.identify as identify

        if identify.gpu_count():
            return "gpu"
        if wanted == "gpu":
            raise pytest.UsageError(f"--roofline-on=gpu, but there is no GPU here: {identify.why_none()}")
        return "cpu"

    @cached_property
    def catalogue(self) -> Catalogue:
        """All operations of the project. Raises ``pytest.UsageError`` for a directory that does not exist."""
        try:
            return discover(self.root, self.options.operations)
        except NotADirectoryError as error:
            raise pytest.UsageError(str(error)) from error

    @cached_property
    def cases(self) -> Cases:
        """Which of their cases this session runs."""
        return Cases(self.catalogue, self.options, self.device == "gpu")

    @cached_property
    def store(self) -> Store:
        """The folder of baselines."""
        return Store(self.options.baselines)

    @cached_property
    def gate(self) -> Gate:
        """Counts instead of times, without a GPU; starts the process that compiles."""
        from pytest_roofline.counting.compiled.client import Compiler
        from pytest_roofline.gate import Gate

        device = self.options.counted_for
        return Gate(self.store, Compiler(ARCHITECTURES[device], [str(self.root)]), device)

    @cached_property
    def counters(self) -> Profiled:
        """Hardware counters of the cases that ``--roofline-ncu`` chose. The first to ask pays for the profile, in a
        process of its own: nothing may be timed after that in this session."""
        from pytest_roofline import worker
        from pytest_roofline.counters.session import profiled

        if self.options.ncu:
            worker.free_memory()  # the profiled process allocates the cases once more
        return profiled(self.rows, self.options.ncu, self.spec)

    @cached_property
    def keeper(self) -> RunKeeper:
        """The record of this run, and its file where one was asked for."""
        from pytest_roofline.runs.session import RunKeeper

        return RunKeeper(self)

    @cached_property
    def old(self) -> Revision | None:
        """The version that ``--roofline-against`` names. Raises ``pytest.UsageError`` for one that cannot be used."""
        wanted = self.options.retest.against
        if wanted is None:
            return None
        try:
            found = revision(wanted, self.root, self.options.baselines)
        except AgainstError as error:
            raise pytest.UsageError(f"--roofline-against: {error}") from error
        for folder in self.options.operations:
            if not (found.root / folder).is_dir():
                raise pytest.UsageError(f"--roofline-against: {found.name} has no {folder}, where operations are")
        return found

    @cached_property
    def old_counts(self) -> OldCounts | None:
        """What counts the kernels of that version; starts another process that compiles."""
        if self.old is None:
            return None
        from pytest_roofline.against.counts import OldCounts
        from pytest_roofline.counting.compiled.client import Compiler

        return OldCounts(str(self.old.root), Compiler(self.gate.compiler.arch, [str(self.root)]))

    def close(self) -> None:
        """End the process that compiles, where one was started, and remove what was exported from git."""
        if self.__dict__.get("old") is not None:
            vars(self)["old"].close()
        if "gate" in vars(self):
            self.gate.compiler.close()
        if vars(self).get("old_counts") is not None:
            vars(self)["old_counts"].compiler.close()

    @cached_property
    def judge(self) -> Judge:
        """The judge of this GPU. Raises ``pytest.UsageError`` for ceilings that cannot be used."""
        from pytest_roofline.devices import ceilings, identify
        from pytest_roofline.timing import environment

        here = environment()
        record = identify.match(here.device, here.sm_count)
        measured = None
        try:
            if self.options.ceilings == "measure":
                from pytest_roofline.devices.measure_ceilings import measure

                measured = measure()
                ceilings.save(measured)
            elif self.options.ceilings == "cached":
                measured = ceilings.load(here)
        except ceilings.CeilingsError as error:
            raise pytest.UsageError(str(error)) from error
        return Judge(self.store, record, measured)

    @cached_property
    def baselines(self) -> list[Baseline]:
        """Every stored baseline, as it was when the run began. Raises ``pytest.UsageError`` for the first that cannot
        be used."""
        try:
            return [baseline for device in self.store.devices() for baseline in self.store.load_all(device)]
        except BaselineError as error:
            raise pytest.UsageError(str(error)) from error

    def verify(self) -> None:
        """See that the operations' directories and the cases asked for exist. Raises ``pytest.UsageError``."""
        if self.options.operations:
            for case in self.cases.named():
                self.cases.verify_bearable(case)
            self.catalogue  # noqa: B018  (loaded here, so that a wrong directory stops the run)
            self.old  # noqa: B018  (the same for a ref that does not exist)
            if self.device == "gpu":
                _require_cuda_torch()
                if self.options.timing:
                    assembler.settle()
            elif self.options.ceilings == "measure":
                raise pytest.UsageError("--roofline-ceilings=measure needs a GPU, and none is used here")
            elif self.options.ncu:
                raise pytest.UsageError("--roofline-ncu reads the counters of a GPU, and none is used here")
        elif self.options.cases:
            raise pytest.UsageError("--roofline-case: there are no operations, roofline_operations is empty")

    def prepare_interpreter(self) -> None:
        """Without a GPU Triton must know that it interprets before anything imports it."""
        if self.device == "cpu" and "triton" not in sys.modules:
            os.environ["TRITON_INTERPRET"] = "1"

    def spec(
        self, case: Case, values: str = "random", seed: int = 0, *, time: bool = False, count: bool = False
    ) -> CaseSpec:
        """The order to the worker for one case."""
        module = self.catalogue.operation(case.operation.name).module
        device = "cuda" if self.device == "gpu" else "cpu"
        spec = CaseSpec(str(case), module, (str(self.root),), device, values, seed, time, self.options.effort, count)
        slowdown = self.options.retest.slowdown(str(case)) if time else 0.0
        return replace(spec, slowdown=slowdown, compile_only=count and self.cases.compile_only(case))

    def run(self, spec: CaseSpec) -> Evidence:
        """Run an order, in this process or in one of its own as the options say."""
        from pytest_roofline import worker

        found = worker.run_spawned(spec, self.options.timeout) if self.options.spawn else worker.run(spec)
        # A report or a run file that is handed on names no folder of this machine.
        return replace(found, detail=found.detail.replace(f"{self.root}{os.sep}", ""))


def _require_cuda_torch() -> None:
    """Raise ``pytest.UsageError`` where the driver has a GPU that torch cannot use: nothing would run."""
    import torch

    if not torch.cuda.is_available():
        build = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
        raise pytest.UsageError(
            f"there is a GPU here, but torch {torch.__version__} ({build}) cannot use it: install a build that fits "
            "the driver, or run on the CPU with --roofline-on=cpu"
        )


KEY = pytest.StashKey[State]()
