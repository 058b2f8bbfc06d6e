# SPDX-License-Identifier: GPL-3.0-or-later
"""What hands rest on. A hand that stays presses along its arm: on a ledge if that points down, on a wall if level.

Above the shoulder it holds on to a bar, about which it turns.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..character import Character
from ..contact.terrain import Terrain
from ..dynamics import body_poses
from . import quaternions
from .boxes import Box, clear
from .fit import Trajectory
from .labels import Grab, upward_push, zero_moment_point
from .quality import lacking_support
from .quaternions import Array, rotate
from .schedule import ContactPoint, ContactSchedule, Mask, contact_points, runs
from .support import BEYOND, LOW, MOSTLY, SHORTEST, STILL, Support, ground_at, put, soles_height, unit
from .tracks import center_of_mass_path, point_places, velocities

FALLS = -0.5  # sine of an arm that leans on something below
ABOVE = 0.1  # m, by which a hand that holds on is above its shoulder
FINGERS = 0.12  # m from the middle of a hand, where it may hold on
LETS_GO = 0.25  # s: for less a hand that holds on again has not let go
ALL_ALONG, SWAYS, SWUNG = 0.9, 0.08, 2.0  # of the frames; m that hands stray, and times that soles do
STAYS = 0.06  # m, within which that place stays
HELD = 0.6  # of the frames it does, or it is no bar that stays where it is
TRIALS = 5
AHEAD = 0.12  # m from the middle of the feet towards where the body would fall, in which a hand props it
HANGS = 0.06  # m: soles so far from the ground do not stand on it
NEAR, LEVEL = 1.2, 0.1  # m along and across, between hands on one bar
BAR = 0.03  # m thick
TOGETHER = 0.5  # of the time, for which two hands press on one wall
APART, ASLANT, FACING = 0.1, 0.25, 0.8  # m between them, along and up; cosine of the wall's and the arms' directions
WIDE = 0.6  # m of a wall beyond a hand


class _Held(NamedTuple):
    """A hand that holds on from one sample to before another: by which place of it, to which place."""

    hand: ContactPoint
    start: int
    stop: int
    place: Array  # (3,) m


class _Lean(NamedTuple):
    """A hand that presses, or two on one wall."""

    place: Array  # (3,) m
    arm: Array  # (3,) m, from the shoulder
    radius: float
    frames: tuple[float, float]
    reach: float = 0.0  # m on either side, of two hands

    @property
    def falls(self) -> bool:
        """Whether it points down, on a ledge."""
        return bool(self.arm[2] < FALLS * np.linalg.norm(self.arm))


def hangs(character: Character, trajectory: Trajectory) -> bool:
    """Whether a body hangs all along: by hands that stay above its shoulders, and feet swing. They tell of no floor."""
    arms = _arms(character)
    if character.bodies[0].joint.kind != "free" or not arms:
        return False
    own = np.stack([point_places(character, trajectory.q, arm) for arm in arms], axis=1)
    above = (own[:, :, 0, 2] - own[:, :, 1, 2] > ABOVE).all(axis=1)
    strays = np.linalg.norm(own[:, :, 0] - np.median(own[:, :, 0], axis=0), axis=2).max(axis=1)
    soles = point_places(character, trajectory.q, [point for point in contact_points(character) if point.foot])
    swings = np.percentile(np.linalg.norm(soles - np.median(soles, axis=0), axis=2), 100.0 - LOW)
    stays = np.percentile(strays, 100.0 - LOW)
    return bool(above.mean() > ALL_ALONG and stays < SWAYS and swings > SWUNG * SWAYS)


def find_holds(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, terrain: Terrain, taken: Mask
) -> list[Support]:
    """What hands hold on to or lean on where nothing else holds the body; not in frames that are `taken`."""
    lacking = lacking_support(character, trajectory, schedule) & ~taken
    if not lacking.any():
        return []
    rate = trajectory.rate
    places = point_places(character, trajectory.q, schedule.points)
    feet = np.array([point.foot for point in schedule.points], dtype=np.bool_)
    middle = point_places(character, trajectory.q, (ContactPoint("root", 0, (0.0, 0.0, 0.0)),))[:, 0].mean(axis=0)
    aloft = soles_height(character, trajectory) - ground_at(terrain, middle) > HANGS
    held: list[_Held] = []
    leans: list[_Lean] = []
    for hand, shoulder in _arms(character):
        own = point_places(character, trajectory.q, (hand, shoulder))
        arm = own[:, 0] - own[:, 1]
        above = np.asarray(aloft & (arm[:, 2] > ABOVE))
        for start, stop in runs(above):
            if stop - start >= SHORTEST * rate and lacking[start:stop].mean() >= MOSTLY:
                held += _pivots(character, trajectory, hand, start, stop)
        speed = np.linalg.norm(velocities(own[:, 0], rate), axis=1)
        for start, stop in runs(np.asarray((speed < STILL) & ~above)):
            part = slice(start, stop)
            if stop - start < SHORTEST * rate or lacking[part].mean() < MOSTLY:
                continue
            place, way = np.median(own[part, 0], axis=0), np.median(arm[part], axis=0)
            lean = _lean(character, trajectory, places, schedule.active & feet, part)
            if lean is None or float((place[:2] - lean[0]) @ lean[1]) < AHEAD:
                continue
            frames = (trajectory.frame(start), trajectory.frame(stop - 1))
            leans.append(_Lean(place, way, hand.radius, frames))
    propped = (_propped(character, trajectory, terrain, lean) for lean in _joined(leans))
    return [one for one in propped if one is not None] + _bars(trajectory, terrain, held)


def _joined(leans: Sequence[_Lean]) -> list[_Lean]:
    """The same with hands that press on one wall together."""
    found: list[_Lean] = []
    for lean in leans:
        for k, other in enumerate(found):
            both = _on_one_wall(other, lean)
            if both is not None:
                found[k] = both
                break
        else:
            found.append(lean)
    return found


def _on_one_wall(one: _Lean, other: _Lean) -> _Lean | None:
    """Both, on the plane upright through them, if they press together and about ahead."""
    shared = min(one.frames[1], other.frames[1]) - max(one.frames[0], other.frames[0])
    lasts = min(lean.frames[1] - lean.frames[0] for lean in (one, other))
    way, arm = other.place - one.place, 0.5 * (one.arm + other.arm)
    width = float(np.linalg.norm(way[:2]))
    if one.falls or other.falls or shared < TOGETHER * lasts or not APART < width < NEAR or abs(way[2]) > ASLANT:
        return None
    normal = np.array([-way[1], way[0]]) / width
    normal *= np.sign(normal @ arm[:2]) or 1.0
    level = float(np.linalg.norm(arm[:2]))
    if normal @ arm[:2] < FACING * level:
        return None
    frames = min(one.frames[0], other.frames[0]), max(one.frames[1], other.frames[1])
    ahead = np.array([*(level * normal), arm[2]])
    return _Lean(0.5 * (one.place + other.place), ahead, max(one.radius, other.radius), frames, 0.5 * width)


def _pivots(character: Character, trajectory: Trajectory, hand: ContactPoint, start: int, stop: int) -> Iterator[_Held]:
    """When a hand turns about a place of its own that stays, from `start` to before `stop`: by least squares.

    The place p in the hand's frame and c in the world have x + R p = c in every frame. What is far off is left out.
    """
    poses = [body_poses(character, np.ascontiguousarray(q)) for q in trajectory.q[start:stop]]
    origin = np.array([position[hand.body] for position, _ in poses])
    turn = quaternions.matrix(np.array([orientation[hand.body] for _, orientation in poses]))
    middle = np.array(hand.position)
    centers = origin + turn @ middle
    kept = np.ones(len(origin), dtype=np.bool_)
    for _ in range(TRIALS):
        count = int(kept.sum())
        rows = np.column_stack([turn[kept].reshape(-1, 3), np.tile(-np.eye(3), (count, 1))])
        own = np.linalg.lstsq(rows, -centers[kept].ravel(), rcond=None)[0][:3]
        own *= min(1.0, FINGERS / max(float(np.linalg.norm(own)), 1e-9))
        ways = centers + turn @ own
        place = np.median(ways[kept], axis=0)
        off = np.linalg.norm(ways - place, axis=1)
        kept = off < max(STAYS, float(np.median(off)))
    holds = _filled(off < STAYS, round(LETS_GO * trajectory.rate))
    if holds.mean() < HELD:
        return
    x, y, z = (middle + own).tolist()
    for first, last in runs(holds):
        if last - first >= SHORTEST * trajectory.rate:
            yield _Held(hand._replace(position=(x, y, z)), start + first, start + last, place)


def _filled(mask: Mask, longest: int) -> Mask:
    """Without gaps up to so long inside."""
    result = mask.copy()
    for start, stop in runs(np.asarray(~mask)):
        if start > 0 and stop < len(mask) and stop - start <= longest:
            result[start:stop] = True
    return result


def _propped(character: Character, trajectory: Trajectory, terrain: Terrain, lean: _Lean) -> Support | None:
    """A ledge under a hand that presses down, or a wall before one that presses ahead; None where there is no room."""
    place, radius, frames = lean.place, lean.radius, lean.frames
    along, ground = unit(lean.arm[:2]), ground_at(terrain, place)
    if lean.falls:
        top = float(place[2]) - radius
        box = Box("Ledge", (float(place[0]), float(place[1])), along, 0.15, 0.15, 0.2, 0.2, ground, top)
        free = put(character, trajectory, terrain, box)
        return None if free is None else Support("ledge", frames, top - ground, (free,))
    x, y = (place[:2] + radius * np.array(along)).tolist()
    side = lean.reach + WIDE
    wall = Box("Wall", (x, y), along, 0.0, 0.1, side, side, ground, float(place[2]) + BEYOND)
    smaller = (lean.reach + 0.3, lean.reach + 0.15)
    sizes = [wall, *(_narrower(wall, side, float(place[2]) - side) for side in smaller)]
    free = clear(character, trajectory, sizes)
    return None if free is None else Support("wall", frames, free.top - ground, (free,))


def _narrower(wall: Box, side: float, bottom: float) -> Box:
    return wall._replace(right=side, left=side, bottom=bottom, top=bottom + 2.0 * side)


def _bars(trajectory: Trajectory, terrain: Terrain, held: Sequence[_Held]) -> list[Support]:
    """A bar for the hands that hold on at about one height and not far from each other."""
    groups: list[list[_Held]] = []
    for one in sorted(held, key=lambda one: one.start):
        for group in groups:
            there = group[0].place
            if abs(there[2] - one.place[2]) < LEVEL and np.linalg.norm(there[:2] - one.place[:2]) < NEAR:
                group.append(one)
                break
        else:
            groups.append([one])
    found = []
    for group in groups:
        ends = np.array([one.place for one in group])
        middle = ends.mean(axis=0)
        spread = ends[:, :2] - middle[:2]
        along = unit(np.linalg.svd(spread)[2][0]) if np.abs(spread).max() > BAR else _across(trajectory, group[0].start)
        reach = float(np.abs(spread @ np.array(along)).max()) + BEYOND
        half = 0.5 * BAR
        x, y, z = middle.tolist()
        box = Box("Bar", (x, y), along, reach, reach, half, half, z - half, z + half)
        rests = tuple(
            Grab(
                ContactPoint(f"hold_{one.hand.name}", one.hand.body, one.hand.position),
                trajectory.frame(one.start),
                trajectory.frame(one.stop - 1),
            )
            for one in group
        )
        held_at = tuple((float(x), float(y), float(z)) for x, y, z in ends)
        frames = min(rest.start_frame for rest in rests), max(rest.end_frame for rest in rests)
        found.append(Support("bar", frames, z - ground_at(terrain, middle), (box,), rests, held_at))
    return found


def _arms(character: Character) -> list[tuple[ContactPoint, ContactPoint]]:
    """The hand of each arm, or the end of the forearm, and the shoulder."""
    names = [body.name for body in character.bodies]
    found = []
    for side in ("left", "right"):
        ends = [
            point
            for limb in ("hand", "forearm")
            for point in contact_points(character)
            if names[point.body] == f"{side}_{limb}" and not point.foot
        ]
        ends = [point for point in ends if not point.name.endswith("_start")] or ends
        if ends and f"{side}_arm" in names:
            found.append((ends[0], ContactPoint(side, names.index(f"{side}_arm"), (0.0, 0.0, 0.0))))
    return found


def _lean(
    character: Character, trajectory: Trajectory, places: Array, active: Mask, part: slice
) -> tuple[Array, Array] | None:
    """The middle of the feet that stand, and which way (2,) the body would fall from there; None where none stands."""
    standing = active[part]
    if not standing.any():
        return None
    middle = places[part][standing].mean(axis=0)[:2]
    path = center_of_mass_path(character, trajectory.q)
    push = upward_push(path, trajectory.rate, float(character.gravity[2]))
    falls = np.median(zero_moment_point(path, push, places, active)[part], axis=0) - middle
    return middle, falls / max(float(np.linalg.norm(falls)), 1e-9)


def _across(trajectory: Trajectory, sample: int) -> tuple[float, float]:
    """To the left of the body in a frame, along the ground."""
    return unit(rotate(trajectory.q[sample, 3:7], np.array([0.0, 1.0, 0.0]))[:2])
