# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions between those that are given, where these are too far apart for their laws to be added.

A pose half-way between two poses has its feet under ground, for legs turn and do not stretch; then a swinging foot
stubs its toes. How far under ground tells how far apart two motions are, in the same metres for all. Where it is too
far a possible motion half-way is made (motion/between.py), and so on between that and its neighbours: halving the
distance quarters the depth.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics import body_poses, difference, integrate
from ...motion.between import between, paces, standing
from ...motion.quaternions import Array, rotate
from ...motion.reference import Reference
from ...motion.spacetime import Settings

DEEPEST = 0.0007  # m, of a pose's feet half-way between neighbours
HALVINGS = 4  # at most


class Line(NamedTuple):
    """Motions from the first given one, at 0, to the last, at 1."""

    references: tuple[Reference, ...]
    places: tuple[float, ...]  # rising


def filled(given: Sequence[Reference], deepest: float = DEEPEST, settings: Settings | None = None) -> Line:
    """The given motions, evenly spaced on the line, with others between where needed.

    Where none can be made neighbours stay as far apart as they are.
    """
    references, places = [given[0]], [0.0]
    step = 1.0 / max(len(given) - 1, 1)
    for number, (first, second) in enumerate(pairwise(given)):
        inner = _between(first, second, number * step, (number + 1) * step, deepest, settings, HALVINGS)
        references += [*(reference for reference, _ in inner), second]
        places += [*(place for _, place in inner), (number + 1) * step]
    places[-1] = 1.0
    return Line(tuple(references), tuple(places))


def sunk(first: Reference, second: Reference) -> float:
    """How far the lowest point of a foot is under ground in the poses half-way between two motions, m.

    As much as the deeper of the two poses themselves is under ground does not count.
    """
    local, bodies = first.schedule.position, first.schedule.body
    pace = paces([standing(first), standing(second)])
    depth, samples = 0.0, max(first.steps, second.steps)
    for sample in range(samples):
        frames = [int(one.at(sample / samples) * ref.steps) for one, ref in zip(pace, (first, second), strict=True)]
        q, other = first.q[frames[0]], second.q[frames[1]]
        half = integrate(first.character, q, 0.5 * difference(first.character, q, other), 1.0)
        lowest = [float(_heights(first, pose, bodies, local).min()) for pose in (q, other, half)]
        depth = max(depth, min(lowest[0], lowest[1], 0.0) - lowest[2])
    return depth


def _heights(reference: Reference, q: Array, bodies: NDArray[np.int64], local: Array) -> Array:
    place, turn = body_poses(reference.character, q)
    heights: Array = (place[bodies] + rotate(turn[bodies], local))[:, 2]
    return heights


def _between(
    first: Reference,
    second: Reference,
    low: float,
    high: float,
    deepest: float,
    settings: Settings | None,
    halvings: int,
) -> list[tuple[Reference, float]]:
    """Motions between two neighbours, with their places."""
    if halvings == 0 or sunk(first, second) <= deepest:
        return []
    try:
        middle = between(first, second, 0.5, settings)
    except ValueError:  # no possible motion, or none that fits: the laws of the two are added as they are
        return []
    place = 0.5 * (low + high)
    return [
        *_between(first, middle, low, place, deepest, settings, halvings - 1),
        (middle, place),
        *_between(middle, second, place, high, deepest, settings, halvings - 1),
    ]
