# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions that several studies follow: a walk made of key poses, a captured run, either on other ground."""

from functools import cache

import numpy as np
from heft.core.character import Character
from heft.core.contact.terrain import Mesh, make_terrain
from heft.core.motion import spacetime
from heft.core.motion.fit import Trajectory
from heft.core.motion.footholds import clear_of_edges
from heft.core.motion.make_reference import OtherGround, make_reference
from heft.core.motion.reference import Reference
from heft.core.motion.spacetime import Ends, build_reference

from tests.core.motion.skeletons import GOOD
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured

STRIDE = 1.1
TURN = np.radians(45.0)


@cache
def walking(turn: float = 0.0, stride: float = STRIDE, frames: int = 132, *, lifted: bool = False) -> Reference:
    motion = motions.walk(turn=turn, stride=stride, frames=frames, points_of=motions.corners)
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    settings = clear_of_edges(spacetime.Settings()) if lifted else None
    bounds = Ends(cycle=motion.cycle)
    return build_reference(motion.character, trajectory, motion.schedule, bounds=bounds, settings=settings)


@cache
def running() -> Reference | None:
    """A captured one: nothing made by a few lines runs."""
    return make_reference(*captured("35_17"), cyclic=True).reference if GOOD else None


def put_on(motion: tuple[Character, Trajectory], surfaces: tuple[Mesh, ...], seconds: float) -> Reference:
    """A cycle of the motion on other ground, as a bake puts it there."""
    onto = OtherGround(make_terrain(surfaces), seconds=seconds)
    return make_reference(*motion, cyclic=True, onto=onto).reference
