# SPDX-License-Identifier: GPL-3.0-or-later
"""How a motion that ends on its way would go on: as it did before, from the frame that its end is most like.

A plan in a hurry is through with the motion before the bake is over. Who walks then walks on, rather than freezing in
the middle of a step; and steps that catch a push shortly before the end have somewhere to lead.
"""

import math

import numpy as np

from ...dynamics import center_of_mass_jacobian
from ...motion.cycles import compare
from ...motion.fit import Trajectory
from ...motion.reference import Reference
from ..lookahead.lookahead import Onward

MOVING = 0.3  # m/s of the centre of mass, from which on a motion ends on its way
LEAST = 0.4  # s that it goes on for, before its end comes again
UNLIKE = math.radians(12.0)  # RMS: twice what a cycle may lack to close, since a plan leads over it
EQUAL = 1e-3  # rad and m RMS: of frames as like as that, the latest


def going_on(reference: Reference) -> Onward | None:
    """From where; None where the motion ends at rest, or was never before as it is at its end."""
    character, rate = reference.character, reference.rate
    last = len(reference.q) - 1
    speed = center_of_mass_jacobian(character, reference.q[last]) @ reference.v[last]
    if reference.cycle is not None or character.bodies[0].joint.kind != "free" or np.hypot(*speed[:2]) < MOVING:
        return None
    feet = np.array([point.foot for point in reference.schedule.points])
    active = reference.schedule.active[:, feet]
    level = reference.q.copy()
    level[:, 2] = 0.0  # stairs go on, too
    poses = Trajectory(rate, level, reference.v)
    frames = np.flatnonzero((active[: max(0, last - round(LEAST * rate))] == active[last]).all(axis=1)).tolist()
    alike = [compare(character, poses, k, last) for k in frames]
    if not alike:
        return None
    least = min(one.distance for one in alike)
    best = [one for one in alike if one.distance < least + EQUAL][-1]
    if best.pose > UNLIKE:
        return None
    rise = float(reference.q[last, 2] - reference.q[best.start, 2])
    return Onward(last, best.start, best.step, rise)
