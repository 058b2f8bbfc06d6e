# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion in place, as games and most libraries ship it: the speed is read off the standing foot, and put back.

A figure that walks in place slides its standing foot backwards at the speed at which it would go. Of the points of the
feet, those near their own lowest height that move on along the ground, alike from step to step, stand; the figure moves
on against them. Between steps, in the air, it goes on as it left the ground, and within steps as a pendulum does whose
mass goes over its foot. The motion carried along that way is simulated, and what comes of it is brought back by the
same way, so that a push still shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import solveh_banded
from scipy.ndimage import minimum_filter1d

from . import quaternions, roles
from .clip import Clip
from .landmarks import is_quadruped
from .quaternions import Array
from .resample import smoothed

Travel = Literal["auto", "in_place", "travelling"]

LOW = 0.04  # of the leg: points as near to their lowest height stand
HEEL = 0.06  # of the leg, behind the ankle
STRIDE = 0.6  # s: every foot stands at some time within it, before or after
CALM = 0.5  # of the speed: vertical speed of a point that stands
ALIKE = (0.6, 0.1)  # of the speed, by which a standing point's may differ from the figure's: at first, at last
ITERATIONS = 10
SHARES = {
    "head": 0.069,
    "upper_arm": 0.054,
    "forearm": 0.032,
    "hand": 0.012,
    "thigh": 0.283,
    "shin": 0.087,
    "foot": 0.028,
}  # of the body's mass, of both sides: de Leva's (character.anthropometry)
TRUNK, ALONG = 0.435, 0.45  # the trunk's share; how far along a part of a limb its middle is
SWAY = 12.0  # Hz
ENDS = {"upper_arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot"}
GRAVITY = 9.81  # m/s²
PENDULUM = 0.9  # of its acceleration: swings of arms and trunk make up for some
LIGHTEST, BEARS, HEAVIEST = 0.15, 0.7, 3.0  # of the body's weight, that feet bear
FREE = 50.0  # of the velocity against changing while nothing is borne
LAST, BEHIND, AHEAD = 3, 0.15, 0.03  # last steps; of the speed, by which what stands may differ at all, and forwards
STIFF, FULL_RATE = 600.0, 120.0  # of the velocity against changing, at that many frames per second
USUAL = 1.5  # legs a second
SLOWEST = 0.2  # legs a second: a figure in place that is slower does not walk
STAYS = 0.25  # of the way: a figure that moves further than this by itself travels
KEEPS_ON = 0.3
PARTS = 0.1  # of the leg, by which the feet of who walks in place part and meet along the way
STANDS, FEWEST = 0.1, 0.1  # of all frames so many need a point that stands, of a sprint too
STEADY = 1.0  # Hz: what sways faster than this, to and fro, goes nowhere
KNOT, AROUND = 0.25, 0.5  # s, within which the usual speed may change
NARROWEST = 0.15  # of the speed
MOST, STARTS, SHIFTS = 150, 12, 10  # samples, places and steps by which the densest velocity is found


@dataclass(frozen=True)
class Carried:
    """A clip that is carried along, and by what way."""

    clip: Clip
    way: Array  # (nf, 2) m, from the first frame on
    speed: float  # m/s, the usual one


def carry_along(clip: Clip, roles_of_bones: roles.Roles, travel: Travel = "auto") -> Carried | None:
    """The clip carried along, None where it travels by itself or stands. The clip is without damage, Z up."""
    if travel == "travelling" or len(clip.position) < 8:
        return None
    chains = roles.checked(roles_of_bones, clip.skeleton)
    velocity = _velocity(clip, chains)
    if velocity is None:
        return None
    way = np.zeros((len(velocity), 2))
    way[1:] = np.cumsum(0.5 * (velocity[1:] + velocity[:-1]), axis=0) / clip.rate
    length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
    hips = clip.position[:, chains["pelvis"][0], :2]
    own = float(np.linalg.norm(np.ptp(hips, axis=0)))
    if travel == "auto" and own > STAYS * length:
        return None
    position = clip.position.copy()
    position[..., :2] += way[:, None]
    left = clip.position[:, chains["thigh.L"][0], :2] - clip.position[:, chains["thigh.R"][0], :2]
    if travel == "auto" and (_keeps_on(velocity, left) < KEEPS_ON or not _steps(clip, chains, velocity, left)):
        return None
    speed = float(np.median(np.linalg.norm(velocity, axis=1)))
    return Carried(replace(clip, position=position), way, speed)


