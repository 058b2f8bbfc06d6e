# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk laid along a path: its cycle again and again, bent the way the path goes, until it stands at the path's end.

A cycle goes its own way, in a period a turn and a shift in the plane (cycle.py). Seen from a frame that glides along
that way evenly, hips sway and arms swing about one place. Each of its samples is set into a frame that glides along the
path instead. A foot that stands is set into it as it is in the middle of its stance, and keeps that place; inverse
kinematics brings its sole there. That is only a target: the lean into a curve is the spacetime optimiser's.

It ends with a stance at the path's end. The frame comes to rest while that foot takes over, the other foot comes down
beside it, and the body moves over both.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..character import Character
from .cycles import GaitCycle
from .fit import Trajectory, pose_at, velocities
from .inverse_kinematics import Targets, reach
from .moving_frame import Glide, OwnWay, Stance, at_fractions, held_at, move, over_both, set_into, stances_of, turned
from .path import Path
from .planting import find_soles
from .quaternions import Array
from .schedule import ContactSchedule, contact_points
from .steepness import LEVEL, Steepness
from .tracks import point_places

STANDS_FOR = 0.8  # s, at the end
LONGER_STEPS = 0.5  # power of a speed's share that longer steps take; quicker ones take the rest
STRETCHED = 1.6  # times the speed, or so much less, at most, for a stance to fall on the path's end
FITTINGS = 4
LAST_SPEED = 1.2  # m/s, from which a step stops
SLOWS_DOWN = 1.5  # m/s², until then
SLACK = 1e-4  # m², of soles
ROOT_MOBILITY, TURN_MOBILITY = 0.01, 0.01  # m² and rad²; joints have 1 rad²


@dataclass(frozen=True)
class Laid:
    """A cycle along a path."""

    trajectory: Trajectory
    schedule: ContactSchedule
    sample: Array  # (nf,) of laps in a row, the first of which is one before the walk begins


class Timing(NamedTuple):
    """Frame by frame, where the walk is in its laps and on the path; and the two stances with which it ends."""

    sample: Array  # (nf,) of laps in a row
    distance: Array  # (nf,) m
    last: Stance  # at the path's end
    beside: Stance


def lay_along(
    character: Character,
    cycle: GaitCycle,
    row: Trajectory,
    schedule: ContactSchedule,
    path: Path,
    steepness: Steepness = LEVEL,
) -> Laid:
    """Laps of a cycle in a row and their contacts along a path; ValueError where it is too short to be walked.

    The first lap is the one before, the last are more than the path needs; the second begins where the path does. Where
    the ground is steep, steps are shorter.
    """
    feet = [point.foot for point in schedule.points]
    if schedule.active[:, ~np.array(feet, dtype=np.bool_)].any():
        raise ValueError("Only a walk that stands on its feet alone can follow a path.")
    soles = [sole for sole in find_soles(character, contact_points(character)) if sole.corners]
    own = way_of_cycle(cycle)
    stances = stances_of(schedule, soles)
    timing = time_steps(stances, path, steepness, own.speed, row.rate, float(len(cycle.trajectory.q) - 1))

    def path_at(sample: Array) -> Glide:
        return Glide(*path.at(np.interp(sample, timing.sample, timing.distance)))

    q = np.array([pose_at(character, row.q, x) for x in timing.sample])
    move(q, own.at(timing.sample), path_at(timing.sample))
    active = schedule.active[np.rint(timing.sample).astype(np.int64)].copy()
    place = np.zeros((len(q), len(schedule.points), 3))
    bodies, local, wanted = [], [], []
    for number, sole in enumerate(soles):
        columns = [i for i, point in enumerate(schedule.points) if point.foot and point.body == sole.body]
        sample = timing.sample
        if number == timing.last.sole:  # it stays in the middle of its stance
            sample = np.minimum(sample, timing.last.middle)
            active[:, columns] |= (timing.sample > sample)[:, None] & schedule.active[
                round(timing.last.middle), columns
            ]
        held = held_at(sample, [stance for stance in stances if stance.sole == number])
        there, here = path_at(held), own.at(held)
        bodies += [sole.body] * len(sole.corners)
        local += [corner.position for corner in sole.corners]
        wanted.append(set_into(at_fractions(point_places(character, row.q, sole.corners), sample), here, there))
        place[:, columns] = set_into(schedule.place[np.rint(sample).astype(np.int64)][:, columns], here, there)
    place[~active] = 0.0
    coming = _coming_to_rest(timing)
    q[:, 3:7] = turned(q[:, 3:7], coming * own.askew(row.q[round(timing.beside.middle)], timing.beside.middle))
    q[:, :2] += coming[:, None] * over_both(
        character, q[-1], [wanted[one.sole][-1] for one in (timing.last, timing.beside)]
    )
    goals = np.ascontiguousarray(np.concatenate(wanted, axis=1))
    aims = Targets(np.array(bodies, dtype=np.int64), np.array(local), goals, np.full(goals.shape, SLACK))
    mobility = np.ones(character.nv)
    mobility[:3], mobility[3:6] = ROOT_MOBILITY, TURN_MOBILITY
    q = reach(character, q, aims, mobility)
    return Laid(
        Trajectory(row.rate, q, velocities(character, q, row.rate), row.first_frame, row.frames_per_sample),
        ContactSchedule(schedule.points, active, place),
        timing.sample,
    )


