# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bones of an armature stand for: by the chosen rig type, by names and by shape."""

from dataclasses import replace

import bpy

from ...core.motion.clip import Clip
from ..properties.armature import HEFT_PG_armature
from .families import FAMILIES, roles_of_family
from .role_names import Roles
from .roles import detect_roles
from .vrm import humanoid_of


def find_roles(armature: bpy.types.Object, settings: HEFT_PG_armature, clip: Clip) -> Roles:
    """Return the roles by the chosen preset, or by names and shape; these fill a preset's gaps too."""
    skeleton = clip.skeleton
    deform = [bone.use_deform for bone in armature.data.bones]
    found = detect_roles(skeleton, deform, humanoid_of(armature) or None, clip)
    if settings.family not in FAMILIES:
        return found
    by_name = roles_of_family(skeleton, FAMILIES[settings.family])
    if len(by_name) < 6:
        raise ValueError(
            f"{armature.name} does not use the bone names of {FAMILIES[settings.family].label}: choose "
            "another rig type."
        )
    taken = {name for names in by_name.values() for name in names}
    rest = {role: names for role, names in found.bones.items() if role not in by_name and not taken & set(names)}
    bones = {role: names for role, names in (by_name | rest).items() if names}
    unsure = tuple(line for line in found.unsure if not any(f"{role} may not" in line for role in by_name))
    return replace(found, bones=bones, score=dict(found.score) | dict.fromkeys(by_name, 1.0), unsure=unsure)


def chosen_of(found: Roles, by_hand: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the roles that have bones: those that were chosen by hand, and what was found of the others."""
    return {role: names for role, names in (dict(found.bones) | by_hand).items() if names}
