# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion made on level ground, adapted to other ground: where its feet stand there, and how they get there.

Every stance keeps its time. Its sole is laid on the ground below it, as far ahead of or behind its place as it must be
to stand clear of edges; from there the next stance sets out, so that strides keep about their length. Between stances a
foot is carried from one height, tilt and shift to the next, and the root follows the feet. That is only a target, for
which inverse kinematics bends the legs about right; spacetime optimisation corrects the physics.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.ndimage import minimum_filter1d

from ..character import Character
from ..character.tree import FREE
from ..contact.terrain import Terrain, TerrainPose, make_pose, nearest_on_surface
from ..maths.kernel import kernel
from ..maths.vectors import row
from . import quaternions
from .fit import Trajectory, body_poses, velocities
from .inverse_kinematics import Targets, reach
from .planting import Sole, find_soles
from .quaternions import Array
from .resample import smoothed
from .schedule import ContactSchedule, contact_points, runs
from .spacetime import Settings
from .tracks import point_places

HIGHEST, DEEPEST = 0.5, 1.5  # m, of a step up and down
CLOSE = 0.002  # m
STANDABLE = 0.5  # cosine of the steepest slope
EDGES = (0.04, 0.02, 0.0)  # m, by which corners keep off edges, as there is room
SPREAD = np.array([0.0, 0.25, 0.5])  # of the way from each corner to each, where the ground is looked at
FITS = 0.006  # m, by which the ground below a sole may be out of one plane
FARTHEST, NUDGE = 0.36, 0.02  # m, that a stance is moved along the foot, and in what steps
HIGH = 0.2  # m: a step from foot to foot that is higher
STEEP = 3.0  # is as bad as one moved by so many times the rest
BACK = 0.1  # m by which who keeps to a path steps nearer again to where it was to, each time on the level
OVERHANG = 0.5  # m: as bad is a sole none of which lies on anything
CLOSER = 5.0  # and one closer to an edge as one moved by so many times as much: at 2 a sole tipped over one, and slid
EVEN = 0.01  # m, by which level ground varies
LOOKS = 30.0  # 1/s, at the ground below a foot's way
CLEARANCE, CLEARANCE_RAMP = 0.04, 0.05  # m and s: what suffices on the level lets feet catch at edges
FOUND_CLEARANCE = 0.025  # m, where the ground was found under the feet
SLACK = 1e-3  # m², of corners
ROOT_MOBILITY, TURN_MOBILITY = 0.002, 0.002  # m² and rad²; joints have 1 rad²
ROOT_CUTOFF = 1.0  # Hz, of the way on which the root follows the feet
LOW_AROUND = 0.15  # s
RISES_WITHIN, FALLS_WITHIN = 0.7, 0.6  # first and last shares of a swing, so that a foot clears the edges of steps


class Foothold(NamedTuple):
    """A stance, on the level and on the ground."""

    body: int
    start: int  # samples start to stop - 1
    stop: int
    level: Array  # (3,) middle of the corners in the motion, m
    ground: Array  # (3,) where that goes
    tilt: Array  # (3,) how the sole is turned, a vector, rad


class Way(NamedTuple):
    """How a sole is moved, frame by frame."""

    pivot: Array  # (nf, 3) about which it is turned, m
    shift: Array  # (nf, 3) m
    tilt: Array  # (nf, 3) a vector, rad

    def moved(self, spots: Array) -> Array:
        """Its spots (nf, n, 3) after that."""
        turn = quaternions.exp(self.tilt)[:, None]
        arms: Array = quaternions.rotate(turn, spots - self.pivot[:, None])
        return (self.pivot + self.shift)[:, None] + arms