def _keeps_on(velocity: Array, left: Array) -> float:
    """How much of its speed a figure goes the same way all along, by its own left and right: who swings turns back."""
    left = left / np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-9)
    aside, ahead = np.sum(velocity * left, axis=1), velocity[:, 0] * left[:, 1] - velocity[:, 1] * left[:, 0]
    going = float(np.linalg.norm(velocity, axis=1).mean())
    return float(np.hypot(aside.mean(), ahead.mean())) / max(going, 1e-9)


def _steps(clip: Clip, chains: Mapping[str, tuple[int, ...]], velocity: Array, left: Array) -> bool:
    """Whether the feet part and meet along the way: those of who jumps on the spot go together, forth and back."""
    if is_quadruped(clip.skeleton, chains):
        return True
    left = left / np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-9)
    axes = np.stack([left, np.column_stack([left[:, 1], -left[:, 0]])], axis=1)
    way = np.einsum("fij,fj->fi", axes, velocity).mean(axis=0)
    hips, ankles = (
        [clip.position[:, chains[f"{part}.{side}"][0]] for side in roles.SIDES] for part in ("thigh", "foot")
    )
    leg = float(np.median(np.linalg.norm(hips[0] - ankles[0], axis=1)))
    apart = np.einsum("fij,fj->fi", axes, (ankles[0] - ankles[1])[:, :2]) @ way / max(float(np.linalg.norm(way)), 1e-9)
    return float(np.ptp(np.percentile(apart, (5.0, 95.0)))) > PARTS * leg


def _velocity(clip: Clip, chains: Mapping[str, tuple[int, ...]]) -> Array | None:
    """The velocity (nf, 2) of a figure over the points of its feet that stand, None where none does steadily.

    Least squares, reweighted: low points that move as the figure goes on against them count, the fewer the more they
    stray, by a measure that narrows; between them the velocity changes as little as it can.
    """
    points, trust, leg = _points(clip, chains)
    speeds = np.gradient(points, axis=0) * clip.rate
    # in place a floor that is tilted along the way sinks or rises in time
    around = 2 * round(STRIDE * clip.rate) + 1
    height = points[..., 2] - minimum_filter1d(points[..., 2], around, axis=0, mode="nearest")
    nearness = trust * np.exp(-((height / (LOW * leg)) ** 2))
    fall = _fall(clip, chains, points, nearness, leg)
    velocity = _usual(speeds, nearness, clip.rate)
    if np.median(np.linalg.norm(velocity, axis=1)) < SLOWEST * leg:
        return None
    weight = nearness
    for narrow in np.geomspace(*ALIKE, ITERATIONS):
        size = np.maximum(np.linalg.norm(velocity, axis=1), SLOWEST * leg)[:, None]
        stray = np.linalg.norm(speeds[..., :2] - velocity[:, None], axis=2) / (narrow * size)
        weight = nearness * np.exp(-(stray**2) - (speeds[..., 2] / (CALM * size)) ** 2)
        velocity = _smoothest(weight, speeds[..., :2], fall, clip.rate, float(np.median(size)) / (USUAL * leg))
    for _ in range(LAST):
        size = np.maximum(np.linalg.norm(velocity, axis=1), SLOWEST * leg)[:, None]
        off = speeds[..., :2] - velocity[:, None]
        ahead = -np.einsum("npk,nk->np", off, velocity / size) / size  # as it goes, and not as it glides back
        stray = np.linalg.norm(off, axis=2) / (BEHIND * size)
        rolls = np.exp(-np.maximum(ahead, 0.0) / AHEAD)
        weight = nearness * rolls * np.exp(-(stray**2) - (speeds[..., 2] / (CALM * size)) ** 2)
        velocity = _smoothest(weight, speeds[..., :2], fall, clip.rate, float(np.median(size)) / (USUAL * leg))
    goes = np.median(np.linalg.norm(smoothed(velocity, clip.rate, STEADY), axis=1)) > SLOWEST * leg
    return -velocity if goes and (weight.sum(axis=1) > STANDS).mean() > FEWEST else None


