# SPDX-License-Identifier: GPL-3.0-or-later
"""How well the captured clips fit their characters."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.motion import quaternions
from heft.core.motion.bvh import read_bvh
from heft.core.motion.damage import DamagedClip
from heft.core.motion.fit import fit
from heft.core.motion.lay_back import lay_back
from heft.core.motion.parts import Detail
from heft.core.motion.prepare import prepare

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, DAMAGED, GOOD

HEAD = (
    *("clip", "freedoms", "stature, m", "turn RMS, °", "ends RMS, cm", "ends worst, cm", "back, °", "back, mm"),
    *("floor, cm", "tilt, °", "ms a frame"),
)
INTRODUCTION = """# Fit of captured clips

Each captured clip, good and damaged, on the character made from it, with defaults. Turn: RMS over all joints and
frames. Ends: positions of hands and feet. Back: the largest difference when the fit is transferred back to the clip.
Written by `run.py study fit`.
"""


class Row(NamedTuple):
    """One clip on one character."""

    clip: str
    freedoms: int
    stature: float  # m
    turn: float  # RMS, degrees
    ends: float  # RMS of hands and feet, cm
    ends_worst: float  # cm
    back_turn: float  # of the round trip, degrees
    back_place: float  # mm
    floor: float  # cm
    tilt: float  # degrees
    fit_time: float  # ms a frame


def rows(detail: Detail) -> Iterator[Row | str]:
    """A row for every good clip, and the refusal of every damaged one that is refused."""
    for path in [*GOOD, *sorted(DAMAGED.glob("*.bvh"))]:
        try:
            found = prepare(read_bvh(path, CMU_UNIT), CMU_ROLES, detail=detail)
        except DamagedClip as refusal:
            yield f"{path.stem}: {refusal}"
            continue
        start = time.perf_counter()
        fit(found.plan, found.clip)
        seconds = time.perf_counter() - start
        back = lay_back(found.plan, found.trajectory, found.residuals)
        yield Row(
            path.stem,
            found.plan.character.nv,
            found.plan.stature,
            np.degrees(found.error.turn_rms),
            100.0 * found.error.ends_rms,
            100.0 * found.error.ends_worst,
            np.degrees(quaternions.angle(back.orientation, found.clip.orientation).max()),
            1000.0 * np.abs(back.position - found.clip.position).max(),
            100.0 * found.floor.height,
            np.degrees(found.floor.tilt),
            1000.0 * seconds / len(found.clip.position),
        )


def study(_folder: Path) -> str:
    """The page: a table for either kind of character."""
    page = [INTRODUCTION]
    for detail in ("simple", "full"):
        page += [f"## {detail.capitalize()} characters", "", f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
        for row in rows(detail):
            cells = (
                [row, *[""] * (len(HEAD) - 1)]
                if isinstance(row, str)
                else [row.clip, *(f"{value:.3g}" for value in row[1:])]
            )
            page.append(f"| {' | '.join(cells)} |")
        page.append("")
    return "\n".join(page)
