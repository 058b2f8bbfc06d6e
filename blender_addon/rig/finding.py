# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bones of an armature stand for: by the chosen rig type, by names and by shape."""

from dataclasses import replace
from typing import NamedTuple

import bpy

from ...core.motion.clip import Clip
from ...core.rig.families import FAMILIES, roles_of_family
from ...core.rig.role_names import Roles, turned_round
from ...core.rig.roles import UNCLEAR, detect_roles
from ..typed import settings_on
from .vrm import humanoid_of


class Known(NamedTuple):
    """What an armature says of its bones."""

    name: str
    deform: list[bool]
    humanoid: dict[str, str]  # what VRM calls its bones
    family: str  # the preset that was chosen
    reversed: bool  # left is right, as the user says


def known_of(armature: bpy.types.Object) -> Known:
    """Read it."""
    deform, settings = [bone.use_deform for bone in armature.data.bones], settings_on(armature)
    return Known(armature.name, deform, humanoid_of(armature), settings.family, settings.facing == "REVERSED")


def find_roles(known: Known, clip: Clip) -> Roles:
    """Return the roles by the chosen preset, or by names and shape; left is right where the user says so."""
    found = roles_of_rig(known, clip)
    return turned_round(found, UNCLEAR) if known.reversed else found


def roles_of_rig(known: Known, clip: Clip) -> Roles:
    """Return the roles by the chosen preset, or by names and shape; these fill a preset's gaps too."""
    skeleton = clip.skeleton
    found = detect_roles(skeleton, known.deform, known.humanoid or None, clip)
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
