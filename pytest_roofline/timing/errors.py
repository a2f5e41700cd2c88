"""Why a case could not be timed."""

from __future__ import annotations


class TimingUnavailable(RuntimeError):  # noqa: N818  (a state of the machine, not a mistake)
    """This machine cannot time kernels; the message is the reason of a skip."""


class Throttled(RuntimeError):  # noqa: N818  (a state of the GPU, not a mistake)
    """The GPU throttled in every attempt, so the samples say nothing about the kernel."""


class NotCapturable(RuntimeError):  # noqa: N818
    """A launcher cannot be captured into a CUDA graph."""


class AllocatedWhileTimed(RuntimeError):  # noqa: N818
    """A launcher allocates memory inside the timed bracket."""
