# SPDX-License-Identifier: GPL-3.0-or-later
"""A captured clip as others might have it: seen in a mirror, larger, or on the bones of another rig."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from heft.core.motion import quaternions
from heft.core.motion.clip import Clip, Skeleton

Array = np.ndarray
Roles = Mapping[str, tuple[str, ...]]

MIRROR = np.array([-1.0, 1.0, 1.0])  # of places
MIRROR_TURN = np.array([1.0, 1.0, -1.0, -1.0])  # of quaternions
OTHER_SIDE = {".L": ".R", ".R": ".L"}
AIMED = ("upper_arm", "forearm", "thigh", "shin")  # roles whose bones point alike on every rig, whatever their rest
STANDING = 0.2  # m/s


def mirrored(clip: Clip, roles: Roles) -> tuple[Clip, Roles]:
    """Left and right swapped."""
    bones = clip.skeleton
    skeleton = replace(
        bones, head=bones.head * MIRROR, tail=bones.tail * MIRROR, orientation=bones.orientation * MIRROR_TURN
    )
    other = replace(
        clip, skeleton=skeleton, position=clip.position * MIRROR, orientation=clip.orientation * MIRROR_TURN
    )
    return other, {role[:-2] + OTHER_SIDE.get(role[-2:], role[-2:]): names for role, names in roles.items()}


def enlarged(clip: Clip, factor: float) -> Clip:
    """All lengths times a factor."""
    bones = clip.skeleton
    skeleton = replace(bones, head=bones.head * factor, tail=bones.tail * factor)
    return replace(clip, skeleton=skeleton, position=clip.position * factor)


def retargeted(clip: Clip, roles: Roles, skeleton: Skeleton, other: Roles) -> Clip:
    """The clip on another rig, as a retargeting by roles does it: bones turn alike, hips move in scale with the legs.

    Limbs are aimed alike and soles lie alike, though the rigs rest differently. Nothing is done about feet that slide
    since proportions differ.
    """
    source = clip.skeleton
    frames = len(clip.position)
    change = quaternions.multiply(clip.orientation, quaternions.conjugate(source.orientation))
    turn = np.zeros((frames, len(skeleton.names), 4))
    pairs = _pairs(roles, source, other, skeleton)
    scale = _leg(skeleton, other) / _leg(source, roles)
    own, same = ([s.index(r[f"thigh.{side}"][0]) for side in "LR"] for s, r in ((source, roles), (skeleton, other)))
    hips = scale * clip.position[:, own].mean(axis=1)
    place = np.zeros((frames, len(skeleton.names), 3))
    for bone, parent in enumerate(skeleton.parent):
        if bone in pairs:
            role, b = pairs[bone]
            turn[:, bone] = quaternions.multiply(change[:, b], _alignment(role, clip, change, b, skeleton, bone))
        elif parent >= 0:
            turn[:, bone] = turn[:, parent]
        else:
            turn[:, bone] = change[:, 0]
    turn = quaternions.multiply(quaternions.normalize(turn), skeleton.orientation)
    for bone, parent in enumerate(skeleton.parent):
        if parent >= 0:
            place[:, bone] = place[:, parent] + quaternions.rotate(turn[:, parent], skeleton.parent_offset[bone])
    place += (hips - place[:, same].mean(axis=1))[:, None]
    return Clip(skeleton, clip.rate, place, quaternions.continuous(turn), clip.first_frame, clip.frames_per_sample)


def _pairs(roles: Roles, source: Skeleton, other: Roles, skeleton: Skeleton) -> dict[int, tuple[str, int]]:
    """Of the other rig's bones those with a role, and the source's bone as far along the same role's chain."""
    found = {}
    for role, names in other.items():
        chain = roles.get(role, ())
        for k, name in enumerate(names if chain else ()):
            index = (k + 1) * len(chain) // len(names) - 1 if len(names) > 1 else len(chain) - 1
            found[skeleton.index(name)] = (role, source.index(chain[max(index, 0)]))
    return found


def _leg(skeleton: Skeleton, roles: Roles) -> float:
    bones = [skeleton.index(roles[f"{role}.L"][0]) for role in ("thigh", "shin", "foot")]
    return float(np.linalg.norm(np.diff(skeleton.head[bones], axis=0), axis=1).sum())


def _alignment(role: str, clip: Clip, change: Array, b: int, skeleton: Skeleton, bone: int) -> Array:
    """A turn (4,) after which the other rig's bone, at rest, lies as the source's bone `b` does."""
    ways = [s.tail[i] - s.head[i] for s, i in ((skeleton, bone), (clip.skeleton, b))]
    part = role.partition(".")[0]
    if part in AIMED:
        return quaternions.between(*ways)
    if part in {"foot", "toe"}:
        # what is up for the source's foot as it stands is up for the other at rest
        speed = np.linalg.norm(np.gradient(clip.position[:, b], axis=0), axis=1) * clip.rate
        up = np.array([0.0, 0.0, 1.0])
        seen = quaternions.rotate(quaternions.conjugate(change[speed < STANDING, b]), up)
        return quaternions.multiply(
            _frame(ways[1], np.median(seen, axis=0)), quaternions.conjugate(_frame(ways[0], up))
        )
    return np.array([1.0, 0.0, 0.0, 0.0])


def _frame(ahead: Array, up: Array) -> Array:
    """The turn (4,) that takes X and Z to these."""
    z = up / np.linalg.norm(up)
    y = np.cross(z, ahead)
    y /= np.linalg.norm(y)
    return quaternions.from_matrix(np.stack([np.cross(y, z), y, z], axis=-1))
