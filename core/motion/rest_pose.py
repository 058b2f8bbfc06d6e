# SPDX-License-Identifier: GPL-3.0-or-later
"""A rest pose to build a character in: the skeleton's own where that is a pose, else one found in the motion.

Files of captures often have bones that lie along one axis at rest, a pelvis turned against the feet, or offsets that
channels replace. What the bodies of a character look like is then read off the motion: the frame in which the figure is
most upright, straight and alike on both sides takes the place of the rest pose, with bones as long as they mostly are,
and its trunk is straightened. So it is wherever nobody posed the skeleton, for a mesh or on a floor: what a file has
where all angles are zero says nothing that its motion does not, and two files of one motion are simulated alike.
A rest pose that is one, but lies on the ground, is stood up. Only changes from the rest pose count afterwards, so the
motion itself stays what it is.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from . import quaternions, roles
from .clip import Clip, Skeleton, to_local, turned_skeleton
from .posture import straightened
from .quaternions import Array

MOST_SAMPLES = 400  # of a clip are enough to find a pose
BENT = math.radians(75.0)  # of a knee at rest
ASKEW = math.radians(60.0)  # between the legs; between the line of the hips and that of the shoulders
TRUNK = math.radians(50.0)  # between the trunk and the legs, straight or across
UPRIGHT = math.radians(40.0)  # between the trunk and the vertical
STRETCHED = 0.05  # of a limb's length, by which motion and rest pose may differ
ON_FOUR = math.radians(130.0)  # between trunk and legs: a person straightens up beyond it now and then
ON_FLOOR = 0.04  # of the leg: toes that end as near z = 0 at rest stand on it
AS_LOW = 0.35  # of the legs' reach, that front feet may be above the hind ones
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class RestPose:
    """A skeleton in another pose, and what was done."""

    skeleton: Skeleton
    line: str  # for the report; empty where the skeleton's own would have done


class _Figure(NamedTuple):
    """Directions of a figure in n poses, unit (n, 3) unless said otherwise."""

    trunk: Array  # from the hips to the shoulders
    legs: Array  # (n, 2, 3) from hip to ankle
    straight: Array  # (n, 2) reach of a leg over its length
    knee: Array  # (n, 2) bend, rad
    left: Array  # from the right hip to the left
    shoulders: Array  # from the right shoulder to the left; as `left` where there are none
    feet: Array  # (n, 2, 3) from ankle to toes
    arms: Array  # (n, 3) from the shoulders to the hands, zero where there are none


def find_rest_pose(clip: Clip, roles_of_bones: roles.Roles, *, made: bool = False) -> RestPose | None:
    """The rest pose to use instead of the skeleton's own, None where that will do. The clip is without damage.

    `made` says that somebody made it, for a mesh or to stand on a floor: such a one is kept if it is a pose.
    """
    chains = roles.checked(roles_of_bones, clip.skeleton)
    skeleton = clip.skeleton
    seen, thin = _seen(clip, chains)
    own = _figure(chains, skeleton.head[None], skeleton.tail[None])
    four = _on_four(seen) or (_is_pose(own, four=True) and _on_four(own))
    stretched = _stretched(skeleton, clip, chains)
    beast = made and not four and bool(chains.get("tail")) and _stands_bent(own)
    usable = beast or _is_pose(own, four=four)
    posed = usable and (made or four or stands_on_floor(skeleton, chains))
    if posed and not stretched and (four or beast or _angle(own.trunk[0], Z) < UPRIGHT):
        return None
    if posed:
        line = "rest pose: stood up" if not stretched else "rest pose: bones lengthened as in the motion"
        rest = _compose(skeleton, skeleton.parent_orientation, _offsets(clip) if stretched else skeleton.parent_offset)
        figure = own
    else:
        sample = int(np.argmax(_worth(seen, four=four))) * thin
        local = to_local(clip.cut(sample, sample + 1))
        line = "" if usable else f"rest pose: unusable, replaced by that of frame {clip.frame(sample):g}"
        offsets = _offsets(clip)
        roots = skeleton.parent < 0
        offsets[roots] = clip.position[sample, roots]
        rest = _compose(skeleton, local.orientation[0], offsets)
        figure = _figure(chains, rest.head[None], rest.tail[None])
    up = -figure.legs[0].mean(axis=0) if four or beast else figure.trunk[0]
    if posed and _angle(up, Z) < UPRIGHT:
        return RestPose(rest, line)
    if posed:
        return RestPose(turned_skeleton(rest, quaternions.between(up, Z)), line)
    if four:
        return RestPose(rest, line)  # as it goes: its legs slant in every step
    standing = turned_skeleton(rest, quaternions.between(up - _unit(figure.legs[0].mean(axis=0)), Z))
    return RestPose(straightened(standing, chains, clip), line)


def stands_on_floor(skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a rest pose has its toes on z = 0."""
    feet = [chain[-1] for role, chain in chains.items() if role.startswith(("foot", "toe"))]
    legs = [skeleton.head[[chains[f"{part}.{side}"][0] for part in ("thigh", "shin", "foot")]] for side in roles.SIDES]
    leg = 0.5 * sum(float(np.linalg.norm(np.diff(joints, axis=0), axis=1).sum()) for joints in legs)
    return bool(abs(skeleton.tail[feet, 2].min()) < ON_FLOOR * leg)