def put_on(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    terrain: Terrain,
    floor: float = 0.0,
    *,
    keeps: bool = False,
) -> tuple[Trajectory, ContactSchedule]:
    """A motion over a level `floor` and its contacts, adapted to the terrain; ValueError if that is impossible.

    Who `keeps` to its way has steps that went elsewhere made up for by those after them.
    """
    if character.tree.joint[0] != FREE:
        raise ValueError("Only a character with a free root can be adapted to other ground.")
    hands = [i for i, point in enumerate(schedule.points) if not point.foot]
    if schedule.active[:, hands].any():
        raise ValueError("Only a motion that stands on its feet alone can be adapted to other ground.")
    footholds = find_footholds(character, trajectory, schedule, terrain, floor, back=BACK if keeps else 0.0)
    if not footholds:
        raise ValueError(
            "No foot ever stands still in this motion, so it cannot be adapted to other ground: check its contacts."
        )
    ways = ways_onto(footholds, len(trajectory.q))
    q = along(character, trajectory, ways)
    v = velocities(character, q, trajectory.rate)
    return (
        Trajectory(trajectory.rate, q, v, trajectory.first_frame, trajectory.frames_per_sample),
        ContactSchedule(schedule.points, schedule.active, moved_places(schedule, ways)),
    )


def along(character: Character, trajectory: Trajectory, ways: Mapping[int, Way]) -> Array:
    """Poses (nf, nq) whose soles go these ways."""
    bodies, local, targets = [], [], []
    for sole in _soles(character):
        if sole.body in ways:
            bodies += [sole.body] * len(sole.corners)
            local += [corner.position for corner in sole.corners]
            targets.append(ways[sole.body].moved(point_places(character, trajectory.q, sole.corners)))
    q = trajectory.q.copy()
    q[:, :3] += root_shift(ways, trajectory.rate)
    mobility = np.ones(character.nv)
    mobility[:3], mobility[3:6] = ROOT_MOBILITY, TURN_MOBILITY
    wanted = np.ascontiguousarray(np.concatenate(targets, axis=1))
    aims = Targets(np.array(bodies, dtype=np.int64), np.array(local), wanted, np.full(wanted.shape, SLACK))
    return reach(character, q, aims, mobility)


def clear_of_edges(settings: Settings) -> Settings:
    """Settings for a motion on ground that is not level: its feet are lifted higher, and sooner."""
    return replace(
        settings,
        clearance_height=max(settings.clearance_height, CLEARANCE),
        clearance_ramp=min(settings.clearance_ramp, CLEARANCE_RAMP),
    )


def past_found_edges(settings: Settings) -> Settings:
    """Settings for a motion on ground that it told of itself.

    Its edges are as near to the way of the soles as the clip passes them, and it is not to pass them any lower.
    """
    return replace(settings, clearance_height=max(settings.clearance_height, FOUND_CLEARANCE))


def is_level(character: Character, trajectory: Trajectory, terrain: Terrain, floor: float = 0.0) -> bool:
    """Whether all ground below the feet's ways is as high as where they start; the motion is over a level `floor`."""
    every = max(1, round(trajectory.rate / LOOKS))
    corners = [corner for sole in _soles(character) for corner in sole.corners]
    way = point_places(character, trajectory.q[::every], corners).reshape(-1, 3)
    way[:, 2] = floor + HIGHEST
    below = heights_below(terrain, way)
    return bool((np.abs(below - below[0]) < EVEN).all())


