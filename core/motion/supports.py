# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion rests on and its scene lacks: seats, ledges, walls for a hand, bars.

Where the body is held up by nothing that is known, something is under what stays in its place meanwhile. Hips that rest
higher than soles, with the thighs no longer upright, sit. A hand that stays presses along its arm: on a ledge if that
points down, against a wall if it is level; above the shoulder it holds on to a bar.

A seat is as high as the underside of the hips, and ends in front where the thighs come down to it. What is put there is
as large as the room that the body leaves it at all times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from ..character import Capsule, Character, Sphere
from ..contact.terrain import Mesh, Terrain
from ..dynamics import body_poses
from . import quaternions
from .boxes import Box, clear
from .fit import Trajectory
from .footholds import heights_below
from .labels import Grab, LabelSettings, distance_from_support, upward_push, zero_moment_point
from .quality import lacking_support
from .quaternions import Array, rotate
from .schedule import ContactPoint, ContactSchedule, Mask, contact_points, runs
from .tracks import center_of_mass_path, ground_under, point_places, velocities

Kind = Literal["ground", "seat", "ledge", "wall", "bar"]
Vector = tuple[float, float, float]

SOLID: tuple[Kind, ...] = ("seat", "ledge", "wall")

STILL = 0.25  # m/s, of hips that sit and hands that hold
SHORTEST = 0.3  # s, for which they do
MOSTLY = 0.5  # of those frames something is lacking
FLOOR = "Floor"  # the name of ground under all else
EVEN = 0.03  # m, by which the rises of a flight of steps differ
OUTSIDE = 0.05  # m beyond what holds it, from where on a body's weight is on its hips
SITS = 0.65  # sine of the thighs: hips that are no higher over the knees sit
PERCHES, FAR = 0.78, 0.2  # or are so, and the body is out of balance by so much, m,
AHEAD_OF_HIPS = 0.5  # and the knees by this share of the thighs before the hips
OFF_FLOOR = 0.07  # m from where the soles are lowest up to the hips' underside: those who sit lower sit on the floor
LOW = 5.0  # percentile of the soles' heights
SUNK = 25.0  # percentile of the hips' height that a seat has: nobody sits still
SAME_HEIGHT, SAME_PLACE = 0.05, 0.25  # m: hips that rest so near to where they did before are on the same seat
TOUCHES, STAYS_WITHIN = 0.04, 0.07  # m over a seat and along it, within which hips are on it in their place
TOUCHES_WITHIN = 0.15  # m, from which on hips do not rest
LEAST_FRONT, MOST_FRONT = 0.05, 0.3  # m of a seat in front of the hip joints
GIVES = 0.035  # m that the lowest of hips are in it
ASIDE = 0.13  # m of a seat beyond the hips
SLAB = 0.05  # m thick
SHARES = (1.0, 0.7, 0.5, 0.3)  # of how far a seat would reach ahead, as there is room
THERE = 0.05  # m: ground so near is what carries
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
BEYOND = 0.3  # m of a bar or a wall beyond the hands


@dataclass(frozen=True, eq=False)
class Support:
    """Something that a motion rests on, over the motion's own floor."""

    kind: Kind
    frames: tuple[float, float]  # first and last, by the source's numbers
    height: float  # m over what is below it
    objects: tuple[Box, ...]  # what the scene lacks; none where it is there
    rests: tuple[Grab, ...] = ()  # points that lie on it or hold on to it, besides those that touch any ground
    held: tuple[Vector, ...] = ()  # m, where in the world each of those that hold on does

    @property
    def line(self) -> str:
        """For the report."""
        first, last = self.frames
        return f"It rests on what the scene lacks, {self.text}, in frames {first:.0f} to {last:.0f}: it was put there."

    @property
    def text(self) -> str:
        """What it is, in words."""
        height = f"{100.0 * self.height:.0f} cm"
        words = {
            "seat": f"a seat {height} high under the hips",
            "ledge": f"a ledge {height} high under a hand",
            "wall": "a wall in front of a hand",
            "bar": f"a bar {height} high in the hands",
        }
        return words.get(self.kind) or _told_of_steps(
            [box.top - box.bottom for box in self.objects if box.name != FLOOR]
        )

    @property
    def solid(self) -> tuple[Mesh, ...]:
        """What of it a body meets beside the ground: a bar is inside the hands that hold it."""
        return tuple(box.mesh() for box in self.objects) if self.kind in SOLID else ()

    def lifted(self, height: float) -> "Support":
        """The same so much higher."""
        objects = tuple(box._replace(bottom=box.bottom + height, top=box.top + height) for box in self.objects)
        return replace(self, objects=objects, held=tuple((x, y, z + height) for x, y, z in self.held))


