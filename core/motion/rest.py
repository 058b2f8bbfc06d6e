# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion that ends at rest is optimised as one that stays at rest.

The optimiser's last state is free. What comes after it costs nothing, so over its last frames a body gains by leaning
to where it will never have to stand. Held for a while longer in its last pose it leans only there, where it is cut off.
"""

from dataclasses import replace

import numpy as np
import scipy.optimize

from ..character import Character
from .fit import Trajectory
from .reference import Reference
from .schedule import ContactSchedule
from .tracks import center_of_mass_path

HELD = 1.0  # s: within it a lean falls to a thirtieth
SLOW = 0.15  # m/s of the centre of mass
CALM = 2.0  # rad/s of any joint
ENDING = 0.1  # s at the end that must be so
BESIDE = 0.03  # m that the centre of mass may lie beside what bears it


def ends_at_rest(character: Character, trajectory: Trajectory, schedule: ContactSchedule) -> bool:
    """Whether the motion ends slow, no limb on its way, with its centre of mass over points that bear weight."""
    last = max(2, round(ENDING * trajectory.rate))
    path = center_of_mass_path(character, trajectory.q[-last - 1 :])
    if np.abs(trajectory.v[-last:]).max() > CALM:
        return False
    if len(path) < 2 or np.linalg.norm(np.diff(path, axis=0), axis=1).max() * trajectory.rate > SLOW:
        return False
    places = schedule.place[-1][schedule.active[-1], :2]
    if len(places) == 0:
        return False
    # the nearest mean of the places with weights that are not negative, and that add up to one
    system = np.vstack((places.T, np.full(len(places), 1e3)))
    share, _ = scipy.optimize.nnls(system, np.append(path[-1, :2], 1e3))
    return float(np.linalg.norm(share @ places - path[-1, :2])) < BESIDE


def held(trajectory: Trajectory, schedule: ContactSchedule) -> tuple[Trajectory, ContactSchedule]:
    """The motion and its contacts, and then its last pose for a while."""
    more = round(HELD * trajectory.rate)
    frames = np.minimum(np.arange(len(trajectory.q) + more), len(trajectory.q) - 1)
    v = np.concatenate((trajectory.v, np.zeros((more, trajectory.v.shape[1]))))
    longer = ContactSchedule(schedule.points, schedule.active[frames], schedule.place[frames])
    return replace(trajectory, q=trajectory.q[frames], v=v), longer


def without_rest(reference: Reference, frames: int) -> Reference:
    """The first frames of a reference; the figures of its quality remain those of all."""
    quality = reference.quality
    steps = frames - 1
    return replace(
        reference,
        q=reference.q[:frames],
        v=reference.v[:frames],
        torque=reference.torque[:steps],
        schedule=reference.schedule.cut(0, frames),
        normal=reference.normal[:frames],
        carrying=reference.carrying[:steps],
        force=reference.force[:steps],
        outside=reference.outside.lasting(frames) if reference.outside.points else reference.outside,
        quality=replace(quality, joint_change=quality.joint_change[:frames], root_change=quality.root_change[:frames]),
    )
