"""Summaries, the screen against stored campaigns, the paired retest, and their power. Pure: plain numbers in and out.

One run's samples say how much the clock jitters, not how much another run would differ: between-run differences are up
to ten times larger, so intervals come from campaigns and processes, never from the samples of one run.
"""

from pytest_roofline.statistics.summaries import MINIMAL, QUANTILES, Change, Summary, alarm, middle, quantile, summarise

__all__ = ["MINIMAL", "QUANTILES", "Change", "Summary", "alarm", "middle", "quantile", "summarise"]
