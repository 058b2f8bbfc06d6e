# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons of all families altered at random, and what Set Up finds of them by names and motion."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from heft.core.motion import quaternions
from heft.core.motion.body_plan import make_body_plan, plausible_scale
from heft.core.motion.clip import Clip, scaled, turned
from heft.core.motion.damage import repair
from heft.core.motion.rest_pose import find_rest_pose
from heft.core.motion.upright import stood_up, turn_of, up_of
from heft.core.rig.roles import detect_roles

from tests.blender.rig.test_families import JOINTS, figure
from tests.blender.rig.test_vocabulary import LINES
from tests.core.motion.skeletons import scrambled, waving

BACK = np.array([[0.0, 0.1, 0.5], [0.0, 0.2, 0.1], [0.0, 0.3, -0.6]])  # along which a cape hangs, from the hips
PREFIXES = ("", "Hero_", "rig:", "mixamorig9:", "SK_Bob|", "Subject 01:", "char-01.")
SUFFIXES = ("", "_jnt", ".000", "_bind")
LEFT_OUT = ("toe", "clavicle", "neck", "spine")


class Fuzzed(NamedTuple):
    """A motion, the roles that its bones have, and what was done to it."""

    clip: Clip
    roles: dict[str, tuple[str, ...]]
    what: tuple[str, ...]


def fuzzed(seed: int) -> Fuzzed:
    """The skeleton of that number."""
    rng = np.random.default_rng(seed)
    label, named = LINES[rng.integers(len(LINES))]
    what = [label]
    names = dict(named)
    for part in LEFT_OUT:
        if rng.random() < 0.15 and (part != "toe" or len(names["foot.L"]) == 1):
            what.append(f"no {part}")
            names = {role: bones for role, bones in names.items() if role.partition(".")[0] != part}
    extra: list[Any] = []
    parents: dict[str, str] = {}
    if rng.random() < 0.3:
        what.append("static roots")
        extra += [("reference", None, np.zeros(3), np.array([0.0, 0.2, 0.0]))]
        extra += [("world_root", "reference", np.zeros(3), np.array([0.0, 0.2, 0.0]))]
        parents[names["pelvis"][0]] = "world_root"
    if rng.random() < 0.3:
        what.append("props")
        hand = JOINTS["hand.R"]
        down = np.array([0.0, -0.9, 0.0])
        extra += [("sword", names["hand.R"][-1], hand.tail, hand.tail + down)]
        hips = JOINTS["pelvis"].head
        extra += [("cape_1", names["chest"][0], hips + BACK[0], hips + BACK[1])]
        extra += [("cape_2", "cape_1", hips + BACK[1], hips + BACK[2])]
    if rng.random() < 0.3:
        what.append("twists")
        for side in "LR":
            for role in ("thigh", "upper_arm", "forearm"):
                bone = JOINTS[f"{role}.{side}"]
                middle = 0.5 * (bone.head + bone.tail)
                extra += [(f"{role}_twist_{side}", names[f"{role}.{side}"][0], middle, bone.tail)]
    skeleton = figure(names, parents=parents, extra=extra)
    prefix, suffix = PREFIXES[rng.integers(len(PREFIXES))], SUFFIXES[rng.integers(len(SUFFIXES))]
    what.append(f"'{prefix}…{suffix}'")
    skeleton = replace(skeleton, names=tuple(f"{prefix}{name}{suffix}" for name in skeleton.names))
    expected = {role: tuple(f"{prefix}{name}{suffix}" for name in bones) for role, bones in names.items()}
    if rng.random() < 0.3:
        what.append("reordered")
        skeleton = reordered(skeleton, rng)
    if rng.random() < 0.2:
        what.append("mirrored")
        flip = np.array([-1.0, 1.0, 1.0])
        skeleton = replace(skeleton, head=skeleton.head * flip, tail=skeleton.tail * flip)
    clip = waving(skeleton, frames=60, rate=30.0, size=0.05, seed=seed)
    if rng.random() < 0.5:
        what.append("scrambled")
        clip = scrambled(clip, seed)
    if rng.random() < 0.2:
        what.append("lying")
        clip = turned(clip, quaternions.conjugate(turn_of("-Y")))
    factor = float(10.0 ** rng.uniform(-3.0, 3.0))
    what.append(f"x {factor:.3g}")
    return Fuzzed(scaled(clip, factor), expected, tuple(what))


def reordered(skeleton: Any, rng: np.random.Generator) -> Any:
    """The same bones in another order, parents first."""
    order: list[int] = []
    waiting = list(range(len(skeleton.names)))
    while waiting:
        free = [bone for bone in waiting if skeleton.parent[bone] < 0 or skeleton.parent[bone] in order]
        order.append(free[rng.integers(len(free))])
        waiting.remove(order[-1])
    place = {bone: index for index, bone in enumerate(order)}
    return replace(
        skeleton,
        names=tuple(skeleton.names[bone] for bone in order),
        parent=np.array([place.get(int(skeleton.parent[bone]), -1) for bone in order], dtype=np.int64),
        head=skeleton.head[order],
        tail=skeleton.tail[order],
        orientation=skeleton.orientation[order],
    )


def set_up(case: Fuzzed) -> tuple[dict[str, tuple[str, ...]], float]:
    """The roles that are found, and how tall the character is, m; ValueError where there is none."""
    found = dict(detect_roles(case.clip.skeleton, None, None, case.clip).bones)
    clip = stood_up(case.clip, up_of(case.clip, found))
    clip = scaled(clip, plausible_scale(clip, found))
    clip, _ = repair(clip, found)
    rest = find_rest_pose(clip, found)
    if rest is not None:
        clip = replace(clip, skeleton=rest.skeleton)
    return found, make_body_plan(clip.skeleton, found, clip=clip).stature
