# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip of one skeleton for another: the same pose in the world, at the other's proportions.

    what         how
    size         the source is scaled by the ratio of the legs' lengths, so that strides are as long to either's legs
    directions   each bone turns from rest as its counterpart does, see counterparts.py
    hips         where the scaled source's are; lowered where legs would not reach
    feet         soles stay on the scaled source's, see followed_soles.py; knees give way
    hands        what is near each other there is as near here; elbows give way

Bones without a role keep the poses, in what they hang from, of the clip that the other skeleton has by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from . import quaternions, roles
from .clip import Clip, Skeleton, scaled, scaled_skeleton, to_local
from .counterparts import Body, body_of, changes, turned_likewise
from .damage import repair
from .followed_soles import Soles, ankles_wanted, soles_of
from .landmarks import heading_of, is_quadruped, leg_length
from .pegs import with_feet
from .quaternions import Array
from .rest_pose import find_rest_pose
from .roles import Roles
from .two_links import STRAIGHT, reach, unit

STRETCH = 0.998  # of a leg's length: as far as hips may be from where ankles are wanted, or as far as the source's are
LOWERING = 0.2  # s, over which hips are lowered and raised again
TOUCH, APART = 0.13, 0.25  # of the leg: hands as near touch; further apart they have nothing to do with each other
PALM = 0.1  # of the leg, from the wrist on
LEG, ARM = ("thigh", "shin", "foot"), ("upper_arm", "forearm", "hand")


@dataclass(frozen=True)
class Retargeted:
    """The clip of the other skeleton, and what came of it."""

    clip: Clip
    ratio: float  # by which lengths were scaled
    lowered: float  # m, by which hips were lowered at most
    lines: tuple[str, ...]  # what was done, for the report


class _Pose:
    """The other skeleton's bones that have roles, over frames."""

    def __init__(self, body: Body, turn: Array) -> None:
        """With orientations (nf, nb, 4), and the pelvis at the origin."""
        self.body, self.turn = body, turn
        self.start = np.zeros((len(turn), 3))  # of the pelvis
        self.position = np.zeros((*turn.shape[:2], 3))
        self.place()

    def place(self) -> None:
        """Put all heads where their carriers have them."""
        rest, change = self.body.rest, changes(self.body, self.turn)
        for bone, carrier in self.body.carriers():
            if carrier < 0:
                self.position[:, bone] = self.start
            else:
                away = quaternions.rotate(change[:, carrier], rest.head[bone] - rest.head[carrier])
                self.position[:, bone] = self.position[:, carrier] + away

    def at(self, role: str) -> Array:
        """The head (nf, 3) of a role's first bone."""
        return np.asarray(self.position[:, self.body.chains[role][0]])

    def bend(self, limb: Sequence[str], side: str, wanted: Array) -> None:
        """Bring the end of a limb where it is wanted (nf, 3); the end itself keeps its orientation."""
        upper, lower, end = (f"{part}.{side}" for part in limb)
        turns = reach(self.at(upper), self.at(lower), self.at(end), wanted, self._across(limb, side))
        for role, by in ((upper, turns.first), (lower, turns.second)):
            for bone in self.body.chains[role]:
                self.turn[:, bone] = quaternions.multiply(by, self.turn[:, bone])

    def _across(self, limb: Sequence[str], side: str) -> Array:
        """Where a limb's middle mostly bends to (nf, 3), seen from its first link; knees forward, elbows backward."""
        upper, lower, end = (f"{part}.{side}" for part in limb)
        change = changes(self.body, self.turn)[:, self.body.chains[upper][0]]
        first, line = self.at(lower) - self.at(upper), unit(self.at(end) - self.at(upper))
        off = first - np.sum(first * line, axis=1)[:, None] * line
        bent = np.linalg.norm(off, axis=1) > STRAIGHT * np.linalg.norm(first, axis=1)
        ahead = quaternions.rotate(heading_of(self.body.rest, self.body.chains), np.array([1.0, 0.0, 0.0]))
        usual = ahead if limb is LEG else -ahead
        if bent.any():
            usual = np.median(quaternions.rotate(quaternions.conjugate(change[bent]), unit(off[bent])), axis=0)
        return quaternions.rotate(change, usual)


