# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way is up in a motion: files of other makers, read with the wrong axis, lie on their side all along.

A figure that stands has its trunk over its legs. Where the line from the one to the other is steadily along another
axis than Z, and never along Z, that axis is up. A figure on four legs has its legs along it.
"""

from typing import Literal

import numpy as np

from . import quaternions
from .clip import Clip, turned
from .quaternions import Array
from .rest_pose import is_on_four, trunk_and_legs
from .roles import Roles

Up = Literal["Z", "X", "-X", "Y", "-Y"]
AXES: dict[Up, tuple[float, float, float]] = {
    "Z": (0.0, 0.0, 1.0),
    "X": (1.0, 0.0, 0.0),
    "-X": (-1.0, 0.0, 0.0),
    "Y": (0.0, 1.0, 0.0),
    "-Y": (0.0, -1.0, 0.0),
}
ALONG = np.cos(np.radians(50.0))
STEADY = 0.9  # of all frames
SELDOM = 0.02  # of all frames, in which one that lies may yet be upright by chance


def up_of(clip: Clip, roles: Roles) -> Up:
    """The axis of the world that is up in the motion."""
    trunk, legs = trunk_and_legs(clip, roles)
    upwards = -legs if is_on_four(clip, roles) else trunk - legs
    upwards = upwards / np.maximum(np.linalg.norm(upwards, axis=1, keepdims=True), 1e-9)

    def share(axis: Up) -> float:
        return float(np.mean(upwards @ np.array(AXES[axis]) > ALONG))

    best = max(AXES, key=share)
    if best == "Z" or share(best) < STEADY or share("Z") > SELDOM:
        return "Z"
    return best if float(np.mean(-legs @ np.array(AXES[best]) > ALONG)) > 0.5 else "Z"


def turn_of(up: Up) -> Array:
    """The turn (4,) that brings that axis up."""
    return quaternions.between(np.array(AXES[up]), np.array(AXES["Z"]))


def stood_up(clip: Clip, up: Up) -> Clip:
    """The clip with that axis up."""
    return clip if up == "Z" else turned(clip, turn_of(up))
