# SPDX-License-Identifier: GPL-3.0-or-later
"""How well the captured clips fit their characters: a table, printed by `python -m tests.studies.fit`."""

import sys
import time
from collections.abc import Iterator
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


def main() -> int:
    """Print both tables."""
    if not GOOD:
        sys.stderr.write("The motion capture clips are not beside the checkout.\n")
        return 1
    for detail in ("simple", "full"):
        heading = (
            "clip",
            "nv",
            "H m",
            "rms °",
            "ends cm",
            "worst",
            "back °",
            "back mm",
            "floor cm",
            "tilt °",
            "ms/frame",
        )
        sys.stdout.write(f"\n{detail}\n{heading[0]:36}" + "".join(f"{word:>10}" for word in heading[1:]) + "\n")
        for row in rows(detail):
            if isinstance(row, str):
                sys.stdout.write(row + "\n")
                continue
            sys.stdout.write(f"{row.clip:36}" + "".join(f"{value:10.3g}" for value in row[1:]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
