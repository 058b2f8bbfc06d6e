# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept as it is keyed, put onto its contacts: the optimiser would do that, but it has no say in it.

A motion is asked for with the clip's own root, from which clean-up had moved it to plant the feet. So it hovers and
skates by as much as that. Here it is slowly raised or lowered to its contacts, its legs reach for the places of its
feet, velocities that no force brings about within a frame are filtered out, and what is in the ground is lifted.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from ...character import Character
from ...contact.terrain import Terrain
from ...dynamics import difference
from ..clean_up import CUTOFF, LIKES, SHIFT_CUTOFF, STANDS, faded, low_passed
from ..fit import Trajectory, velocities
from ..inverse_kinematics import Targets, reach
from ..resample import smoothed
from ..schedule import ContactSchedule, contact_points
from ..tracks import ground_under, point_places

Array = NDArray[np.float64]

ON_PLACE = 1e-3  # m, within which contacts need not be moved
STEADY = 2e-3  # m² and rad²: mobility of the root while legs reach
LEAP = 20.0  # rad/s or m/s by which a velocity changes from one frame to the next
DEEP = 0.005  # m under the ground, from which on it is lifted out
LIFTING = 0.15  # s before and after


def put_onto_contacts(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, terrain: Terrain, *, periodic: bool
) -> Trajectory:
    """The same trajectory where it is on its contacts already."""
    found = _planted(character, _set_down(character, trajectory, schedule), schedule)
    ways = [difference(character, a, b) for a, b in pairwise(found.q)]
    if np.abs(np.diff(ways, axis=0)).max(initial=0.0) * found.rate > LEAP and not periodic:
        found = _with(character, found, low_passed(character, found.q, found.rate, CUTOFF))
    return _lifted(character, found, terrain)


def _set_down(character: Character, trajectory: Trajectory, schedule: ContactSchedule) -> Trajectory:
    """The whole body's height, slowly changed to where its contacts are planned."""
    bears = schedule.active & ~np.array([point.grab for point in schedule.points], dtype=np.bool_)
    count = bears.sum(axis=1)
    known = np.flatnonzero(count)
    if character.bodies[0].joint.kind != "free" or len(known) == 0:
        return trajectory
    away = np.where(bears, (schedule.place - point_places(character, trajectory.q, schedule.points))[..., 2], 0.0)
    if np.abs(away).max() < ON_PLACE:
        return trajectory
    mean = np.interp(np.arange(len(count)), known, away.sum(axis=1)[known] / count[known])
    return _raised(character, trajectory, smoothed(mean[:, None], trajectory.rate, SHIFT_CUTOFF)[:, 0])


def _planted(character: Character, trajectory: Trajectory, schedule: ContactSchedule) -> Trajectory:
    """Feet on their places, for which the legs reach."""
    feet = [i for i, point in enumerate(schedule.points) if point.foot]
    places = point_places(character, trajectory.q, [schedule.points[i] for i in feet])
    bound = np.repeat(schedule.active[:, feet, None], 3, axis=2)
    away = np.where(bound, schedule.place[:, feet] - places, 0.0)
    if np.abs(away).max(initial=0.0) < ON_PLACE:
        return trajectory
    place = places + faded(bound, away, trajectory.rate)
    targets = Targets(schedule.body[feet], schedule.position[feet], place, np.where(bound, STANDS, LIKES))
    mobility = np.ones(character.nv)
    if character.bodies[0].joint.kind == "free":
        mobility[:6] = STEADY
    return _with(character, trajectory, reach(character, trajectory.q, targets, mobility))


def _lifted(character: Character, trajectory: Trajectory, terrain: Terrain) -> Trajectory:
    """Nothing of the body deep in the ground, which no help could do."""
    points = contact_points(character)
    if character.bodies[0].joint.kind != "free" or not points:
        return trajectory
    radius = np.array([point.radius for point in points])
    places = point_places(character, trajectory.q, points)
    height = ground_under(terrain, places, radius, trajectory.rate).height
    depth = np.maximum(-height, 0.0).max(axis=1)
    if depth.max() < DEEP:
        return trajectory
    near = round(LIFTING * trajectory.rate)
    widened = maximum_filter1d(depth, 2 * near + 1)
    return _raised(character, trajectory, gaussian_filter1d(widened, 0.5 * near, mode="nearest", truncate=2.0))


def _raised(character: Character, trajectory: Trajectory, way: Array) -> Trajectory:
    """By so much (nf,), frame by frame, m."""
    q = trajectory.q.copy()
    q[:, 2] += way
    return _with(character, trajectory, q)


def _with(character: Character, trajectory: Trajectory, q: Array) -> Trajectory:
    """Other positions, and their velocities."""
    return replace(trajectory, q=q, v=velocities(character, q, trajectory.rate))
