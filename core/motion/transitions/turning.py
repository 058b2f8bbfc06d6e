# SPDX-License-Identifier: GPL-3.0-or-later
"""A lap from a joint of one level to the same joint of another, or of the same, turned by some angle."""

import math
from dataclasses import dataclass

import numpy as np

from ..cycle import Cycle
from ..fit import Trajectory, velocities
from ..moving_frame import Glide, move
from ..quaternions import Array
from ..reference import Reference
from ..schedule import ContactSchedule
from ..sequence import NOWHERE, then
from ..spacetime import Ends, Settings, build_reference
from .soles import Knot, carried, columns_of, moved, put_down
from .straight import Level
from .strides import Strides, blended


@dataclass(frozen=True, eq=False)
class Transition:
    """A possible motion from one joint to another. At first its frame is at the origin, and heads along x."""

    reference: Reference
    step: Cycle  # of the frame, to the end
    sample: Array  # (frames,) of the cycle that it was made from


def leading(source: Level, target: Level, joint: int, angle: float, settings: Settings) -> Transition:
    """From a joint of one level to that of another a lap later, turned by an angle (rad, to the left).

    The foot that carries in between is put down where it changes the velocity as is wanted. NoReferenceError where no
    such motion is possible.
    """
    a, b = Strides(source, joint), Strides(target, joint)
    there, here, back = a.takes_over, b.takes_over, b.gives_back
    frames = np.arange(there + b.period - here + 1, dtype=np.float64)
    final = len(frames) - 1
    of_a = np.where(frames <= there, frames, there + (frames - there) * (a.period - there) / (b.period - here))
    of_b = np.where(frames <= there, frames * here / there, here + frames - there)
    turn = Cycle((0.0, 0.0), angle).rotation[:2, :2]

    # the deviation d of the centre of mass from b's, which begins with a's velocity and ends with b's, turned
    (at_a, fast_a), (at_b, fast_b), (end_b, fast_end) = a.com_at(there), b.com_at(here), b.com_at(back)
    seconds, omega, lies = (back - here) / a.rate, b.omega, at_a - at_b
    growing, steep = math.cosh(omega * seconds), math.sinh(omega * seconds)
    begins, ends = fast_a - fast_b, turn @ fast_end - fast_end
    aside = (begins * growing - ends) / (omega * steep)  # by which the foot is put down elsewhere
    since = np.clip(frames - there, 0, back - here)[:, None] / a.rate
    away = aside * (1.0 - np.cosh(omega * since)) + begins / omega * np.sinh(omega * since)
    over = end_b + lies + away[-1]  # the centre of mass when the first foot takes over again

    def whole(place: Array) -> Array:
        result: Array = over + turn @ (place - end_b)
        return result

    own = b.com(of_b)
    path = np.where((frames <= there)[:, None], a.com(of_a), own + lies + away)
    path = np.where((frames > there + back - here)[:, None], over + (own - end_b) @ turn.T, path)
    heading = angle * smooth(frames / final)
    q = _set_into(a.poses(of_a), a.com(of_a), path, heading)
    if source is not target:
        q = blended(a, q, _set_into(b.poses(of_b), own, path, heading), smooth(frames / final))

    active = np.zeros((len(frames), len(a.points)), dtype=np.bool_)
    place = np.zeros((len(frames), len(a.points), 3))
    wanted = []
    for number, sole in enumerate(a.soles):
        columns = columns_of(a.schedule, sole)
        touches = np.where((frames <= there)[:, None], a.touching(number, of_a), b.touching(number, of_b))
        first, last = a.middle(number, 0.0), b.middle(number, b.period)
        begin, finish = Knot(0.0, first, first, 0.0), Knot(float(final), last, whole(last), angle)
        if number == joint:
            lifts = b.stance(number, 0).stop - here + there
            lands = b.stance(number, 1).start - here + there
            knots = [begin, Knot(lifts + 0.5, first, first, 0.0), Knot(lands - 0.5, last, whole(last), angle), finish]
            puts = [(touches & (frames <= lifts)[:, None], a.set_down(number, 0.0))]
            puts += [(touches & (frames > lifts)[:, None], moved(b.set_down(number, b.period), finish))]
        else:
            stance = b.stance(number, 1)
            lands, lifts = a.stance(number, 1).start, stance.stop - here + there
            spot, facing = b.middle(number, stance.middle), float(heading[round(0.5 * (lands + lifts))])
            down = Knot(lands - 0.5, spot, spot + lies + aside, facing)
            knots = [begin, down, down._replace(frame=lifts + 0.5), finish]
            puts = [(touches, moved(b.set_down(number, stance.middle), down))]
        tracks = np.where((frames <= there)[:, None, None], a.tracks(number, of_a), b.tracks(number, of_b))
        wanted.append(carried(tracks, knots))
        for mask, spots in puts:
            active[:, columns] |= mask
            place[:, columns] += np.where(mask[:, :, None], spots, 0.0)
    q = put_down(a.character, q, a.soles, wanted)
    end = whole(_lap(target))
    step = Cycle((float(end[0]), float(end[1])), angle)
    bounds = Ends(state_at(source, joint, NOWHERE), state_at(target, joint, step))
    asked = Trajectory(a.rate, q, velocities(a.character, q, a.rate))
    made = build_reference(
        a.character, asked, ContactSchedule(a.points, active, place), bounds=bounds, settings=settings
    )
    looks = source.sample[(source.joints[joint].frame + np.rint(of_a).astype(np.int64)) % len(source.sample)]
    return Transition(made, step, looks)


def _lap(level: Level) -> Array:
    cycle = level.reference.cycle
    assert cycle is not None
    return np.array(cycle.shift)


def state_at(level: Level, number: int, way: Cycle) -> tuple[Array, Array]:
    """Positions and velocities at a joint, with its frame led so far."""
    joint, reference = level.joints[number], level.reference
    back = then(way, Cycle((-joint.along, 0.0)))
    return back.move_state(reference.character, reference.q[joint.frame], reference.v[joint.frame])


def _set_into(q: Array, here: Array, path: Array, heading: Array) -> Array:
    """Poses whose centre of mass is here (nf, 2), moved to a path and turned."""
    moved_on = q.copy()
    move(moved_on, Glide(here, np.zeros(len(here))), Glide(path, heading))
    return moved_on


def smooth(share: Array) -> Array:
    """From 0 to 1 without a jolt."""
    result: Array = share * share * (3.0 - 2.0 * share)
    return result
