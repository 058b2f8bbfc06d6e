# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground that a clip was made on, estimated from its footsteps: stairs, boxes, uneven terrain.

A capture does not hold what it was made on, but a foot that stands still somewhere stands on something. Around every
such footprint the ground is level at its height, half-way to the next one it changes: a stair gets its steps, though
nobody knows where exactly their edges were.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.ndimage import minimum_filter
from scipy.spatial import cKDTree

from ..character import Character, Corner
from ..contact.terrain import HeightGrid, make_terrain
from .boxes import body_points
from .fit import Trajectory
from .labels import label
from .quality import lacking_support
from .quaternions import Array
from .schedule import ContactPoint, ContactSchedule, Mask, contact_points, runs
from .tracks import ground_under, point_places, velocities

STILL = 0.2  # m/s
SHORTEST = 0.1  # s
FLAT = 0.05  # m between heel and toe: a foot more tilted does not stand on both
LEVEL = 0.03  # m: footprints no further apart in height are on the same level
SPACING = 0.02  # m, of the grid
MARGIN = 0.6  # m, of ground around the footprints
AROUND = 1.5  # m, of ground around the body's way
TREADING = 0.5  # m/s: a foot that holds the body and rolls over one end is slower there
RAISED = 0.04  # m off z = 0, from which on a footprint is not on it
RESTS = 0.5  # s, for which a raised foot rests
RESTING = 0.06  # m/s, more slowly than it moves then: one that is held up in the air sways
LEGS = ("_thigh", "_shank", "_foot", "_toe")  # how the names of bodies end that may pass edges of such ground
SUNK = 0.2  # m that anything else of a body may be in ground that it stands on, or it swims
THROUGH, MOST_THROUGH = (
    0.1,
    0.2,
)  # m under such ground where a foot goes through it, and how often it may, of all frames
OVERLAP = 0.06  # m: soles nearer to each other than this lie one over the other
PRESSED = 0.06  # m that a captured sole may be in the ground that it lands on, which is no pit
PASSING = 0.06  # m beside a sole that comes down past an edge, which is farther from it than the baked sole strays
CLEAR = 0.02  # m over an edge, with which a sole or a leg gets past it
SOLE = 0.05  # m around the middle of one that stands, where it has ground
ROUND = 8  # samples around a leg
ALONG_SOLE = 5  # samples of each footprint


@dataclass(frozen=True)
class Footprint:
    """Where a foot stood still."""

    body: str
    frames: tuple[float, float]  # first and last, by the source's numbers
    heel: tuple[float, float, float]  # m
    toe: tuple[float, float, float]
    speed: float = 0.0  # m/s, the median of its faster end's

    @property
    def height(self) -> float:
        """Of its middle, m."""
        return 0.5 * (self.heel[2] + self.toe[2])


def footprints(character: Character, trajectory: Trajectory) -> list[Footprint]:
    """Where feet stand still with both ends, whether the ground is known there or not."""
    points = [point for point in contact_points(character) if point.foot]
    found = []
    for body in dict.fromkeys(point.body for point in points):
        ends = [point for point in points if point.body == body]
        if len(ends) < 2:
            continue
        places = point_places(character, trajectory.q, (ends[0], ends[-1]))
        speed = np.linalg.norm(velocities(places, trajectory.rate), axis=2).max(axis=1)
        flat = np.abs(places[:, 0, 2] - places[:, 1, 2]) < FLAT
        for start, stop in runs(np.asarray((speed < STILL) & flat)):
            if stop - start >= SHORTEST * trajectory.rate:
                heel, toe = np.median(places[start:stop], axis=0).tolist()
                frames = (trajectory.frame(start), trajectory.frame(stop - 1))
                pace = float(np.median(speed[start:stop]))
                found.append(Footprint(character.bodies[body].name, frames, tuple(heel), tuple(toe), pace))
    return found