def trunk_and_legs(clip: Clip, roles_of_bones: roles.Roles) -> tuple[Array, Array]:
    """Directions (n, 3) of trunk and legs in some frames, upwards and downwards of a figure that stands."""
    seen, _ = _seen(clip, roles.checked(roles_of_bones, clip.skeleton))
    return seen.trunk, _unit(seen.legs.mean(axis=1))


class RestFigure(NamedTuple):
    """How a skeleton at rest lies in the world: unit directions (3,)."""

    trunk: Array  # from the hips to the shoulders
    legs: Array  # from the hips to the ankles
    is_person: bool  # whether it is the pose of one on two legs
    is_even: bool  # whether left and right are as if it stood on two legs or on four, however they bend


def posed_at_rest(skeleton: Skeleton, roles_of_bones: roles.Roles) -> RestFigure:
    """How a skeleton lies at rest."""
    own = _figure(roles.checked(roles_of_bones, skeleton), skeleton.head[None], skeleton.tail[None])
    legs = _unit(own.legs[0].mean(axis=0))
    return RestFigure(own.trunk[0], legs, _is_pose(own, four=False), _is_even(own))


def is_on_four(clip: Clip, roles_of_bones: roles.Roles) -> bool:
    """Whether the figure goes on four legs, in the motion or at rest."""
    chains = roles.checked(roles_of_bones, clip.skeleton)
    own = _figure(chains, clip.skeleton.head[None], clip.skeleton.tail[None])
    return _on_four(_seen(clip, chains)[0]) or (_is_pose(own, four=True) and _on_four(own))