def retarget(source: Clip, source_roles: Roles, own: Clip, own_roles: Roles) -> Retargeted:
    """The motion of `source` for the skeleton of `own`, a clip as long that says what bones without a role do.

    The source is scaled about the world's origin. Raises ValueError for roles that make no sense, DamagedClip where the
    source is broken.
    """
    if len(source.position) != len(own.position):
        raise ValueError(
            f"The clips have {len(source.position)} and {len(own.position)} samples: they must have as many."
        )
    moving, moving_roles = with_feet(source, source_roles)
    moving, repairs = repair(moving, moving_roles)
    moving = _as_long(moving, source)
    still, still_roles = with_feet(own, own_roles)
    leader, follower = _body(moving, moving_roles), _body(still, still_roles)
    if is_quadruped(leader.rest, leader.chains) != is_quadruped(follower.rest, follower.chains):
        raise ValueError("One of the figures goes on four legs, the other on two: choose another motion.")
    leg = leg_length(follower.rest, follower.chains)
    ratio = leg / leg_length(leader.rest, leader.chains)
    moving, leader = scaled(moving, ratio), replace(leader, rest=scaled_skeleton(leader.rest, ratio))
    soles = soles_of(leader, moving, follower)
    turn = still.orientation.copy()
    for bone, one in turned_likewise(
        leader, follower, moving.orientation, {role: each.turn for role, each in soles.items()}
    ).items():
        turn[:, bone] = one
    pose = _Pose(follower, turn)
    lowered = _stand(pose, leader, moving, soles, leg)
    kept = _keep_together(pose, leader, moving, leg)
    clip = _whole(pose, still, own)
    lines = [one.text for one in repairs]
    lines.append(f"The motion is another skeleton's, scaled to {100.0 * ratio:.0f} % by the length of the legs.")
    if lowered > 1e-3 * leg:
        lines.append(f"The hips were lowered by up to {100.0 * lowered:.1f} cm, so that the feet reach the ground.")
    if kept:
        lines.append("Hands that touch were kept together.")
    return Retargeted(clip, ratio, lowered, tuple(lines))


def _as_long(part: Clip, whole: Clip) -> Clip:
    """A part of a clip with its ends held, to be as long: a pose that is no motion was taken off."""
    before = round((part.first_frame - whole.first_frame) / whole.frames_per_sample)
    rows = np.clip(np.arange(len(whole.position)) - before, 0, len(part.position) - 1)
    return replace(
        part, position=part.position[rows], orientation=part.orientation[rows], first_frame=whole.first_frame
    )


def _body(clip: Clip, roles_of_bones: Roles) -> Body:
    """The body of a clip's skeleton, in a rest pose that is one."""
    found = find_rest_pose(clip, roles_of_bones, made=True)
    rest: Skeleton = clip.skeleton if found is None else found.skeleton
    return body_of(rest, roles.checked(roles_of_bones, rest))


def _stand(pose: _Pose, leader: Body, moving: Clip, soles: dict[str, Soles], leg: float) -> float:
    """Put hips and feet where the scaled source has them, and return by how much the hips had to be lowered at most."""
    change = changes(leader, moving.orientation), changes(pose.body, pose.turn)
    wanted = {}
    for side in roles.SIDES:
        role = f"foot.{side}"
        turned = [by[:, body.chains[role][0]] for body, by in zip((leader, pose.body), change, strict=True)]
        ankle = moving.position[:, leader.chains[role][0]]
        wanted[side] = ankles_wanted(soles[role], ankle, turned[0], turned[1], moving.rate, leg)
    hips = np.mean([moving.position[:, leader.chains[f"thigh.{side}"][0]] for side in roles.SIDES], axis=0)
    hips[:, 2] += np.mean([each.height for each in soles.values()])
    pose.start = hips - np.mean([pose.at(f"thigh.{side}") for side in roles.SIDES], axis=0)
    pose.place()
    drop = np.zeros(len(hips))
    for side, (ankle, stands) in wanted.items():
        joints = [moving.position[:, leader.chains[f"{part}.{side}"][0]] for part in LEG]
        stretch = np.linalg.norm(joints[2] - joints[0], axis=1) / _length(joints)
        own = _length([pose.at(f"{part}.{side}") for part in LEG]) * np.clip(stretch, STRETCH, 1.0)
        away = pose.at(f"thigh.{side}") - ankle
        low = np.sqrt(np.maximum(own**2 - away[:, 0] ** 2 - away[:, 1] ** 2, 0.0))
        drop = np.maximum(drop, np.where(stands, away[:, 2] - low, 0.0))
    size = 2 * round(0.5 * LOWERING * moving.rate) + 1
    drop = uniform_filter1d(maximum_filter1d(drop, size, mode="nearest"), size, mode="nearest")
    pose.start[:, 2] -= drop
    pose.place()
    for side, (ankle, _) in wanted.items():
        pose.bend(LEG, side, ankle)
    pose.place()
    return float(drop.max())