def estimate_ground(
    character: Character,
    trajectory: Trajectory,
    held: Sequence[Footprint] | None = None,
    *,
    cleared: bool = True,
    floor: bool = False,
) -> HeightGrid:
    """Ground under a trajectory's footprints, or under some; ValueError where no foot stands still.

    Where its soles pass lower than that, the ground is as low as the next footprints down: edges lie behind them, and
    `cleared` out of the way of soles and legs. Where there is a `floor`, that is the plane z = 0, though no
    foot may stand still on it: who runs up to a box has soles on it all the same.
    """
    held = footprints(character, trajectory) if held is None else held
    if not held:
        raise ValueError("No foot stands still, so the ground cannot be estimated: check the motion's contacts.")
    level = _levels(np.array([one.height for one in held]))
    level[np.abs(level) < LEVEL] = 0.0
    soles = np.concatenate([_along(one) for one in held])
    way = trajectory.q[:, :2] if character.bodies[0].joint.kind == "free" else soles
    low = np.minimum(soles.min(axis=0) - MARGIN, way.min(axis=0) - AROUND)
    high = np.maximum(soles.max(axis=0) + MARGIN, way.max(axis=0) + AROUND)
    count = np.ceil((high - low) / SPACING).astype(int) + 1
    x, y = (low[i] + SPACING * np.arange(count[i]) for i in range(2))
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    away, nearest = cKDTree(soles).query(grid.reshape(-1, 2))
    heights = np.repeat(level, ALONG_SOLE)[nearest].reshape(len(x), len(y))
    levels = np.unique(level)
    swept = _swept(character, trajectory, low, heights.shape, legs=False)
    under = np.unique(np.append(level, 0.0)) if floor else levels
    below = _level_below(under, swept + LEVEL)
    pressed = (below == under[0]) & (len(under) > 1) & (swept > below - PRESSED)
    heights = np.where(swept < heights - LEVEL, np.where(pressed, below, np.minimum(below, swept)), heights)
    if cleared:
        passing = _swept(character, trajectory, low, heights.shape, legs=True)
        passing = minimum_filter(passing, 2 * round(PASSING / SPACING) + 1)
        aside = (away.reshape(heights.shape) > SOLE) & (passing < heights + CLEAR)
        heights = np.where(aside, np.minimum(_level_below(levels, passing - CLEAR), heights), heights)
    return HeightGrid(np.ascontiguousarray(heights), SPACING, (float(low[0]), float(low[1])))


def _level_below(levels: Array, height: Array) -> Array:
    """The highest of some levels (n,), in order, that is no higher than that; the lowest where none is."""
    found: Array = levels[np.maximum(np.searchsorted(levels, height, side="right") - 1, 0)]
    return found


def _swept(character: Character, trajectory: Trajectory, low: Array, shape: tuple[int, ...], *, legs: bool) -> Array:
    """How low soles, and `legs`, come over each cell of a grid (nx, ny) from `low` on; infinite where none does."""
    corners = [shape for shape in character.contacts if isinstance(shape, Corner)]
    points = [ContactPoint(one.name, character.index(one.body), one.position) for one in corners]
    places = point_places(character, trajectory.q, points)
    share = np.linspace(0.0, 1.0, ALONG_SOLE)[:, None, None]
    lines = [
        (1.0 - share) * places[:, i] + share * places[:, j]
        for i, j in combinations(range(len(points)), 2)
        if points[i].body == points[j].body
    ]
    balls = [one for one in body_points(character) if one.radius and character.bodies[one.body].name.endswith(LEGS)]
    balls = balls if legs else []
    angle = 2.0 * np.pi * np.arange(ROUND) / ROUND
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(ROUND)], axis=1)
    for one, there in zip(balls, np.moveaxis(point_places(character, trajectory.q, balls), 1, 0), strict=True):
        lines += [there[:, None] + one.radius * ring, (there - (0.0, 0.0, one.radius))[:, None]]
    result = np.full(shape, np.inf)
    if lines:
        x, y, z = np.concatenate([line.reshape(-1, 3) for line in lines]).T
        cell = tuple(
            np.clip(np.rint((v - low[k]) / SPACING).astype(int), 0, shape[k] - 1) for k, v in enumerate((x, y))
        )
        np.minimum.at(result, cell, z)
    around: Array = minimum_filter(result, 3)
    return around


class MissingGround(NamedTuple):
    """Ground that a scene lacks, and what tells of it."""

    ground: HeightGrid
    raised: tuple[Footprint, ...]  # off z = 0

    @property
    def line(self) -> str:
        """For the report."""
        heights = sorted({round(100.0 * z) for z in _levels(np.array([one.height for one in self.raised])).tolist()})
        first, last = min(one.frames[0] for one in self.raised), max(one.frames[1] for one in self.raised)
        return (
            f"It stands on ground that the scene lacks, {' and '.join(map(str, heights))} cm off the floor, in frames "
            f"{first:g} to {last:g}: such ground was put there."
        )


