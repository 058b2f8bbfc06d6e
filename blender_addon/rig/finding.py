# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bones of an armature stand for: by the chosen rig type, by names and by shape."""

from dataclasses import replace
from typing import NamedTuple

import bpy
import numpy as np

from ...core.motion.clip import Clip, Skeleton
from ...core.rig.families import FAMILIES, roles_of_family
from ...core.rig.role_names import Roles, turned_round
from ...core.rig.roles import UNCLEAR, detect_roles
from ..typed import settings_on
from .vrm import humanoid_of

FOLLOWING = {"COPY_TRANSFORMS", "COPY_ROTATION", "COPY_LOCATION", "CHILD_OF", "ARMATURE"}


class Known(NamedTuple):
    """What an armature says of its bones."""

    name: str
    deform: list[bool]
    humanoid: dict[str, str]  # what VRM calls its bones
    family: str  # the preset that was chosen
    reversed: bool  # left is right, as the user says
    hangs_from: dict[str, str]  # of bones that deform, where constraints alone hold them together


def known_of(armature: bpy.types.Object) -> Known:
    """Read it."""
    deform, settings = [bone.use_deform for bone in armature.data.bones], settings_on(armature)
    turned = settings.facing == "REVERSED"
    return Known(armature.name, deform, humanoid_of(armature), settings.family, turned, hanging(armature))


def find_roles(known: Known, clip: Clip) -> Roles:
    """Return the roles by the chosen preset, or by names and shape; left is right where the user says so."""
    found = roles_of_rig(known, clip)
    return turned_round(found, UNCLEAR) if known.reversed else found


def hanging(armature: bpy.types.Object) -> dict[str, str]:
    """Return which deforming bone each other one hangs from, in an armature where only their constraints say so.

    Such a bone follows a control, and what that hangs from is followed by the deforming bone above.
    """
    bones = armature.data.bones
    deforming = [bone.name for bone in bones if bone.use_deform]
    loose = [name for name in deforming if not any(above.use_deform for above in bones[name].parent_recursive)]
    if len(loose) < 2 or 2 * len(loose) < len(deforming):
        return {}
    leader = {bone.name: leader_of(armature, bone.name) for bone in bones}
    follower = {leader[name]: name for name in deforming if leader[name]}
    found = {}
    for name in deforming:
        seen, above = {name}, name
        while True:
            higher = bones[above].parent
            above = leader[above] or (higher.name if higher else "")
            if not above or above in seen:
                break
            seen.add(above)
            if follower.get(above, name) != name or (bones[above].use_deform and above != name):
                found[name] = follower.get(above, above)
                break
    return found


def leader_of(armature: bpy.types.Object, name: str) -> str:
    """Return the bone of the armature that a bone's first constraint has it follow; nothing where none does."""
    for constraint in armature.pose.bones[name].constraints:
        if constraint.mute or constraint.type not in FOLLOWING:
            continue
        entries = constraint.targets if isinstance(constraint, bpy.types.ArmatureConstraint) else [constraint]
        for entry in entries:
            if entry.target == armature and entry.subtarget in armature.data.bones:
                return str(entry.subtarget)
    return ""


def hung(clip: Clip, hangs_from: dict[str, str]) -> Clip:
    """Return a clip of which bones hang from others, sorted so that parents come first."""
    if not hangs_from:
        return clip
    skeleton = clip.skeleton
    names = skeleton.names
    above = {
        name: hangs_from.get(name, names[parent] if parent >= 0 else "")
        for name, parent in zip(names, skeleton.parent, strict=True)
    }

    def depth(name: str) -> int:
        count = 0
        while name and count <= len(names):
            name, count = above[name], count + 1
        return count

    order = sorted(range(len(names)), key=lambda index: depth(names[index]))
    place = {names[index]: row for row, index in enumerate(order)}
    parent = np.array([place.get(above[names[index]], -1) for index in order], dtype=np.int64)
    if (parent >= np.arange(len(order))).any():  # they go round in a circle
        return clip
    sorted_names = tuple(names[index] for index in order)
    rest = Skeleton(sorted_names, parent, skeleton.head[order], skeleton.tail[order], skeleton.orientation[order])
    return replace(clip, skeleton=rest, position=clip.position[:, order], orientation=clip.orientation[:, order])


def roles_of_rig(known: Known, clip: Clip) -> Roles:
    """Return the roles by the chosen preset, or by names and shape; these fill a preset's gaps too."""
    marked = dict(zip(clip.skeleton.names, known.deform, strict=True))
    clip = hung(clip, known.hangs_from)
    skeleton = clip.skeleton
    found = detect_roles(skeleton, [marked[name] for name in skeleton.names], known.humanoid or None, clip)
    if known.family not in FAMILIES:
        return found
    by_name = roles_of_family(skeleton, FAMILIES[known.family])
    if len(by_name) < 6:
        raise ValueError(
            f"{known.name} does not use the bone names of {FAMILIES[known.family].label}: choose another rig type."
        )
    taken = {name for names in by_name.values() for name in names}
    rest = {role: names for role, names in found.bones.items() if role not in by_name and not taken & set(names)}
    bones = {role: names for role, names in (by_name | rest).items() if names}
    unsure = tuple(line for line in found.unsure if not any(f"{role} may not" in line for role in by_name))
    return replace(found, bones=bones, score=dict(found.score) | dict.fromkeys(by_name, 1.0), unsure=unsure)


def chosen_of(found: Roles, by_hand: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the roles that have bones: those that were chosen by hand, and what was found of the others."""
    return {role: names for role, names in (dict(found.bones) | by_hand).items() if names}