def _seen(clip: Clip, chains: Mapping[str, tuple[int, ...]]) -> tuple[_Figure, int]:
    """The figure in every so many of the samples."""
    thin = max(1, len(clip.position) // MOST_SAMPLES)
    place, turn = clip.position[::thin], clip.orientation[::thin]
    return _figure(chains, place, _tails(clip.skeleton, place, turn)), thin


def poses_of(clip: Clip, count: int) -> list[Skeleton]:
    """The skeleton at rest in some poses out of the motion, for whoever does not know its roles yet."""
    samples = np.unique(np.linspace(0.05, 0.95, count) * (len(clip.position) - 1)).astype(np.int64)
    found = []
    for sample in samples.tolist():
        local = to_local(clip.cut(sample, sample + 1))
        found.append(_compose(clip.skeleton, local.orientation[0], local.position[0]))
    return found


def moved_vertices(vertices: Mapping[str, Array], before: Skeleton, after: Skeleton) -> dict[str, Array]:
    """The vertices (n, 3) of each bone at rest, where they are in another rest pose."""
    result = {}
    for name, points in vertices.items():
        bone = before.index(name)
        turn = quaternions.multiply(after.orientation[bone], quaternions.conjugate(before.orientation[bone]))
        result[name] = after.head[bone] + quaternions.rotate(turn, np.asarray(points) - before.head[bone])
    return result


def _figure(chains: Mapping[str, tuple[int, ...]], place: Array, tail: Array) -> _Figure:
    def at(role: str) -> Array:
        joints: Array = place[:, chains[role][0]]
        return joints

    def of(*parts: str) -> Array:
        return np.stack([at(f"{part}.{side}") for part in parts for side in roles.SIDES], axis=1)

    hips, knees, ankles = of("thigh"), of("shin"), of("foot")
    feet = []
    for side in roles.SIDES:
        toes = chains.get(f"toe.{side}")
        ends = place[:, toes[0]] if toes else tail[:, chains[f"foot.{side}"][-1]]
        feet.append(ends - at(f"foot.{side}"))
    paired = all(f"upper_arm.{side}" in chains for side in roles.SIDES)
    top = of("upper_arm") if paired else None
    above = next((role for role in ("neck", "head", "chest", "spine") if role in chains), None)
    highest = at(above) if above else hips.mean(axis=1) + Z
    shoulders = highest if top is None else top.mean(axis=1)
    arms = np.zeros_like(shoulders)
    if top is not None and all(f"hand.{side}" in chains for side in roles.SIDES):
        arms = of("hand").mean(axis=1) - shoulders
    upper, lower = knees - hips, ankles - knees
    reach = np.linalg.norm(ankles - hips, axis=2)
    length = np.linalg.norm(upper, axis=2) + np.linalg.norm(lower, axis=2)
    return _Figure(
        _unit(shoulders - hips.mean(axis=1)),
        _unit(ankles - hips),
        reach / np.maximum(length, 1e-9),
        np.arccos(np.clip(np.sum(_unit(upper) * _unit(lower), axis=2), -1.0, 1.0)),
        _unit(hips[:, 0] - hips[:, 1]),
        _unit(top[:, 0] - top[:, 1]) if top is not None else _unit(hips[:, 0] - hips[:, 1]),
        _unit(np.stack(feet, axis=1)),
        arms / np.maximum(reach.mean(axis=1), 1e-9)[:, None],
    )


def _on_four(seen: _Figure) -> bool:
    """Whether the figure never straightens up, and has its front feet as low as its hind ones most of the time."""
    legs = _unit(seen.legs.mean(axis=1))
    along = np.sum(seen.trunk * legs, axis=1)
    low = np.sum((seen.arms - legs) * -legs, axis=1)  # of the hands over the feet, from shoulders as high as the hips
    straightens = float(np.percentile(along, 5.0)) < math.cos(ON_FOUR)
    return not straightens and bool(np.median(np.abs(low)) < AS_LOW) and bool(np.abs(seen.arms).max() > 0.0)


def _is_pose(figure: _Figure, *, four: bool) -> bool:
    """Whether a figure stands, on two legs or on four, however it lies in the world."""
    legs = _unit(figure.legs[0].mean(axis=0))
    trunk = _angle(figure.trunk[0], -legs)
    forward = np.cross(figure.left[0], -legs)
    ahead = figure.feet[0] @ forward
    return bool(
        _is_even(figure)
        and (figure.knee[0] < BENT).all()
        and (abs(trunk - 0.5 * math.pi) < TRUNK if four else trunk < TRUNK)
        and (ahead > -0.2).all()
    )


def _stands_bent(figure: _Figure) -> bool:
    """Whether it stands as birds and dinosaurs do: trunk level, or knees as bent as nobody would pose a person."""
    legs = _unit(figure.legs[0].mean(axis=0))
    ahead = figure.feet[0] @ np.cross(figure.left[0], -legs)
    return bool(_is_even(figure) and _angle(legs, -Z) < UPRIGHT and (ahead > -0.2).all())


def _is_even(figure: _Figure) -> bool:
    """Whether the legs go the same way, across the line of the hips, and the shoulders lie along that."""
    legs = _unit(figure.legs[0].mean(axis=0))
    return bool(
        _angle(figure.legs[0, 0], figure.legs[0, 1]) < ASKEW
        and _angle(figure.left[0], figure.shoulders[0]) < ASKEW
        and abs(float(figure.left[0] @ legs)) < math.sin(ASKEW)
    )


def _worth(seen: _Figure, *, four: bool) -> Array:
    """How upright, straight and alike on both sides each pose is."""
    legs = _unit(seen.legs.mean(axis=1))
    forward = np.cross(seen.left, -legs)
    straight = np.zeros(len(legs)) if four else -np.sum(seen.trunk * legs, axis=1)
    alike = np.sum(seen.legs[:, 0] * seen.legs[:, 1], axis=1) + np.sum(seen.left * seen.shoulders, axis=1)
    ahead = np.einsum("nsi,ni->n", seen.feet, forward)
    upright = -legs[:, 2] if four else seen.trunk[:, 2]
    worth: Array = 2.0 * straight + 4.0 * seen.straight.min(axis=1) + 2.0 * alike + 0.5 * ahead + 1.0 * upright
    return worth


def _stretched(skeleton: Skeleton, clip: Clip, chains: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether limbs of the motion have other lengths than at rest."""
    pairs = [("thigh", "shin"), ("shin", "foot"), ("upper_arm", "forearm"), ("forearm", "hand")]
    for upper, lower in pairs:
        for side in roles.SIDES:
            if f"{upper}.{side}" not in chains or f"{lower}.{side}" not in chains:
                continue
            a, b = chains[f"{upper}.{side}"][0], chains[f"{lower}.{side}"][0]
            usual = float(np.median(np.linalg.norm(clip.position[:, b] - clip.position[:, a], axis=1)))
            if abs(float(np.linalg.norm(skeleton.head[b] - skeleton.head[a])) - usual) > STRETCHED * usual:
                return True
    return False


def _offsets(clip: Clip) -> Array:
    """Heads (nb, 3) in the parent's frame, as they mostly are; roots' in the world at rest."""
    offsets: Array = np.median(to_local(clip).position, axis=0)
    roots = clip.skeleton.parent < 0
    offsets[roots] = clip.skeleton.head[roots]
    return offsets


def _compose(skeleton: Skeleton, turn: Array, offset: Array) -> Skeleton:
    """The skeleton with its bones at rest turned (nb, 4) and placed (nb, 3) so in their parents' frames."""
    place, orientation = offset.copy(), quaternions.normalize(turn)
    for bone, parent in enumerate(skeleton.parent):
        if parent >= 0:
            place[bone] = place[parent] + quaternions.rotate(orientation[parent], place[bone])
            orientation[bone] = quaternions.multiply(orientation[parent], orientation[bone])
    return replace(
        skeleton, head=place, tail=_tails(skeleton, place[None], orientation[None])[0], orientation=orientation
    )


def _tails(skeleton: Skeleton, place: Array, turn: Array) -> Array:
    """Tails (n, nb, 3) in poses; what lay on the head of a child goes on to."""
    back = quaternions.multiply(turn, quaternions.conjugate(skeleton.orientation))
    tails = place + quaternions.rotate(back, skeleton.tail - skeleton.head)
    for bone, parent in enumerate(skeleton.parent):
        if parent >= 0 and np.linalg.norm(skeleton.tail[parent] - skeleton.head[bone]) < 1e-5:
            moved = np.linalg.norm(place[:, bone] - place[:, parent], axis=1) > 1e-4
            tails[moved, parent] = place[moved, bone]
    return tails


def _unit(vectors: Array) -> Array:
    result: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return result


def _angle(a: Array, b: Array) -> float:
    return math.acos(float(np.clip(_unit(a) @ _unit(b), -1.0, 1.0)))
