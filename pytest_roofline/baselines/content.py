"""What a baseline holds, and what makes two environments comparable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pytest_roofline.baselines.counted import Counted
from pytest_roofline.devices.identify import match
from pytest_roofline.evidence import Environment, Timing, same_code
from pytest_roofline.statistics import Summary, summarise

SCHEMA = 1
OTHER_KERNEL = (
    0.1  # of ln(seconds); starts of a machine differ by less, so that a run further off measured another kernel
)
FINGERPRINT = ("device", "driver", "cuda", "sm_count", "ecc", "mig", "power_limit_w", "max_sm_clock_mhz")
TOOLCHAIN = ("torch", "triton", "cupy")
HOST_TIMED = frozenset({"host_clock", "transfer"})  # protocols whose times are those of the host and of its bus


class BaselineError(ValueError):
    """A baseline cannot be used; the message names the file, the place and what to do."""


@dataclass(frozen=True)
class Run:
    """One case in one campaign: the summary of its samples and how they were taken. Seconds throughout.

    ``code`` is a digest of the machine code and its launch configuration, where it is known, ``clock_mhz`` the SM clock
    under the kernel, ``launch_floor`` what an empty launch took in that process, ``date`` when it was stored (ISO).
    """

    log_mean: float
    quantiles: tuple[float, ...]
    count: int
    launches: int
    copies: int
    protocol: str
    gap: float | None
    kernel: float | None = None
    host: float | None = None
    sm_clock_mhz: tuple[int, int] | None = None
    memory_clock_mhz: tuple[int, int] | None = None
    power_w: tuple[float, float] | None = None
    temperature_c: tuple[int, int] | None = None
    throttle_reasons: tuple[str, ...] = ()
    code: str | None = None
    clock_mhz: float | None = None
    launch_floor: float | None = None
    date: str = ""

    @property
    def summary(self) -> Summary:
        """What comparisons use. Raises ``ValueError`` for numbers that no samples can have."""
        limited = "SwPowerCap" in self.throttle_reasons
        return Summary(self.log_mean, self.quantiles, self.count, limited, self.clock_mhz)


@dataclass(frozen=True)
class Noise:
    """How much an unchanged kernel differs from itself: ln(b / a) of pairs in turn, one number per fresh process."""

    differences: tuple[float, ...]
    seconds: float
    code: str | None = None
    power_limited: bool = False


@dataclass(frozen=True)
class Published:
    """A figure somebody published, on an exact variant of a card (``device`` is a record's key).

    ``value`` and ``unit`` are what was printed; ``seconds`` is the same as a time where it can be converted, and
    ``formula`` says how.
    """

    device: str
    metric: str
    value: float
    unit: str
    seconds: float | None
    formula: str
    implementation: str
    source: str
    method: str
    confidence: str


@dataclass
class Baseline:
    """The content of one file, or what shall be merged into it: there ``superseded`` names the campaigns of a case that
    measured another kernel, and go."""

    device: str
    operation: str
    campaigns: dict[str, Environment] = field(default_factory=dict)
    measured: dict[str, dict[str, Run]] = field(default_factory=dict)
    published: dict[str, list[Published]] = field(default_factory=dict)
    counted: Counted | None = None
    noise: dict[str, dict[str, Noise]] = field(default_factory=dict)
    superseded: dict[str, set[str]] = field(default_factory=dict)

    def case_ids(self) -> set[str]:
        """Every timed case that anything is stored for."""
        return {*self.measured, *self.published}

    def drop_unused_campaigns(self) -> None:
        """Forget campaigns that no time and no noise is from."""
        used = {name for cases in (self.measured, self.noise) for runs in cases.values() for name in runs}
        self.campaigns = {name: found for name, found in self.campaigns.items() if name in used}


def run_of(timing: Timing, date: str = "") -> Run:
    """What is stored of a timing. Raises ``ValueError`` if its samples have no summary."""
    summary, state = summarise(timing.samples), timing.telemetry
    return Run(
        log_mean=summary.log_mean,
        quantiles=summary.quantiles,
        count=summary.count,
        launches=timing.launches,
        copies=timing.copies,
        protocol=timing.protocol,
        gap=timing.gap,
        kernel=timing.kernel,
        host=timing.host,
        sm_clock_mhz=state.sm_clock_mhz,
        memory_clock_mhz=state.memory_clock_mhz,
        power_w=state.power_w,
        temperature_c=state.temperature_c,
        throttle_reasons=state.throttle_reasons,
        code=timing.code,
        clock_mhz=state.clock_mhz,
        launch_floor=timing.launch_floor,
        date=date,
    )


def latest(runs: Mapping[str, Run]) -> Run:
    """The run stored last. Where no dates were stored, one whose code is known, then the name of the campaign decides.

    Raises ``ValueError`` without a run.
    """
    return runs[max(runs, key=lambda name: (runs[name].date, runs[name].code is not None, name))]


def of_one_kernel(runs: Mapping[str, Run]) -> dict[str, Run]:
    """The runs that measured the machine code of the latest one; where a code is not known, those within 10 % of it."""
    if not runs:
        return {}
    last = latest(runs)

    def alike(run: Run) -> bool:
        if run.code is not None and last.code is not None:
            return same_code(run.code, last.code)
        return abs(run.log_mean - last.log_mean) < OTHER_KERNEL

    return {name: run for name, run in runs.items() if alike(run)}


def campaign_id(environment: Environment, date: str) -> str:
    """Name of a campaign: day, start of the machine, card and fingerprint.

    A repetition replaces itself; another driver or toolchain on the same start is another campaign, so that no run is
    ever filed under an environment that it was not measured in.
    """
    fingerprint = [getattr(environment, name) for name in FINGERPRINT]
    fingerprint += [environment.packages.get(name) for name in TOOLCHAIN]
    digest = hashlib.sha256(json.dumps(fingerprint).encode()).hexdigest()
    parts = [date[:10], environment.machine[:8] or "unknown", environment.gpu[:6], digest[:6]]
    return ".".join(filter(None, parts))


def start_of(campaign: str) -> str:
    """The start of the machine in a campaign's name; with the day, where the start is not known."""
    parts = campaign.split(".")
    return ".".join(parts[:2]) if parts[1:2] == ["unknown"] else next(iter(parts[1:2]), campaign)


def another_host(protocol: str, environment: Environment, campaigns: Iterable[str]) -> bool:
    """Whether what was timed is the host, on another machine than all of those campaigns, or on another start of it.

    The same launches took 33 to 47 % longer on one host than on another with the same GPU, pageable copies 10 to 22 %.
    """
    here = environment.machine[:8]
    elsewhere = all(name.split(".")[1:2] != [here] for name in campaigns)
    return protocol in HOST_TIMED and bool(here) and elsewhere


def device_key(environment: Environment) -> str:
    """The folder of a device: its record's key, or a name made from the driver's for a GPU without one."""
    record = match(environment.device, environment.sm_count)
    return record.key if record else "_".join(environment.device.lower().replace("-", " ").split())


def differences(stored: Environment, here: Environment) -> list[str]:
    """What else than the kernel changed between two environments, in plain words."""
    found = [
        f"{name} {getattr(stored, name)} -> {getattr(here, name)}"
        for name in FINGERPRINT
        if getattr(stored, name) != getattr(here, name)
    ]
    for name in TOOLCHAIN:
        before, now = stored.packages.get(name), here.packages.get(name)
        if before != now:
            found.append(f"{name} {before} -> {now}")
    return found
