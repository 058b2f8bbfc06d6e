# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of rigs, by the names and the trees that they have, on the mannequin's joints; with what else rigs carry."""

from itertools import pairwise

import numpy as np
import pytest
from heft.core.rig.families import FAMILIES, Family, roles_of_family
from heft.core.rig.names import read_name
from heft.core.rig.roles import detect_roles
from heft.examples import mannequin

from tests.blender.rig import rigs

JOINTS = {bone.name: bone for bone in mannequin.skeleton()}


def stretch(role, count):
    """Joints of a role's bones: the mannequin's bone cut in equal pieces."""
    bone = JOINTS[role]
    cuts = np.linspace(0.0, 1.0, count + 1)[:, None]
    points = bone.head + cuts * (bone.tail - bone.head)
    return list(pairwise(points))


def figure(names, parents=None, extra=()):
    """A skeleton of a family's names; `parents` says where its tree is odd, `extra` adds (name, parent, head, tail)."""
    rows = []
    above = {"spine": "pelvis", "chest": "spine", "neck": "chest", "head": "neck"}
    for side in "LR":
        chain = ["clavicle", "upper_arm", "forearm", "hand"]
        above |= {f"{b}.{side}": f"{a}.{side}" for a, b in pairwise(chain)}
        chain = ["thigh", "shin", "foot", "toe"]
        above |= {f"{b}.{side}": f"{a}.{side}" for a, b in pairwise(chain)}
        above |= {f"clavicle.{side}": "chest", f"thigh.{side}": "pelvis"}
    for role, bones in names.items():
        parent = role
        while parent in above and (parent := above[parent]) not in names:
            pass
        last = names[parent][-1] if parent in names and parent != role else None
        for bone, (head, tail) in zip(bones, stretch(role, len(bones)), strict=True):
            rows.append((bone, (parents or {}).get(bone, last), head, tail))
            last = bone
    for side in "LR":
        hand = names[f"hand.{side}"][-1]
        bone = JOINTS[f"hand.{side}"]
        reach, across = bone.tail - bone.head, np.array([0.0, -1.0, 0.0])
        for finger, place in (("Index", -0.02), ("Middle", 0.0), ("Ring", 0.02)):
            start = bone.head + 0.6 * reach + place * across
            rows.append((f"{finger}{side}", hand, start, start + 0.4 * reach))
    rows += extra
    return rigs.make_skeleton(rows)


def check(names, **oddities):
    found = detect_roles(figure(names, **oddities))
    assert dict(found.bones) == names
    assert not found.unsure
    return found


def both_sides(*rows):
    """Extra bones (name, parent, head, tail) for the left, and mirrored; % stands for the side."""
    mirror = np.array([-1.0, 1.0, 1.0])
    result = []
    for name, parent, head, tail in rows:
        for side, flip in (("l", 1.0), ("r", mirror)):
            result.append(
                (name.replace("%", side), parent.replace("%", side), np.array(head) * flip, np.array(tail) * flip)
            )
    return result


FLOOR = (np.zeros(3), np.array([0.0, 0.3, 0.0]))


@pytest.mark.parametrize("key", ["CMU", "MIXAMO", "METARIG", "VROID", "UNREAL", "MAKEHUMAN", "DAZ", "BIPED"])
def test_family(key):
    names = FAMILIES[key].names()
    check(names)
    assert roles_of_family(figure(names), FAMILIES[key]) == names


def test_daz_hangs_the_abdomen_from_the_hip_beside_the_pelvis():
    check(FAMILIES["DAZ"].names(), parents={"abdomenLower": "hip"})


def test_3ds_max_hangs_thighs_from_the_spine_and_collar_bones_from_the_neck():
    names = FAMILIES["BIPED"].names()
    odd = {f"Bip01 {side} Thigh": "Bip01 Spine" for side in "LR"}
    odd |= {f"Bip01 {side} Clavicle": "Bip01 Neck" for side in "LR"}
    hips = JOINTS["pelvis"].head
    extra = [
        ("Bip01", None, hips, hips + np.array([0.0, 0.1, 0.0])),
        ("Bip01 Footsteps", "Bip01", *FLOOR),
        ("Bip01 HeadNub", "Bip01 Head", JOINTS["head"].tail, JOINTS["head"].tail + np.array([0.0, 0.0, 0.1])),
    ]
    check(names, parents={**odd, "Bip01 Pelvis": "Bip01"}, extra=extra)


def test_3ds_max_of_a_second_figure():
    names = {
        role: tuple(name.replace("Bip01", "Bip002") for name in names)
        for role, names in FAMILIES["BIPED"].names().items()
    }
    check(names)


def test_unreal_5_with_twists_and_ik_bones():
    names = FAMILIES["UNREAL"].names()
    names |= {
        "spine": tuple(f"spine_0{n}" for n in range(1, 5)),
        "chest": ("spine_05",),
        "neck": ("neck_01", "neck_02"),
    }
    arm, thigh = JOINTS["upper_arm.L"], JOINTS["thigh.L"]
    foot = JOINTS["foot.L"]
    extra = [("root", None, *FLOOR), ("ik_foot_root", "root", *FLOOR)]
    extra += both_sides(
        ("upperarm_twist_01_%", "upperarm_%", 0.5 * (arm.head + arm.tail), arm.tail),
        ("thigh_twist_01_%", "thigh_%", 0.5 * (thigh.head + thigh.tail), thigh.tail),
        ("ik_foot_%", "ik_foot_root", foot.head, foot.tail),
    )
    check(names, parents={"pelvis": "root"}, extra=extra)


