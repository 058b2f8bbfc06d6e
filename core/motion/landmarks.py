# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a skeleton faces, how long its legs are, and the places at rest that masses, joints and shapes refer to."""

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from . import quaternions, roles
from .clip import Clip, Skeleton
from .digits import UPPER
from .feet import Sole, find_sole
from .quaternions import Array

LEVEL_TRUNK = math.radians(50.0)  # from the vertical: beyond it a skeleton goes on four legs
APART, LEVEL = 0.02, 0.2  # of a leg, and of the height between them, by which left and right are beside each other
SHORTEST_LIMB = 0.01  # of the leg's length
Z = np.array([0.0, 0.0, 1.0])
SIDES = {"left": "L", "right": "R"}

Chains = Mapping[str, tuple[int, ...]]  # bones by role
Landmarks = dict[str, Array]


def heading_of(skeleton: Skeleton, chains: Chains) -> Array:
    """The turn about Z that takes X to where the skeleton faces, from its left and right.

    Hips and shoulders tell it. Knees and feet are asked only where those lie in one place: where legs stride, as in
    poses that are read off a motion, a line from foot to foot points anywhere.
    """
    left, apart = np.zeros(3), 0.0
    leg = float(np.linalg.norm(skeleton.head[chains["foot.L"][0]] - skeleton.head[chains["thigh.L"][0]]))
    for asked in (("thigh", "upper_arm"), ("shin", "foot")):
        for role in asked:
            if f"{role}.L" in chains and f"{role}.R" in chains:
                left += skeleton.head[chains[f"{role}.L"][0]] - skeleton.head[chains[f"{role}.R"][0]]
        apart = math.hypot(left[0], left[1])
        if apart > APART * leg and apart > LEVEL * abs(left[2]):
            break
    if apart < 1e-6 or apart < LEVEL * abs(left[2]):
        raise ValueError(
            "Left and right leg are in the same place at rest, so the forward direction is unknown: check the rest "
            "pose."
        )
    angle = math.atan2(-left[0], left[1])
    return np.array([math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)])


def leg_length(skeleton: Skeleton, chains: Chains) -> float:
    """From hip to ankle along the bones, mean of both sides; a ValueError names a limb bone without length."""
    lengths = []
    for side in roles.SIDES:
        points = [skeleton.head[chains[f"{role}.{side}"][0]] for role in ("thigh", "shin", "foot")]
        lengths.append(sum(float(np.linalg.norm(b - a)) for a, b in pairwise(points)))
    longest = max(lengths)
    for side in roles.SIDES:
        limbs = (("thigh", "shin"), ("shin", "foot"), ("upper_arm", "forearm"), ("forearm", "hand"))
        for upper, lower in limbs:
            if f"{upper}.{side}" in chains and f"{lower}.{side}" in chains:
                bone, below = chains[f"{upper}.{side}"][0], chains[f"{lower}.{side}"][0]
                if np.linalg.norm(skeleton.head[below] - skeleton.head[bone]) <= SHORTEST_LIMB * longest:
                    raise ValueError(
                        f"Bone '{skeleton.names[bone]}' has no length: '{skeleton.names[below]}' starts where it does."
                    )
    return 0.5 * sum(lengths)


def foot_length(skeleton: Skeleton, chains: Chains) -> float:
    """From the ankle, or the hock, to where toes begin, mean of both sides; of feet that are one bone to its end."""
    lengths = []
    for letter in roles.SIDES:
        chain = [*chains.get(f"metatarsus.{letter}", ()), *chains[f"foot.{letter}"], *chains.get(f"toe.{letter}", ())]
        end = skeleton.head[chain[1]] if len(chain) > 1 else skeleton.tail[chain[0]]
        lengths.append(float(np.linalg.norm(end - skeleton.head[chain[0]])))
    return sum(lengths) / len(lengths)


def is_quadruped(skeleton: Skeleton, chains: Chains) -> bool:
    """Whether the shoulders are in front of the hips rather than above them, and the hands below the hips.

    A dinosaur on two legs holds its trunk as level as a horse, but its hands high.
    """
    if "upper_arm.L" not in chains or "upper_arm.R" not in chains:
        return False

    def middle(role: str) -> Array:
        place: Array = skeleton.head[[chains[f"{role}.{side}"][0] for side in roles.SIDES]].mean(axis=0)
        return place

    hips, shoulders = middle("thigh"), middle("upper_arm")
    trunk = shoulders - hips
    if all(f"hand.{side}" in chains for side in roles.SIDES) and middle("hand")[2] > hips[2]:
        return False
    return math.atan2(math.hypot(trunk[0], trunk[1]), trunk[2]) > LEVEL_TRUNK


