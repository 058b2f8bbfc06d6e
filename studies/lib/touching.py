# SPDX-License-Identifier: GPL-3.0-or-later
"""What studies of two who touch have in common: noise for both, and how deep they were in each other."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from heft.core.job import BakeResult, CompanyJob, run_together

NOISE, SEEDS = 0.05, 5  # m/s and rad/s, on every velocity at the start
DEEP = (r"([\d.]+) mm deep at most", r"begins up to ([\d.]+) mm inside")


def deepest(result: BakeResult) -> float:
    """How deep another was in it, mm, as its notes tell: by contacts, and as the two begin."""
    found = [re.search(pattern, note) for note in result.report["notes"] for pattern in DEEP]
    return max((float(one.group(1)) for one in found if one is not None), default=0.0)


def noisy(company: CompanyJob, seed: int) -> CompanyJob:
    """The same with noise at the start, another for each."""
    jobs = (replace(job, noise=NOISE, seed=2 * seed + k) for k, job in enumerate(company.jobs))
    return replace(company, jobs=tuple(jobs))


def steady(company: CompanyJob, cache: str) -> int:
    """In how many of the bakes with noise all stay up."""
    count = 0
    for seed in range(SEEDS):
        answers = run_together(noisy(company, seed), cache=cache)
        count += all(isinstance(one, BakeResult) and one.outcome == "completed" for one in answers)
    return count


def figures(pair: Sequence[BakeResult], stays: int) -> dict[str, Any]:
    """What a row says of two who were baked together, and stay up in so many of the bakes with noise."""
    return {
        "why": "",
        "up": [one.outcome for one in pair],
        "steady": stays,
        "off": [one.report["source_error_mm"] for one in pair],
        "help": [100.0 * one.report["help_mean"] for one in pair],
        "slide": [1000.0 * one.report["max_foot_slide_m"] for one in pair],
        "deepest": max(deepest(one) for one in pair),
    }


def cells(found: dict[str, Any]) -> str:
    """Of a line of a table: who is up, how often with noise, how far off, with how much help, how deep, how near."""
    off, helped, slide, hands = (
        ", ".join(f"{value:.1f}" for value in found[name]) for name in ("off", "help", "slide", "hands")
    )
    return (
        f"{', '.join(found['up'])} | {found['steady']} of {SEEDS} | {off} | {helped} | {slide} | "
        f"{found['deepest']:.1f} | {hands}"
    )
