"""Accepted results: ``baselines/<device>/<operation>.json``, summaries with provenance, never raw samples.

A *campaign* is one pass of the suite on one start of a machine; its environment is stored once and its runs refer to
it. Measured and published figures stand in blocks of their own and are never compared as if they were the same.
"""

from pytest_roofline.baselines.content import (
    Baseline,
    BaselineError,
    Noise,
    Published,
    Run,
    another_host,
    campaign_id,
    device_key,
    differences,
    latest,
    run_of,
    start_of,
)
from pytest_roofline.baselines.counted import ARCHITECTURES, RECORDS, Counted, CountedCase, counted_for
from pytest_roofline.baselines.past import Past, past
from pytest_roofline.baselines.reading import read
from pytest_roofline.baselines.store import Store, render

__all__ = [
    "ARCHITECTURES",
    "RECORDS",
    "Baseline",
    "BaselineError",
    "Counted",
    "CountedCase",
    "Noise",
    "Past",
    "Published",
    "Run",
    "Store",
    "another_host",
    "campaign_id",
    "counted_for",
    "device_key",
    "differences",
    "latest",
    "past",
    "read",
    "render",
    "run_of",
    "start_of",
]