def find_footholds(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    terrain: Terrain,
    floor: float = 0.0,
    begun: Mapping[int, float] | None = None,
    *,
    back: float = 0.0,
) -> list[Foothold]:
    """Where the feet of a motion over a level `floor` stand on the terrain, in order; ValueError where nothing is.

    Feet with a height in `begun`, by body, are under way or stand in the first frame: these stay where they are. Each
    stance sets out from where the one before went, and after two of a height by so many metres `back` to its own place.
    """
    soles = _soles(character)
    stances = []
    for number, sole in enumerate(soles):
        stands = np.asarray(schedule.active[:, _columns(schedule, sole)].any(axis=1))
        if stands.any():
            stands[[0, -1]] = True  # a foot that comes or leaves in the air is to be as high over the ground
            stances += [(start, stop, number) for start, stop in runs(stands)]
    stances.sort()
    found, moved = [], np.array([0.0, 0.0, floor])
    for start, stop, number in stances:
        sole = soles[number]
        spots = _footprint(character, trajectory, schedule, sole, start, stop)
        if start == 0 and begun is not None:
            level = spots.mean(axis=0)
            ground = level + np.array([0.0, 0.0, begun[sole.body]])
            found.append(Foothold(sole.body, start, stop, level, ground, np.zeros(3)))
            continue
        _, turn = body_poses(character, trajectory.q[(start + stop) // 2][None])
        ahead = quaternions.rotate(turn[0, sole.body], sole.frame[0])
        room = _room(terrain, spots + moved, ahead, moved[2])
        if room is None:
            frames = f"{trajectory.frame(start):g} to {trajectory.frame(stop - 1):g}"
            raise ValueError(
                f"There is no ground under {sole.name} in frames {frames}: extend the ground, or move the path."
            )
        ground, tilt = room
        level = spots.mean(axis=0)
        is_even, moved = abs(ground[2] - moved[2]) < EVEN, ground - level
        if is_even:
            moved[:2] *= 1.0 - min(1.0, back / max(float(np.hypot(moved[0], moved[1])), 1e-9))
        found.append(Foothold(sole.body, start, stop, level, ground, tilt))
    return found


def heights_below(terrain: Terrain, places: Array, time: float = 0.0) -> Array:
    """Height (n,) of the ground that is met going down from places (n, 3); nan where there is none near.

    Every step down is as long as the ground is far, so none leads through it. Nothing further is looked at: below an
    open sheet, such as a ceiling, is its inside.
    """
    found = np.full(len(places), np.nan)
    _fill_heights(terrain, make_pose(terrain, time), np.ascontiguousarray(places, dtype=np.float64), found)
    return found


@kernel
def _fill_heights(terrain: Terrain, pose: TerrainPose, places: Array, found: Array) -> None:
    for i in range(places.shape[0]):
        x, y, z = row(places, i)
        lowest = z - HIGHEST - DEEPEST
        while True:
            least, upward = np.inf, 0.0
            for s in range(terrain.kind.shape[0]):
                distance, normal, _ = nearest_on_surface(terrain, pose, s, (x, y, z), HIGHEST)
                if distance < least:
                    least, upward = distance, normal[2]
            if least < CLOSE and upward > STANDABLE:
                found[i] = z - least / upward
                break
            z -= min(max(least, CLOSE), HIGHEST)
            if not z > lowest:
                break


def _soles(character: Character) -> list[Sole]:
    return [sole for sole in find_soles(character, contact_points(character)) if sole.corners]


def _columns(schedule: ContactSchedule, sole: Sole) -> list[int]:
    return [i for i, point in enumerate(schedule.points) if point.foot and point.body == sole.body]


def _footprint(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, sole: Sole, start: int, stop: int
) -> Array:
    """Where the corners (n, 3) of a sole are in a stance, while most of it stands."""
    standing = schedule.active[start:stop][:, _columns(schedule, sole)].sum(axis=1)
    tracks = point_places(character, trajectory.q[start:stop], sole.corners)
    spots: Array = np.median(tracks[standing == standing.max()], axis=0)
    spots[:, 2] = 0.0
    return spots


def _room(terrain: Terrain, spots: Array, ahead: Array, before: float) -> tuple[Array, Array] | None:
    """The best place where a sole with corners at `spots` (n, 3) lies on one plane: its middle, and its tilt.

    The nearest one, unless that is too high or too low a step from the height `before`, or too close to an edge. Where
    there is none the sole lies on the highest of what is below it; None where nothing is.
    """
    middle = spots.mean(axis=0)
    way = np.array([ahead[0], ahead[1], 0.0]) / np.hypot(ahead[0], ahead[1])
    nudges = NUDGE * np.arange(-round(FARTHEST / NUDGE), round(FARTHEST / NUDGE) + 1)
    places = middle + nudges[:, None] * way
    found: list[tuple[float, Array, Array]] = []
    for edge in EDGES:
        arms = spots - middle
        arms += edge * arms / np.linalg.norm(arms, axis=1, keepdims=True)
        arms = (arms[:, None, None] + SPREAD[:, None] * (arms[None, :, None] - arms[:, None, None])).reshape(-1, 3)
        samples = (places[:, None] + arms + np.array([0.0, 0.0, HIGHEST])).reshape(-1, 3)
        below = heights_below(terrain, samples).reshape(len(places), -1)
        system = np.column_stack([np.ones(len(arms)), arms[:, :2]])
        planes = below @ np.linalg.pinv(system).T
        fits = np.abs(planes @ system.T - below).max(axis=1) < FITS  # what is not a number does not fit
        price = np.abs(nudges) + STEEP * np.maximum(np.abs(planes[:, 0] - before) - HIGH, 0.0)
        price += CLOSER * (EDGES[0] - edge)
        if fits.any():
            best = int(np.argmin(np.where(fits, price, np.inf)))
            height, along_x, along_y = planes[best].tolist()
            normal = np.array([-along_x, -along_y, 1.0]) / np.sqrt(1.0 + along_x**2 + along_y**2)
            turn = quaternions.between(np.array([0.0, 0.0, 1.0]), normal)
            found.append((price[best], np.array([places[best, 0], places[best, 1], height]), quaternions.log(turn)))
    if found:
        _, ground, tilt = min(found, key=lambda each: each[0])
        return ground, tilt
    # samples of the sole itself, the last edge being none: where it finds no room it lies on the highest, within reach
    known = ~np.isnan(below).all(axis=1)
    if not known.any():
        return None
    highest = np.nanmax(below[known], axis=1)
    overhangs = (np.nan_to_num(highest[:, None] - below[known], nan=np.inf) > FITS).mean(axis=1)
    price = np.abs(nudges[known]) + STEEP * np.maximum(np.abs(highest - before) - HIGH, 0.0) + OVERHANG * overhangs
    best = int(np.argmin(price))
    return np.array([*places[known][best, :2], highest[best]]), np.zeros(3)


def _way(footholds: list[Foothold], frames: int) -> Way:
    """From foothold to foothold of one foot; the first and the last hold before and after."""
    first = footholds[0]
    way = Way(*(np.tile(held, (frames, 1)) for held in (first.level, first.ground - first.level, first.tilt)))
    for last, after in pairwise(footholds):
        swing = slice(last.stop - 1, after.start + 1)
        low, high = last.ground - last.level, after.ground - after.level
        x = np.linspace(0.0, 1.0, after.start - last.stop + 2)[:, None]
        way.shift[swing] = stepping(low, high, x)
        x = _eased(x)
        way.pivot[swing] = last.level + x * (after.level - last.level)
        way.tilt[swing] = last.tilt + x * (after.tilt - last.tilt)
        way.pivot[after.start :], way.shift[after.start :], way.tilt[after.start :] = after.level, high, after.tilt
    return way


def root_shift(ways: Mapping[int, Way], rate: float) -> Array:
    """How far the root goes (nf, 3) with the feet.

    It is low before the lower foot is down and until it is off again, or that leg would have to be longer than it is.
    """
    shifts = np.array([way.shift for way in ways.values()])
    shift = shifts.mean(axis=0)
    lower = shifts[..., 2].min(axis=0)
    shift[:, 2] = minimum_filter1d(lower, 2 * round(LOW_AROUND * rate) + 1, mode="nearest")
    return smoothed(shift, rate, ROOT_CUTOFF)


def ways_onto(footholds: list[Foothold], frames: int) -> dict[int, Way]:
    """How each sole that stands somewhere is moved from foothold to foothold, by its body."""
    bodies = sorted({hold.body for hold in footholds})
    return {body: _way([hold for hold in footholds if hold.body == body], frames) for body in bodies}


def moved_places(schedule: ContactSchedule, ways: Mapping[int, Way]) -> Array:
    """Where the schedule's points (nf, np, 3) are held once soles go these ways."""
    place = schedule.place.copy()
    for body, way in ways.items():
        columns = [i for i, point in enumerate(schedule.points) if point.foot and point.body == body]
        place[:, columns] = np.where(schedule.active[:, columns, None], way.moved(place[:, columns]), 0.0)
    return place


def stepping(low: Array, high: Array, x: Array) -> Array:
    """From one shift (3,) to the next along x (n, 1) from 0 to 1, a foot's way between two stances (n, 3).

    Aside all the way; up at once and down late, so that the foot clears the edges of steps.
    """
    climb = _eased(x / RISES_WITHIN if high[2] > low[2] else (x - 1.0) / FALLS_WITHIN + 1.0)
    way: Array = low + np.where([False, False, True], climb, _eased(x)) * (high - low)
    return way


def _eased(x: Array) -> Array:
    """A smooth step from 0 to 1, constant beyond."""
    x = np.clip(x, 0.0, 1.0)
    result: Array = x * x * (3.0 - 2.0 * x)
    return result
