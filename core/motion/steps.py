# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground that a motion tells of, as objects: a box under the footprints on each level, steps where they climb.

A box is as wide as its footprints and some more, in each direction as far as soles pass lower than its top.
"""

from collections.abc import Sequence

import numpy as np

from ..character import Character
from .boxes import Box
from .fit import Trajectory
from .ground import LEVEL, Footprint, MissingGround, footprints
from .quaternions import Array
from .schedule import contact_points
from .support import FLOOR, Support
from .tracks import point_places

AROUND = 0.3  # m beyond footprints
ALONG = 5  # places along each footprint
SOLE = 0.05  # m beside the line from heel to toe
DEEP = 0.05  # m under z = 0, from which on the ground is not that
LOWER = 0.04  # m under a box's top, at which soles pass beside it
THICK = 0.1  # m, of a floor


def steps_of(character: Character, trajectory: Trajectory, missing: MissingGround) -> tuple[Support, ...]:
    """The objects that such ground is made of; none where that cannot be."""
    prints = [*missing.raised, *(one for one in footprints(character, trajectory) if one not in missing.raised)]
    levels = np.unique(np.round(missing.ground.heights, 4))
    floor = float(levels[0]) if levels[0] < -DEEP else 0.0
    passed = _passed(character, trajectory)
    along = _along(prints)
    boxes: list[Box] = []
    for top in levels.tolist():
        if top - floor < LEVEL:
            continue
        own = [one for one in prints if abs(one.height - top) < LEVEL]
        low = passed[passed[:, 2] < top - LOWER, :2]
        groups: list[list[Footprint]] = []
        for one in sorted(own, key=lambda one: one.frames):
            for group in groups:
                if not _around([*group, one], along, floor, top).within(low).any():
                    group.append(one)
                    break
            else:
                groups.append([one])
        boxes += [_grown(_around(group, along, floor, top), low) for group in groups]
    if floor < 0.0:
        way = np.concatenate([_places(one) for one in prints])
        boxes.append(_enclosing(way, along, floor - THICK, floor, FLOOR, 5.0 * AROUND))
    if not boxes:
        return ()
    name = "Step" if len({box.top for box in boxes}) > 1 else "Block"
    named = [box if box.name else box._replace(name=f"{name} {number}") for number, box in enumerate(boxes, 1)]
    frames = [frame for one in missing.raised for frame in one.frames]
    return (Support("ground", (min(frames), max(frames)), max(box.top for box in boxes) - floor, tuple(named)),)


def _passed(character: Character, trajectory: Trajectory) -> Array:
    """Where soles are at all times (n, 3)."""
    feet = [point for point in contact_points(character) if point.foot]
    result: Array = point_places(character, trajectory.q, feet).reshape(-1, 3)
    return result


def _along(prints: Sequence[Footprint]) -> Array:
    """Which way (2,) the footprints lead, as the levels do; the feet's own where they stay."""
    middle = np.array([0.5 * (np.array(one.heel) + np.array(one.toe)) for one in prints])
    spread = middle[:, :2] - middle[:, :2].mean(axis=0)
    heading = np.sum([np.array(one.toe) - np.array(one.heel) for one in prints], axis=0)[:2]
    way: Array = np.linalg.svd(spread)[2][0] if np.abs(spread).max() > 2.0 * AROUND else heading
    way = way if way @ heading >= 0.0 else -way
    length = float(np.linalg.norm(way))
    return way / length if length > 0.0 else np.array([1.0, 0.0])


def _places(one: Footprint) -> Array:
    share = np.linspace(0.0, 1.0, ALONG)[:, None]
    result: Array = (1.0 - share) * np.array(one.heel[:2]) + share * np.array(one.toe[:2])
    return result


def _around(group: Sequence[Footprint], along: Array, bottom: float, top: float) -> Box:
    """The least box under footprints."""
    return _enclosing(np.concatenate([_places(one) for one in group]), along, bottom, top, "", SOLE)


def _enclosing(places: Array, along: Array, bottom: float, top: float, name: str, beyond: float) -> Box:
    x, y = along.tolist()
    box = Box(name, (0.0, 0.0), (x, y), 0.0, 0.0, 0.0, 0.0, bottom, top)
    seen = box.seen(places)
    low, high = seen.min(axis=0) - beyond, seen.max(axis=0) + beyond
    middle = 0.5 * (low + high)
    place = middle @ np.array([[x, y], [-y, x]])
    ahead, aside = (0.5 * (high - low)).tolist()
    return box._replace(place=(float(place[0]), float(place[1])), back=ahead, front=ahead, right=aside, left=aside)


def _grown(box: Box, low: Array) -> Box:
    """As much larger as there is room: half-way to where soles pass lower, in one direction after the other."""
    for side in ("front", "left", "right", "back"):
        seen = box.seen(low)
        lengthwise = side in {"front", "back"}
        ways = seen[:, 0 if lengthwise else 1] * (1.0 if side in {"front", "left"} else -1.0)
        others = seen[:, 1 if lengthwise else 0]
        limits = (-box.right, box.left) if lengthwise else (-box.back, box.front)
        reach = getattr(box, side)
        beside = ways[(others > limits[0]) & (others < limits[1]) & (ways > reach - SOLE)]
        free = float(beside.min()) - reach if len(beside) else 2.0 * AROUND
        box = box._replace(**{side: reach + min(max(0.5 * free, 0.0), AROUND)})
    return box
