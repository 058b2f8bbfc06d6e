# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets: the bones that well-known families of rigs have for each role."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..motion.clip import Skeleton
from .names import LEFT, RIGHT

Names = tuple[str, ...]


@dataclass(frozen=True)
class Family:
    """Names by role; {side} stands for the family's words for left and right."""

    label: str
    sides: tuple[str, str]
    middle: Mapping[str, Names]
    arm: tuple[Names, Names, Names, Names]  # clavicle, upper arm, forearm, hand
    leg: tuple[Names, Names, Names, Names]  # thigh, shin, foot, toe

    def names(self) -> dict[str, Names]:
        """Return every role's names."""
        result = dict(self.middle)
        for side, word in zip((LEFT, RIGHT), self.sides, strict=True):
            roles = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
            for role, names in zip(roles, (*self.arm, *self.leg), strict=True):
                result[f"{role}.{side}"] = tuple(name.format(side=word) for name in names)
        return result


FAMILIES: dict[str, Family] = {
    "CMU": Family(
        "CMU / BVH",
        ("Left", "Right"),
        {
            "pelvis": ("Hips",),
            "spine": ("LowerBack", "Spine"),
            "chest": ("Spine1",),
            "neck": ("Neck", "Neck1"),
            "head": ("Head",),
        },
        (("{side}Shoulder",), ("{side}Arm",), ("{side}ForeArm",), ("{side}Hand",)),
        (("{side}UpLeg",), ("{side}Leg",), ("{side}Foot",), ("{side}ToeBase",)),
    ),
    "MIXAMO": Family(
        "Mixamo",
        ("Left", "Right"),
        {
            "pelvis": ("Hips",),
            "spine": ("Spine", "Spine1"),
            "chest": ("Spine2",),
            "neck": ("Neck",),
            "head": ("Head",),
        },
        (("{side}Shoulder",), ("{side}Arm",), ("{side}ForeArm",), ("{side}Hand",)),
        (("{side}UpLeg",), ("{side}Leg",), ("{side}Foot",), ("{side}ToeBase",)),
    ),
    "RIGIFY": Family(
        "Rigify (generated)",
        ("L", "R"),
        {
            "pelvis": ("DEF-spine",),
            "spine": ("DEF-spine.001", "DEF-spine.002"),
            "chest": ("DEF-spine.003",),
            "neck": ("DEF-spine.004", "DEF-spine.005"),
            "head": ("DEF-spine.006",),
        },
        (
            ("DEF-shoulder.{side}",),
            ("DEF-upper_arm.{side}", "DEF-upper_arm.{side}.001"),
            ("DEF-forearm.{side}", "DEF-forearm.{side}.001"),
            ("DEF-hand.{side}",),
        ),
        (
            ("DEF-thigh.{side}", "DEF-thigh.{side}.001"),
            ("DEF-shin.{side}", "DEF-shin.{side}.001"),
            ("DEF-foot.{side}",),
            ("DEF-toe.{side}",),
        ),
    ),
    "METARIG": Family(
        "Rigify (metarig)",
        ("L", "R"),
        {
            "pelvis": ("spine",),
            "spine": ("spine.001", "spine.002"),
            "chest": ("spine.003",),
            "neck": ("spine.004", "spine.005"),
            "head": ("spine.006",),
        },
        (("shoulder.{side}",), ("upper_arm.{side}",), ("forearm.{side}",), ("hand.{side}",)),
        (("thigh.{side}",), ("shin.{side}",), ("foot.{side}",), ("toe.{side}",)),
    ),
    "UNREAL": Family(
        "Unreal",
        ("l", "r"),
        {
            "pelvis": ("pelvis",),
            "spine": ("spine_01", "spine_02"),
            "chest": ("spine_03",),
            "neck": ("neck_01",),
            "head": ("head",),
        },
        (("clavicle_{side}",), ("upperarm_{side}",), ("lowerarm_{side}",), ("hand_{side}",)),
        (("thigh_{side}",), ("calf_{side}",), ("foot_{side}",), ("ball_{side}",)),
    ),
    "VROID": Family(
        "VRM (VRoid)",
        ("L", "R"),
        {
            "pelvis": ("J_Bip_C_Hips",),
            "spine": ("J_Bip_C_Spine", "J_Bip_C_Chest"),
            "chest": ("J_Bip_C_UpperChest",),
            "neck": ("J_Bip_C_Neck",),
            "head": ("J_Bip_C_Head",),
        },
        (
            ("J_Bip_{side}_Shoulder",),
            ("J_Bip_{side}_UpperArm",),
            ("J_Bip_{side}_LowerArm",),
            ("J_Bip_{side}_Hand",),
        ),
        (
            ("J_Bip_{side}_UpperLeg",),
            ("J_Bip_{side}_LowerLeg",),
            ("J_Bip_{side}_Foot",),
            ("J_Bip_{side}_ToeBase",),
        ),
    ),
    "BIPED": Family(
        "3ds Max Biped",
        ("L", "R"),
        {
            "pelvis": ("Bip01 Pelvis",),
            "spine": ("Bip01 Spine", "Bip01 Spine1"),
            "chest": ("Bip01 Spine2",),
            "neck": ("Bip01 Neck",),
            "head": ("Bip01 Head",),
        },
        (
            ("Bip01 {side} Clavicle",),
            ("Bip01 {side} UpperArm",),
            ("Bip01 {side} Forearm",),
            ("Bip01 {side} Hand",),
        ),
        (("Bip01 {side} Thigh",), ("Bip01 {side} Calf",), ("Bip01 {side} Foot",), ("Bip01 {side} Toe0",)),
    ),
    "MAKEHUMAN": Family(
        "MakeHuman",
        ("L", "R"),
        {
            "pelvis": ("root",),
            "spine": ("spine05", "spine04", "spine03", "spine02"),
            "chest": ("spine01",),
            "neck": ("neck01", "neck02", "neck03"),
            "head": ("head",),
        },
        (
            ("clavicle.{side}", "shoulder01.{side}"),
            ("upperarm01.{side}", "upperarm02.{side}"),
            ("lowerarm01.{side}", "lowerarm02.{side}"),
            ("wrist.{side}",),
        ),
        (
            ("upperleg01.{side}", "upperleg02.{side}"),
            ("lowerleg01.{side}", "lowerleg02.{side}"),
            ("foot.{side}",),
            ("toe1-1.{side}",),
        ),
    ),
    "DAZ": Family(
        "Daz Genesis",
        ("l", "r"),
        {
            "pelvis": ("hip", "pelvis"),
            "spine": ("abdomenLower", "abdomenUpper", "chestLower"),
            "chest": ("chestUpper",),
            "neck": ("neckLower", "neckUpper"),
            "head": ("head",),
        },
        (
            ("{side}Collar",),
            ("{side}ShldrBend", "{side}ShldrTwist"),
            ("{side}ForearmBend", "{side}ForearmTwist"),
            ("{side}Hand",),
        ),
        (
            ("{side}ThighBend", "{side}ThighTwist"),
            ("{side}Shin",),
            ("{side}Foot", "{side}Metatarsals"),
            ("{side}Toe",),
        ),
    ),
}


def plain(name: str) -> str:
    """Return a name without namespace, number of the figure, case and separators: mixamorig1:LeftArm is leftarm."""
    name = re.sub(r"(?i)^(mixamorig\d*|bip\d+)[:_ .]*", "", name.rsplit(":", 1)[-1])
    return re.sub(r"[^a-z0-9]", "", name.lower())


def roles_of_family(skeleton: Skeleton, family: Family) -> dict[str, Names]:
    """Return the roles that the skeleton's names give by the family's table."""
    there = {plain(name): name for name in reversed(skeleton.names)}
    result = {}
    for role, names in family.names().items():
        found = tuple(there[plain(name)] for name in names if plain(name) in there)
        if found:
            result[role] = found
    return result
