# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor under a clip: how high it lies and how it is tilted, from where the feet stand.

A capture's floor is often off by centimetres and tilted by up to a fortieth. The plane z = height + slope . (x, y) is
fitted to the soles in frames in which a foot stands, robustly: Tukey's biweight, iteratively reweighted, from a start
at the lower quartile, so that steps onto a box or up a stair do not lift it, and with a ridge on the slope, which a
clip on the spot says nothing about.

A suit of sensors sinks, rises or glides away, at a steady speed. What standing soles lose of height in time, and
not with the way that they go, is such a sinking; and a glide is the speed at which they move most, where they all move.

A clip is brought onto its floor by one rigid motion, and by as much less in every frame as it sinks and glides. That
keeps every bone's length and every joint's angle, which shearing it would not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter1d

from ..character import Corner
from ..sentences import say
from . import quaternions
from .body_plan import BodyPlan
from .clip import Clip
from .feet import FLAT_SPEEDS, greatest_speed
from .lain_on import height_lain_on
from .quaternions import Array

RIDGE = 0.3  # m: how far apart a slope's evidence must lie to count as much as the prior of none
BIWEIGHT = 0.04  # m: soles further than this from the plane stand on something else
STEEPEST = 0.035  # beyond it the ground is a slope or a stair, not a floor askew
FEWEST, LEAST = 10, 4  # standing samples, and where frames are few
CAPTURED = 60.0  # frames per second, at least, of captures
AS_LOW = 0.045  # of stature, from the lowest step up: steps of a runner, whose feet never stand
TURN = 0.1  # s, on either side of a step
BELOW = 0.08, 10.0  # of stature, and of the frames in percent: so far and so long nothing of a body is under its floor
STEEP, MOSTLY_STEEP = 0.45, 0.9  # of a sole's length that its ends differ in height, and of the time: it is on its tip
DEEPEST = 0.035  # of stature: a tenth of all frames may show soles this far below the floor
LEAST_DRIFT, MOST_DRIFT = 0.01, 0.10  # m/s: less is noise, more is motion
LEAST_SUNK = 0.03  # m over all of the clip
LEFT_OVER = 0.4  # of how far soles lie off the floor, that a steady sinking leaves at most
ALONE = 0.3  # of the time's variance, that the way must leave unexplained
THIRDS = 3  # of the clip, in all of which soles must stand
ALIKE = 0.35  # of the speed at which soles glide, by which that may differ among thirds of the clip


@dataclass(frozen=True)
class Levelling:
    """What of a clip's floor is mended; what is not stays as it is in the file."""

    height: bool = True
    tilt: bool = True
    drift: bool = True


EVERYTHING = Levelling()
NOTHING = Levelling(height=False, tilt=False, drift=False)


@dataclass(frozen=True)
class Floor:
    """The plane z = height + slope[0] x + slope[1] y, in the middle of the clip; and how it moves."""

    height: float = 0.0  # m
    slope: tuple[float, float] = (0.0, 0.0)
    samples: int = 0  # soles that it was fitted to
    drift: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m/s, at which all that stands moves

    @property
    def tilt(self) -> float:
        """Angle from the horizontal, rad."""
        return math.atan(math.hypot(*self.slope))

    @property
    def lines(self) -> tuple[str, ...]:
        """What was found, for the report."""
        lines = []
        if self.samples:
            moved = "The floor was found at {height:.1f} cm, tilted by {tilt:.2f}°, and moved to height 0."
            lines.append(say(moved, height=100.0 * self.height, tilt=math.degrees(self.tilt)))
        glide = math.hypot(*self.drift[:2])
        if self.drift[2]:
            sinks = "The floor sinks by {speed:.1f} cm per second, which was taken off."
            rises = "The floor rises by {speed:.1f} cm per second, which was taken off."
            lines.append(say(sinks if self.drift[2] < 0.0 else rises, speed=100.0 * abs(self.drift[2])))
        if glide:
            text = "Standing feet glide by {speed:.1f} cm per second, which was taken off."
            lines.append(say(text, speed=100.0 * glide))
        return tuple(str(line) for line in lines)