def _keep_together(pose: _Pose, leader: Body, moving: Clip, leg: float) -> bool:
    """Bring hands as near each other as the scaled source's, where those touch; return whether any do."""
    arms = [f"{part}.{side}" for part in ARM for side in roles.SIDES]
    if not all(role in body.chains for role in arms for body in (leader, pose.body)):
        return False
    theirs = [_palm(leader, moving.position, moving.orientation, side, leg) for side in roles.SIDES]
    ours = [_palm(pose.body, pose.position, pose.turn, side, leg) for side in roles.SIDES]
    way = theirs[1] - theirs[0]
    near = np.clip((APART - np.linalg.norm(way, axis=1) / leg) / (APART - TOUCH), 0.0, 1.0)
    near = (near**2 * (3.0 - 2.0 * near))[:, None]
    if not near.any():
        return False
    middle = 0.5 * (ours[0] + ours[1])
    for side, palm, share in zip(roles.SIDES, ours, (-0.5, 0.5), strict=True):
        pose.bend(ARM, side, pose.at(f"hand.{side}") + near * (middle + share * way - palm))
    pose.place()
    return bool(near.max() > 0.5)


def _palm(body: Body, position: Array, turn: Array, side: str, leg: float) -> Array:
    """The middle of a hand (nf, 3), straight on from the forearm at rest."""
    forearm, hand = (body.chains[f"{part}.{side}"][0] for part in ARM[1:])
    way = PALM * leg * unit(body.rest.head[hand] - body.rest.head[forearm])
    result: Array = position[:, hand] + quaternions.rotate(changes(body, turn)[:, hand], way)
    return result


def _length(joints: Sequence[Array]) -> Array:
    """Of a limb (nf,) along its joints."""
    result: Array = np.linalg.norm(joints[1] - joints[0], axis=1) + np.linalg.norm(joints[2] - joints[1], axis=1)
    return result


def _whole(pose: _Pose, still: Clip, own: Clip) -> Clip:
    """All bones: those without a role go along with what they hang from, or, loose, with the nearest that has one."""
    skeleton = still.skeleton
    local = to_local(still)
    turn, place = pose.turn.copy(), pose.position.copy()
    known = np.zeros(len(skeleton.names), dtype=np.bool_)
    known[[bone for bone, _ in pose.body.carriers()]] = True
    mine, bears = np.flatnonzero(known), _bears(skeleton, known)
    for bone, parent in enumerate(skeleton.parent):
        if known[bone]:
            continue
        if parent >= 0 and known[parent]:
            place[:, bone] = place[:, parent] + quaternions.rotate(turn[:, parent], local.position[:, bone])
            turn[:, bone] = quaternions.multiply(turn[:, parent], local.orientation[:, bone])
            known[bone] = True
        elif bears[bone]:
            place[:, bone] = still.position[:, bone]
        else:
            near = int(mine[np.argmin(_distances(pose.body.rest, mine, skeleton.head[bone]))])
            by = quaternions.multiply(turn[:, near], quaternions.conjugate(still.orientation[:, near]))
            away = still.position[:, bone] - still.position[:, near]
            place[:, bone] = place[:, near] + quaternions.rotate(by, away)
            turn[:, bone] = quaternions.multiply(by, still.orientation[:, bone])
    count = len(own.skeleton.names)
    return replace(own, position=place[:, :count], orientation=quaternions.continuous(turn[:, :count]))


def _bears(skeleton: Skeleton, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Bones (nb,) from which some of those known hang: they stay, whatever hangs from them moves."""
    found = np.zeros(len(known), dtype=np.bool_)
    for bone in range(len(known) - 1, -1, -1):
        parent = skeleton.parent[bone]
        if parent >= 0:
            found[parent] |= found[bone] or known[bone]
    return found


def _distances(rest: Skeleton, bones: NDArray[np.intp], point: Array) -> Array:
    """Of a point (3,) from bones at rest."""
    start, way = rest.head[bones], rest.tail[bones] - rest.head[bones]
    share = np.clip(np.sum((point - start) * way, axis=1) / np.sum(way**2, axis=1), 0.0, 1.0)
    result: Array = np.linalg.norm(point - start - share[:, None] * way, axis=1)
    return result
