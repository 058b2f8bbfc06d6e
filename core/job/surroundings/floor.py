# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip's own floor in the scene, and how standing feet lie to the scene's ground."""

from dataclasses import replace

import numpy as np

from ...contact.terrain import HeightGrid, Plane, Surface, Terrain, make_terrain
from ...motion import quaternions
from ...motion.floor import Floor
from ...motion.prepare import Performance
from ...motion.quaternions import Array
from ...motion.reference import Reference
from ...motion.schedule import contact_points
from ...motion.tracks import ground_under, point_places, velocities
from ..job import BakeJob

USUAL_FLOOR = 0.1  # m: a clip's floor as near to z = 0 is meant to be there
SLOW = 0.25  # m/s, of a foot that stands
UNEVEN = 0.06  # m, over which the heights of standing feet spread where a clip was not made for level ground


def floor_height(floor: Floor) -> float:
    """Where a clip's floor is meant to be in the scene."""
    return floor.height if abs(floor.height) > USUAL_FLOOR else 0.0


def floor_at(job: BakeJob, height: float) -> Surface:
    """Level ground at a height, as rough as the scene's."""
    return Plane(point=(0.0, 0.0, height), friction=job.scene.friction)


def as_floor(job: BakeJob, surface: HeightGrid, height: float) -> HeightGrid:
    """Ground over a clip's own floor, as the scene's floor would be."""
    return replace(surface, heights=surface.heights + height, friction=job.scene.friction)


def lift_of(job: BakeJob, floor: Floor, reference: Reference) -> float:
    """How high the scene's ground is where the reference starts on its own, at z = 0."""
    height = floor_height(floor)
    if not job.scene.surfaces:
        return height
    feet = np.array([point.foot for point in reference.schedule.points], dtype=np.bool_)
    standing = feet & reference.schedule.active[0]
    points = [reference.schedule.points[i] for i in np.flatnonzero(standing if standing.any() else feet)]
    places = point_places(reference.character, reference.q[:1], points) + np.array([0.0, 0.0, height])
    ground = ground_under(make_terrain(job.scene.surfaces), places, np.zeros(len(points)), reference.rate)
    found = places[0, :, 2] - ground.height[0]
    # a ground that is further than the query reaches tells nothing
    near = found[np.abs(found - height) < 0.5]
    return float(near.max()) if len(near) else height


def off_ground(job: BakeJob, performance: Performance, terrain: Terrain) -> float:
    """How far standing feet are from the ground, m: half of them are farther."""
    character, trajectory = performance.plan.character, performance.trajectory
    feet = [point for point in contact_points(character) if point.foot]
    places = point_places(character, trajectory.q, feet)
    standing = np.linalg.norm(velocities(places, trajectory.rate), axis=2) < SLOW
    start = (trajectory.first_frame - job.frames[0]) / job.fps
    height = ground_under(terrain, places, np.zeros(len(feet)), trajectory.rate, start).height
    return float(np.median(np.abs(height[standing]))) if standing.any() else 0.0


def follows(job: BakeJob, performance: Performance) -> bool:
    """Whether standing feet keep to the scene's ground rather than to one level."""
    character, trajectory = performance.plan.character, performance.trajectory
    feet = [point for point in contact_points(character) if point.foot]
    places = point_places(character, trajectory.q, feet)
    standing = np.linalg.norm(velocities(places, trajectory.rate), axis=2) < SLOW
    if not standing.any() or _spread(places[..., 2][standing]) < UNEVEN:
        return False
    start = (trajectory.first_frame - job.frames[0]) / job.fps
    terrain = make_terrain(job.scene.surfaces)
    there = _unleveled(performance.floor, places)
    ground = ground_under(terrain, there, np.zeros(len(feet)), trajectory.rate, start)
    return _spread(ground.height[standing]) < 0.5 * _spread(places[..., 2][standing])


def _spread(values: Array) -> float:
    low, high = np.percentile(values, (5.0, 95.0))
    return float(high - low)


def _unleveled(floor: Floor, places: Array) -> Array:
    """Places over a clip's floor, in the scene; the inverse of `floor.level`."""
    normal = np.array([-floor.slope[0], -floor.slope[1], 1.0])
    turn = quaternions.between(np.array([0.0, 0.0, 1.0]), normal)
    found: Array = quaternions.rotate(turn, places) + np.array([0.0, 0.0, floor.height])
    return found
