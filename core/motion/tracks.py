# SPDX-License-Identifier: GPL-3.0-or-later
"""What points of a character do over a whole trajectory q (nf, nq): places, speeds, and how far off the ground."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.tree import Tree
from ..contact.terrain import Terrain, TerrainPose, make_pose, nearest_on_surface, pose_terrain, surface_velocity
from ..dynamics.kinematics import update_positions, world_point
from ..dynamics.workspace import Workspace, make_workspace
from ..maths.kernel import kernel
from ..maths.vectors import row, set_row
from .quaternions import Array
from .schedule import ContactPoint

FURTHEST = 0.5  # m: what is further off the ground than this is in the air
SPEED_SPAN = 1.0 / 120.0  # s on either side of a sample over which its speed is taken, at least one sample


class Ground(NamedTuple):
    """What is under points (nf, np)."""

    height: Array  # (nf, np) m off the nearest surface, negative inside, at most FURTHEST
    normal: Array  # (nf, np, 3) of that surface, unit; up where nothing is near
    velocity: Array  # (nf, np, 3) of the surface there, m/s


def point_places(character: Character, q: Array, points: Sequence[ContactPoint]) -> Array:
    """Places (nf, np, 3) of points in the world; of a ball its centre."""
    body = np.array([point.body for point in points], dtype=np.int64)
    position = np.array([point.position for point in points], dtype=np.float64).reshape(-1, 3)
    places = np.zeros((len(q), len(points), 3))
    _fill_places(character.tree, make_workspace(character.tree), np.ascontiguousarray(q), body, position, places)
    return places


def center_of_mass_path(character: Character, q: Array) -> Array:
    """The character's centre of mass (nf, 3)."""
    tree = character.tree
    places = np.zeros((len(q), len(tree.mass), 3))
    body = np.arange(len(tree.mass))
    _fill_places(tree, make_workspace(tree), np.ascontiguousarray(q), body, tree.center_of_mass, places)
    path: Array = tree.mass @ places / tree.mass.sum()
    return path


def velocities(places: Array, rate: float) -> Array:
    """Central differences of rows (nf, ...) over the same span of time at any rate."""
    if len(places) < 2:
        return np.zeros_like(places)
    before, after, span = time_span(len(places), rate)
    result: Array = (places[after] - places[before]) / span.reshape(-1, *[1] * (places.ndim - 1))
    return result


def time_span(frames: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Around each of so many frames those before and after it between which its speed is taken, and their seconds."""
    reach = min(max(1, round(SPEED_SPAN * rate)), frames - 1)
    frame = np.arange(frames)
    before, after = np.maximum(frame - reach, 0), np.minimum(frame + reach, frames - 1)
    return before, after, (after - before) / rate


def ground_under(terrain: Terrain, places: Array, radius: Array, rate: float, start: float = 0.0) -> Ground:
    """The terrain under places (nf, np, 3), at the times `start` and on; `radius` (np,) is taken off the heights."""
    height = np.full(places.shape[:2], FURTHEST)
    normal = np.zeros_like(places)
    normal[..., 2] = 1.0
    velocity = np.zeros_like(places)
    time = start + np.arange(len(places)) / rate
    _fill_ground(terrain, make_pose(terrain), time, np.ascontiguousarray(places), radius, height, normal, velocity)
    return Ground(height, normal, velocity)


@kernel
def _fill_places(
    tree: Tree, work: Workspace, q: Array, body: NDArray[np.int64], position: Array, places: Array
) -> None:
    for k in range(q.shape[0]):
        update_positions(tree, work, q[k])
        for i in range(body.shape[0]):
            set_row(places[k], i, world_point(work, body[i], row(position, i)))


@kernel
def _fill_ground(
    terrain: Terrain,
    pose: TerrainPose,
    time: Array,
    places: Array,
    radius: Array,
    height: Array,
    normal: Array,
    velocity: Array,
) -> None:
    for k in range(places.shape[0]):
        pose_terrain(terrain, time[k], pose)
        for i in range(places.shape[1]):
            place = row(places[k], i)
            for s in range(terrain.kind.shape[0]):
                distance, n, touch = nearest_on_surface(terrain, pose, s, place, FURTHEST + radius[i])
                if distance - radius[i] < height[k, i]:
                    height[k, i] = distance - radius[i]
                    set_row(normal[k], i, n)
                    set_row(velocity[k], i, surface_velocity(pose, s, touch))
