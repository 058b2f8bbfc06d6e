# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the motion in other times: who is shoved in mid-step puts the foot down soon, and takes the next at once.

How far the extrapolated centre of mass xi (capture.py) runs off grows by exp(omega t) until a foot comes down, so a
slow walk that keeps its own times would have to step by metres. Over a foot that presses at p

    xi(t) = p + (xi(0) - p) exp(omega t),

so xi at the end is linear in where feet press and come down, as in added.py; here feet stand and swing as the motion
has them, with the time until each touchdown drawn together. The footholds are those of a least-squares problem with
bounds: near the motion's, within reach of the time, none across the other foot, and xi where the motion has it at the
end.
"""

import math
from collections.abc import Iterator
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from ...motion.tracks import point_places
from ..lookahead.lookahead import LookAhead
from .added import Ahead, lift
from .capture import extrapolated
from .footholds import APART, LEAST_APART, Hurry, Step, side_of
from .motion_ahead import AFTER, STEPS, MotionAhead, cut, touchdowns

Array = NDArray[np.float64]

LIFTS = 0.05  # s until a foot that stands is lifted
FIRST, SWINGS, ON_BOTH = (0.14, 0.2, 0.27, 0.35), (0.27, 0.36), (0.04, 0.12)  # s of the first step and others, between
SWING = 0.2  # s that a foot takes at least which has not left the ground yet
LONGEST, WIDEST = 0.9, 0.75  # m from one foot to the other, ahead and aside
ACROSS = 0.45  # m that the first foot comes down on the far side of the other, at most, where it may
WITHIN = 0.6  # of a sole, that pressure is counted on to reach
# What the least-squares problem counts as alike: m that a step is moved, m that xi is off at the end, shares of a sole,
# of weight, and m/s of a foot on its way
LONG, OFF, ASIDE, LEANING, QUICK = 0.35, 0.015, 3.0, 5.0, 4.0
HASTE = 0.15  # of what a step costs that takes an e-th of the motion's time
CROSSING = 2.0  # what it costs that legs cross
HOPELESS = 200.0  # what none may cost that is tried
ALIKE = 2  # of the same time until the first foot comes down are tried


class _Stance(NamedTuple):
    """A foot on the ground, from the frame after it came down on."""

    foot: int
    step: int  # which of the steps that are to come put it there; -1: it stands now
    middle: Array  # (2,) of what presses, ahead and to the left, where the motion has it
    half: Array  # (2,) of its size


def ways_to_hurry(known: Ahead, controller: LookAhead) -> list[Hurry]:
    """In the order in which they promise to be good."""
    natural = _knots(known, STEPS)
    if not natural or len(known.feet) != 2:
        return []
    found: dict[tuple[int, ...], list[tuple[float, Hurry]]] = {}
    for way in dict.fromkeys(_ways(known, natural)):
        quick = _in_time(known, controller, way)
        if quick is None:
            continue
        own, spans = (np.diff(knots[: len(way.times)], prepend=0)[1::2] for knots in (natural, way.times))
        haste = HASTE * float((np.log((own + 1.0) / (spans + 1.0)) ** 2).sum())
        cost = _footholds(known, quick, way.crosses)[1] + haste + CROSSING * way.crosses
        if cost < HOPELESS:
            found.setdefault((way.crosses, *quick.landings[0]), []).append((cost, way))
    best = [entry for ways in found.values() for entry in sorted(ways, key=lambda one: one[0])[:ALIKE]]
    return [way for _, way in sorted(best, key=lambda one: one[0])]


def _ways(known: Ahead, natural: list[int]) -> Iterator[Hurry]:
    rate, lifts = known.reference.rate, natural[0] > 0
    own = np.diff(natural, prepend=0)
    for first, swing, both, crosses in product(FIRST, SWINGS, ON_BOTH, (False, True)):
        if lifts and first < SWING:
            continue
        wanted = np.array([LIFTS if lifts else 0.0, first, *([both, swing] * (len(natural) // 2 - 1))])
        spans = np.minimum(np.rint(wanted * rate).astype(np.int64), own)
        yield Hurry(tuple(np.cumsum(spans).tolist()), crosses)
        if lifts and not crosses and len(natural) > 2:  # the foot that stands for longer may step first, then the other
            wanted = np.array([both, *([swing, both] * (len(natural) // 2))])[: len(natural) - 2]
            spans = np.minimum(np.rint(wanted * rate).astype(np.int64), own[:-2])
            foot = next(body for body in known.feet if body != touchdowns(known.whole, known.reference)[0][1])
            step = (foot, round(LIFTS * rate), round((LIFTS + first) * rate))
            yield Hurry(tuple(np.cumsum(spans).tolist()), crosses, step)


def hurry(known: Ahead, controller: LookAhead, way: Hurry) -> tuple[MotionAhead, list[Step]] | None:
    """The motion in that time, and its steps; None where it cannot be."""
    quick = _in_time(known, controller, way)
    return quick and (quick.ahead, _footholds(known, quick, way.crosses)[0])


class _Quick(NamedTuple):
    """A motion in less time."""

    ahead: MotionAhead
    landings: list[tuple[int, int]]  # frame and body
    end: Array  # (2,) where it has xi when the last foot comes down, m


def _in_time(known: Ahead, controller: LookAhead, way: Hurry) -> _Quick | None:
    natural = _knots(known, len(way.times) // 2)
    whole = cut(known.whole, natural[-1] + AFTER)
    quick = whole.in_time(controller, natural, way.times)
    landings = touchdowns(whole, known.reference)
    feet, last = [body for _, body in landings], landings[-1][0]
    if way.before is not None:
        quick = _stepping_before(known, quick, *way.before)
        feet.insert(0, way.before[0])
    found = touchdowns(quick, known.reference)
    if [body for _, body in found] != feet:
        return None
    end = extrapolated(known.reference.character, (whole.q[last], whole.v[last]), known.omega)
    return _Quick(quick, found, end)


def _stepping_before(known: Ahead, ahead: MotionAhead, foot: int, lifted: int, lands: int) -> MotionAhead:
    """The motion waits for a foot that is put down anew."""
    held = np.concatenate((np.zeros(lands, dtype=np.int64), np.arange(len(ahead.q))))
    v, active, rise = ahead.v[held], ahead.active[held], np.zeros((len(held), ahead.active.shape[1]))
    v[:lands] = 0.0
    own = [i for i, point in enumerate(known.reference.schedule.points) if point.foot and point.body == foot]
    active[lifted:lands, own] = False
    rise[lifted:lands, own] = lift(lands - lifted)[:, None]
    return MotionAhead([ahead.places[k] for k in held.tolist()], ahead.q[held], v, active, ahead.place[held], rise)


def _knots(known: Ahead, steps: int) -> list[int]:
    """Frames in which the motion lifts a foot and puts it down, so many times; none where it leaves the ground."""
    knots: list[int] = []
    feet = [point.foot for point in known.reference.schedule.points]
    for frame, foot in touchdowns(known.whole, known.reference)[:steps]:
        knots += [_lifted(known.whole, known, foot, frame), frame]
    stands = not knots or bool(known.whole.active[: knots[-1] + 1, feet].any(axis=1).all())
    return knots if stands and all(b > a for a, b in pairwise(knots)) else []


def _footholds(known: Ahead, quick: _Quick, crosses: bool) -> tuple[list[Step], float]:
    """Where steps go, and what they cost: the last is moved as the one before it, so that feet stand as they did."""
    ahead, landings, end = quick
    reference, omega, rate = known.reference, known.omega, known.reference.rate
    axes = np.array([known.facing, (-known.facing[1], known.facing[0])])
    phases = list(_phases(ahead, known, axes, landings))
    count = len(landings)
    moves = max(1, count - 1)
    pressing = sum(len(stances) for _, _, stances in phases)
    n = 2 * moves + 1 + 2 * pressing
    one = np.eye(n)
    low, high = np.full(n, -WITHIN), np.full(n, WITHIN)
    low[2 * moves], high[2 * moves] = 0.0, 1.0

    def moved(step: int) -> Array:
        """By how much (2, n) a step is moved, as it depends on the unknowns."""
        total: Array = sum((one[2 * j : 2 * j + 2] for j in range(min(step + 1, moves))), start=np.zeros((2, n)))
        return total

    at, by = axes @ (extrapolated(reference.character, known.actual, omega) + known.coming), np.zeros((2, n))
    column = 2 * moves + 1
    for number, (start, stop, stances) in enumerate(phases):
        middle, middle_by = np.zeros(2), np.zeros((2, n))
        share = 1.0 / len(stances)
        for stance in stances:
            own = moved(stance.step) + stance.half[:, None] * one[column : column + 2]
            middle, middle_by = middle + share * stance.middle, middle_by + share * own
            column += 2
        if number == 0 and len(stances) == 2:  # they share the weight as they like
            way = stances[1].middle - stances[0].middle
            middle = middle - 0.5 * way
            middle_by = middle_by + np.outer(way, one[2 * moves])
        grown = math.exp(omega * (stop - start) / rate)
        at, by = middle + grown * (at - middle), middle_by + grown * (by - middle_by)
    rows = [(by - moved(count - 1)) / OFF]
    right = [(axes @ end - at) / OFF]
    places = _places(known, ahead, axes, landings)
    stood_at: dict[int, int] = {}  # the last step of each foot
    for step, (frame, foot) in enumerate(landings):
        lifted = _lifted(ahead, known, foot, frame)
        was = stood_at.get(foot, -1)
        reach = QUICK * (frame - lifted) / rate
        rows.append((moved(step) - moved(was)) / reach)
        right.append((places[was, foot] - places[step, foot]) / reach)
        stood_at[foot] = step
    for step in range(moves):
        foot = landings[step][1]
        stood = max((k for k in range(step) if landings[k][1] != foot), default=-1)
        other = next(body for body in known.feet if body != foot)
        way = places[step, foot] - places[stood, other]
        side = side_of(reference, foot)
        least = min(max(side * float(way[1]), LEAST_APART), APART)
        least = -ACROSS if crosses and step == 0 else least
        across = sorted((side * least - way[1], side * max(least, WIDEST) - way[1]))
        low[2 * step : 2 * step + 2] = -LONGEST - way[0], across[0]
        high[2 * step : 2 * step + 2] = LONGEST - way[0], across[1]
    goal, weight = np.zeros(n), np.full(n, 1.0 / ASIDE)
    weight[: 2 * moves] = 1.0 / LONG
    weight[2 * moves], goal[2 * moves] = 1.0 / LEANING, 0.5
    matrix = np.concatenate((np.diag(weight), *rows))
    solution = scipy.optimize.lsq_linear(matrix, np.concatenate((weight * goal, *right)), (low, high), method="bvls")
    shifts = [axes.T @ (moved(step) @ solution.x) for step in range(count)]
    before_it = [np.zeros(2), *shifts]
    steps = [
        Step(frame, foot, shift, float(np.linalg.norm(shift - last)))
        for (frame, foot), shift, last in zip(landings, shifts, before_it, strict=False)
    ]
    return steps, float(solution.cost)


def _phases(
    ahead: MotionAhead, known: Ahead, axes: Array, landings: list[tuple[int, int]]
) -> Iterator[tuple[int, int, list[_Stance]]]:
    """Stretches of frames in which the same feet stand."""
    points = known.reference.schedule.points
    columns = {foot: [i for i, p in enumerate(points) if p.foot and p.body == foot] for foot in known.feet}
    stands = np.array([ahead.active[:, own].any(axis=1) for own in columns.values()]).T
    off = _off_now(known, ahead, columns)
    last = landings[-1][0]
    edges = [0, *(np.flatnonzero((stands[1:last] != stands[: last - 1]).any(axis=1)) + 1).tolist(), last]
    for start, stop in pairwise(edges):
        if stop <= start:
            continue
        stances = []
        for foot, own in columns.items():
            if not ahead.active[start, own].any():
                continue
            step = max((k for k, (frame, body) in enumerate(landings) if body == foot and frame <= start), default=-1)
            place = ahead.place[start:stop, own][ahead.active[start:stop, own]][:, :2] + (off[foot] if step < 0 else 0)
            place = place @ axes.T
            middle = 0.5 * (place.max(axis=0) + place.min(axis=0))
            stances.append(_Stance(foot, step, middle, 0.5 * np.ptp(place, axis=0)))
        yield start, stop, stances


def _off_now(known: Ahead, ahead: MotionAhead, columns: dict[int, list[int]]) -> dict[int, Array]:
    """By how much (2,) each foot is off where the motion has it."""
    points = known.reference.schedule.points
    places = point_places(known.reference.character, np.array([known.actual[0], ahead.q[0]]), points)[..., :2]
    return {foot: (places[0, own] - places[1, own]).mean(axis=0) for foot, own in columns.items()}


def _places(
    known: Ahead, ahead: MotionAhead, axes: Array, landings: list[tuple[int, int]]
) -> dict[tuple[int, int], Array]:
    """Where (2,) the motion has a foot after each of its steps, and where it is now (-1)."""
    points = known.reference.schedule.points
    found = {}
    poses = [known.actual[0], *(ahead.q[frame] for frame, _ in landings)]
    places = point_places(known.reference.character, np.array(poses), points)[..., :2] @ axes.T
    for foot in known.feet:
        own = [i for i, point in enumerate(points) if point.foot and point.body == foot]
        for step in range(-1, len(landings)):
            found[step, foot] = places[step + 1, own].mean(axis=0)
    return found


def _lifted(ahead: MotionAhead, known: Ahead, foot: int, landing: int) -> int:
    """The frame in which a foot leaves the ground before it comes down; 0 where it is in the air now."""
    own = [i for i, point in enumerate(known.reference.schedule.points) if point.foot and point.body == foot]
    standing = np.flatnonzero(ahead.active[:landing, own].any(axis=1))
    return int(standing[-1]) + 1 if len(standing) else 0
