# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion near the one that is to be found: the deviation of now dies away, feet go to where they are to stand."""

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...dynamics import difference, integrate
from ...motion.fit import velocities
from ...motion.inverse_kinematics import Targets, reach
from ...motion.reference import Reference
from ...motion.schedule import ContactSchedule
from ...motion.tracks import point_places
from .arms import thrown
from .capture import Pose
from .motion_ahead import MotionAhead

Array = NDArray[np.float64]

DIES_IN = 0.5  # s, of a deviation
HEIGHT_DIES_IN = 0.3  # s, of the root's height
ROOT_MOBILITY = 0.002  # m² and rad²; joints have 1 rad²
SLACK = 1e-4  # m²


def guess(
    character: Character,
    ahead: MotionAhead,
    reference: Reference,
    schedule: ContactSchedule,
    actual: Pose,
    shift: Array,
    landed: int,
    coming: Array,
    arms: tuple[Array, float],
) -> Pose:
    """Positions (N + 1, nq) and velocities; the root goes aside by `shift` (2,) until frame `landed`.

    It is `coming` (2,) m/s faster soon than now, by pushes that go on. `arms` are thrown for a body that is so far
    (2,) off, m, as loosely.
    """
    nv, rate = character.nv, reference.rate
    start, speed = difference(character, ahead.q[0], actual[0]), actual[1] - ahead.v[0]
    time = np.arange(ahead.steps + 1)[:, None] / rate
    spans = np.full(nv, DIES_IN)
    target = np.zeros(nv)
    if nv > len(character.tree.parent) and character.bodies[0].joint.kind == "free":
        speed[:2] += coming
        spans[:2], spans[2], target[:2] = max(landed / rate, 1.0 / rate), HEIGHT_DIES_IN, shift
    away = _cubic(time, spans, start, speed, target)
    q = np.array([integrate(character, ahead.q[k], away[k], 1.0) for k in range(len(away))])
    feet = [i for i, point in enumerate(reference.schedule.points) if point.foot]
    if feet:
        q = reach(character, q, _targets(character, ahead, schedule, feet, actual[0]), _mobility(character))
    q = thrown(character, q, rate, *arms)
    q[0] = actual[0]
    v = velocities(character, q, rate)
    v[0] = actual[1]
    return np.ascontiguousarray(q), np.ascontiguousarray(v)


def _mobility(character: Character) -> Array:
    mobility = np.ones(character.nv)
    if character.bodies[0].joint.kind == "free":
        mobility[:6] = ROOT_MOBILITY
    return mobility


def _cubic(time: Array, span: Array, start: Array, speed: Array, end: Array) -> Array:
    """From a value and its rate to an end at rest, and no further."""
    x = np.minimum(time / span, 1.0)
    first = 2.0 * x**3 - 3.0 * x**2 + 1.0
    result: Array = first * start + (x**3 - 2.0 * x**2 + x) * span * speed + (1.0 - first) * end
    return result


def _targets(character: Character, ahead: MotionAhead, schedule: ContactSchedule, feet: list[int], q: Array) -> Targets:
    """Every foot's points: where they stand, and between on the motion's way, shifted from stance to stance."""
    points = [schedule.points[i] for i in feet]
    way = point_places(character, ahead.q, points)
    actual = point_places(character, q[None], points)[0]
    body = np.array([point.body for point in points])
    for b in np.unique(body):
        own = np.flatnonzero(body == b)
        columns = [feet[i] for i in own]
        stands = schedule.active[:, columns].any(axis=1)
        known = {0: (actual - way[0])[own].mean(axis=0)}
        for k in np.flatnonzero(stands):
            on = schedule.active[k, columns]
            known[int(k)] = (schedule.place[k, columns] - way[k, own])[on].mean(axis=0)
        at = np.array(sorted(known))
        shift = np.array([known[k] for k in at.tolist()])
        for low, high in zip(range(len(at) - 1), range(1, len(at)), strict=True):
            x = np.linspace(0.0, 1.0, at[high] - at[low] + 1)[:, None]
            eased = x * x * (3.0 - 2.0 * x)
            way[at[low] : at[high] + 1, own] += (shift[low] + eased * (shift[high] - shift[low]))[:, None]
            way[at[high], own] -= shift[high]  # it begins the next stretch
        way[at[-1] :, own] += shift[-1]
    if ahead.rise is not None:
        way[..., 2] += ahead.rise[:, feet]
    return Targets(body, np.array([point.position for point in points]), way, np.full(way.shape, SLACK))