def _told_of_steps(tops: Sequence[float]) -> str:
    """Ground in words, by how high its objects are."""
    heights = sorted({round(top, 2) for top in tops})
    rises = [after - before for before, after in pairwise([0.0, *heights])]
    if len(heights) > 1 and max(rises) - min(rises) < EVEN:
        return f"{len(heights)} steps of {100.0 * float(np.mean(rises)):.0f} cm"
    *more, last = (f"{100.0 * height:.0f}" for height in heights)
    return f"ground {', '.join(more)}{' and ' if more else ''}{last} cm off the floor"


def find_supports(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, terrain: Terrain
) -> list[Support]:
    """What a motion rests on besides the terrain that its contacts were found on, in the order of time."""
    if character.bodies[0].joint.kind != "free":
        return []
    seated = _seated(character, trajectory, schedule)
    found: list[Support | None] = []
    taken = np.zeros(len(trajectory.q), dtype=np.bool_)
    for seat in [] if seated is None else seated.seats:
        assert seated is not None
        found.append(_seat(character, trajectory, terrain, seated, seat))
        taken |= seat
    holds = find_holds(character, trajectory, schedule, terrain, taken)
    return sorted((*(one for one in found if one is not None), *holds), key=lambda one: one.frames)


def lies_there(support: Support, terrain: Terrain, rate: float) -> bool:
    """Whether what a motion tells of is part of a terrain."""
    return any(_is_there(terrain, rate, box, support.kind == "wall") for box in support.objects)


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


class _Held(NamedTuple):
    """A hand that holds on from one sample to before another: by which place of it, to which place."""

    hand: ContactPoint
    start: int
    stop: int
    place: Array  # (3,) m


class _Leg(NamedTuple):
    """A thigh, from the hip to the knee."""

    hip: ContactPoint
    knee: ContactPoint
    radius: float  # m


class _Seated(NamedTuple):
    """Hips, frame by frame."""

    hips: list[ContactPoint]
    legs: list[_Leg]
    places: Array  # (nf, hips, 3)
    upper: Array  # (nf, legs, 3) hip joints
    lower: Array  # (nf, legs, 3) knees
    seats: list[Mask]  # (nf,) when they rest, by the place where they do

    @property
    def middle(self) -> Array:
        """Of the hips (nf, 3)."""
        result: Array = self.places.mean(axis=1)
        return result

    @property
    def bottom(self) -> Array:
        """Height of their underside (nf,)."""
        result: Array = self.middle[:, 2] - self.hips[0].radius
        return result

    def ahead(self, trajectory: Trajectory) -> Array:
        """How far each frame's knees are before the hips, as shares of the thighs (nf,)."""
        way = (self.lower - self.upper).mean(axis=1)
        forward = rotate(trajectory.q[:, 3:7], np.array([1.0, 0.0, 0.0]))[:, :2]
        forward /= np.linalg.norm(forward, axis=1)[:, None]
        result: Array = np.einsum("fk,fk->f", way[:, :2], forward) / np.linalg.norm(way, axis=1)
        return result

    @property
    def rise(self) -> Array:
        """Sine of each thigh over the level, from the knee on (nf, legs)."""
        way = self.upper - self.lower
        result: Array = way[..., 2] / np.linalg.norm(way, axis=2)
        return result


def _seated(character: Character, trajectory: Trajectory, schedule: ContactSchedule) -> _Seated | None:
    """Where and when hips rest, higher than feet could hold them; None where they never do."""
    hips, legs, rate = _hips(character), _legs(character), trajectory.rate
    if not hips or len(legs) < 2:
        return None
    found = _Seated(
        hips,
        legs,
        point_places(character, trajectory.q, hips),
        point_places(character, trajectory.q, [leg.hip for leg in legs]),
        point_places(character, trajectory.q, [leg.knee for leg in legs]),
        [],
    )
    middle, seats = found.middle, found.seats
    high = found.bottom - np.percentile(_soles(character, trajectory), LOW) > OFF_FLOOR
    still = np.linalg.norm(velocities(middle, rate), axis=1) < STILL
    away = _out_of_support(character, trajectory, _without(character, trajectory, schedule))
    unheld, rise = away > OUTSIDE, found.rise.mean(axis=1)
    perches = (rise < PERCHES) & (found.ahead(trajectory) > AHEAD_OF_HIPS) & (away > FAR) & np.isfinite(away)
    for start, stop in runs(np.asarray(still & high & ((rise < SITS) | perches))):
        own = np.median(middle[start:stop], axis=0)
        strays = np.percentile(np.linalg.norm((middle[start:stop] - own)[:, :2], axis=1), 100.0 - LOW)
        if stop - start < SHORTEST * rate or unheld[start:stop].mean() < MOSTLY or strays > TOUCHES_WITHIN:
            continue
        for seat in seats:
            other = np.median(middle[seat], axis=0)
            if abs(own[2] - other[2]) < SAME_HEIGHT and np.linalg.norm(own[:2] - other[:2]) < SAME_PLACE:
                seat[start:stop] = True
                break
        else:
            seats.append(np.zeros(len(middle), dtype=np.bool_))
            seats[-1][start:stop] = True
    return found if seats else None


