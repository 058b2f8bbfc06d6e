# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons with known roles, motions for them, and the real clips where they are at hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.bvh import read_bvh
from heft.core.motion.clip import Clip, LocalPoses, Skeleton, from_local
from heft.examples import mannequin

CLIPS = Path(__file__).resolve().parents[4] / "shared" / "clips"
CMU_UNIT = 0.056444
GOOD = sorted((CLIPS / "cmu").glob("*.bvh"))
DAMAGED = CLIPS / "damaged"
HARD = sorted((CLIPS / "cmu-hard").glob("*.bvh"))[::12]
needs_clips = pytest.mark.skipif(not GOOD, reason=f"the motion capture clips are not at {CLIPS}")

CMU_ROLES = {
    "pelvis": ("Hips",),
    "spine": ("LowerBack", "Spine"),
    "chest": ("Spine1",),
    "neck": ("Neck", "Neck1"),
    "head": ("Head",),
} | {
    f"{role}.{side[0]}": (side + name,)
    for side in ("Left", "Right")
    for role, name in (
        ("clavicle", "Shoulder"),
        ("upper_arm", "Arm"),
        ("forearm", "ForeArm"),
        ("hand", "Hand"),
        ("thigh", "UpLeg"),
        ("shin", "Leg"),
        ("foot", "Foot"),
        ("toe", "ToeBase"),
    )
}


def cmu(name):
    every = (*GOOD, *sorted((CLIPS / "cmu-hard").glob("*.bvh")))
    return read_bvh(next(path for path in every if path.name.startswith(name)), CMU_UNIT)


def skeleton(bones):
    """From (name, parent, head, tail); frames parallel to the world's."""
    names = tuple(bone[0] for bone in bones)
    parent = np.array([-1 if bone[1] is None else names.index(bone[1]) for bone in bones], dtype=np.int64)
    head, tail = (np.array([bone[i] for bone in bones], dtype=float) for i in (2, 3))
    return Skeleton(names, parent, head, tail, np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1)))


def wooden():
    """The example's mannequin: 1.75 m, soles on z = 0, facing -Y."""
    return skeleton([(bone.name, bone.parent, bone.head, bone.tail) for bone in mannequin.skeleton()])


def wooden_roles():
    return {bone.name: (bone.name,) for bone in mannequin.skeleton()}


def rooted():
    """The mannequin under a bone at its feet that has no role, as production rigs have it."""
    bones = [(bone.name, bone.parent or "master", bone.head, bone.tail) for bone in mannequin.skeleton()]
    return skeleton([("master", None, (0.0, 0.0, 0.0), (0.0, 0.5, 0.0)), *bones])


def dog():
    """A dog of 0.6 m at the hips, facing +X, and its roles."""
    bones = [
        ("hip", None, (-0.3, 0, 0.58), (-0.2, 0, 0.6)),
        ("back", "hip", (-0.2, 0, 0.6), (0.1, 0, 0.6)),
        ("ribs", "back", (0.1, 0, 0.6), (0.3, 0, 0.58)),
        ("neck", "ribs", (0.3, 0, 0.58), (0.45, 0, 0.72)),
        ("head", "neck", (0.45, 0, 0.72), (0.62, 0, 0.7)),
        ("tail", "hip", (-0.32, 0, 0.6), (-0.6, 0, 0.4)),
    ]
    for side, y in (("L", 0.08), ("R", -0.08)):
        bones += [
            ("arm." + side, "ribs", (0.2, y, 0.5), (0.15, y, 0.32)),
            ("forearm." + side, "arm." + side, (0.15, y, 0.32), (0.17, y, 0.12)),
            ("paw." + side, "forearm." + side, (0.17, y, 0.12), (0.19, y, 0.0)),
            ("thigh." + side, "hip", (-0.3, y, 0.55), (-0.22, y, 0.35)),
            ("shin." + side, "thigh." + side, (-0.22, y, 0.35), (-0.36, y, 0.17)),
            ("foot." + side, "shin." + side, (-0.36, y, 0.17), (-0.3, y, 0.02)),
            ("toe." + side, "foot." + side, (-0.3, y, 0.02), (-0.27, y, 0.0)),
        ]
    roles = {"pelvis": ("hip",), "spine": ("back",), "chest": ("ribs",)}
    roles |= {name: (name,) for name in ("neck", "head", "tail")}
    for side in "LR":
        roles |= {f"{role}.{side}": (f"{role}.{side}",) for role in ("forearm", "thigh", "shin", "foot", "toe")}
        roles |= {f"upper_arm.{side}": (f"arm.{side}",), f"hand.{side}": (f"paw.{side}",)}
    return skeleton(bones), roles


def dinosaur():
    """A lizard on two legs with its trunk as level as the dog's and its hands before its chest, and its roles."""
    some, roles = dog()
    rows = [
        (name, some.names[parent] if parent >= 0 else None, head, tail)
        for name, parent, head, tail in zip(some.names, some.parent, some.head, some.tail, strict=True)
        if not name.startswith(("arm", "forearm", "paw"))
    ]
    for side, y in (("L", 0.08), ("R", -0.08)):
        rows += [
            ("arm." + side, "ribs", (0.25, y, 0.6), (0.35, y, 0.62)),
            ("forearm." + side, "arm." + side, (0.35, y, 0.62), (0.48, y, 0.63)),
            ("paw." + side, "forearm." + side, (0.48, y, 0.63), (0.55, y, 0.63)),
        ]
    return skeleton(rows), roles


def scrambled(clip, seed=0):
    """The same motion of the same bones, whose rest pose has every joint turned at random."""
    some = clip.skeleton
    rng = np.random.default_rng(seed)
    place, turn = some.parent_offset.copy(), quaternions.normalize(rng.normal(size=(len(some.names), 4)))
    for bone, parent in enumerate(some.parent):
        if parent >= 0:
            place[bone] = place[parent] + quaternions.rotate(turn[parent], place[bone])
            turn[bone] = quaternions.multiply(turn[parent], turn[bone])
    along = quaternions.multiply(turn, quaternions.conjugate(some.orientation))
    tail = place + quaternions.rotate(along, some.tail - some.head)
    return replace(clip, skeleton=replace(some, head=place, tail=tail, orientation=turn))


def still(some, frames=30, rate=30.0):
    """The rest pose, held."""
    return Clip(some, rate, np.tile(some.head, (frames, 1, 1)), np.tile(some.orientation, (frames, 1, 1)))


def waving(some, frames=120, rate=120.0, size=0.4, seed=0):
    """Every bone swings smoothly about axes of its own; roots drift."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames)[:, None, None] / rate
    count = len(some.names)
    phase, speed = rng.uniform(0, 2 * np.pi, (count, 3)), rng.uniform(2.0, 6.0, (count, 3))
    swing = size * rng.normal(size=(count, 3)) * (np.sin(speed * time + phase) - np.sin(phase))
    turn = quaternions.multiply(some.parent_orientation[None], quaternions.exp(swing))
    place = np.tile(some.parent_offset, (frames, 1, 1))
    place[:, some.parent < 0] += 0.2 * np.sin(3.0 * time) * rng.normal(size=3)
    return from_local(still(some, frames, rate), LocalPoses(place, quaternions.continuous(turn)))
