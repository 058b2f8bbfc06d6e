# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that a motion does not have: a standing foot is lifted and put down where it catches the body, then the other.

Over a foot that presses at p the extrapolated centre of mass xi (capture.py) moves as

    xi(t) = p + (xi(0) - p) exp(omega t).

Until the first step the feet share the weight as they like, in steps one bears it, and between them both alike. So xi
at the end is linear in where feet press and in where they are put down, and the best of these, within soles and without
crossed legs, are those of a least-squares problem with bounds: short steps, pressure in the middle of soles, and xi
where the motion has it over the same feet.
"""

import math
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from ...motion.reference import Reference
from ...motion.tracks import point_places
from .capture import Pose, extrapolated
from .footholds import APART, FARTHEST, Added, Step, side_of
from .motion_ahead import MotionAhead, cut, touchdowns

Array = NDArray[np.float64]

RISE = 0.07  # m over the motion's way in the middle of a step
SETTLES = 0.25  # s after the last step that are planned
SOON = 0.5  # s, within which the motion's own step is soon enough
WITHIN = 0.6  # of a sole, that pressure is counted on to reach
# What the least-squares problem counts as alike: m of a step, m that xi is off at the end, a share of a sole, of weight
LONG, OFF, ASIDE, LEANING = 0.35, 0.015, 3.0, 5.0
AIMED = 0.02  # m off a step that is wanted
WAITS, SWINGS, ON_BOTH, COUNTS = (0.04, 0.12, 0.22), (0.26, 0.34), (0.06, 0.14, 0.24), (2, 3)
LANDS = (0.12, 0.2, 0.28)  # s that a foot in the air still has
IN_AIR = 0.015  # m: a foot whose sole is higher everywhere
LEISURE = (0.2, 0.4, 0.2)  # s before the first step, of each, and between two, where nothing is to be caught
HURRY = 1.0  # of what a second costs
ALIKE = 2  # of the same first foot and number of steps are tried


class Ahead(NamedTuple):
    """What is known of the next seconds of a motion, as if nothing stepped."""

    whole: MotionAhead
    reference: Reference
    actual: Pose
    coming: Array  # (2,) that pushes will still move the extrapolated centre of mass, m
    omega: float  # 1/s
    facing: Array  # (2,)

    @property
    def feet(self) -> list[int]:
        """Bodies."""
        return _feet(self.reference)


def stands(ahead: MotionAhead, reference: Reference) -> bool:
    """Whether the motion is on both of two feet, and puts none down soon."""
    feet, landings = _feet(reference), touchdowns(ahead, reference)
    body = np.array([point.body if point.foot else -1 for point in reference.schedule.points])
    on_both = len(feet) == 2 and all(ahead.active[0, body == foot].any() for foot in feet)
    return on_both and not (landings and landings[0][0] < SOON * reference.rate)


def ways_to_step(known: Ahead) -> list[Added]:
    """In the order in which they promise to be good."""
    reference = known.reference
    found: dict[tuple[int, int], list[tuple[float, Added]]] = {}
    air = in_air(known)
    for foot, count, swing, both in product(_feet(reference), COUNTS, SWINGS, ON_BOTH):
        starts = [(0.0, lands) for lands in LANDS] if foot in air else [(wait, swing) for wait in WAITS]
        if air and air != [foot]:
            continue
        for wait, lands in starts:
            _consider(known, Added(foot, count, wait, lands, swing, both), found)
    best = [entry for entries in found.values() for entry in sorted(entries, key=lambda one: one[0])[:ALIKE]]
    return [added for _, added in sorted(best, key=lambda one: one[0])]


def way_home(known: Ahead, aim: Array) -> Added | None:
    """How to step by `aim` (2,), m, at leisure."""
    wait, swing, both = LEISURE
    found = [Added(foot, 2, wait, swing, swing, both) for foot in _feet(known.reference)]
    costs = [
        (_footholds(known, added, aim)[0], k) for k, added in enumerate(found) if _lifted(known, added) is not None
    ]
    return found[min(costs)[1]] if costs else None


def _consider(known: Ahead, added: Added, found: dict[tuple[int, int], list[tuple[float, Added]]]) -> None:
    """Note what it costs, if it can be."""
    if _lifted(known, added) is not None:
        cost, _ = _footholds(known, added, None)
        found.setdefault((added.first, added.count), []).append((cost + HURRY * added.seconds, added))


def in_air(known: Ahead) -> list[int]:
    """Feet that do not stand now, though the motion's do."""
    points = known.reference.schedule.points
    height = (
        point_places(known.reference.character, known.actual[0][None], points)[0, :, 2] - known.whole.place[0, :, 2]
    )
    found = []
    for foot in _feet(known.reference):
        own = [i for i, point in enumerate(points) if point.foot and point.body == foot and known.whole.active[0, i]]
        if own and float(height[own].min()) > IN_AIR:
            found.append(foot)
    return found