def way_of_cycle(cycle: GaitCycle) -> OwnWay:
    """The way that it goes by itself."""
    return OwnWay(cycle.trajectory.q, cycle.step, cycle.trajectory.rate)


def step_length(cycle: GaitCycle) -> float:
    """Of each of its two steps, m."""
    return 0.5 * way_of_cycle(cycle).speed * cycle.period


def laps_needed(cycle: GaitCycle, path: Path, steepness: Steepness = LEVEL) -> int:
    """How many laps of a cycle a path takes at most, with the one before and what is left over at its end."""
    own = way_of_cycle(cycle)
    slowest = min([own.speed, *path.speed.tolist()])
    longer = float((slowest / own.speed) ** LONGER_STEPS)
    return math.ceil(STRETCHED * (path.length + steepness.longer) / (own.speed * longer * cycle.period)) + 4


def time_steps(
    stances: list[Stance], path: Path, steepness: Steepness, own: float, rate: float, start: float
) -> Timing:
    """When which step is where: at the path's speed, all of it a little more or less, so that a stance ends it."""
    scale, length = 1.0, path.length
    for _ in range(FITTINGS):
        sample, distance = _marched(path, steepness, scale, own, rate, start, max(stance.stop for stance in stances))
        ends = [
            (abs(_end(stance, sample, distance) - length), stance)
            for stance in stances
            if start < stance.start and stance.stop < sample[-1]
        ]
        last = min(ends)[1] if ends else stances[0]
        scale *= length / max(_end(last, sample, distance), 1e-6)
    if not ends or not 1.0 / STRETCHED < scale < STRETCHED:
        raise ValueError(f"A path of {length:.1f} m is too short to be walked: draw a longer one.")
    beside = next(one for one in stances if one.sole != last.sole and one.middle > last.middle)
    sample, distance = _marched(path, steepness, scale, own, rate, start, beside.start)
    down, middle = (float(np.interp(x, sample, distance)) for x in (last.start, last.middle))
    share = np.clip((sample - last.start) / (last.middle - last.start), 0.0, 1.0)
    slowing = down + (middle - down) * (share - 0.5 * share**2)
    distance = np.where(sample > last.start, slowing, distance)
    left, pace = beside.middle - beside.start, sample[-1] - sample[-2]
    count = max(round(2.0 * left / pace), 2)
    share = np.minimum(np.arange(1, count + round(STANDS_FOR * rate) + 1) / count, 1.0)
    sample = np.concatenate([sample, sample[-1] + (beside.middle - sample[-1]) * (2.0 * share - share**2)])
    distance = np.concatenate([distance, np.full(len(share), distance[-1])])
    return Timing(sample, distance, last, beside)


def _marched(
    path: Path, steepness: Steepness, scale: float, own: float, rate: float, start: float, stop: float
) -> tuple[Array, Array]:
    """Samples and distances frame by frame, until the sample `stop`."""
    samples, distances = [start], [0.0]
    while samples[-1] < stop:
        left = max(path.length - distances[-1], 0.0)
        wanted = min(path.speed_at(len(samples) / rate, own), math.sqrt(LAST_SPEED**2 + 2.0 * SLOWS_DOWN * left))
        speed = scale * wanted
        samples.append(samples[-1] + (speed / own) ** (1.0 - LONGER_STEPS))
        distances.append(distances[-1] + steepness.at(distances[-1]) * speed / rate)
    return np.array(samples), np.array(distances)


def _end(stance: Stance, sample: Array, distance: Array) -> float:
    """How far the frame comes that comes to rest from when this foot is down to the middle of its stance."""
    down, middle = (float(np.interp(x, sample, distance)) for x in (stance.start, stance.middle))
    return 0.5 * (down + middle)


def _coming_to_rest(timing: Timing) -> Array:
    """From 0 (nf,) while the last foot takes over to 1 when the other stands beside it."""
    share = (timing.sample - timing.last.middle) / (timing.beside.middle - timing.last.middle)
    share = np.clip(share, 0.0, 1.0)
    result: Array = share * share * (3.0 - 2.0 * share)
    return result
