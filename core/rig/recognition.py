# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip of which nothing is known, set up: who is who, which way is up, and how long a unit is.

As Set Up does it for an armature; for clips that come without one.
"""

from dataclasses import dataclass

import numpy as np

from ..motion import quaternions
from ..motion.body_plan import plausible_scale
from ..motion.clip import Clip, scaled
from ..motion.pegs import with_feet
from ..motion.quaternions import Array
from ..motion.roles import Roles
from ..motion.upright import stood_up, turn_of, up_of
from .roles import detect_roles

STILL = 1e-4  # of the skeleton's size, or rad


@dataclass(frozen=True, eq=False)
class Recognised:
    """A clip that stands, in metres, with its roles."""

    clip: Clip  # with feet where it had none: such bones come after its own
    roles: Roles
    unit: float  # metres that a unit of the clip was
    turn: Array  # (4,) by which it was turned to stand


def recognise(clip: Clip) -> Recognised:
    """The clip set up; ValueError, in a sentence, where it holds no body or no motion."""
    if not moves(clip):
        raise ValueError("It holds no motion: a single pose cannot be made possible.")
    roles = _roles_of(clip)
    up = up_of(*with_feet(clip, roles))
    if up != "Z":
        clip = stood_up(clip, up)
        roles = _roles_of(clip)
    clip, roles = with_feet(clip, roles)
    unit = plausible_scale(clip, roles)
    return Recognised(scaled(clip, unit), roles, unit, turn_of(up))


def moves(clip: Clip) -> bool:
    """Whether anything moves, by more than rounding."""
    if len(clip.position) < 2:
        return False
    size = float(np.linalg.norm(np.ptp(clip.skeleton.head, axis=0)))
    way = np.linalg.norm(np.ptp(clip.position, axis=0), axis=1).max()
    turn = quaternions.angle(clip.orientation, clip.orientation[:1]).max()
    return bool(way > STILL * max(size, 1e-9) or turn > STILL)


def _roles_of(clip: Clip) -> Roles:
    found = detect_roles(clip.skeleton, clip=clip).bones
    if not any(role.startswith(("thigh", "shin")) for role in found):
        raise ValueError("No legs were found in it: set it up in Blender, where you can choose its bones.")
    return {role: names for role, names in found.items() if names}
