# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles of real rigs, found by no hand: by their names, by shape alone, and by names that shape contradicts."""

import re
from dataclasses import replace

import bpy
import numpy as np
import pytest
from heft.blender_addon.rig.reading import read_skeleton
from heft.core.motion import roles as core_roles
from heft.core.rig.families import FAMILIES, roles_of_family
from heft.core.rig.role_names import QUADRUPED
from heft.core.rig.roles import detect_roles
from heft.examples import mannequin

from tests.blender.rig import rigs


def sided(template, **middle):
    """Expected roles from (clavicle, upper arm, ...) written with {L|R} or {Left|Right}."""
    parts = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
    result = {role: tuple(names.split()) for role, names in middle.items()}
    for part, text in zip(parts, template, strict=True):
        for side, word in (("L", 0), ("R", 1)):
            if text:
                swapped = text
                for pair in ("Left|Right", "left|right", "L|R", "l|r"):
                    swapped = swapped.replace("{" + pair + "}", pair.split("|")[word])
                result[f"{part}.{side}"] = tuple(swapped.split())
    return result


def of_family(key):
    return FAMILIES[key].names()


MPFB_HUMAN = of_family("METARIG") | {
    "spine": ("spine.001", "spine.002", "spine.003"),
    "chest": ("spine.004",),
    "neck": ("spine.005",),
}
MIXAMO = {role: tuple(f"mixamorig:{name}" for name in names) for role, names in of_family("MIXAMO").items()}
VRM = sided(
    (
        "shoulder.{L|R}", "upper_arm.{L|R}", "lower_arm.{L|R}", "hand.{L|R}",
        "upper_leg.{L|R}", "lower_leg.{L|R}", "foot.{L|R}", "toes.{L|R}",
    ),
    pelvis="hips", spine="spine", chest="chest", neck="neck", head="head",
)  # fmt: skip
MESH2MOTION = sided(
    (
        "DEF-shoulder.{L|R}", "DEF-upper_arm.{L|R}", "DEF-forearm.{L|R}", "DEF-hand.{L|R}",
        "DEF-thigh.{L|R}", "DEF-shin.{L|R}", "DEF-foot.{L|R}", "DEF-toe.{L|R}",
    ),
    pelvis="DEF-hips", spine="DEF-spine.001 DEF-spine.002", chest="DEF-spine.003", neck="DEF-neck", head="DEF-head",
)  # fmt: skip
CESIUM_MAN = {
    "pelvis": ("Skeleton_torso_joint_1",),
    "spine": ("Skeleton_torso_joint_2",),
    "chest": ("torso_joint_3",),
    "neck": ("Skeleton_neck_joint_1",),
    "head": ("Skeleton_neck_joint_2",),
    "upper_arm.L": ("Skeleton_arm_joint_L__4_",),
    "forearm.L": ("Skeleton_arm_joint_L__3_",),
    "hand.L": ("Skeleton_arm_joint_L__2_",),
    "upper_arm.R": ("Skeleton_arm_joint_R",),
    "forearm.R": ("Skeleton_arm_joint_R__2_",),
    "hand.R": ("Skeleton_arm_joint_R__3_",),
} | sided(("", "", "", "", *(f"leg_joint_{{L|R}}_{n}" for n in (1, 2, 3, 5))))
RIGGED_FIGURE = sided(
    ("", *(f"arm_joint_{{L|R}}_{n}" for n in (1, 2, 3)), *(f"leg_joint_{{L|R}}_{n}" for n in (1, 2, 3, 5))),
    pelvis="torso_joint_1", spine="torso_joint_2", chest="torso_joint_3", neck="neck_joint_1", head="neck_joint_2",
)  # fmt: skip
FOX = {
    "pelvis": ("b_Hip_01",),
    "spine": ("b_Spine01_02",),
    "chest": ("b_Spine02_03",),
    "neck": ("b_Neck_04",),
    "head": ("b_Head_05",),
    "tail": ("b_Tail01_012", "b_Tail02_013", "b_Tail03_014"),
    "upper_arm.L": ("b_LeftUpperArm_09",),
    "forearm.L": ("b_LeftForeArm_010",),
    "hand.L": ("b_LeftHand_011",),
    "upper_arm.R": ("b_RightUpperArm_06",),
    "forearm.R": ("b_RightForeArm_07",),
    "hand.R": ("b_RightHand_08",),
    "thigh.L": ("b_LeftLeg01_015",),
    "shin.L": ("b_LeftLeg02_016",),
    "foot.L": ("b_LeftFoot01_017",),
    "toe.L": ("b_LeftFoot02_018",),
    "thigh.R": ("b_RightLeg01_019",),
    "shin.R": ("b_RightLeg02_020",),
    "foot.R": ("b_RightFoot01_021",),
    "toe.R": ("b_RightFoot02_022",),
}
MANNEQUIN = sided(
    (
        "clavicle.{L|R}", "upper_arm.{L|R}", "forearm.{L|R}", "hand.{L|R}",
        "thigh.{L|R}", "shin.{L|R}", "foot.{L|R}", "toe.{L|R}",
    ),
    pelvis="pelvis", spine="spine", chest="chest", neck="neck", head="head",
)  # fmt: skip