def missing_ground(character: Character, trajectory: Trajectory, labelled: ContactSchedule) -> MissingGround | None:
    """Ground that a motion on z = 0 was made on; None where feet tell of none.

    A foot that stands still off that plane tells of ground where nothing that touches could hold the body meanwhile, or
    where it rests as still as only a foot that stands does.
    """
    lacking = lacking_support(character, trajectory, labelled)
    level, raised = [], []
    for one in footprints(character, trajectory):
        if abs(one.height) < RAISED:
            level.append(one)
            continue
        start, stop = trajectory.sample(one.frames[0]), trajectory.sample(one.frames[1]) + 1
        if lacking[start:stop].mean() > 0.3 or _rests(one, trajectory):
            raised.append(one)
    raised += _trodden(character, trajectory, lacking, (*level, *raised))
    raised = [one for one in raised if not any(_contradict(one, other) for other in (*level, *raised))]
    if not raised:
        return None
    # whoever goes through it is not to be told by ground that was taken out of the way
    terrain = make_terrain([estimate_ground(character, trajectory, level + raised, cleared=False, floor=True)])
    after = lacking_support(character, trajectory, label(character, trajectory, terrain))
    points = contact_points(character)
    places = point_places(character, trajectory.q, points)
    height = ground_under(terrain, places, np.zeros(len(points)), trajectory.rate).height
    feet = np.array([point.foot for point in points], dtype=np.bool_)
    through = (height[:, feet].min(axis=1) < -THROUGH).mean()
    names = [character.bodies[point.body].name for point in points]
    legs = np.array([name.endswith(LEGS) for name in names], dtype=np.bool_)
    sunk = (height[:, ~legs].min(axis=1, initial=np.inf) < -SUNK).mean()
    firm = max(through, sunk) < MOST_THROUGH
    if not firm or after.mean() > lacking.mean():
        return None
    return MissingGround(estimate_ground(character, trajectory, level + raised, floor=True), tuple(raised))


def _trodden(
    character: Character, trajectory: Trajectory, lacking: Mask, known: Sequence[Footprint]
) -> list[Footprint]:
    """Footprints (of both ends, at the lower one's height) of feet that hardly rest, on a slope or the toes.

    Where something is lacking that holds the body, it is under the lower foot, if that is slow.
    """
    points = [point for point in contact_points(character) if point.foot]
    bodies = list(dict.fromkeys(point.body for point in points))
    places = point_places(character, trajectory.q, points)
    speed = np.linalg.norm(velocities(places, trajectory.rate), axis=2)
    columns = [[i for i, point in enumerate(points) if point.body == body] for body in bodies]
    low = np.stack([places[:, own, 2].min(axis=1) for own in columns], axis=1)
    found = []
    for body, own, height in zip(bodies, columns, low.T, strict=True):
        slow = speed[:, own].min(axis=1)
        bears = lacking & (slow < TREADING) & (height < low.min(axis=1) + LEVEL) & (height > RAISED)
        for start, stop in runs(np.asarray(bears)):
            frames = (trajectory.frame(start), trajectory.frame(stop - 1))
            name = character.bodies[body].name
            seen = any(one.body == name and one.frames[0] <= frames[1] and frames[0] <= one.frames[1] for one in known)
            if seen or len(own) < 2 or stop - start < SHORTEST * trajectory.rate:
                continue
            slowest = start + int(slow[start:stop].argmin())
            there = places[slowest, own]
            there[:, 2] = there[:, 2].min()
            found.append(Footprint(name, frames, tuple(there[0]), tuple(there[-1]), float(slow[slowest])))
    return found


def _contradict(one: Footprint, other: Footprint) -> bool:
    """Whether two footprints lie over each other: then what one of them stands on is gone when the other does."""
    if abs(one.height - other.height) < LEVEL:
        return False
    a, b = _along(one), _along(other)
    return float(np.linalg.norm(a[:, None] - b[None], axis=2).min()) < OVERLAP


def _along(one: Footprint) -> Array:
    """Places (n, 2) from heel to toe."""
    share = np.linspace(0.0, 1.0, ALONG_SOLE)[:, None]
    return np.asarray((1.0 - share) * one.heel[:2] + share * one.toe[:2], dtype=np.float64)


def _rests(one: Footprint, trajectory: Trajectory) -> bool:
    """Whether a foot stands for long and hardly moves."""
    seconds = (one.frames[1] - one.frames[0]) / trajectory.frames_per_sample / trajectory.rate
    return seconds > RESTS and one.speed < RESTING


def _levels(height: Array) -> Array:
    """Heights (n,), those that differ by little moved to their mean."""
    order = np.argsort(height)
    steps = np.concatenate([[0], np.cumsum(np.diff(height[order]) > LEVEL)])
    mean = np.bincount(steps, weights=height[order]) / np.bincount(steps)
    result = np.empty_like(height)
    result[order] = mean[steps]
    return result
