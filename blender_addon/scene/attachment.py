# SPDX-License-Identifier: GPL-3.0-or-later
"""Which body of the character a bone stands for, and where a place of the world lies in that body's frame."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.motion import quaternions
from ...core.motion.clip import Clip
from ...core.motion.quaternions import Array
from ..overlay.data import Ride, read_rides
from ..typed import settings_on


@dataclass(frozen=True)
class Attachment:
    """A body and the bone that it rides on."""

    body: str
    ride: Ride
    column: int  # of the bone in the clip

    def local(self, clip: Clip, row: int, place: Array) -> Array:
        """Return a place (3,) of the world, in metres, seen from the body in a frame of the clip."""
        position, orientation = self.frame(clip, row)
        result: Array = quaternions.rotate(quaternions.conjugate(orientation), place - position)
        return result

    def frame(self, clip: Clip, row: int) -> tuple[Array, Array]:
        """Return the body's origin and orientation in the world."""
        turn = clip.orientation[row, self.column]
        position = clip.position[row, self.column] + quaternions.rotate(turn, self.ride.position)
        return position, quaternions.multiply(turn, self.ride.orientation)


def attach(armature: bpy.types.Object, bone: str, clip: Clip, owner: str) -> Attachment:
    """Return the body that a bone is part of; `owner` is the thing attached, to be named where there is none."""
    if bone not in armature.data.bones:
        raise ValueError(f"{owner} names the bone '{bone}', which {armature.name} does not have: choose another.")
    rides = read_rides(settings_on(armature).rides) if settings_on(armature).rides else {}
    if not rides:
        raise ValueError(f"{armature.name} is not set up as a character: press Set Up first.")
    bodies = {ride.bone: (body, ride) for body, ride in rides.items()}
    body, ride = bodies[_leader(armature, bone, set(bodies))]
    return Attachment(body, ride, clip.skeleton.index(ride.bone))


def bodies_of(armature: bpy.types.Object) -> dict[str, str]:
    """Return the body that each bone of a character is part of; of fingers, the hand."""
    text = settings_on(armature).rides
    body = {ride.bone: name for name, ride in read_rides(text).items()} if text else {}
    return {bone.name: body[_leader(armature, bone.name, set(body))] for bone in armature.data.bones if body}


def _leader(armature: bpy.types.Object, bone: str, leaders: set[str]) -> str:
    """Return the bone whose body a bone belongs to: itself, one of its role's chain, or the nearest above."""
    roles = settings_on(armature).chosen_roles()
    trunk = roles.pop("spine", ()) + roles.pop("chest", ())
    chains = (trunk, *roles.values())
    above = armature.data.bones[bone]
    while above is not None:
        if above.name in leaders:
            return above.name
        for chain in chains:
            inside = [name for name in chain if name in leaders]
            if above.name in chain and inside:
                return inside[0]
        above = above.parent
    return next(bone.name for bone in armature.data.bones if bone.name in leaders)


def place_of(matrix: Array, unit: float) -> Array:
    """Return the place (3,) of an object's matrix in metres."""
    result: Array = unit * np.asarray(matrix)[:3, 3]
    return result