def read(rig):
    return read_skeleton(rig), rigs.deforming(rig)


FROM_CLIPS = {
    "mpfb cmu": (lambda: (rigs.mpfb_skeleton("cmu_mb"), None), of_family("CMU")),
    "mpfb mixamo": (lambda: (rigs.mpfb_skeleton("mixamo"), None), MIXAMO),
    "mpfb game engine": (lambda: (rigs.mpfb_skeleton("game_engine"), None), of_family("UNREAL")),
    "mpfb human": (lambda: (rigs.mpfb_skeleton("human"), None), MPFB_HUMAN),
    "vrm": (lambda: (rigs.vrm_skeleton()[0], None), VRM),
    "CesiumMan": (lambda: read(rigs.import_gltf("gltf/CesiumMan.glb")), CESIUM_MAN),
    "RiggedFigure": (lambda: read(rigs.import_gltf("gltf/RiggedFigure.glb")), RIGGED_FIGURE),
    "Fox": (lambda: read(rigs.import_gltf("gltf/Fox.glb")), FOX),
    "mesh2motion": (
        lambda: read(rigs.import_gltf("mesh2motion/human-base-animations_rigify-DEF-names.glb")),
        MESH2MOTION,
    ),
    "cmu bvh": (lambda: read(rigs.import_bvh()), of_family("CMU")),
}


@pytest.mark.parametrize("rig", FROM_CLIPS)
def test_rigs_of_the_clips_folder(clips, rig):
    load, expected = FROM_CLIPS[rig]
    skeleton, deform = load()
    check_damaged_too(skeleton, deform, expected)


def test_mannequin():
    skeleton, deform = read(mannequin.make_mannequin(bpy.context))
    check_damaged_too(skeleton, deform, MANNEQUIN)


def test_rigify_metarig():
    skeleton, deform = read(rigs.rigify_metarig())
    check_damaged_too(skeleton, deform, of_family("METARIG"))


def test_rigify_generated(rigify_file):
    skeleton, deform = read(rigs.open_rigify(rigify_file))
    assert dict(detect_roles(skeleton).bones) == of_family("RIGIFY")  # by DEF- names alone
    check_damaged_too(skeleton, deform, of_family("RIGIFY"))


@pytest.mark.parametrize("kind", ["basic_quadruped", "cat", "horse", "wolf"])
def test_rigify_quadrupeds(kind):
    skeleton, deform = read(rigs.rigify_metarig(kind))
    roles = detect_roles(skeleton, deform)
    assert roles.body == QUADRUPED
    assert roles["thigh.L"] == ("thigh.L",)
    assert roles["forearm.R"][0] in {"front_shin.R", "forearm.R"}
    assert roles["clavicle.L"] == ("shoulder.L",)
    assert roles["head"] in {("spine.011",), ("spine.006",), ("head",)}
    assert len(roles["tail"]) >= 3 or kind == "basic_quadruped"
    core_roles.checked(roles.bones, skeleton)