@pytest.mark.parametrize("prefix", ["mixamorig:", "mixamorig1:", "mixamorig_", "Armature|mixamorig9:"])
def test_mixamo_prefixes_and_ends(prefix):
    names = {role: tuple(prefix + name for name in bones) for role, bones in FAMILIES["MIXAMO"].names().items()}
    top = JOINTS["head"].tail
    extra = [(f"{prefix}HeadTop_End", f"{prefix}Head", top, top + np.array([0.0, 0.0, 0.2]))]
    check(names, extra=extra)


def test_reallusion():
    family = Family(
        "CC",
        ("L", "R"),
        {
            "pelvis": ("CC_Base_Hip", "CC_Base_Pelvis"),
            "spine": ("CC_Base_Waist", "CC_Base_Spine01"),
            "chest": ("CC_Base_Spine02",),
            "neck": ("CC_Base_NeckTwist01", "CC_Base_NeckTwist02"),
            "head": ("CC_Base_Head",),
        },
        tuple((f"CC_Base_{{side}}_{part}",) for part in ("Clavicle", "Upperarm", "Forearm", "Hand")),
        tuple((f"CC_Base_{{side}}_{part}",) for part in ("Thigh", "Calf", "Foot", "ToeBase")),
    )
    check(family.names(), parents={"CC_Base_Waist": "CC_Base_Hip"}, extra=[("CC_Base_BoneRoot", None, *FLOOR)])


@pytest.mark.parametrize(
    ("left", "right", "parts"),
    [
        ("left{}", "right{}", "shoulder arm forearm hand upleg leg foot toe"),
        ("L_{}", "R_{}", "Collar UpperArm LowerArm Wrist Thigh Knee Ankle Ball"),
        ("{}_Left", "{}_Right", "Clavicle Bicep Elbow Hand Hip Knee Ankle Toes"),
        ("{}.l", "{}.r", "shoulder upperarm lowerarm hand upperleg lowerleg foot toes"),
        ("Left {}", "Right {}", "Scapula Humerus Radius Hand Femur Tibia Foot Toe"),
    ],
)
def test_other_words(left, right, parts):
    roles = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
    names = {"pelvis": ("hips",), "spine": ("spine",), "chest": ("chest",), "neck": ("neck",), "head": ("head",)}
    for role, part in zip(roles, parts.split(), strict=True):
        names |= {f"{role}.L": (left.format(part),), f"{role}.R": (right.format(part),)}
    check(names)


def test_names_are_believed_and_shape_is_told():
    """Arms named as legs and legs as arms."""
    names = FAMILIES["UNREAL"].names()
    swap = {"upperarm": "thigh", "lowerarm": "calf", "hand": "foot"}
    swap |= {leg: arm for arm, leg in swap.items()}
    wrong = {
        role: tuple(
            f"{swap.get(name[:-2], name[:-2])}{name[-2:]}" if name[-2:] in {"_l", "_r"} else name for name in bones
        )
        for role, bones in names.items()
    }
    found = detect_roles(figure(wrong))
    assert (found["thigh.L"], found["shin.R"], found["foot.L"]) == (("thigh_l",), ("calf_r",), ("foot_l",))
    assert any("other legs" in line for line in found.unsure)


def test_no_toes_no_neck_no_collar_bones():
    names = {
        role: bones
        for role, bones in FAMILIES["UNREAL"].names().items()
        if not role.startswith(("toe", "neck", "clavicle"))
    }
    check(names)


def test_hair_skirt_and_breasts_are_no_limbs():
    names = FAMILIES["VROID"].names()
    top, hips = JOINTS["head"].tail, JOINTS["pelvis"].head
    extra = both_sides(
        ("J_Sec_Hair1_%", "J_Bip_C_Head", top + np.array([0.1, 0, 0]), top + np.array([0.2, 0, -0.3])),
        ("J_Sec_Hair2_%", "J_Sec_Hair1_%", top + np.array([0.2, 0, -0.3]), top + np.array([0.2, 0.1, -1.2])),
        ("J_Sec_Skirt1_%", "J_Bip_C_Hips", hips + np.array([0.2, 0, 0]), hips + np.array([0.3, 0, -0.4])),
        ("J_Sec_Skirt2_%", "J_Sec_Skirt1_%", hips + np.array([0.3, 0, -0.4]), hips + np.array([0.3, 0, -0.8])),
    )
    check(names, extra=extra)


@pytest.mark.parametrize(
    ("name", "side", "part"),
    [
        ("LeftUpLeg", "L", "thigh"),
        ("lShldrBend", "L", "upper_arm"),
        ("Bip01 R Calf", "R", "shin"),
        ("ValveBiped.Bip01_R_UpperArm", "R", "upper_arm"),
        ("DEF-forearm.L.001", "L", "forearm"),
        ("r_toe.L", "L", "toe"),
        ("J_Bip_R_LowerLeg", "R", "shin"),
        ("front_thigh.L", "L", "upper_arm"),
        ("forearm", "", "forearm"),
        ("lowerarm_l", "L", "forearm"),
        ("righthand", "R", "hand"),
        ("lfoot", "L", "foot"),
    ],
)
def test_what_a_name_says(name, side, part):
    said = read_name(name)
    assert (said.side, max(said.parts, key=said.parts.get)) == (side, part)


@pytest.mark.parametrize("name", ["Bone.012", "Armature", "joint7", "Cube_4", ""])
def test_names_that_say_nothing(name):
    assert not read_name(name).parts
