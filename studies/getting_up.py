# SPDX-License-Identifier: GPL-3.0-or-later
"""Who falls from random pushes gets up again: how many do, with how much help, and whether they walk on."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.control.loop import follow
from heft.core.control.recovery import GettingUp
from heft.core.report import metrics
from heft.core.simulation.outcome import Simulation
from heft.studies.falls import GROUNDS, WALKS, thrown
from heft.studies.lib.journal import Journal
from heft.studies.lib.pushed import Pushed

from tests.core.motion.skeletons import CLIPS, GOOD

A_PART, PARTS = 5, 4  # falls that are kept together; parts of each ground
SECONDS = 16.0


class Risen(NamedTuple):
    """What became of a fall."""

    number: int
    tried: bool
    up: bool  # it came back into the walk
    stays: bool  # and did not fall again
    seconds: float  # from the ground to the walk
    help: float  # share of the weight, mean over that time
    most: float  # of it
    planning: float  # s of computation of the whole simulation


def risen(ground: str, number: int, *, helped: bool = True) -> tuple[Pushed, Simulation]:
    """A random push, and what comes after it."""
    pushed, stage = thrown(ground, number)
    stage = replace(stage, seconds=SECONDS, gets_up=True, helped=helped)
    pushed.controller.seek()
    follower = GettingUp(pushed.controller, pushed.controller, pushed.reference, stage)
    return pushed, follow(follower, stage.world(), stage, lambda *_: True)


def measured(ground: str, number: int) -> Risen | None:
    """None if it stays up."""
    begun = time.process_time()
    _, simulation = risen(ground, number)
    if simulation.lost is None and not simulation.falls:
        return None
    when = {one.what: one.time for one in reversed(simulation.recoveries)}  # the first of each
    tried, up = "rises" in when, "up" in when
    rate = simulation.recording.rate
    first = round(when.get("rises", 0.0) * rate)
    last = round(when["up"] * rate) if up else simulation.recording.steps
    share = metrics.help_shares(simulation)[first:last] if tried else np.zeros(1)
    return Risen(
        number,
        tried,
        up,
        up and simulation.lost is None and len(simulation.falls) == 1,
        (last - first) / rate,
        float(share.mean()),
        float(share.max()),
        time.process_time() - begun,
    )


def part(ground: str, first: int) -> list[Risen]:
    """Of those that fall of so many pushes."""
    found = (measured(ground, number) for number in range(first, first + A_PART))
    return [one for one in found if one is not None]


def line(ground: str, found: Sequence[Risen]) -> str:
    """A row of the page."""
    tried, up = [one for one in found if one.tried], [one for one in found if one.up]
    help_mean, most, seconds = (np.array([getattr(one, name) for one in up]) for name in ("help", "most", "seconds"))
    return (
        f"| {ground} | {len(found)} | {len(tried)} | {len(up)} | {sum(one.stays for one in up)} "
        f"| {np.median(seconds):.1f} | {100.0 * np.median(help_mean):.0f} % | {100.0 * help_mean.max():.0f} % "
        f"| {100.0 * np.median(most):.0f} % | {np.median([one.planning for one in found]):.1f} |"
    )


def study(folder: Path) -> str:
    """The page; what was found already is kept in out/studies. No part is begun after HEFT_STUDY_SECONDS."""
    del folder
    if not GOOD:
        return f"# Getting up\n\nThe clips are not at {CLIPS}.\n"
    journal = Journal.of("getting_up")
    end = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    found: dict[str, list[Risen]] = {ground: [] for ground in GROUNDS}
    for k in range(PARTS):
        for ground, risings in found.items():
            question = f"{ground} {k}"
            if time.monotonic() < end or journal.knows(question):
                risings += [Risen(*one) for one in journal.find(question, partial(part, ground, k * A_PART))]
    page = [INTRODUCTION.rstrip("\n"), *(line(ground, one) for ground, one in found.items() if any(x.up for x in one))]
    return "\n".join(page) + "\n"


INTRODUCTION = f"""# Getting up

{" and ".join(WALKS)}, captured walks as cycles under look-ahead control without recovery, fall from the pushes of [falls](falls.md), with
Get Up switched on. Each is followed for {SECONDS:g} s. *Tried* counts those that lay still and for whom a way up was found,
*up* those that came back into the walk, *walk on* those of them that did not fall again. Help is a share of the weight,
from the first movement to the walk: the median of its means, the largest, and the median of its peaks. Written by
`run.py study getting_up`.

| ground | falls | tried | up | walk on | s until it walks | help, mean: median | most | peak: median | s of computation, median |
|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501
