# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stand where another skeleton's do: where ankles are to be, by the points of the soles that are at rest.

Heel and ball of a sole follow the other's heel and ball; the ball is straight under the joint of the toes, that stay
flat while the heel is lifted: how toes themselves are captured is noise for the most part. A foot without toes rolls
over its tip. Of feet of other lengths both ends cannot follow: whatever is at rest stays as far from its counterpart as
it is while both are, half the difference each, and where both stand the ball is what counts; from one stance to the
next what is left changes smoothly. So what does not slide there does not slide here, whatever the ground is.
"""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import convolve1d

from . import quaternions, roles
from .clip import Clip
from .counterparts import Body
from .feet import Sole, find_sole
from .landmarks import heading_of, is_quadruped, leg_length
from .masses import LEG_OF_STATURE
from .quaternions import Array
from .schedule import Mask, runs
from .tracks import velocities

USUAL_LEG = 0.86  # m, for which speeds are given
AT_REST = 0.3  # m/s, below which a point of a sole counts as standing
SLOW = 0.2  # m/s: of two points that stand, the one that moves by more is followed less
HEEL = 0.1  # weight of a heel, where the ball stands too
SHORTEST_GAP, SHORTEST = 0.04, 0.05  # s
ON_FLOOR = 0.02  # of stature, see body_plan.py
ASKEW = np.radians(10.0)  # between a sole as it lies at rest and as it stands: what is more is told by the motion


@dataclass(frozen=True)
class Points:
    """Where a sole touches, at rest."""

    heel: Array  # (3,) from the ankle
    joint: Array  # (3,) of the toes, from the ankle; of a foot without toes the tip of its sole
    ball: Array  # (3,) from that joint down to the sole, however the foot is turned

    def places(self, foot: Array) -> Array:
        """Heel and ball (nf, 2, 3) from the ankle, under what the foot (nf, 4) is turned by from rest."""
        return np.stack([quaternions.rotate(foot, self.heel), quaternions.rotate(foot, self.joint) + self.ball], axis=1)


@dataclass(frozen=True)
class Soles:
    """Both soles of one side, theirs and ours."""

    theirs: Points
    ours: Points
    turn: Array  # (4,) that brings our foot at rest to lie as theirs
    height: float  # m, by which our ankle is higher over its sole


def soles_of(leader: Body, moving: Clip, follower: Body) -> dict[str, Soles]:
    """Soles by the role of the foot."""
    found = {}
    for side in roles.SIDES:
        role = f"foot.{side}"
        theirs, ours = _sole(leader, role, None), _sole(follower, role, None)
        seen = _sole(leader, role, moving)
        if quaternions.angle(theirs.orientation, seen.orientation) > ASKEW:
            theirs = seen
        turn = quaternions.multiply(theirs.orientation, quaternions.conjugate(ours.orientation))
        rolls = f"toe.{side}" in leader.chains
        found[role] = Soles(
            _points(leader, theirs, side, rolls),
            _points(follower, ours, side, rolls),
            turn,
            ours.height - theirs.height,
        )
    return found


def ankles_wanted(
    soles: Soles,
    ankle: Array,
    theirs_turned: Array,
    ours_turned: Array,
    rate: float,
    leg: float,
) -> tuple[Array, Mask]:
    """Where an ankle is to be (nf, 3), and when the foot stands (nf,).

    `ankle` (nf, 3) is theirs; feet are turned by so much (nf, 4) from rest; `leg` is the length of both's legs.
    """
    theirs = ankle[:, None] + soles.theirs.places(theirs_turned)
    by_point = theirs - soles.ours.places(ours_turned)  # (nf, 2, 3) where each point has the ankle
    speed = np.linalg.norm(velocities(theirs, rate), axis=2)
    rests = np.column_stack([_regular(mask, rate) for mask in (speed < AT_REST * leg / USUAL_LEG).T])
    stands = np.asarray(rests.any(axis=1))
    middle = by_point.mean(axis=1)
    left = np.zeros_like(middle)
    for start, stop in runs(stands):
        part, both = rests[start:stop], rests[start:stop].all(axis=1)
        apart = np.zeros(3)
        if both.any():
            apart = np.mean(by_point[start:stop, 0][both] - by_point[start:stop, 1][both], axis=0)
            apart[2] = 0.0  # both are on the ground
        weight = _softened(part) / (1.0 + (speed[start:stop] / (SLOW * leg / USUAL_LEG)) ** 2) ** 2
        weight[:, 0] *= HEEL + (1.0 - HEEL) * (1.0 - weight[:, 1])
        aims = by_point[start:stop] + np.array([-0.5, 0.5])[None, :, None] * apart
        left[start:stop] = (weight[..., None] * aims).sum(axis=1) / weight.sum(axis=1)[:, None] - middle[start:stop]
    return middle + _carried_over(left, stands), stands


def _points(body: Body, sole: Sole, side: str, rolls: bool) -> Points:
    """Points of a sole; its ball is that under the joint of its toes where the foot `rolls` over that."""
    middle = 0.5 * (sole.left + sole.right)
    heel, tip = (
        quaternions.rotate(sole.orientation, np.array([x, middle, -sole.height])) for x in (sole.back, sole.front)
    )
    toes = body.chains.get(f"toe.{side}")
    if not rolls or toes is None:
        return Points(heel, tip, np.zeros(3))
    joint = body.rest.head[toes[0]] - body.rest.head[body.chains[f"foot.{side}"][0]]
    up = quaternions.rotate(sole.orientation, np.array([0.0, 0.0, 1.0]))
    return Points(heel, joint, np.array([0.0, 0.0, -(joint @ up + sole.height)]))


def _sole(body: Body, role: str, clip: Clip | None) -> Sole:
    side = role.rpartition(".")[2]
    chain = body.chains[role] + body.chains.get(f"toe.{side}", ())
    stature = leg_length(body.rest, body.chains) / LEG_OF_STATURE
    feet = [each for name, each in body.chains.items() if name.startswith(("foot", "toe"))]
    lowest = min(float(body.rest.tail[each[-1], 2]) for each in feet)
    floor = 0.0 if abs(lowest) < ON_FLOOR * stature else None
    heading = heading_of(body.rest, body.chains)
    return find_sole(body.rest, clip, chain, heading, stature, None, floor, is_quadruped(body.rest, body.chains))


def _regular(mask: Mask, rate: float) -> Mask:
    """Without short gaps, then without short runs."""
    result = np.array(mask)
    for value, least in ((False, SHORTEST_GAP), (True, SHORTEST)):
        for start, stop in runs(result == value):
            if start > 0 and stop < len(result) and stop - start < least * rate:
                result[start:stop] = not value
    return result


def _softened(rests: Mask) -> Array:
    """Weights (nf, 2) of points that rest or not, without jumps."""
    shares = np.array([1.0, 2.0, 3.0, 2.0, 1.0])
    return np.asarray(convolve1d(rests.astype(np.float64), shares / shares.sum(), axis=0, mode="nearest"))


def _carried_over(values: Array, known: Mask) -> Array:
    """Values (nf, 3) where they are known, and smoothly from one to the next between; none known, none."""
    rows = np.flatnonzero(known)
    if len(rows) == 0:
        return values
    at = np.arange(len(values))
    after = np.clip(np.searchsorted(rows, at), 0, len(rows) - 1)
    before = np.where(rows[after] == at, after, np.maximum(after - 1, 0))
    share = np.clip((at - rows[before]) / np.maximum(rows[after] - rows[before], 1), 0.0, 1.0)
    smooth = (share**2 * (3.0 - 2.0 * share))[:, None]
    result: Array = (1.0 - smooth) * values[rows[before]] + smooth * values[rows[after]]
    return result
