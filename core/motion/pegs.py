# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet for legs that end at their shins, and paws for feet that end in the air: a body needs something to stand on.

Some game rigs have no feet. Such a foot hangs from the end of the shin, points to where the hips face and stays level,
so that the figure stands on soles as a person would. Captured animals' legs often end with one bone from the hock to
the claws, which in every step turns over the paw by half a right angle: no sole that is fixed to it stays on the
ground. There a paw hangs from its end, level, too. Both are bones of the clip alone, after all of its own: who writes
poses back leaves them out.
"""

from dataclasses import replace

import numpy as np

from . import quaternions, roles
from .clip import Clip
from .digits import LONG, STEEP
from .quaternions import Array
from .rest_pose import is_on_four, posed_at_rest

ANKLE, BALL, DROP = 0.08, 0.20, 0.05  # of the leg: the ankle over the sole; the ball ahead of the ankle and below it
AT_FLOOR = 0.04  # of the leg: a shin that ends as near to z = 0 at rest ends in a sole, not in an ankle
TOES = 1.5  # of the way from ankle to ball
PAW = 0.3  # of the foot that it hangs from
Z = np.array([0.0, 0.0, 1.0])


def with_feet(clip: Clip, roles_of_bones: roles.Roles) -> tuple[Clip, roles.Roles]:
    """The clip and its roles with feet where legs have none, and paws where an animal's feet are steep.

    As they are where nothing is missing, or more is.
    """
    bare = [
        side for side in roles.SIDES if roles_of_bones.get(f"shin.{side}") and not roles_of_bones.get(f"foot.{side}")
    ]
    if not all(roles_of_bones.get(f"thigh.{side}") for side in roles.SIDES):
        return clip, roles_of_bones
    for side in bare:
        clip, roles_of_bones = _with_foot(clip, roles_of_bones, side)
    return (clip, roles_of_bones) if bare else _with_paws(clip, roles_of_bones)


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
    clip, name = _with_bone(clip, shin, "foot", place, turn, head, rest, reach)
    return clip, {**roles_of_bones, f"foot.{side}": (name,)}


def _with_paws(clip: Clip, roles_of_bones: roles.Roles) -> tuple[Clip, roles.Roles]:
    """With paws at the ends of an animal's feet, hind and front, that are one long steep bone each."""
    skeleton = clip.skeleton
    chains = {role: [skeleton.index(name) for name in names] for role, names in roles_of_bones.items() if names}
    needed = [f"{part}.{side}" for part in ("shin", "foot", "upper_arm", "hand") for side in roles.SIDES]
    if "pelvis" not in chains or not all(role in chains for role in needed):
        return clip, roles_of_bones
    if any(f"forearm.{side}" not in chains for side in roles.SIDES) or not is_on_four(clip, roles_of_bones):
        return clip, roles_of_bones
    if posed_at_rest(skeleton, roles_of_bones).is_person:  # who crawls
        return clip, roles_of_bones
    result = dict(roles_of_bones)
    for part in ("foot", "hand"):
        ends = [chains[f"{part}.{side}"] + chains.get(f"toe.{side}", []) * (part == "foot") for side in roles.SIDES]
        if not all(len(chain) == 1 and _is_steep(clip, chain[0], chains, LONG[part]) for chain in ends):
            continue
        for side, (foot,) in zip(roles.SIDES, ends, strict=True):
            clip, name = _with_paw(clip, foot, chains)
            if part == "foot":
                result[f"toe.{side}"] = (name,)
    return clip, result


def _is_steep(clip: Clip, bone: int, chains: dict[str, list[int]], long: float) -> bool:
    """Whether a bone that nothing hangs from is so long, of the leg, and stands up from its end when that is low."""
    skeleton = clip.skeleton
    if (skeleton.parent == bone).any():
        return False
    hip, knee, ankle = (clip.position[:, chains[f"{part}.L"][0]] for part in ("thigh", "shin", "foot"))
    leg = float(np.median(np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)))
    local = quaternions.rotate(
        quaternions.conjugate(skeleton.orientation[bone]), skeleton.tail[bone] - skeleton.head[bone]
    )
    way = -quaternions.rotate(clip.orientation[:, bone], np.tile(local, (len(clip.position), 1)))
    end = clip.position[:, bone, 2] - way[:, 2]
    up = float(np.median(way[end <= np.median(end), 2]))
    return up > max(STEEP * float(np.linalg.norm(local)), long * leg)


def _with_paw(clip: Clip, foot: int, chains: dict[str, list[int]]) -> tuple[Clip, str]:
    """With a level paw at the end of a bone."""
    skeleton = clip.skeleton
    hips = [chains[f"thigh.{side}"][0] for side in roles.SIDES]
    way = skeleton.tail[foot] - skeleton.head[foot]
    local = quaternions.rotate(quaternions.conjugate(skeleton.orientation[foot]), way)
    place = clip.position[:, foot] + quaternions.rotate(clip.orientation[:, foot], local)
    turn = _facing(clip.position[:, hips[0]] - clip.position[:, hips[1]])
    rest = _facing((skeleton.head[hips[0]] - skeleton.head[hips[1]])[None])[0]
    reach = quaternions.rotate(rest, np.array([PAW * float(np.linalg.norm(way)), 0.0, 0.0]))
    return _with_bone(clip, foot, "paw", place, turn, skeleton.tail[foot], rest, reach)


def _with_bone(
    clip: Clip, parent: int, what: str, place: Array, turn: Array, head: Array, rest: Array, reach: Array
) -> tuple[Clip, str]:
    """With one bone more, at places (nf, 3) with orientations (nf, 4); and its name."""
    skeleton = clip.skeleton
    name = f"{skeleton.names[parent]} {what}"
    while name in skeleton.names:
        name += "'"
    longer = replace(
        skeleton,
        names=(*skeleton.names, name),
        parent=np.append(skeleton.parent, parent),
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
    return whole, name


def _facing(left: Array) -> Array:
    """The turns (n, 4) about Z that take X to where figures face whose left is that way (n, 3)."""
    angle = np.unwrap(np.arctan2(-left[:, 0], left[:, 1]))
    return np.column_stack([np.cos(0.5 * angle), np.zeros((len(angle), 2)), np.sin(0.5 * angle)])
