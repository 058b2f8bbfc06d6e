# SPDX-License-Identifier: GPL-3.0-or-later
"""Where two lean on each other: trunks that stay together while one of the two could not stand so alone.

They press, and hold nothing: where trunks merely meet, as in a crowd, nobody needs the other.
"""

import numpy as np

from ..character.parts import Capsule, Sphere
from . import quaternions
from .clean_up import CUTOFF
from .fit import body_poses
from .labels import label
from .meetings import Acting, Found, is_limb, nearest_on, surfaces_of
from .quality import beyond_support
from .quaternions import Array
from .resample import smoothed
from .schedule import Mask, runs

NEAR = 0.03  # m between the surfaces of two who touch
ALONG = 0.15  # m/s, RMS, at which the place may move over a trunk
SHORTEST = 0.4  # s
OUTSIDE = 0.02  # m beyond its feet, where the weight is of one who cannot stand so alone
MOSTLY = 0.5  # of the time it is
PLACES = 9  # of a shape's middle line that are looked at


def find_leans(first: Acting, second: Acting) -> list[Found]:
    """The one trunk's part that is at the other's for longest, if either leans."""
    found: list[Found] = []
    poses = [body_poses(each.character, each.trajectory.q) for each in (first, second)]
    middles = [position[:, 0] for position, _ in poses]
    if np.linalg.norm(middles[0] - middles[1], axis=1).min() > 3.0 * NEAR + 2.0 * _trunk(first) + 2.0 * _trunk(second):
        return []
    leaning = _off_balance(first) | _off_balance(second)
    for own in _trunks(first):
        for other in _trunks(second):
            found += _between((first, second), (poses[0], poses[1]), own, other, leaning)
    return sorted(found, key=lambda one: one.frames[0] - one.frames[1])[:1]


def _between(
    two: tuple[Acting, Acting],
    poses: tuple[tuple[Array, Array], tuple[Array, Array]],
    own: Sphere | Capsule,
    other: Sphere | Capsule,
    leaning: Mask,
) -> list[Found]:
    """Times in which a shape of the one is at a shape of the other, of which one leans."""
    (place, turn), (place_there, turn_there) = (
        (position[:, b], orientation[:, b])
        for (position, orientation), b in zip(
            poses, (two[0].character.index(own.body), two[1].character.index(other.body)), strict=True
        )
    )
    rate = two[0].trajectory.rate
    looked = []
    for spot in _line(own):
        middle = place + quaternions.rotate(turn, spot)
        local = quaternions.rotate(quaternions.conjugate(turn_there), middle - place_there)
        at, wide = nearest_on(other, local)
        away = np.linalg.norm(local - at, axis=1)
        # half-way between the two surfaces
        share = (wide + 0.5 * (away - wide - own.radius)) / np.maximum(away, 1e-9)
        looked.append((away - wide - own.radius, at + share[:, None] * (local - at)))
    gaps = np.array([gap for gap, _ in looked])
    spots = np.array([spot for _, spot in looked])
    way = spots[gaps.argmin(axis=0), np.arange(gaps.shape[1])]
    found = []
    for start, stop in runs(np.asarray(gaps.min(axis=0) < NEAR)):
        if stop - start < SHORTEST * rate or leaning[start:stop].mean() < MOSTLY:
            continue
        touched = smoothed(way[start:stop], rate, CUTOFF)
        if np.sqrt(np.mean((np.diff(touched, axis=0) * rate) ** 2)) > ALONG:
            continue
        there = place_there[start:stop] + quaternions.rotate(turn_there[start:stop], touched)
        back = quaternions.rotate(quaternions.conjugate(turn[start:stop]), there - place[start:stop])
        x, y, z = back.mean(axis=0).tolist()
        found.append(Found(True, own.body, other.body, (start, stop - 1), (x, y, z), touched, leans=True))
    return found


def _off_balance(acting: Acting) -> Mask:
    """Frames in which the weight is beyond the feet."""
    schedule = label(acting.character, acting.trajectory)
    held_up, away = beyond_support(acting.character, acting.trajectory, schedule)
    return np.asarray(held_up & (away > OUTSIDE))


def _trunks(acting: Acting) -> list[Sphere | Capsule]:
    bodies = [body.name for body in acting.character.bodies if not is_limb(body.name)]
    return [shape for body in bodies for shape in surfaces_of(acting.character, body)]


def _trunk(acting: Acting) -> float:
    """How far trunks reach from the root, m."""
    return max((shape.radius + float(np.abs(_line(shape)).sum(axis=1).max()) for shape in _trunks(acting)), default=0.0)


def _line(shape: Sphere | Capsule) -> Array:
    """Places (n, 3) along a shape's middle, in its body's frame."""
    if isinstance(shape, Sphere):
        return np.array([shape.position])
    share = np.linspace(0.0, 1.0, PLACES)[:, None]
    result: Array = (1.0 - share) * np.array(shape.start) + share * np.array(shape.end)
    return result
