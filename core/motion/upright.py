# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way is up in a motion: files of other makers, read with the wrong axis, lie on their side all along.

A figure that stands has its trunk over its legs. Where the line from the one to the other is steadily along another
axis than Z, and never along Z, that axis may be up. A figure on four legs has its legs along it.

But a person may lie or crawl all along, and birds and reptiles walk with a level trunk. What is up is known by what is
below: the lowest point of a body that stands, walks or lies stays at one height.
"""

from typing import Literal

import numpy as np

from . import quaternions, roles
from .clip import Clip, turned
from .quaternions import Array
from .rest_pose import TRUNK, UPRIGHT, is_on_four, posed_at_rest, trunk_and_legs
from .roles import Roles

Up = Literal["Z", "X", "-X", "Y", "-Y"]
Facing = Literal["X", "-X", "Y", "-Y"]
AXES: dict[Up, tuple[float, float, float]] = {
    "Z": (0.0, 0.0, 1.0),
    "X": (1.0, 0.0, 0.0),
    "-X": (-1.0, 0.0, 0.0),
    "Y": (0.0, 1.0, 0.0),
    "-Y": (0.0, -1.0, 0.0),
}
ALONG = np.cos(np.radians(50.0))
STEADY, OFTEN, MOSTLY = 0.9, 0.7, 0.5  # of all frames
SELDOM = 0.02  # of all frames, in which one that lies may yet be upright by chance
LEVEL = 0.5  # of Z's, at most: how much the lowest point may rise and fall along another axis that is up
STEPS, STRIDES = 0.1, 0.5  # of the leg: who walks on has its lowest point there while its feet pass each other
STILL = 0.03  # of the leg: a body whose lowest point moves less along both axes does not tell by it


def up_of(clip: Clip, roles_of_bones: Roles) -> Up:
    """The axis of the world that is up in the motion."""
    trunk, legs = trunk_and_legs(clip, roles_of_bones)
    upwards = -legs if is_on_four(clip, roles_of_bones) else trunk - legs
    upwards = upwards / np.maximum(np.linalg.norm(upwards, axis=1, keepdims=True), 1e-9)

    def share(axis: Up) -> float:
        return float(np.mean(upwards @ np.array(AXES[axis]) > ALONG))

    best = max(AXES, key=share)
    if best == "Z" or share("Z") > SELDOM:
        return "Z"
    if share(best) < STEADY:
        # who hangs, bends or tumbles is told by a rest pose that lies the same way
        rest = posed_at_rest(clip.skeleton, roles_of_bones)
        if share(best) > MOSTLY and rest.is_person:
            return best if _between(rest.trunk, AXES[best]) < UPRIGHT else "Z"
        if share(best) < OFTEN:
            return "Z"
    stands = float(np.mean(-legs @ np.array(AXES[best]) > ALONG)) > 0.5
    return best if stands and _rests_along(clip, roles_of_bones, best) else "Z"


def facing_of(clip: Clip, roles_of_bones: Roles) -> Facing:
    """The horizontal axis of the world that is nearest to where a figure that stands faces in the first frame.

    By its left and right: left turned by a quarter about Z to the right.
    """
    places, skeleton = clip.position[0], clip.skeleton
    left = np.zeros(2)
    for role in ("thigh", "upper_arm"):
        sides = [roles_of_bones.get(f"{role}.{side}", ()) for side in roles.SIDES]
        if all(sides):
            ends = [places[skeleton.index(names[0])] for names in sides]
            left += (ends[0] - ends[1])[:2]
    ahead = np.array([left[1], -left[0]])
    axes: dict[Facing, tuple[float, float]] = {"-Y": (0.0, -1.0), "Y": (0.0, 1.0), "X": (1.0, 0.0), "-X": (-1.0, 0.0)}
    return max(axes, key=lambda axis: float(ahead @ np.array(axes[axis])))


def _rests_along(clip: Clip, roles_of_bones: Roles, axis: Up) -> bool:
    """Whether it is along that axis rather than along Z that the body is borne from below."""
    rest = posed_at_rest(clip.skeleton, roles_of_bones)
    if rest.is_person and _between(rest.trunk, AXES[axis]) < UPRIGHT:
        return True
    standing = _between(-rest.legs, AXES["Z"]) < UPRIGHT
    if standing and rest.is_level and _between(rest.trunk, -rest.legs) > TRUNK:
        return False  # a trunk that is level at rest says nothing
    chains = roles.checked(roles_of_bones, clip.skeleton)
    joints = clip.position[:, [bone for chain in chains.values() for bone in chain]]
    hips, knees, ankles = (clip.position[:, chains[f"{part}.L"][0]] for part in ("thigh", "shin", "foot"))
    leg = float(np.median(np.linalg.norm(knees - hips, axis=1) + np.linalg.norm(ankles - knees, axis=1)))
    lowest = [(joints @ np.array(AXES[each])).min(axis=1) / max(leg, 1e-9) for each in (axis, "Z")]
    moves, moves_z = (float(np.ptp(np.percentile(heights, [5.0, 95.0]))) for heights in lowest)
    if max(moves, moves_z) < STILL:
        # what lies still is mostly put on z = 0, and so is what stands on its maker's floor
        here, here_z = (abs(float(np.median(heights))) for heights in lowest)
        return not standing and here < here_z
    if moves < LEVEL * moves_z:
        return True
    apart = (clip.position[:, chains["foot.L"][0]] - clip.position[:, chains["foot.R"][0]]) / max(leg, 1e-9)
    sweeps = float(np.ptp(np.percentile(apart, [5.0, 95.0], axis=0), axis=0).max())
    return moves < STEPS and sweeps > STRIDES


def _between(a: Array, b: Array | tuple[float, float, float]) -> float:
    return float(np.arccos(np.clip(a @ np.array(b), -1.0, 1.0)))


def turn_of(up: Up) -> Array:
    """The turn (4,) that brings that axis up."""
    return quaternions.between(np.array(AXES[up]), np.array(AXES["Z"]))


def stood_up(clip: Clip, up: Up) -> Clip:
    """The clip with that axis up."""
    return clip if up == "Z" else turned(clip, turn_of(up))