def check_damaged_too(skeleton, deform, expected):
    """The rig as it is, with prefixed names, without names, and with left called right: names are believed."""
    found = detect_roles(skeleton, deform)
    assert dict(found.bones) == expected
    assert not found.unsure
    core_roles.checked(found.bones, skeleton)

    def told(rename):
        return {role: tuple(rename(name) for name in names) for role, names in expected.items()}

    def renamed(rename):
        return replace(skeleton, names=tuple(rename(name) for name in skeleton.names))

    def prefix(name):
        return f"Hero_Rig|{name}" if ":" in name else f"Hero:{name}"

    if not any(name.startswith("DEF-") for name in skeleton.names):
        assert dict(detect_roles(renamed(prefix), deform).bones) == told(prefix)

    number = {name: f"Bone.{index:03d}" for index, name in enumerate(skeleton.names)}
    nameless = detect_roles(renamed(number.__getitem__), deform)
    assert dict(nameless.bones) == told(number.__getitem__)

    other = {name: wrong_side(name) for name in skeleton.names}
    mirrored = detect_roles(renamed(other.__getitem__), deform)
    sided = {other_side(role): names for role, names in told(other.__getitem__).items()}
    assert dict(mirrored.bones) == sided
    assert any("named left" in line for line in mirrored.unsure)


def other_side(role):
    return role[:-1] + OTHER[role[-1]] if role.endswith((".L", ".R")) else role


SIDE_IN_NAME = re.compile(r"(Left|Right|(?<=[._])[LRlr](?=[._]|$)|^[LR](?=HipJoint|Thumb))")
OTHER = {"Left": "Right", "Right": "Left", "L": "R", "R": "L", "l": "r", "r": "l"}


def wrong_side(name):
    return SIDE_IN_NAME.sub(lambda match: OTHER[match.group()], name)


def test_roles_do_not_depend_on_where_the_figure_faces(clips):
    skeleton = rigs.mpfb_skeleton("mixamo")
    number = {name: f"Bone.{index:03d}" for index, name in enumerate(skeleton.names)}
    expected = {role: tuple(map(number.__getitem__, names)) for role, names in MIXAMO.items()}
    for degrees in (37.0, 90.0, 200.0):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        turned = replace(
            skeleton,
            names=tuple(number.values()),
            head=skeleton.head @ turn.T + [3.0, -2.0, 0.4],
            tail=skeleton.tail @ turn.T + [3.0, -2.0, 0.4],
        )
        found = detect_roles(turned)
        assert dict(found.bones) == expected
        np.testing.assert_allclose(found.left, turn @ [1.0, 0.0, 0.0], atol=0.01)


def test_vrm_mapping_is_taken_at_its_word(clips):
    skeleton, humanoid = rigs.vrm_skeleton()
    number = {name: f"Bone.{index:03d}" for index, name in enumerate(skeleton.names)}
    nameless = replace(skeleton, names=tuple(number.values()))
    roles = detect_roles(nameless, None, {word: number[name] for word, name in humanoid.items()})
    assert dict(roles.bones) == {role: tuple(map(number.__getitem__, names)) for role, names in VRM.items()}


def test_presets_know_their_own_rigs(clips):
    for key, name in (("CMU", "cmu_mb"), ("MIXAMO", "mixamo"), ("UNREAL", "game_engine")):
        skeleton = rigs.mpfb_skeleton(name)
        assert roles_of_family(skeleton, FAMILIES[key]) == dict(detect_roles(skeleton).bones)


def test_no_legs_is_said():
    rows = [(f"b{n}", f"b{n - 1}" if n else None, (0.0, 0.0, n), (0.0, 0.0, n + 1.0)) for n in range(9)]
    roles = detect_roles(rigs.make_skeleton(rows))
    assert not roles.bones
    assert roles.unsure == ("No pair of legs was found.",)
