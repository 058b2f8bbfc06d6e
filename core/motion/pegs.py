# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet for legs that end at their shins: some game rigs have none, and a body needs something to stand on.

Such a foot hangs from the end of the shin, points to where the hips face and stays level, so that the figure stands
on soles as a person would. It is a bone of the clip alone, after all of its own: who writes poses back leaves it out.
"""

from dataclasses import replace

import numpy as np

from . import quaternions, roles
from .clip import Clip
from .quaternions import Array

ANKLE, BALL, DROP = 0.08, 0.20, 0.05  # of the leg: the ankle over the sole; the ball ahead of the ankle and below it
AT_FLOOR = 0.04  # of the leg: a shin that ends as near to z = 0 at rest ends in a sole, not in an ankle
TOES = 1.5  # of the way from ankle to ball
Z = np.array([0.0, 0.0, 1.0])


def with_feet(clip: Clip, roles_of_bones: roles.Roles) -> tuple[Clip, roles.Roles]:
    """The clip and its roles with feet where legs have none; as they are where nothing is missing, or more is."""
    bare = [
        side for side in roles.SIDES if roles_of_bones.get(f"shin.{side}") and not roles_of_bones.get(f"foot.{side}")
    ]
    if not bare or not all(roles_of_bones.get(f"thigh.{side}") for side in roles.SIDES):
        return clip, roles_of_bones
    for side in bare:
        clip, roles_of_bones = _with_foot(clip, roles_of_bones, side)
    return clip, roles_of_bones


def _with_foot(clip: Clip, roles_of_bones: roles.Roles, side: str) -> tuple[Clip, roles.Roles]:
    skeleton = clip.skeleton
    hips = [skeleton.index(roles_of_bones[f"thigh.{each}"][0]) for each in roles.SIDES]
    thigh = skeleton.index(roles_of_bones[f"thigh.{side}"][0])
    knee, shin = (skeleton.index(roles_of_bones[f"shin.{side}"][place]) for place in (0, -1))
    end = skeleton.tail[shin]
    leg = float(np.linalg.norm(skeleton.head[knee] - skeleton.head[thigh]) + np.linalg.norm(end - skeleton.head[knee]))
    local = quaternions.rotate(quaternions.conjugate(skeleton.orientation[shin]), end - skeleton.head[shin])
    if abs(end[2]) < AT_FLOOR * leg:
        length = float(np.linalg.norm(local))
        local = local * max(1.0 - ANKLE * leg / max(length, 1e-9), 0.5)
    place = clip.position[:, shin] + quaternions.rotate(clip.orientation[:, shin], local)
    head = skeleton.head[shin] + quaternions.rotate(skeleton.orientation[shin], local)
    turn = _facing(clip.position[:, hips[0]] - clip.position[:, hips[1]])
    rest = _facing((skeleton.head[hips[0]] - skeleton.head[hips[1]])[None])[0]
    reach = quaternions.rotate(rest, TOES * leg * np.array([BALL, 0.0, -DROP]))
    name = f"{skeleton.names[shin]} foot"
    while name in skeleton.names:
        name += "'"
    longer = replace(
        skeleton,
        names=(*skeleton.names, name),
        parent=np.append(skeleton.parent, shin),
        head=np.vstack([skeleton.head, head]),
        tail=np.vstack([skeleton.tail, head + reach]),
        orientation=np.vstack([skeleton.orientation, rest]),
    )
    whole = replace(
        clip,
        skeleton=longer,
        position=np.concatenate([clip.position, place[:, None]], axis=1),
        orientation=np.concatenate([clip.orientation, turn[:, None]], axis=1),
    )
    return whole, {**roles_of_bones, f"foot.{side}": (name,)}


def _facing(left: Array) -> Array:
    """The turns (n, 4) about Z that take X to where figures face whose left is that way (n, 3)."""
    angle = np.unwrap(np.arctan2(-left[:, 0], left[:, 1]))
    return np.column_stack([np.cos(0.5 * angle), np.zeros((len(angle), 2)), np.sin(0.5 * angle)])
