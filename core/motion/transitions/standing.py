# SPDX-License-Identifier: GPL-3.0-or-later
"""From a walk to standing with the feet side by side, and back.

Who stops puts a foot down where the body comes to rest over both: where the extrapolated centre of mass, which runs
away from a foot that carries, ends half-way between that foot and the one that is put beside it (Hof 2008). From there
the body comes to rest by itself, along exp(-omega t). Who starts does the same backwards in time.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...character import Character
from ..cycle import Cycle
from ..fit import Trajectory, velocities
from ..moving_frame import Glide, move
from ..quaternions import Array
from ..schedule import ContactSchedule
from ..sequence import NOWHERE
from ..spacetime import Ends, Settings, build_reference
from .soles import Knot, carried, columns_of, moved, put_down
from .straight import Level
from .strides import Strides, blended
from .turning import Transition, smooth, state_at

RESTS = 1.0  # s, in which the body comes to rest, or leaves it
JOINT = 0  # at which a walk is left for standing, and entered


@dataclass(frozen=True, eq=False)
class Stand:
    """Standing: its frame lies between the feet, on the ground."""

    character: Character
    q: Array  # (nq,)
    sample: float  # of the cycle, whose looks it has


class _Laid(NamedTuple):
    q: Array
    schedule: ContactSchedule


class _Feet(NamedTuple):
    """Where the feet stand."""

    other: Array  # (2,) m
    beside: Array  # (2,) m, from there to the first
    turn: float  # rad


def stopping(
    level: Level, settings: Settings, joint: int = JOINT, angle: float = 0.0, onto: Stand | None = None
) -> tuple[Transition, Stand]:
    """From a joint: the other foot lands, the first beside it, both turned by an angle (rad, to the left).

    It ends in a way of standing that is known, or in its own.
    """
    s = Strides(level, joint)
    there, back = s.takes_over, s.gives_back
    frames = np.arange(back + round(RESTS * s.rate) + 1, dtype=np.float64)
    seconds = (back - there) / s.rate
    at, fast = s.com_at(there)
    turn = Cycle((0.0, 0.0), angle).rotation[:2, :2]
    beside, lies = turn @ _beside(s, s.period), turn @ _lies(s, there, back)
    foot = at + fast / s.omega - 0.5 * beside * math.exp(-s.omega * seconds)  # as the pendulum has it
    rest = foot + 0.5 * beside
    since = np.clip(frames - there, 0, back - there)[:, None] / s.rate
    path = foot + (at - foot) * np.cosh(s.omega * since) + fast / s.omega * np.sinh(s.omega * since)
    calm = np.exp(-s.omega * np.clip(frames - back, 0, None) / s.rate)[:, None]
    path = rest + (path - rest) * calm
    path = np.where((frames <= there)[:, None], s.com(frames), path)
    body = _slowing(frames, there, _half(level, joint))
    x, y = (foot + lies + 0.5 * beside).tolist()
    frame = Cycle((x, y), angle)
    still = np.zeros(s.character.nv)
    pose = None if onto is None else frame.move_state(s.character, onto.q, still)[0]
    heading = angle * smooth(np.clip(frames / back, 0.0, 1.0))
    feet = _Feet(foot + lies, beside, angle)
    laid = _lay(s, body, np.minimum(frames, s.period), path, feet, frames, stops=True, heading=heading, rests=pose)
    q = laid.q
    bounds = Ends(state_at(level, joint, NOWHERE), (q[-1] if pose is None else pose, still))
    made = build_reference(
        s.character,
        Trajectory(s.rate, q, velocities(s.character, q, s.rate)),
        laid.schedule,
        bounds=bounds,
        settings=settings,
    )
    looks = _looks(level, body, joint)
    if onto is not None:
        return Transition(made, frame, looks), onto
    away = Cycle((-x, -y))
    stand = Stand(s.character, away.move_state(s.character, made.q[-1], still)[0], float(looks[-1]))
    return Transition(made, frame, looks), stand


def starting(level: Level, stand: Stand, settings: Settings) -> Transition:
    """From standing to the level's first joint: the foot that was put beside the other steps ahead."""
    s = Strides(level, JOINT)
    there, back = s.takes_over, s.gives_back
    seconds, before = (back - there) / s.rate, round(RESTS * s.rate)
    # frames of the walk: they begin `before` the other foot carries alone, and end at the joint
    frames = np.arange(there - before, s.period + 1, dtype=np.float64)
    at, fast = s.com_at(back)
    beside, lies = _beside(s, 0.0), _lies(s, there, back)
    foot = at - fast / s.omega - 0.5 * beside * math.exp(-s.omega * seconds)
    rest = foot + 0.5 * beside
    to_go = np.clip(back - frames, 0, back - there)[:, None] / s.rate
    path = foot + (at - foot) * np.cosh(s.omega * to_go) - fast / s.omega * np.sinh(s.omega * to_go)
    calm = np.exp(-s.omega * np.clip(there - frames, 0, None) / s.rate)[:, None]
    path = rest + (path - rest) * calm
    path = np.where((frames >= back)[:, None], s.com(frames), path)
    body = back - _slowing(back - frames, 0, back - _half(level, JOINT))
    feet = _Feet(foot + lies, beside, 0.0)
    laid = _lay(s, body, np.clip(frames, 0, None), path, feet, frames, stops=False, heading=np.zeros(len(frames)))
    # its frame is that between the feet
    origin = foot + lies + 0.5 * beside
    away = Cycle((-float(origin[0]), -float(origin[1])))
    still = np.zeros(s.character.nv)
    q = np.array([away.move_state(s.character, one, still)[0] for one in laid.q])
    place = np.where(laid.schedule.active[:, :, None], away.move_points(laid.schedule.place), 0.0)
    step = Cycle((_lap(level) - float(origin[0]), -float(origin[1])))
    bounds = Ends((stand.q, still), state_at(level, JOINT, step))
    made = build_reference(
        s.character,
        Trajectory(s.rate, q, velocities(s.character, q, s.rate)),
        ContactSchedule(laid.schedule.points, laid.schedule.active, place),
        bounds=bounds,
        settings=settings,
    )
    return Transition(made, step, _looks(level, body, JOINT))