class _Fall(NamedTuple):
    """How a body of mass moves above its feet, by itself."""

    swing: Array  # (nf, 2) m/s, of the ground under it, but for what is smooth
    borne: Array  # (nf,) of its weight


def _smoothest(weights: Array, speeds: Array, fall: _Fall, rate: float, quick: float) -> Array:
    """The velocity v (nf, 2) that makes sum w |v - u|^2 + (differences of v - s)^2 least.

    `weights` w (nf, points) are those of the points' speeds u (nf, points, 2), s is what the body does by itself.
    Second differences count all along, and first ones the more the less of its weight is borne: in the air nothing
    pulls at it. Both count more for who is `quick`, whose feet tell less: so many times as fast as a usual walk.
    """
    weight = weights.sum(axis=1)
    weighted = np.einsum("np,npk->nk", weights, speeds - fall.swing[:, None])
    count = len(weight)
    firm = max(quick, 1.0) ** 2
    stiff = STIFF * firm * (rate / FULL_RATE) ** 4
    lighter = (BEARS / np.maximum(fall.borne, LIGHTEST)) ** 2 - 1.0
    free = FREE * firm * (rate / FULL_RATE) ** 2 * np.maximum(0.5 * (lighter[1:] + lighter[:-1]), 0.0)
    bands = np.zeros((3, count))
    ones = np.ones(count)
    ones[[0, -1]] = 0.0
    # D^T D of second and of first differences, upper bands
    middle = 4.0 * ones
    middle[:-1] += ones[1:]
    middle[1:] += ones[:-1]
    bands[2] = stiff * middle + weight + 1e-9
    bands[2, 1:] += free
    bands[2, :-1] += free
    bands[1, 1:] = -2.0 * stiff * (ones[:-1] + ones[1:]) - free
    bands[0, 2:] = stiff * ones[1:-1]
    result: Array = fall.swing + solveh_banded(bands, weighted)
    return result


def _fall(clip: Clip, chains: Mapping[str, tuple[int, ...]], points: Array, nearness: Array, leg: float) -> _Fall:
    """How the middle of the body's mass sways against the hips that stay, and falls over the points that stand.

    As of an inverted pendulum, its acceleration is (g + z'') / z times how far it is ahead of its feet.
    """
    middle = smoothed(_middle(clip, chains), clip.rate, SWAY)
    sway = np.gradient(middle, axis=0) * clip.rate
    borne = np.clip(1.0 + np.gradient(sway[:, 2]) * clip.rate / GRAVITY, 0.0, HEAVIEST)
    standing = nearness.sum(axis=1)
    foot = np.einsum("np,npk->nk", nearness + 1e-6, points) / (standing + 1e-6 * nearness.shape[1])[:, None]
    high = np.maximum(middle[:, 2] - np.percentile(points[..., 2].min(axis=1), 5.0), 0.3 * leg)
    pull = PENDULUM * GRAVITY * borne * np.minimum(standing, 1.0) / high
    ahead = pull[:, None] * (middle - foot)[:, :2] / clip.rate
    speed = np.concatenate([np.zeros((1, 2)), np.cumsum(0.5 * (ahead[1:] + ahead[:-1]), axis=0)])
    return _Fall(sway[:, :2] - speed, borne)


def _middle(clip: Clip, chains: Mapping[str, tuple[int, ...]]) -> Array:
    """The middle of the body's mass (nf, 3), by the shares of a person's parts."""

    def joints(*wanted: str) -> list[Array]:
        """Of the roles that have bones on both sides, or in the middle, where they are."""
        found = []
        for role in wanted:
            names = [f"{role}.{side}" for side in roles.SIDES] if role in roles.PAIRED else [role]
            if all(name in chains for name in names):
                found.append(np.mean([clip.position[:, chains[name][0]] for name in names], axis=0))
        return found

    hips = joints("thigh")[0]
    parts = [(TRUNK, 0.5 * (hips + (*joints("neck", "head", "chest", "spine"), hips)[0]))]
    for role, share in SHARES.items():
        ends = joints(role, ENDS.get(role, role))
        if joints(role):
            parts.append((share, (1.0 - ALONG) * ends[0] + ALONG * ends[-1]))
    whole = sum(share for share, _ in parts)
    middle = np.zeros((len(clip.position), 3))
    for share, place in parts:
        middle += share / whole * place
    return middle