def _seat(
    character: Character, trajectory: Trajectory, terrain: Terrain, seated: _Seated, seat: Mask
) -> Support | None:
    """What the hips rest on in some frames; None where there is no room for it."""
    middle, bottom, radius = seated.middle, seated.bottom, seated.hips[0].radius
    place = np.median(middle[seat], axis=0)
    there = np.linalg.norm(middle[:, :2] - place[:2], axis=1) < SAME_PLACE
    height = min(float(np.percentile(bottom[seat], SUNK)), float(bottom[there].min()) + GIVES)
    touches = np.zeros(len(bottom), dtype=np.bool_)
    stretches: list[tuple[int, int]] = []
    for start, stop in runs(seat):
        own = np.median(middle[start:stop, :2], axis=0)
        stays = np.linalg.norm(middle[:, :2] - own, axis=1) < STAYS_WITHIN
        for first, last in runs(np.asarray(stays & (bottom < height + TOUCHES) & ~touches)):
            if seat[first:last].any() and last - first >= SHORTEST * trajectory.rate:
                touches[first:last] = True
                stretches.append((first, last))
    sine, drop = seated.rise[seat].max(), radius - seated.legs[0].radius
    side = float(np.ptp(seated.places[seat], axis=1)[:, :2].max()) / 2.0 + ASIDE
    box = Box(
        "Seat",
        (float(place[0]), float(place[1])),
        _unit(np.median((seated.lower - seated.upper)[seat].mean(axis=1), axis=0)[:2]),
        back=radius + ASIDE,
        front=float(np.clip(drop / sine if sine > 0.0 else MOST_FRONT, LEAST_FRONT, MOST_FRONT)),
        right=side,
        left=side,
        bottom=0.0,
        top=height,
    )
    known = _is_there(terrain, trajectory.rate, box)
    free = box if known else _put(character, trajectory, terrain, box)
    if free is None or not stretches:
        return None
    points = [point._replace(name=f"seat_{number}") for number, point in enumerate(seated.hips, 1)]
    rests = tuple(
        Grab(point, trajectory.frame(start), trajectory.frame(stop - 1), pulls=False)
        for start, stop in stretches
        for point in points
    )
    frames = trajectory.frame(stretches[0][0]), trajectory.frame(stretches[-1][1] - 1)
    return Support("seat", frames, height - _floor_below(terrain, box), () if known else (free,), rests)


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
    hangs = _soles(character, trajectory) - _ground_at(terrain, middle) > HANGS
    held: list[_Held] = []
    found = []
    for hand, shoulder in _arms(character):
        own = point_places(character, trajectory.q, (hand, shoulder))
        arm = own[:, 0] - own[:, 1]
        above = np.asarray(hangs & (arm[:, 2] > ABOVE))
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
            support = _propped(character, trajectory, terrain, place, way, hand.radius, frames)
            if support is not None:
                found.append(support)
    return found + _bars(trajectory, terrain, held)


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


def _propped(
    character: Character,
    trajectory: Trajectory,
    terrain: Terrain,
    place: Array,
    arm: Array,
    radius: float,
    frames: tuple[float, float],
) -> Support | None:
    """A ledge under a hand that presses down, or a wall before one that presses ahead; None where there is no room."""
    along, ground = _unit(arm[:2]), _ground_at(terrain, place)
    if arm[2] < FALLS * np.linalg.norm(arm):
        top = float(place[2]) - radius
        box = Box("Ledge", (float(place[0]), float(place[1])), along, 0.15, 0.15, 0.2, 0.2, ground, top)
        free = _put(character, trajectory, terrain, box)
        return None if free is None else Support("ledge", frames, top - ground, (free,))
    x, y = (place[:2] + radius * np.array(along)).tolist()
    wall = Box("Wall", (x, y), along, 0.0, 0.1, 0.6, 0.6, ground, float(place[2]) + BEYOND)
    sizes = [wall, *(_narrower(wall, side, float(place[2]) - side) for side in (0.3, 0.15))]
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
        along = (
            _unit(np.linalg.svd(spread)[2][0]) if np.abs(spread).max() > BAR else _across(trajectory, group[0].start)
        )
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
        found.append(Support("bar", frames, z - _ground_at(terrain, middle), (box,), rests, held_at))
    return found


