# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of runners: a foot stands for as long as it pushes.

Games' runs are keyed with few frames and large sweeps. Their feet hardly ever move with the ground, and come near it
rather than down to it, so that a foot tells of a moment of its stance and no more. Borne on that moment alone a body
would have to be thrown. But the body itself tells how long it is pushed up: then the foot that is lowest stands.
"""

from collections.abc import Sequence

import numpy as np

from .quaternions import Array
from .resample import smoothed
from .schedule import Mask, runs

RUNS = 2.5  # m/s: who goes slower does not run
CUTOFF = 4.0  # Hz, of how fast a body goes
PUSHED = 5.8  # m/s²: something pushes up a body whose centre of mass does not fall at more than g less this
UNTOLD = 0.3  # of the frames in which it is pushed up, in which no foot is known to stand
LOW = 0.13  # m: a foot no higher may stand
ALONG = 0.75  # of the body's speed, which a foot that stands does not reach
SHORTEST, LONGEST = 0.03, 0.4  # s of a stance: what takes longer is no run


def pushing(
    active: Mask, bodies: Sequence[int], height: Array, speed: Array, path: Array, push: Array, rate: float
) -> Mask:
    """The feet's contacts (nf, points) of a body whose centre of mass goes along `path` under that `push` (nf, 3)."""
    if len(path) < 3 or not len(bodies):
        return active
    going = np.linalg.norm(np.gradient(smoothed(path[:, :2], rate, CUTOFF), axis=0) * rate, axis=1)
    result = active.copy()
    for start, stop in runs(np.asarray((push[:, 2] > PUSHED) & (going > RUNS))):
        untold = ~active[start:stop].any(axis=1)
        if untold.mean() < UNTOLD or not SHORTEST * rate <= stop - start <= LONGEST * rate:
            continue
        # the foot that is lowest over all of it, and of its ends the one that comes down farthest
        lowest = {body: height[start:stop, [b == body for b in bodies]].min(axis=1).mean() for body in set(bodies)}
        own = min(lowest, key=lambda body: lowest[body])
        end = min((i for i, body in enumerate(bodies) if body == own), key=lambda i: height[start:stop, i].min())
        stands = (height[start:stop, end] < LOW) & (speed[start:stop, end] < ALONG * going[start:stop])
        stands &= ~active[start:stop, [body != own for body in bodies]].any(axis=1)
        parts = list(runs(stands))
        if parts:
            first, last = max(parts, key=lambda part: part[1] - part[0])
            if last - first >= SHORTEST * rate:
                result[start + first : start + last, end] = True
    return result