def _lap(level: Level) -> float:
    """How far it goes in a lap, m."""
    cycle = level.reference.cycle
    assert cycle is not None
    return cycle.shift[0]


def _half(level: Level, joint: int) -> int:
    """Frames from one joint to the other."""
    return (level.joints[1 - joint].frame - level.joints[joint].frame) % level.reference.steps


def _beside(s: Strides, frame: float) -> Array:
    """From the other foot to where the first stands beside it (2,)."""
    found = s.middle(s.joint, frame) - s.middle(s.other, s.stance(s.other, 1).middle)
    found[0] = 0.0
    return found


def _lies(s: Strides, there: int, back: int) -> Array:
    """From where the pendulum has the other foot in the walk itself to where that is (2,)."""
    (at, fast), (_, fast_end) = s.com_at(there), s.com_at(back)
    seconds = (back - there) / s.rate
    growing, steep = math.cosh(s.omega * seconds), math.sinh(s.omega * seconds)
    foot = at - (fast_end - fast * growing) / (s.omega * steep)
    found: Array = s.middle(s.other, s.stance(s.other, 1).middle) - foot
    return found


def _slowing(frames: Array, since: int, rest: int) -> Array:
    """Frames of the walk, which it goes through ever more slowly from one on, until it rests at another."""
    left = max(rest - since, 1)
    gone = np.clip(frames - since, 0, 2 * left)
    found: Array = np.where(frames <= since, frames, since + gone - gone**2 / (4.0 * left))
    return found


def _looks(level: Level, body: Array, joint: int) -> Array:
    count = len(level.sample)
    found: Array = level.sample[(level.joints[joint].frame + np.rint(body).astype(np.int64)) % count]
    return found


def _lay(
    s: Strides,
    body: Array,
    first: Array,
    path: Array,
    feet: _Feet,
    frames: Array,
    *,
    stops: bool,
    heading: Array,
    rests: Array | None = None,
) -> _Laid:
    """Poses of the walk at `body`, over a path, to where it rests; the first foot as in the walk at `first`.

    The other foot is put down once.
    """
    q = s.poses(body)
    move(q, Glide(s.com(body), np.zeros(len(q))), Glide(path, heading))
    if rests is not None:
        late = np.clip((frames - s.gives_back) / (frames[-1] - s.gives_back), 0.0, 1.0)
        q = blended(s, q, np.repeat(rests[None], len(q), axis=0), smooth(late))
    active = np.zeros((len(q), len(s.points)), dtype=np.bool_)
    place = np.zeros((len(q), len(s.points), 3))
    wanted: list[Array] = [np.zeros(0), np.zeros(0)]
    count, (foot, beside, angle) = len(frames) - 1, feet
    for number, sole in enumerate(s.soles):
        columns = columns_of(s.schedule, sole)
        if number == s.joint:
            ends = 0.0, float(s.period)  # frames of its stances
            spots = [s.middle(number, end) for end in ends]
            places = [spots[0], foot + beside] if stops else [foot + beside, spots[1]]
            turns = [0.0, angle] if stops else [angle, 0.0]
            lifts, lands = s.stance(number, 0).stop - frames[0], s.stance(number, 1).start - frames[0]
            knots = [
                Knot(0.0, spots[0], places[0], turns[0]),
                Knot(lifts + 0.5, spots[0], places[0], turns[0]),
                Knot(lands - 0.5, spots[1], places[1], turns[1]),
                Knot(float(count), spots[1], places[1], turns[1]),
            ]
            at = first
            touches = s.touching(number, at)
            early = (np.arange(count + 1) <= lifts)[:, None]
            puts = [
                (touches & early, moved(s.set_down(number, ends[0]), knots[0])),
                (touches & ~early, moved(s.set_down(number, ends[1]), knots[-1])),
            ]
        else:
            stance = s.stance(number, 1)
            spot = s.middle(number, stance.middle)
            down = Knot(0.0, spot, foot, angle)
            if stops:  # from its swing to its place, where it stays
                own = s.middle(number, 0.0)
                at = np.minimum(frames, stance.middle)
                knots = [Knot(0.0, own, own, 0.0), down._replace(frame=stance.start - frames[0] - 0.5)]
                knots += [down._replace(frame=float(count))]
            else:
                own = s.middle(number, s.period)
                at = np.maximum(frames, stance.middle)
                knots = [down, down._replace(frame=stance.stop - frames[0] + 0.5), Knot(float(count), own, own, 0.0)]
            touches = s.touching(number, at)
            puts = [(touches, moved(s.set_down(number, stance.middle), down))]
        wanted[number] = carried(s.tracks(number, at), knots)
        for mask, where in puts:
            active[:, columns] |= mask
            place[:, columns] += np.where(mask[:, :, None], where, 0.0)
    return _Laid(put_down(s.character, q, s.soles, wanted), ContactSchedule(s.points, active, place))