def _put(character: Character, trajectory: Trajectory, terrain: Terrain, box: Box) -> Box | None:
    """As much of a box as there is room for; None for none.

    It stands on what is below it, or where the body is in the way, is as thin as a board, and smaller.
    """
    flesh = (character.bodies[0].name, "left_thigh", "right_thigh")
    block = box._replace(bottom=_floor_below(terrain, box))
    board = box._replace(bottom=box.top - SLAB)
    sizes = [
        kind._replace(front=ahead * box.front, back=share * box.back, right=share * box.right, left=share * box.left)
        for kind in (block, board)
        for ahead in SHARES
        for share in (1.0, 0.7, 0.5)
    ]
    return clear(character, trajectory, (one for one in sizes if one.bottom < one.top), flesh)


def _is_there(terrain: Terrain, rate: float, box: Box, upright: bool = False) -> bool:
    """Whether there is ground at a box's top, or at its face if it is `upright`."""
    height = box.top - BEYOND if upright else box.top
    place = np.array([[[*box.place, height]]])
    return abs(float(ground_under(terrain, place, np.zeros(1), rate).height[0, 0])) < THERE


def _hips(character: Character) -> list[ContactPoint]:
    """The ends of the pelvis."""
    for shape in character.contacts:
        if character.index(shape.body) == 0 and isinstance(shape, Capsule):
            return [ContactPoint(shape.name, 0, place, shape.radius) for place in (shape.start, shape.end)]
        if character.index(shape.body) == 0 and isinstance(shape, Sphere):
            return [ContactPoint(shape.name, 0, shape.position, shape.radius)]
    return []


def _legs(character: Character) -> list[_Leg]:
    names = [body.name for body in character.bodies]
    found = []
    for side in ("left", "right"):
        thigh, shank = f"{side}_thigh", f"{side}_shank"
        radius = [one.radius for one in character.contacts if one.body == thigh and isinstance(one, Capsule)]
        if thigh in names and shank in names and radius:
            joints = [ContactPoint(name, names.index(name), (0.0, 0.0, 0.0)) for name in (thigh, shank)]
            found.append(_Leg(joints[0], joints[1], radius[0]))
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


def _without(character: Character, trajectory: Trajectory, schedule: ContactSchedule) -> ContactSchedule:
    """The schedule without what touches higher than the floor, but feet and grabs: it tells whether a seat holds it."""
    floor = np.percentile(_soles(character, trajectory), LOW)
    radius = np.array([point.radius for point in schedule.points])
    high = point_places(character, trajectory.q, schedule.points)[..., 2] - radius > floor + OFF_FLOOR
    sure = np.array([point.foot or point.grab for point in schedule.points], dtype=np.bool_)
    return ContactSchedule(schedule.points, schedule.active & (sure | ~high), schedule.place)


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


def _out_of_support(character: Character, trajectory: Trajectory, schedule: ContactSchedule) -> Array:
    """How far (nf,) a body that is held up is out of balance over what touches, m; infinite where nothing does."""
    places = point_places(character, trajectory.q, schedule.points)
    path = center_of_mass_path(character, trajectory.q)
    push = upward_push(path, trajectory.rate, float(character.gravity[2]))
    grabbed = np.array([point.grab for point in schedule.points], dtype=np.bool_)
    away = distance_from_support(places, schedule.active, zero_moment_point(path, push, places, schedule.active))
    held = np.asarray(schedule.active[:, grabbed].any(axis=1))
    result: Array = np.where((push[:, 2] > LabelSettings().held_up) & ~held, away, 0.0)
    return result


def _soles(character: Character, trajectory: Trajectory) -> Array:
    """Height (nf,) of the lowest point of the feet."""
    feet = [point for point in contact_points(character) if point.foot]
    if not feet:
        return np.full(len(trajectory.q), -np.inf)
    low: Array = point_places(character, trajectory.q, feet)[..., 2].min(axis=1)
    return low


def _floor_below(terrain: Terrain, box: Box) -> float:
    return _ground_at(terrain, np.array([*box.place, box.top]))


def _ground_at(terrain: Terrain, place: Array) -> float:
    """Height of the ground below a place; z = 0 where there is none."""
    found = float(heights_below(terrain, place[None])[0])
    return found if np.isfinite(found) else 0.0


def _across(trajectory: Trajectory, sample: int) -> tuple[float, float]:
    """To the left of the body in a frame, along the ground."""
    return _unit(rotate(trajectory.q[sample, 3:7], np.array([0.0, 1.0, 0.0]))[:2])


def _unit(way: Array) -> tuple[float, float]:
    length = float(np.linalg.norm(way))
    return (1.0, 0.0) if length < 1e-6 else (float(way[0]) / length, float(way[1]) / length)
