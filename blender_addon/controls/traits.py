# SPDX-License-Identifier: GPL-3.0-or-later
"""What an armature says of its bones: which an animator would take hold of, and which are solved as chains."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import bpy
import numpy as np

from ..writer import assigned_curves
from .stand_in import bone_in

MECHANISMS = ("MCH", "ORG", "mch", "org", "WGT", "VIS")  # before a dash or an underscore
OVERRULE = 0.5  # of a constraint's influence


@dataclass(frozen=True)
class Trait:
    """How good a bone is to take hold of."""

    moves: bool  # its location is free
    turns: bool  # its rotation is
    keyed: bool  # it has keys
    deforms: bool
    hidden: bool  # or a mechanism, by its name
    depth: int  # bones that it hangs from


@dataclass(frozen=True)
class Chain:
    """Bones that a constraint points at something, from the root to the tip."""

    bones: tuple[str, ...]
    target: str  # a bone
    pole: str = ""


def traits_of(armature: bpy.types.Object, names: Collection[str]) -> dict[str, Trait]:
    """Look at bones."""
    animation = armature.animation_data
    curves = [] if animation is None or animation.action is None else assigned_curves(armature, animation.action)
    keyed = {bone_in(curve.data_path) for curve in curves}
    found = {}
    for name in names:
        posed, bone = armature.pose.bones[name], armature.data.bones[name]
        shown = any(one.is_visible for one in bone.collections) if bone.collections else True
        found[name] = Trait(
            moves=not bone.use_connect and not np.array(posed.lock_location).any(),
            turns=not np.array(posed.lock_rotation).all(),
            keyed=name in keyed,
            deforms=bone.use_deform,
            hidden=bone.hide or not shown or name.replace("_", "-").split("-")[0] in MECHANISMS,
            depth=len(bone.parent_recursive),
        )
    return found


def chains_of(posed: bpy.types.Object) -> list[Chain]:
    """Return what is solved in an evaluated armature: by inverse kinematics, or by pointing single bones."""
    found = []
    for bone in posed.pose.bones:
        for constraint in bone.constraints:
            if constraint.mute or constraint.influence < OVERRULE or not constraint.is_valid:
                continue
            if isinstance(constraint, bpy.types.KinematicConstraint) and constraint.subtarget:
                chain = [bone, *bone.parent_recursive]
                if not constraint.use_tail:
                    chain = chain[1:]
                count = constraint.chain_count or len(chain)
                names = tuple(one.name for one in reversed(chain[:count]))
                found.append(Chain(names, constraint.subtarget, constraint.pole_subtarget))
            elif (
                isinstance(
                    constraint,
                    bpy.types.DampedTrackConstraint
                    | bpy.types.TrackToConstraint
                    | bpy.types.LockedTrackConstraint
                    | bpy.types.StretchToConstraint,
                )
                and constraint.subtarget
            ):
                found.append(Chain((bone.name,), constraint.subtarget))
    return found


def obeys(posed: bpy.types.PoseBone) -> bool:
    """Whether a bone's own channels may matter: nothing gives it another's place altogether."""
    return not any(
        isinstance(constraint, bpy.types.CopyTransformsConstraint)
        and constraint.mix_mode == "REPLACE"
        and constraint.influence >= 1.0
        and not constraint.mute
        and constraint.is_valid
        for constraint in posed.constraints
    )
