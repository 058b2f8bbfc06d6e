# SPDX-License-Identifier: GPL-3.0-or-later
"""What makers of motion do that the shared files do not: each case is one of them, with the roles that are right.

Names of other makers' helper bones are those that their documentation gives.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
from heft.core.motion.quaternions import Array
from heft.examples import mannequin

from tests.blender.rig.makers import Joint, Maker, joints_of, ordered, under
from tests.blender.rig.test_vocabulary import LINES

BONES = {bone.name: (bone.head, bone.tail) for bone in mannequin.skeleton()}
FAMILIES = dict(LINES)
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
Names = dict[str, tuple[str, ...]]


def without(names: Names, *parts: str) -> Names:
    """The names of all other roles."""
    return {role: bones for role, bones in names.items() if role.partition(".")[0] not in parts}


def along(role: str, share: float, aside: float = 0.0) -> Array:
    """A place on a bone of the mannequin."""
    head, tail = BONES[role]
    place: Array = head + share * (tail - head) + np.array([0.0, aside, 0.0])
    return place


def fingers(name: str, joints: Iterable[str], parent: str, side: str) -> list[Joint]:
    """Five fingers of some joints in a row; % stands for the finger, # for the joint."""
    result = []
    for number, finger in enumerate(FINGERS):
        last = parent
        for index, joint in enumerate(joints):
            place = along(f"hand.{side}", 0.4 + 0.2 * index, 0.015 * number - 0.03)
            result.append(Joint(name.replace("%", finger).replace("#", joint), last, f"hand.{side}", place))
            last = result[-1].name
    return result


def unreal() -> list[Joint]:
    """A root at the ground, IK bones, twists beside the limbs, fingers."""
    zero = np.zeros(3)
    joints = under(joints_of(FAMILIES["UE4"], BONES), "root")
    joints += [Joint(name, "root", "", zero) for name in ("ik_foot_root", "ik_hand_root", "interaction")]
    joints.append(Joint("ik_hand_gun", "ik_hand_root", "hand.R", along("hand.R", 0.0)))
    for letter, side in (("l", "L"), ("r", "R")):
        joints.append(Joint(f"ik_foot_{letter}", "ik_foot_root", f"foot.{side}", along(f"foot.{side}", 0.0)))
        joints.append(Joint(f"ik_hand_{letter}", "ik_hand_gun", f"hand.{side}", along(f"hand.{side}", 0.0)))
        limbs = (("upper_arm", "upperarm"), ("forearm", "lowerarm"), ("thigh", "thigh"), ("shin", "calf"))
        for role, name in limbs:
            place = along(f"{role}.{side}", 0.5)
            joints.append(Joint(f"{name}_twist_01_{letter}", f"{name}_{letter}", f"{role}.{side}", place))
        joints += fingers(f"%_0#_{letter}", "123", f"hand_{letter}", side)
    return ordered(joints)


def mikumiku() -> list[Joint]:
    """MMD: three roots above the hips, IK bones on the ground, copies of the legs that deform, twists, eyes."""
    joints = [replace(j, parent=j.parent or "グルーブ") for j in joints_of(FAMILIES["MMD"], BONES)]
    joints = [replace(j, parent="グルーブ") if j.name == "上半身" else j for j in joints]
    zero = np.zeros(3)
    joints += [Joint("全ての親", None, "", zero), Joint("センター", "全ての親", "", along("pelvis", 0.0))]
    joints.append(Joint("グルーブ", "センター", "pelvis", along("pelvis", 0.0)))
    for letter, side in (("左", "L"), ("右", "R")):
        copies = (("足D", "thigh", "下半身"), ("ひざD", "shin", f"{letter}足D"), ("足首D", "foot", f"{letter}ひざD"))
        for name, role, parent in copies:
            joints.append(Joint(letter + name, parent, f"{role}.{side}", along(f"{role}.{side}", 0.0)))
        joints.append(Joint(f"{letter}足IK親", "全ての親", "", along(f"foot.{side}", 0.0) * [1.0, 1.0, 0.0]))
        joints.append(Joint(f"{letter}足ＩＫ", f"{letter}足IK親", f"foot.{side}", along(f"foot.{side}", 0.0)))
        joints.append(Joint(f"{letter}腕捩", f"{letter}腕", f"upper_arm.{side}", along(f"upper_arm.{side}", 0.5)))
        joints.append(Joint(f"{letter}目", "頭", "head", along("head", 0.4, -0.08)))
    return ordered(joints)