def estimate_floor(plan: BodyPlan, clip: Clip, mend: Levelling = EVERYTHING) -> Floor:
    """The floor under a clip without damage, as far as it is to be mended.

    Where feet hardly stand it is level, at the height of their slowest moments; where they never do, where they turn
    back up. A foot that walks in place glides while it stands and rests in the air: a floor that feet go well below is
    none. One that anything else goes well below is none either: who swims or stands on the hands has another, the
    scene's if nothing is under that, or where the body is lowest.
    """
    corners = soles_of(plan, clip)
    if corners.shape[1] == 0 or mend == NOTHING:
        return Floor()
    drift = _drift(corners, clip.rate) if mend.drift else np.zeros(3)
    floor = _plane(plan, clip, corners - _moved(drift, clip)[:, None, None])
    joints = plan.body_targets(clip)[0]
    lowest = joints[..., 2].min(axis=1)
    above = (joints[..., 2] - floor.height - joints[..., :2] @ np.array(floor.slope)).min(axis=1)
    if np.percentile(above, BELOW[1]) < -BELOW[0] * plan.stature:
        return Floor(0.0 if lowest.min() >= 0.0 else float(np.percentile(lowest, BELOW[1])))
    lain_on = height_lain_on(plan, clip, floor.height, floor.slope) if mend.height and not any(drift) else None
    if lain_on is not None:
        return Floor(lain_on, samples=floor.samples)
    if not mend.tilt:
        middle = corners[..., :2].mean(axis=(0, 1, 2))
        floor = replace(floor, height=floor.height + float(middle @ floor.slope), slope=(0.0, 0.0))
    if not mend.height:
        middle = corners[..., :2].mean(axis=(0, 1, 2))
        floor = replace(floor, height=-float(middle @ floor.slope))
    return replace(floor, drift=(float(drift[0]), float(drift[1]), float(drift[2])))


def _plane(plan: BodyPlan, clip: Clip, corners: Array) -> Floor:
    """The floor under soles (nf, soles, 4, 3)."""
    speed = greatest_speed(corners, clip.rate)
    middles = corners.mean(axis=2)
    steep = _is_steep(corners)[speed < FLAT_SPEEDS[-1]]
    if np.count_nonzero(steep) > MOSTLY_STEEP * len(steep):  # as in push-ups
        middles = np.take_along_axis(corners, corners[..., 2:].argmin(axis=2, keepdims=True), axis=2)[:, :, 0]
    for limit in FLAT_SPEEDS:
        soles = middles[speed < limit]
        if len(soles) >= (FEWEST if limit < FLAT_SPEEDS[-1] else _fewest(clip.rate)):
            floor = _plane_through(soles, level=limit > FLAT_SPEEDS[0])
            # of their middles: the tip of a sole that is up on its toes, which real ones bend, goes deep on any floor
            above = middles[..., 2] - floor.height - middles[..., :2] @ np.array(floor.slope)
            if np.percentile(above.min(axis=1), 10.0) > -DEEPEST * plan.stature:
                return floor
    return Floor(_stepped_on(corners, clip.rate, AS_LOW * plan.stature))


def _fewest(rate: float) -> int:
    """How many samples are as long at this rate as FEWEST at the lowest rate of captures."""
    return min(max(round(FEWEST * rate / CAPTURED), LEAST), FEWEST)


def _is_steep(corners: Array) -> NDArray[np.bool_]:
    """Which (nf, soles) of the soles stand on a tip."""
    length = np.linalg.norm(corners[0] - corners[0, :, :1], axis=-1).max(axis=-1)
    return np.asarray(np.ptp(corners[..., 2], axis=2) > STEEP * length)


def _stepped_on(corners: Array, rate: float, near: float) -> float:
    """The height at which soles (nf, soles, 4, 3) that never stand turn back up: each one's usual, and their middle."""
    lowest = corners[..., 2].min(axis=2)
    around = max(1, round(TURN * rate))
    turns = lowest == minimum_filter1d(lowest, 2 * around + 1, axis=0, mode="nearest")
    low = turns & (lowest < lowest.min() + near)
    return float(np.mean([np.median(lowest[low[:, sole], sole]) for sole in np.flatnonzero(low.any(axis=0))]))


def _plane_through(soles: Array, *, level: bool) -> Floor:
    """The plane through places (n, 3)."""
    center = soles[:, :2].mean(axis=0)
    rows = np.column_stack([np.ones(len(soles)), soles[:, :2] - center])
    plane = np.array([float(np.percentile(soles[:, 2], 25.0)), 0.0, 0.0])
    ridge = np.diag([0.0, *([1e6 if level else RIDGE**2] * 2)]) * len(soles)
    for _ in range(50):
        off = (soles[:, 2] - rows @ plane) / BIWEIGHT
        weight = np.where(np.abs(off) < 1.0, (1.0 - off**2) ** 2, 0.0)
        if weight.sum() < FEWEST / 2:
            break
        solved = np.linalg.solve((rows.T * weight) @ rows + ridge * weight.mean(), (rows.T * weight) @ soles[:, 2])
        if np.abs(solved - plane).max() < 1e-7:
            break
        plane = solved
    if math.hypot(plane[1], plane[2]) > STEEPEST:
        return _plane_through(soles, level=True)
    height = float(plane[0] - plane[1:] @ center)
    return Floor(height, (float(plane[1]), float(plane[2])), len(soles))