def find_soles(
    skeleton: Skeleton,
    clip: Clip | None,
    chains: Chains,
    heading: Array,
    stature: float,
    quadruped: bool,
    vertices: Mapping[str, Array],
    floor: float | None,
) -> dict[str, Sole]:
    """Soles by the name of their body."""
    result: dict[str, Sole] = {}
    for side, letter in SIDES.items():
        for part, role in (("foot", "foot"), ("hand", "hand")) if quadruped else (("foot", "foot"),):
            if f"{role}.{letter}" not in chains:
                continue
            chain = chains[f"{role}.{letter}"] + (chains.get(f"toe.{letter}", ()) if role == "foot" else ())
            digits = f"{UPPER[role]}.{letter}" in chains
            clouds = [np.asarray(vertices[skeleton.names[b]]) for b in chain if skeleton.names[b] in vertices]
            cloud = np.concatenate(clouds) if clouds else None
            result[f"{side}_{part}"] = find_sole(
                skeleton, clip, chain, heading, stature, cloud, floor, quadruped, digits=digits
            )
    return result


def find_support(
    skeleton: Skeleton, chains: Chains, soles: Mapping[str, Sole], heading: Array, near: float
) -> tuple[Array, float, float] | None:
    """Where it faces (3,), and from where to where along that the middle half of what its soles cover at rest lies.

    None where it does not stand on z = 0, to within `near`.
    """
    ahead = quaternions.rotate(heading, np.array([1.0, 0.0, 0.0]))
    ends = []
    for side, letter in SIDES.items():
        sole, foot = soles[f"{side}_foot"], skeleton.head[chains[f"foot.{letter}"][0]]
        for end in (sole.back, sole.front):
            place = foot + quaternions.rotate(sole.orientation, np.array([end, 0.0, -sole.height]))
            if abs(place[2]) > near:
                return None
            ends.append(float(place @ ahead))
    length = max(ends) - min(ends)
    return ahead, min(ends) + 0.25 * length, max(ends) - 0.25 * length


def find_landmarks(
    skeleton: Skeleton,
    chains: Chains,
    stature: float,
    soles: Mapping[str, Sole],
    hips: Array,
) -> Landmarks:
    """Places at rest that bones, masses and limits refer to; those of missing bones are missing."""
    head, tail = skeleton.head, skeleton.tail
    marks: Landmarks = {"hips": hips}
    trunk = chains.get("chest") or chains.get("spine") or chains["pelvis"]
    if "neck" in chains:
        marks["cervicale"] = head[chains["neck"][0]]
    elif "head" in chains:
        marks["cervicale"] = head[chains["head"][0]]
    else:
        marks["cervicale"] = tail[trunk[-1]]
    if np.linalg.norm(marks["cervicale"] - hips) < 0.1 * stature:  # no bones where the trunk should be
        marks["cervicale"] = hips + 0.294 * stature * Z
    marks["skull"] = head[chains["head"][0]] if "head" in chains else marks["cervicale"]
    marks["vertex"] = tail[chains["head"][-1]] if "head" in chains else marks["cervicale"] + 0.14 * stature * Z
    if np.linalg.norm(marks["vertex"] - marks["cervicale"]) < 1e-3:
        marks["vertex"] = marks["cervicale"] + 0.14 * stature * Z
    if "tail" in chains:
        marks["tail"], marks["tail_tip"] = head[chains["tail"][0]], tail[chains["tail"][-1]]
    for side, letter in SIDES.items():
        for mark, role in (
            ("clavicle", "clavicle"),
            ("shoulder", "upper_arm"),
            ("elbow", "forearm"),
            ("wrist", "hand"),
            ("hip", "thigh"),
            ("knee", "shin"),
            ("ankle", "foot"),
            ("wrist", "metacarpus"),  # of who stands on digits, whose hands and feet begin with these
            ("ankle", "metatarsus"),
        ):
            if f"{role}.{letter}" in chains:
                marks[f"{side}_{mark}"] = head[chains[f"{role}.{letter}"][0]]
        for mark, role in (("finger_joint", "hand"), ("toe_joint", "foot")):
            if f"{UPPER[role]}.{letter}" in chains:
                marks[f"{side}_{mark}"] = head[chains[f"{role}.{letter}"][0]]
        if f"hand.{letter}" in chains:
            marks[f"{side}_fingers"] = tail[chains[f"hand.{letter}"][-1]]
        elif f"forearm.{letter}" in chains:
            marks[f"{side}_wrist"] = tail[chains[f"forearm.{letter}"][-1]]
        elif f"upper_arm.{letter}" in chains:
            marks[f"{side}_elbow"] = tail[chains[f"upper_arm.{letter}"][-1]]
        if f"{side}_clavicle" in marks and (
            f"{side}_shoulder" not in marks
            or np.linalg.norm(marks[f"{side}_shoulder"] - marks[f"{side}_clavicle"]) < 0.01 * stature
        ):
            del marks[f"{side}_clavicle"]
        toes = chains.get(f"toe.{letter}") or chains[f"foot.{letter}"]
        marks[f"{side}_toes"] = tail[toes[-1]]
        sole = soles[f"{side}_foot"]
        for end, x in (("heel", sole.back), ("toe", sole.front)):
            middle = np.array([x, 0.5 * (sole.left + sole.right), -0.6 * sole.height])
            foot = marks.get(f"{side}_toe_joint", marks[f"{side}_ankle"])
            marks[f"{side}_{end}_middle"] = foot + quaternions.rotate(sole.orientation, middle)
    return marks