def kinect() -> list[Joint]:
    """Tips of hands and thumbs beside them."""
    joints = joints_of(FAMILIES["Kinect"], BONES)
    for word, side in (("Left", "L"), ("Right", "R")):
        joints.append(Joint(f"Hand{word}", f"Wrist{word}", f"hand.{side}", along(f"hand.{side}", 0.5)))
        joints.append(Joint(f"HandTip{word}", f"Hand{word}", f"hand.{side}", along(f"hand.{side}", 1.0)))
        joints.append(Joint(f"Thumb{word}", f"Wrist{word}", f"hand.{side}", along(f"hand.{side}", 0.2, -0.05)))
    return ordered(joints)


def suit() -> list[Joint]:
    """A suit of sensors with all fingers, which have bones in the palm."""
    joints = joints_of(FAMILIES["Perception Neuron"], BONES)
    for word, side in (("Left", "L"), ("Right", "R")):
        joints += fingers(f"Robot_{word}Hand%#", "123", f"Robot_{word}Hand", side)
    return ordered(joints)


def rolled() -> tuple[list[Joint], Names]:
    """Roll bones within the limbs' chains."""
    names = {role: tuple(bone.split(":")[-1] for bone in bones) for role, bones in FAMILIES["Mixamo"].items()}
    for role in ("thigh.L", "thigh.R", "shin.L", "shin.R", "upper_arm.L", "upper_arm.R", "forearm.L", "forearm.R"):
        names[role] = (*names[role], f"{names[role][0]}Roll")
    return joints_of(names, BONES), names


def spines(count: int) -> Names:
    """A trunk of so many bones."""
    names = dict(FAMILIES["Mixamo"])
    bones = tuple("mixamorig:Spine" + (str(number) if number else "") for number in range(count))
    trunk = {"spine": bones[:-1], "chest": bones[-1:]}
    return {role: trunk.get(role, own) for role, own in names.items() if trunk.get(role, own)}


@cache
def cases() -> dict[str, tuple[Maker, Names]]:
    """The makers by what they do."""
    mixamo = FAMILIES["Mixamo"]

    def of(
        family: str, joints: list[Joint] | None = None, roots: tuple[str, ...] = (), **how: object
    ) -> tuple[Maker, Names]:
        own = joints if joints is not None else joints_of(FAMILIES[family], BONES)
        return Maker(tuple(under(own, *roots) if roots else own), **how), FAMILIES[family]  # type: ignore[arg-type]

    def named(names: Names) -> tuple[Maker, Names]:
        return Maker(tuple(joints_of(names, BONES))), names

    roll, roll_names = rolled()
    legs = without(mixamo, "spine", "chest", "neck", "head", "clavicle", "upper_arm", "forearm", "hand")
    return {
        "nothing odd": of("Mixamo"),
        "six channels under a root that stands still, bones along x": of(
            "Namco", rest="along x", six_channels=True, unit=0.01, roots=("joint_Root",)
        ),
        "channels alone place the joints": of("Mixamo", six_channels=True, offsets=False, unit=0.01),
        "bones that stretch": of("Unity", six_channels=True, stretch=0.04, unit=0.01),
        "a rest pose of random turns, in inches": of("Chest and collar", rest="random", unit=0.0254, rate=60.0),
        "Z up": of("UE4", up="Z", unit=0.01),
        "Z up, bones along x": of("SMPL", up="Z", rest="along x"),
        "millimetres": of("OptiTrack", unit=0.001, rate=120.0),
        "240 frames per second": of("Xsens", unit=0.01, rate=240.0),
        "24 frames per second": of("Rokoko", unit=0.01, rate=24.0),
        "a T-pose first, fingers": of("Perception Neuron", suit(), unit=0.01, rate=60.0, first_pose=True),
        "two roots that stand still": of("Acclaim", roots=("reference", "world")),
        "IK bones and twists of Unreal": of("UE4", unreal(), unit=0.01),
        "MMD's roots, IK bones and copies": of("MMD", mikumiku(), unit=0.08),
        "tips of a Kinect": of("Kinect", kinect(), rest="along x"),
        "roll bones within limbs": (Maker(tuple(roll), unit=0.01), roll_names),
        "Daz, bends and twists": of("Daz Genesis 8", unit=0.01),
        "no toes": named(without(mixamo, "toe")),
        "no feet": named(without(mixamo, "foot", "toe")),
        "no hands": named(without(mixamo, "hand")),
        "no head": named(without(mixamo, "head", "neck")),
        "no neck": named(without(mixamo, "neck")),
        "no arms": named(without(mixamo, "clavicle", "upper_arm", "forearm", "hand")),
        "no trunk": named(without(mixamo, "spine", "chest")),
        "one bone of the trunk": named(spines(1)),
        "ten bones of the trunk": named(spines(10)),
        "legs alone": named(legs),
    }
