# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin's motion on skeletons as other makers build them, written as their BVH files.

A joint of such a skeleton rides on one bone of the mannequin: where it lies and how it turns is known, whatever its
rest pose, its unit, its axes, its rate and its neighbours are. So is what Set Up and a bake ought to make of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from heft.core.motion import quaternions
from heft.core.motion.clip import Clip
from heft.core.motion.quaternions import Array
from heft.core.motion.resample import resample

Rest = Literal["pose", "along x", "random"]
ABOVE = {"spine": "pelvis", "chest": "spine", "neck": "chest", "head": "neck"}
for _side in "LR":
    for _upper, _lower in (
        *(("chest", "clavicle"), ("clavicle", "upper_arm"), ("upper_arm", "forearm"), ("forearm", "hand")),
        *(("pelvis", "thigh"), ("thigh", "shin"), ("shin", "foot"), ("foot", "toe")),
    ):
        ABOVE[f"{_lower}.{_side}"] = _upper if _upper in {"chest", "pelvis"} else f"{_upper}.{_side}"
Y_UP = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])  # takes Z to Y, and -Y to Z
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Joint:
    """A joint: what it is called, what it hangs from, which bone of the mannequin it rides on, and where it lies."""

    name: str
    parent: str | None
    rides: str  # a bone of the mannequin; "" for what stands still
    place: Array  # (3,) at the mannequin's rest
    end: Array | None = None  # of the end site, for the last of a chain


@dataclass(frozen=True)
class Maker:
    """How a maker writes a motion."""

    joints: tuple[Joint, ...]
    rest: Rest = "pose"
    six_channels: bool = False
    offsets: bool = True  # False: channels alone place the joints
    unit: float = 1.0  # metres
    up: Literal["Y", "Z"] = "Y"
    rate: float = 30.0
    first_pose: bool = False  # a T-pose before the motion
    stretch: float = 0.0  # by which bones lengthen and shorten over the motion
    seed: int = 0
    skip: tuple[str, ...] = field(default=())  # joints without channels


def joints_of(names: dict[str, tuple[str, ...]], skeleton: dict[str, tuple[Array, Array]]) -> list[Joint]:
    """The joints of roles that have these names, each role's bone of the mannequin cut in equal parts."""
    result = []
    for role, bones in names.items():
        head, tail = skeleton[role]
        parent = ABOVE.get(role)
        while parent is not None and parent not in names:
            parent = ABOVE.get(parent)
        last = names[parent][-1] if parent is not None else None
        for index, bone in enumerate(bones):
            place = head + index / len(bones) * (tail - head)
            end = tail if index == len(bones) - 1 and role not in {ABOVE.get(other) for other in names} else None
            result.append(Joint(bone, last, role, place, end))
            last = bone
    return ordered(result)


def ordered(joints: Sequence[Joint]) -> list[Joint]:
    """Parents first, depth first, as a BVH file has them."""
    result: list[Joint] = []

    def add(joint: Joint) -> None:
        result.append(joint)
        for other in joints:
            if other.parent == joint.name:
                add(other)

    for joint in joints:
        if joint.parent is None:
            add(joint)
    return result


def under(joints: Sequence[Joint], *roots: str, place: Array | None = None) -> list[Joint]:
    """The same below some roots in a row that stand still."""
    above: list[Joint] = []
    for name in roots:
        above.append(Joint(name, above[-1].name if above else None, "", np.zeros(3) if place is None else place))
    return ordered([*above, *(replace(j, parent=j.parent or roots[-1]) for j in joints)])