def add_steps(known: Ahead, added: Added, aim: Array | None = None) -> tuple[MotionAhead, list[Step]] | None:
    """The motion with those steps, as long as they take, and where they go; None where a foot does not stand so long.

    They go where they catch the body, or by `aim` (2,) m where nothing is to be caught.
    """
    ahead = _lifted(known, added)
    if ahead is None:
        return None
    _, shifts = _footholds(known, added, aim)
    before, steps = np.zeros(2), []
    for (_, frame, foot), shift in zip(_swings(known.reference, added), shifts, strict=True):
        steps.append(Step(frame, foot, shift, float(np.linalg.norm(shift - before))))
        before = shift
    own = {(step.frame, step.body) for step in steps}
    for frame, body in touchdowns(ahead, known.reference):
        if (frame, body) not in own:
            last = next((step.shift for step in reversed(steps) if step.frame < frame), np.zeros(2))
            steps.append(Step(frame, body, last, 0.0))
    return ahead, sorted(steps, key=lambda step: step.frame)


def _feet(reference: Reference) -> list[int]:
    return list(dict.fromkeys(point.body for point in reference.schedule.points if point.foot))


def _swings(reference: Reference, added: Added) -> list[tuple[int, int, int]]:
    """Frames in which each step begins and ends, and its foot."""
    other = next(foot for foot in _feet(reference) if foot != added.first)
    swings, at = [], added.wait
    for k in range(added.count):
        down = at + (added.swing if k > 0 else added.lands)
        swings.append((round(at * reference.rate), round(down * reference.rate), other if k % 2 else added.first))
        at = down + added.both
    return swings


def _lifted(known: Ahead, added: Added) -> MotionAhead | None:
    """The motion with feet lifted so, or None where they do not stand until then."""
    reference = known.reference
    swings = _swings(reference, added)
    last = swings[-1][1] + round(SETTLES * reference.rate)
    ahead = cut(known.whole, last)
    if ahead.steps < last:
        return None
    active, rise = ahead.active.copy(), np.zeros(ahead.active.shape)
    body = np.array([point.body if point.foot else -1 for point in reference.schedule.points])
    for start, stop, foot in swings:
        own = body == foot
        if not ahead.active[: stop + 1, own].any(axis=1).all():
            return None
        active[start:stop, own] = False
        rise[start:stop, own] = lift(stop - start)[:, None] if start > 0 else 0.0
    return replace(ahead, active=active, place=np.where(active[..., None], ahead.place, 0.0), rise=rise)


def lift(frames: int) -> Array:
    """By how much (frames,) a foot is lifted over its way in a step, m."""
    x = np.linspace(0.0, 1.0, frames + 2)[1:-1]
    result: Array = RISE * 16.0 * x * x * (1.0 - x) ** 2
    return result


class _Affine(NamedTuple):
    """A point (2,) as it depends on the unknowns."""

    at: Array  # (2,)
    by: Array  # (2, n)

    def mixed(self, share: float, other: "_Affine") -> "_Affine":
        """That much of the way to another, or beyond it."""
        return _Affine(self.at + share * (other.at - self.at), self.by + share * (other.by - self.by))


