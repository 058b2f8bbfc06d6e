# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a motion was made at another frame rate than it is played at: told by how quickly long steps follow.

Legs swing as pendulums of their length do. Strides a second times sqrt(leg / g) are 0.2 to 0.3 in a walk, up to 0.6 in
a sprint, and in no gait with steps as long as half a leg below 0.1.
"""

import math

import numpy as np

from . import roles
from .clip import Clip

GRAVITY = 9.81
SLOWEST, QUICKEST, USUAL = 0.09, 0.9, 0.26
LONG_STEP = 0.5  # of the leg
FEWEST = 3  # changes of the foremost foot
RATES = (12.0, 15.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0, 240.0)  # frames per second


def likely_rate(clip: Clip, roles_of_bones: roles.Roles) -> float | None:
    """Frames per second at which the motion was likely made, None where those at which it plays will do."""
    chains = roles.checked(roles_of_bones, clip.skeleton)
    hips, knees, ankles = (
        np.stack([clip.position[:, chains[f"{part}.{side}"][0]] for side in roles.SIDES], axis=1)
        for part in ("thigh", "shin", "foot")
    )
    leg = float(np.median(np.linalg.norm(knees - hips, axis=2) + np.linalg.norm(ankles - knees, axis=2)))
    left = hips[:, 0] - hips[:, 1]
    forward = np.cross(left, [0.0, 0.0, 1.0])
    forward /= np.maximum(np.linalg.norm(forward, axis=1, keepdims=True), 1e-9)
    ahead = np.sum((ankles[:, 0] - ankles[:, 1]) * forward, axis=1)
    # a foot is foremost once it is so by half of a long step: what trembles about the middle is no step
    far = np.flatnonzero(np.abs(ahead) > 0.5 * LONG_STEP * leg)
    changes = far[1:][np.sign(ahead[far[1:]]) != np.sign(ahead[far[:-1]])]
    if len(changes) < FEWEST:
        return None
    strides = clip.rate / (2.0 * float(np.median(np.diff(changes))))
    pace = strides * math.sqrt(leg / GRAVITY)
    if SLOWEST < pace < QUICKEST:
        return None
    played = clip.rate * clip.frames_per_sample
    wanted = played * USUAL / pace
    best = min(RATES, key=lambda rate: abs(math.log(rate / wanted)))
    return None if abs(math.log(best / played)) < math.log(1.5) else best