def common_floor(floors: Sequence[Floor], middles: Array) -> Floor | None:
    """One floor for clips that were captured in one room, each found from its own soles around a middle (n, 2).

    None where they say different things, stand on different things, or drift.
    """
    found = [(floor, middle) for floor, middle in zip(floors, middles, strict=True) if floor.samples]
    if not found or any(any(floor.drift) for floor in floors):
        return None
    share = np.array([floor.samples for floor, _ in found]) / sum(floor.samples for floor, _ in found)
    there = share @ np.array([middle for _, middle in found])
    slope = share @ np.array([floor.slope for floor, _ in found])
    heights = np.array([floor.height + float(middle @ floor.slope) for floor, middle in found])
    on_one = heights + (there - np.array([middle for _, middle in found])) @ slope
    if np.ptp(on_one) > BIWEIGHT:
        return None
    height = float(share @ on_one - there @ slope)
    return Floor(height, (float(slope[0]), float(slope[1])), sum(floor.samples for floor, _ in found))


def level(clip: Clip, floor: Floor) -> Clip:
    """The clip moved so that its floor is z = 0: turned about the horizontal line through the world's axis.

    In the middle of the clip nothing of its drift is taken off.
    """
    normal = np.array([-floor.slope[0], -floor.slope[1], 1.0])
    turn = quaternions.between(normal, np.array([0.0, 0.0, 1.0]))
    still = clip.position - _moved(np.array(floor.drift), clip)[:, None] if any(floor.drift) else clip.position
    place = quaternions.rotate(turn, still - np.array([0.0, 0.0, floor.height]))
    return Clip(
        clip.skeleton,
        clip.rate,
        place,
        quaternions.continuous(quaternions.multiply(turn, clip.orientation)),
        clip.first_frame,
        clip.frames_per_sample,
    )


def _moved(drift: Array, clip: Clip) -> Array:
    """How far all has drifted in each frame (nf, 3), from the middle of the clip."""
    count = len(clip.position)
    result: Array = (np.arange(count) - 0.5 * (count - 1))[:, None] / clip.rate * drift
    return result


def _drift(corners: Array, rate: float) -> Array:
    """The velocity (3,) at which soles (nf, soles, 4, 3) that stand move, zero where it is not steady."""
    drift = np.zeros(3)
    speeds = np.gradient(corners.mean(axis=2), axis=0) * rate if len(corners) > 2 * FEWEST else np.zeros((0, 0, 3))
    still = np.zeros(speeds.shape[:2], dtype=np.bool_)
    if len(speeds):
        still = greatest_speed(corners, rate) < FLAT_SPEEDS[0]
    sample, sole = np.nonzero(still)
    third = np.minimum(THIRDS * sample // max(len(corners), 1), THIRDS - 1)
    if any((third == part).sum() < FEWEST for part in range(THIRDS)):
        return drift
    found = speeds[sample, sole]
    glides = np.array([np.median(found[third == part, :2], axis=0) for part in range(THIRDS)])
    glide = np.median(glides, axis=0)
    size = float(np.linalg.norm(glide))
    if LEAST_DRIFT < size < MOST_DRIFT and np.linalg.norm(glides - glide, axis=1).max() < ALIKE * size:
        drift[:2] = glide
    places = corners.mean(axis=2)[sample, sole] - (sample / rate)[:, None] * drift
    drift[2] = _sinking(places, sample / rate, len(corners) / rate)
    return drift


def _sinking(places: Array, time: Array, duration: float) -> float:
    """The steady change of height of standing soles (n, 3) in time (n,) that their way does not explain, m/s."""
    plane = np.column_stack([np.ones(len(time)), places[:, :2] - places[:, :2].mean(axis=0)])
    when = time - time.mean()
    alone = when - plane @ np.linalg.lstsq(plane, when, rcond=None)[0]
    if alone @ alone < ALONE * (when @ when):
        return 0.0
    ridge = np.diag([0.0, RIDGE**2, RIDGE**2])
    before = _robust(plane, places[:, 2], ridge)[1]
    found, after = _robust(np.column_stack([plane, when]), places[:, 2], np.pad(ridge, (0, 1)))
    slope = float(found[3])
    steady = after < LEFT_OVER * before and LEAST_SUNK / duration < abs(slope) < MOST_DRIFT
    return slope if steady else 0.0


def _robust(rows: Array, values: Array, ridge: Array) -> tuple[Array, float]:
    """Least squares that lets go of what lies far off, and the median of what is left."""
    weight = np.ones(len(values))
    found = np.zeros(rows.shape[1])
    for _ in range(20):
        found = np.linalg.solve((rows.T * weight) @ rows + weight.sum() * ridge, (rows.T * weight) @ values)
        off = np.abs(values - rows @ found)
        reach = max(6.0 * float(np.median(off)), 0.005)
        weight = np.maximum(1.0 - (off / reach) ** 2, 0.0) ** 2 + 1e-9
    return found, float(np.median(off))


def soles_of(plan: BodyPlan, clip: Clip) -> Array:
    """Corners of the soles in the world, (nf, soles, 4, 3)."""
    place, turn = plan.body_targets(clip)
    corners = [shape for shape in plan.character.contacts if isinstance(shape, Corner)]
    body = [plan.character.index(corner.body) for corner in corners]
    local = np.array([corner.position for corner in corners]).reshape(-1, 3)
    return (place[:, body] + quaternions.rotate(turn[:, body], local[None])).reshape(len(place), -1, 4, 3)