def _usual(speeds: Array, nearness: Array, rate: float) -> Array:
    """The horizontal velocity (nf, 2) that low points have most around each frame: where theirs are densest."""
    frames = np.arange(len(speeds))
    sample, point = np.nonzero(nearness > 0.1)
    if len(sample) < 8:
        return np.zeros((len(frames), 2))
    found, low = speeds[sample, point, :2], nearness[sample, point]
    fast = float(np.percentile(np.linalg.norm(found, axis=1), 75.0))
    width = max(NARROWEST * fast, 0.05)
    knots = np.linspace(0.0, len(frames) - 1.0, max(2, round(len(frames) / rate / KNOT) + 1))
    modes: list[Array] = []
    for knot in knots:
        inside = np.flatnonzero(np.abs(sample - knot) < 3.0 * AROUND * rate)
        if len(inside) < 8:
            modes.append(modes[-1] if modes else found.mean(axis=0))
            continue
        inside = inside[:: max(1, len(inside) // MOST)]
        near = low[inside] * np.exp(-(((sample[inside] - knot) / (AROUND * rate)) ** 2))
        here = found[inside]
        centres = here[:: max(1, len(here) // STARTS)]
        for _ in range(SHIFTS):
            pull = near * np.exp(-np.sum((here - centres[:, None]) ** 2, axis=2) / width**2) + 1e-12
            centres = pull @ here / pull.sum(axis=1, keepdims=True)
        modes.append(centres[int(np.argmax(pull.sum(axis=1)))])
    return np.column_stack([np.interp(frames, knots, np.array(modes)[:, k]) for k in range(2)])


def _points(clip: Clip, chains: Mapping[str, tuple[int, ...]]) -> tuple[Array, Array, float]:
    """Heels, balls and tips of both feet (nf, 6, 3) or fewer, how far each is to be believed, and a leg's length.

    A foot comes down on its heel, stands on its ball, and leaves over its tip.
    """
    skeleton = clip.skeleton
    points, trust = [], []
    leg = 0.0
    for side in roles.SIDES:
        foot, toe = chains[f"foot.{side}"], chains.get(f"toe.{side}", ())
        hip, knee = (clip.position[:, chains[f"{part}.{side}"][0]] for part in ("thigh", "shin"))
        ankle = clip.position[:, foot[0]]
        leg += 0.5 * float(np.median(np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)))
        last = (toe or foot)[-1]
        reach = skeleton.tail[last] - skeleton.head[last]
        local = quaternions.rotate(quaternions.conjugate(skeleton.orientation[last]), reach)
        tip = clip.position[:, last] + quaternions.rotate(clip.orientation[:, last], local)
        ball = clip.position[:, toe[0]] if toe else tip
        points += [_heel(ankle, ball, clip.orientation[:, foot[0]], leg), ball, *([tip] if toe else [])]
        trust += [1.0] * (3 if toe else 2)
    if is_quadruped(skeleton, chains):
        points += [clip.position[:, chains[f"hand.{side}"][-1]] for side in roles.SIDES if f"hand.{side}" in chains]
        trust += [1.0] * (len(points) - len(trust))
    return np.stack(points, axis=1), np.array(trust), leg


def _heel(ankle: Array, ball: Array, turn: Array, leg: float) -> Array:
    """Where the heel is (nf, 3): behind the ankle, as low as the ball when the foot lies as flat as it ever does."""
    low = [np.abs(place[:, 2] - np.percentile(place[:, 2], 10.0)) for place in (ankle, ball)]
    flat = np.argsort(low[0] + low[1])[: max(3, len(ankle) // 10)]
    back = quaternions.conjugate(turn[flat])
    up = np.median(quaternions.rotate(back, np.array([0.0, 0.0, 1.0])), axis=0)
    up /= max(float(np.linalg.norm(up)), 1e-9)
    ahead = np.median(quaternions.rotate(back, ball[flat] - ankle[flat]), axis=0)
    drop = float(ahead @ up)
    forward = ahead - drop * up
    forward /= max(float(np.linalg.norm(forward)), 1e-9)
    result: Array = ankle + quaternions.rotate(turn, drop * up - HEEL * leg * forward)
    return result