def write(maker: Maker, clip: Clip, path: Path) -> None:
    """Write a motion of the mannequin as the maker's BVH file."""
    clip = resample(clip, maker.rate)
    joints = list(maker.joints)
    index = {joint.name: i for i, joint in enumerate(joints)}
    base = Y_UP if maker.up == "Y" else IDENTITY
    place = np.stack([quaternions.rotate(base, _places(clip, j)) for j in joints], axis=1) / maker.unit
    swing = 1.0 + maker.stretch * np.sin(np.linspace(0.0, 9.0, len(place)))[:, None]
    moved = np.stack(
        [
            quaternions.multiply(quaternions.multiply(base, _turns(clip, j)), quaternions.conjugate(base))
            for j in joints
        ],
        axis=1,
    )
    resting = np.stack([quaternions.rotate(base, j.place) for j in joints]) / maker.unit
    ends = [None if j.end is None else quaternions.rotate(base, j.end) / maker.unit for j in joints]
    own = _own_turns(maker, joints, resting, ends, index)
    turn = quaternions.multiply(moved, own[None])
    rows: list[str] = []
    channels: list[Array] = []

    def offset(i: int) -> Array:
        parent = joints[i].parent
        if parent is None:
            return np.zeros(3)
        k = index[parent]
        return quaternions.rotate(quaternions.conjugate(own[k]), resting[i] - resting[k])

    def visit(i: int, depth: int) -> None:
        joint, tab = joints[i], "\t" * depth
        parent = -1 if joint.parent is None else index[joint.parent]
        shown = offset(i) if maker.offsets or parent < 0 else np.zeros(3)
        rows.extend([f"{tab}{'ROOT' if parent < 0 else 'JOINT'} {joint.name}", f"{tab}{{"])
        rows.append(f"{tab}\tOFFSET " + " ".join(f"{v:.6f}" for v in shown))
        placed = parent < 0 or maker.six_channels or (joints[parent].rides == "" and joint.rides != "")
        if joint.name in maker.skip:
            rows.append(f"{tab}\tCHANNELS 0")
        else:
            names = ["Xposition", "Yposition", "Zposition"] * placed + ["Zrotation", "Xrotation", "Yrotation"]
            rows.append(f"{tab}\tCHANNELS {len(names)} {' '.join(names)}")
            if placed:
                if parent < 0:
                    channels.append(place[:, i])
                else:
                    back = quaternions.conjugate(turn[:, parent])
                    local = quaternions.rotate(back, place[:, i] - place[:, parent])
                    channels.append(local * (swing if joint.rides and joints[parent].rides else 1.0))
            local = turn[:, i]
            if parent >= 0:
                local = quaternions.multiply(quaternions.conjugate(turn[:, parent]), local)
            channels.append(_zxy(local))
        below = [k for k, other in enumerate(joints) if other.parent == joint.name]
        for k in below:
            visit(k, depth + 1)
        if not below:
            end = ends[i]
            reach = np.array([0.0, 0.05, 0.0]) / maker.unit if end is None else end - resting[i]
            reach = quaternions.rotate(quaternions.conjugate(own[i]), reach)
            rows.extend([f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\tOFFSET " + " ".join(f"{v:.6f}" for v in reach)])
            rows.append(f"{tab}\t}}")
        rows.append(f"{tab}}}")

    for i, joint in enumerate(joints):
        if joint.parent is None:
            visit(i, 0)
    values = np.concatenate(channels, axis=1)
    if maker.first_pose:
        first = values[:1].copy()
        first[:, 3:] = 0.0
        values = np.concatenate([first, values])
    lines = ["HIERARCHY", *rows, "MOTION", f"Frames: {len(values)}", f"Frame Time: {1.0 / maker.rate:.7f}"]
    lines += [" ".join(f"{v:.5f}" for v in row) for row in values]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _places(clip: Clip, joint: Joint) -> Array:
    if not joint.rides:
        return np.tile(joint.place, (len(clip.position), 1))
    bone = clip.skeleton.index(joint.rides)
    arm = quaternions.rotate(_turns(clip, joint), joint.place - clip.skeleton.head[bone])
    result: Array = clip.position[:, bone] + arm
    return result


def _turns(clip: Clip, joint: Joint) -> Array:
    if not joint.rides:
        return np.tile(IDENTITY, (len(clip.position), 1))
    bone = clip.skeleton.index(joint.rides)
    return quaternions.multiply(clip.orientation[:, bone], quaternions.conjugate(clip.skeleton.orientation[bone]))


def _own_turns(
    maker: Maker, joints: Sequence[Joint], resting: Array, ends: Sequence[Array | None], index: dict[str, int]
) -> Array:
    """How each joint's frame (n, 4) lies in the body, which a rest pose of no turns makes visible."""
    rng = np.random.default_rng(maker.seed)
    own = np.tile(IDENTITY, (len(joints), 1))
    for i, joint in enumerate(joints):
        if not joint.rides:
            continue
        if maker.rest == "random":
            own[i] = quaternions.normalize(rng.normal(size=4))
        elif maker.rest == "along x":
            below = [index[other.name] for other in joints if other.parent == joint.name]
            end = ends[i]
            to = resting[below[0]] if below else resting[i] + [0.0, 0.05, 0.0] if end is None else end
            if np.linalg.norm(to - resting[i]) > 1e-9:
                own[i] = quaternions.between(np.array([1.0, 0.0, 0.0]), to - resting[i])
    return own


def _zxy(turn: Array) -> Array:
    """Degrees about Z, X and Y of R = Rz Rx Ry."""
    m = quaternions.matrix(turn)
    x = np.arcsin(np.clip(m[:, 2, 1], -1.0, 1.0))
    z = np.arctan2(-m[:, 0, 1], m[:, 1, 1])
    y = np.arctan2(-m[:, 2, 0], m[:, 2, 2])
    return np.degrees(np.unwrap(np.column_stack([z, x, y]), axis=0))


Change = Callable[[list[Joint]], list[Joint]]
