# SPDX-License-Identifier: GPL-3.0-or-later
"""Seats: hips that rest higher than soles, with the thighs no longer upright, sit.

A seat is as high as the underside of the hips, and ends in front where the thighs come down to it.
"""

from typing import NamedTuple

import numpy as np

from ..character import Capsule, Character, Sphere
from ..contact.terrain import Terrain
from .boxes import Box
from .fit import Trajectory
from .labels import Grab, LabelSettings, distance_from_support, upward_push, zero_moment_point
from .quaternions import Array, rotate
from .schedule import ContactPoint, ContactSchedule, Mask, runs
from .support import LOW, MOSTLY, SHORTEST, STILL, Support, floor_below, is_there, put, soles_height, unit
from .tracks import center_of_mass_path, point_places, velocities

OUTSIDE = 0.05  # m beyond what holds it, from where on a body's weight is on its hips
SITS = 0.65  # sine of the thighs: hips that are no higher over the knees sit
PERCHES, FAR = 0.78, 0.2  # or are so, and the body is out of balance by so much, m,
AHEAD_OF_HIPS = 0.5  # and the knees by this share of the thighs before the hips
OFF_FLOOR = 0.07  # m from where the soles are lowest up to the hips' underside: those who sit lower sit on the floor
SUNK = 25.0  # percentile of the hips' height that a seat has: nobody sits still
SAME_HEIGHT, SAME_PLACE = 0.05, 0.25  # m: hips that rest so near to where they did before are on the same seat
TOUCHES, STAYS_WITHIN = 0.04, 0.07  # m over a seat and along it, within which hips are on it in their place
TOUCHES_WITHIN = 0.15  # m, from which on hips do not rest
LEAST_FRONT, MOST_FRONT = 0.05, 0.3  # m of a seat in front of the hip joints
GIVES = 0.035  # m that the lowest of hips are in it
ASIDE = 0.13  # m of a seat beyond the hips


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


def find_seats(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, terrain: Terrain
) -> list[tuple[Support | None, Mask]]:
    """Each seat, None where there is no room for it, and when hips rest on it (nf,)."""
    seated = _seated(character, trajectory, schedule)
    if seated is None:
        return []
    return [(_seat(character, trajectory, terrain, seated, seat), seat) for seat in seated.seats]


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
    high = found.bottom - np.percentile(soles_height(character, trajectory), LOW) > OFF_FLOOR
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
        unit(np.median((seated.lower - seated.upper)[seat].mean(axis=1), axis=0)[:2]),
        back=radius + ASIDE,
        front=float(np.clip(drop / sine if sine > 0.0 else MOST_FRONT, LEAST_FRONT, MOST_FRONT)),
        right=side,
        left=side,
        bottom=0.0,
        top=height,
    )
    known = is_there(terrain, trajectory.rate, box)
    free = box if known else put(character, trajectory, terrain, box)
    if free is None or not stretches:
        return None
    points = [point._replace(name=f"seat_{number}") for number, point in enumerate(seated.hips, 1)]
    rests = tuple(
        Grab(point, trajectory.frame(start), trajectory.frame(stop - 1), pulls=False)
        for start, stop in stretches
        for point in points
    )
    frames = trajectory.frame(stretches[0][0]), trajectory.frame(stretches[-1][1] - 1)
    return Support("seat", frames, height - floor_below(terrain, box), () if known else (free,), rests)


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


def _without(character: Character, trajectory: Trajectory, schedule: ContactSchedule) -> ContactSchedule:
    """The schedule without what touches higher than the floor, but feet and grabs: it tells whether a seat holds it."""
    floor = np.percentile(soles_height(character, trajectory), LOW)
    radius = np.array([point.radius for point in schedule.points])
    high = point_places(character, trajectory.q, schedule.points)[..., 2] - radius > floor + OFF_FLOOR
    sure = np.array([point.foot or point.grab for point in schedule.points], dtype=np.bool_)
    return ContactSchedule(schedule.points, schedule.active & (sure | ~high), schedule.place)


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
