"""Why a case could not be timed."""

from __future__ import annotations

from pytest_roofline.evidence import Telemetry


class TimingUnavailable(RuntimeError):  # noqa: N818  (a state of the machine, not a mistake)
    """This machine cannot time kernels; the message is the reason of a skip."""


class Throttled(RuntimeError):  # noqa: N818  (a state of the GPU, not a mistake)
    """The GPU throttled in every attempt, so the samples say nothing about the kernel.

    ``samples`` (seconds per launch) are what was measured all the same, ``reasons`` why it does not count.
    """

    def __init__(self, message: str, samples: tuple[float, ...], reasons: tuple[str, ...]) -> None:
        super().__init__(message)
        self.samples = samples
        self.reasons = reasons
        self.telemetry = Telemetry(throttle_reasons=reasons)


class NotCapturable(RuntimeError):  # noqa: N818
    """A launcher cannot be captured into a CUDA graph."""


class AllocatedWhileTimed(RuntimeError):  # noqa: N818
    """A launcher allocates memory inside the timed bracket."""


class HoldExpired(RuntimeError):  # noqa: N818
    """The host did not release the held stream in time, so the reading contains the wait."""