def _footholds(known: Ahead, added: Added, aim: Array | None) -> tuple[float, list[Array]]:
    """What the steps cost, and by how much (2,) each foothold is moved, m. Unknowns count ahead and to the left.

    The last two steps are moved alike: then the feet stand to each other as the motion has them.
    """
    reference, omega = known.reference, known.omega
    axes = np.array([known.facing, (-known.facing[1], known.facing[0])])
    swings, rate = _swings(reference, added), reference.rate
    stands, keyed, half = _soles(known, axes)
    phases = 2 * added.count
    moves = added.count - 1
    n = 2 * moves + 1 + 2 * phases
    one = np.eye(n)
    low, high = np.full(n, -WITHIN), np.full(n, WITHIN)
    low[: 2 * moves], high[: 2 * moves] = -FARTHEST, FARTHEST
    low[2 * moves], high[2 * moves] = 0.0, 1.0

    def moved(k: int) -> Array:
        """How step k depends on the unknowns."""
        total: Array = sum((one[2 * j : 2 * j + 2] for j in range(min(k + 1, moves))), start=np.zeros((2, n)))
        return total

    def sole(foot: int, steps: int, phase: int) -> _Affine:
        """Where a foot presses, after so many of the steps, in a phase."""
        own = [k for k in range(steps) if swings[k][2] == foot]
        by = moved(own[-1]) if own else np.zeros((2, n))
        first = 2 * moves + 1 + 2 * phase
        return _Affine((keyed if own else stands)[foot], by + half[foot][:, None] * one[first : first + 2])

    first, other = swings[0][2], swings[1][2]
    pressing = sole(first, 0, 0)
    pressing = _Affine(pressing.at, pressing.by + np.outer(stands[other] - stands[first], one[2 * moves]))
    now_at = extrapolated(reference.character, known.actual, omega) + known.coming
    xi = _Affine(axes @ now_at, np.zeros((2, n)))
    now = 0
    for k, (start, stop, foot) in enumerate(swings):
        stance = other if foot == first else first
        if k > 0:
            pressing = sole(foot, k, 2 * k).mixed(0.5, sole(stance, k, 2 * k))
        xi = pressing.mixed(math.exp(omega * (start - now) / rate), xi)
        xi = sole(stance, k, 2 * k + 1).mixed(math.exp(omega * (stop - start) / rate), xi)
        now = stop
    end = (known.whole.q[now], known.whole.v[now])
    wanted = _Affine(axes @ extrapolated(reference.character, end, omega), moved(added.count - 1))
    for j in range(moves):  # no foot comes down across the other
        foot, stance = swings[j][2], swings[j + 1][2]
        side = side_of(reference, foot)
        apart = float(side * (keyed[foot] - (keyed if j else stands)[stance])[1])
        least = min(float(side * (keyed[foot] - keyed[stance])[1]), APART) - apart
        low[2 * j + 1], high[2 * j + 1] = (
            (max(least, -FARTHEST), FARTHEST) if side > 0.0 else (-FARTHEST, min(-least, FARTHEST))
        )
    goal = np.zeros(n)
    weight = np.full(n, 1.0 / ASIDE)
    weight[: 2 * moves] = 1.0 / LONG
    weight[2 * moves], goal[2 * moves] = 1.0 / LEANING, 0.5
    if aim is not None:
        goal[:2], weight[:2] = axes @ aim, 1.0 / AIMED
    matrix = np.concatenate((np.diag(weight), (xi.by - wanted.by) / OFF))
    right = np.concatenate((weight * goal, (wanted.at - xi.at) / OFF))
    found = scipy.optimize.lsq_linear(matrix, right, (low, high), method="bvls")
    return float(found.cost), [axes.T @ (moved(k) @ found.x) for k in range(added.count)]


def _soles(known: Ahead, axes: Array) -> tuple[dict[int, Array], dict[int, Array], dict[int, Array]]:
    """The middle (2,) of each foot's sole, where it really is and where the motion has it; and half its size."""
    points = known.reference.schedule.points
    character = known.reference.character
    real: dict[int, Array] = {}
    keyed: dict[int, Array] = {}
    half: dict[int, Array] = {}
    for foot in _feet(known.reference):
        own = [point for point in points if point.foot and point.body == foot]
        for q, to in ((known.actual[0], real), (known.whole.q[0], keyed)):
            places = point_places(character, q[None], own)[0, :, :2] @ axes.T
            to[foot] = 0.5 * (places.max(axis=0) + places.min(axis=0))
            half[foot] = 0.5 * np.ptp(places, axis=0)
    return real, keyed, half
