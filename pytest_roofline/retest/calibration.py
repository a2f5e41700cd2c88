"""Store what pairs of unchanged kernels showed: the noise of each case on this device."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from pytest_roofline.baselines import Baseline, Noise, Store, campaign_id, device_key
from pytest_roofline.evidence import Environment
from pytest_roofline.retest.pairs import Found


def store(baselines: Store, environment: Environment, found: Mapping[str, Found]) -> list[str]:
    """Put the differences into the files of the device; returns lines that say what was written and what was not."""
    date = datetime.datetime.now(datetime.timezone.utc).isoformat()
    device, campaign = device_key(environment), campaign_id(environment, date)
    files: dict[str, Baseline] = {}
    told = []
    for case, one in found.items():
        if len(one.differences) < 2:
            detail = one.problem.detail if one.problem else "too few measurements"
            told.append(f"calibration: {case}: {detail}")
            continue
        operation = case.split("/")[0]
        file = files.setdefault(operation, Baseline(device, operation, {campaign: environment}))
        file.noise[case] = {campaign: Noise(tuple(one.differences), one.seconds, one.code, one.power_limited)}
    for file in files.values():
        told.append(f"calibration: stored the noise of {len(file.noise)} cases in {baselines.save(file)}")
    return told
