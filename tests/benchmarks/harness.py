# SPDX-License-Identifier: GPL-3.0-or-later
"""Timing for `run.py bench`: medians and 99th percentiles, always beside a reference from the same run."""

import gc
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table: what was measured, and the reference it is compared with (None where there is none)."""

    name: str
    median_us: float
    p99_us: float
    reference: str | None = None
    reference_us: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the reference's median this takes."""
        return self.median_us / self.reference_us if self.reference_us else None


def measure(function: Callable[[], object], seconds: float = 0.5) -> tuple[float, float]:
    """Median and 99th percentile of one call in microseconds, over as many calls as fit into `seconds`.

    A call shorter than the clock can tell is timed in batches of about 20 microseconds; the percentile is then that of
    the batches' means.
    """
    function()
    start = time.perf_counter()
    function()
    once = max(time.perf_counter() - start, 1e-9)
    batch = max(1, round(20e-6 / once))
    samples = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        end = time.perf_counter() + seconds
        while (start := time.perf_counter()) < end or len(samples) < 3:
            for _ in range(batch):
                function()
            samples.append((time.perf_counter() - start) / batch * 1e6)
    finally:
        if collecting:
            gc.enable()
    samples.sort()
    return statistics.median(samples), samples[min(len(samples) - 1, int(0.99 * len(samples)))]
