# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton's character: which bones make up which body, what the bodies weigh, and by what joints they hang together.

    detail    bodies
    simple    pelvis, torso, head, and on either side arm, forearm, hand, thigh, shank, foot; head and hands are welded
              on, so a person has about 31 degrees of freedom
    full      the torso parted into abdomen and thorax, clavicles, and head, hands and tail on joints of their own

At rest, which is the zero of every joint, body frames are parallel to the skeleton's heading: X to where it faces, Y to
its left, Z up; a foot's lies along its sole. The rest of a joint is moved off the skeleton's rest pose by as much as
its axes need. A body follows one bone, its leader: the first of a limb's chain, the last of the trunk's.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..character import Body, Character, Joint, JointKind
from ..character.anthropometry import Sex
from ..character.check import inertia as checked_inertia
from ..character.mass import Mass
from . import masses, quaternions, roles
from .clip import Clip, Skeleton
from .digits import on_digits
from .followers import with_followers
from .joints import as_vector, joint_place, make_joint
from .landmarks import (
    SIDES,
    Chains,
    find_landmarks,
    find_soles,
    find_support,
    foot_length,
    heading_of,
    is_quadruped,
    leg_length,
)
from .parts import Detail, Part, check_kinds, gather_masses, make_parts
from .quaternions import Array
from .rest_pose import is_on_four
from .roles import Roles
from .shapes import contact_shapes

SHORTEST_LEG, LONGEST_LEG = 0.02, 20.0  # m
USUAL_LEG = (0.1, 3.0)  # m
PERSONS_LEG = (0.35, 1.3)  # m, children's too
PERSONS_TRUNK = (0.35, 0.95)  # of the leg: from the hips to the shoulders; of a tall and of a small person 0.6
USUAL_PERSONS_LEG = 0.86  # m
OTHER_UNITS = (0.0254, 0.3048, 0.056444)  # m: inch, foot, and the CMU database's
LEAST_HEIGHT = 0.75  # of an animal's leg with its foot: its hips stand at least as high, however it crouches
ON_FLOOR = 0.02  # of stature: toes that end as near z = 0 at rest stand on it
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class BodyPlan:
    """A character and how the bones of a skeleton ride on its bodies."""

    character: Character
    skeleton: Skeleton
    roles: Roles
    quadruped: bool
    stature: float  # m; of a quadruped, of a person with legs as long
    leader: NDArray[np.int64]  # (bodies,) the bone that a body follows
    frame: Array  # (bodies, 4) orientation of the body's frame at the skeleton's rest
    origin: Array  # (bodies, 3) of the body's frame, in the leader's frame
    body: NDArray[np.int64]  # (bones,) the body on which a bone rides, -1 for none
    own: NDArray[np.bool_]  # (bones,) it belongs to its body; the others only go along with one, see followers.py
    offset: Array  # (bones, 4) a bone's orientation in its body's frame at rest
    hangs_from: NDArray[np.int64]  # (bones,) the bone that gives a bone's place; -1: its body does, or nothing

    def body_targets(self, clip: Clip) -> tuple[Array, Array]:
        """Where the clip's bones want the bodies: origins (nf, bodies, 3) and orientations (nf, bodies, 4)."""
        return _targets(self.skeleton, clip, self.leader, self.frame, self.origin)


def make_body_plan(
    skeleton: Skeleton,
    roles_of_bones: Roles,
    *,
    clip: Clip | None = None,
    detail: Detail = "simple",
    sex: Sex = "male",
    total_mass: float | None = None,
    joints: Mapping[str, JointKind] | None = None,
    vertices: Mapping[str, Array] | None = None,
    masses_from_mesh: bool = False,
    on_floor: bool | None = None,
    name: str = "character",
) -> BodyPlan:
    """The character of a skeleton.

    `clip`, without damage, tells where joints are, their kinds and axes, and the soles; without it the rest pose does.
    `joints` chooses kinds by the joints' names, whatever the motion says. `vertices` are the mesh's at rest, in the
    world, by the bone that moves them most: they tell the soles and, with `masses_from_mesh`, what the bodies weigh,
    instead of tables. `on_floor` says whether the rest pose stands on z = 0, so that soles are
    level in it and reach down to there; unless given, its toes say so. A ValueError says what is missing or wrong.
    """
    chains = roles.checked(roles_of_bones, skeleton)
    heading = heading_of(skeleton, chains)
    leg = leg_length(skeleton, chains)
    if not SHORTEST_LEG < leg < LONGEST_LEG:
        raise ValueError(f"The legs are {leg:.3g} m long: check the scale of the skeleton.")
    quadruped = is_quadruped(skeleton, chains)
    chains = on_digits(skeleton, chains, leg, quadruped=quadruped)
    lowest = min(
        float(skeleton.tail[chain[-1], 2]) for role, chain in chains.items() if role.startswith(("foot", "toe"))
    )
    hips = 0.5 * (skeleton.head[chains["thigh.L"][0]] + skeleton.head[chains["thigh.R"][0]])
    if quadruped:
        hip_height = max(float(hips[2]) - lowest, LEAST_HEIGHT * (leg + foot_length(skeleton, chains)))
        stature = hip_height / masses.HIP_HEIGHT_OF_STATURE
        usual_mass = masses.MASS_OF_HIP_HEIGHT * hip_height**3
    else:
        stature = leg / masses.LEG_OF_STATURE
        usual_mass = masses.MASS_OF_STATURE * stature**2
    if total_mass is not None and not 0.0 < total_mass < 1e6:
        raise ValueError(f"The character's mass must be positive and below a million kg, not {total_mass}.")
    mass = usual_mass if total_mass is None else total_mass
    if on_floor is None:
        on_floor = abs(lowest) < ON_FLOOR * stature
    floor = 0.0 if on_floor else None
    soles = find_soles(skeleton, clip, chains, heading, stature, quadruped, vertices or {}, floor)
    marks = find_landmarks(skeleton, chains, stature, soles, hips)
    weights = masses.animal(marks, mass) if quadruped else masses.person(marks, heading, stature, mass, sex)
    parts = make_parts(chains, marks, quadruped, detail)
    weights = gather_masses(weights, parts)
    body_of_bone = _body_of_bone(skeleton, chains, parts)
    posed = clip or Clip(skeleton, 1.0, skeleton.head[None], skeleton.orientation[None])
    if masses_from_mesh:
        clouds: dict[str, list[Array]] = {}
        for bone, bone_name in enumerate(skeleton.names):
            if bone_name in (vertices or {}) and body_of_bone[bone] >= 0:
                clouds.setdefault(parts[body_of_bone[bone]].name, []).append((vertices or {})[bone_name])
        weights = masses.from_mesh(clouds, weights, total_mass)
        support = None
        if not quadruped and is_unlike_a_person(posed, roles_of_bones):  # people stand slightly leaning at rest, too
            support = find_support(skeleton, chains, soles, heading, ON_FLOOR * stature)
        if support is not None:
            weights = masses.balanced(weights, *support)
    kinds = check_kinds(joints or {}, parts)

    leader = np.array([part.leader for part in parts], dtype=np.int64)
    frame = np.array([soles[part.name].orientation if part.name in soles else heading for part in parts])
    origin = np.zeros((len(parts), 3))
    index = {part.name: i for i, part in enumerate(parts)}
    bodies: list[Body] = []
    for i, part in enumerate(parts):
        place = np.zeros(3)
        joint, rest = Joint(part.joint, "free"), heading
        if part.parent is None:
            place = skeleton.head[part.leader]
        else:
            up = index[part.parent]
            place, origin[i] = joint_place(skeleton, posed, part, leader[up], frame[up], origin[up])
            turn = _targets(skeleton, posed, leader, frame, origin)[1]
            motion = quaternions.multiply(quaternions.conjugate(turn[:, up]), turn[:, i])
            at_rest = quaternions.multiply(quaternions.conjugate(frame[up]), frame[i])
            joint, rest = make_joint(part, motion, at_rest, kinds.get(part.joint), marks, heading, frame[i], quadruped)
        at = skeleton.head[part.leader] + quaternions.rotate(skeleton.orientation[part.leader], origin[i])
        weight = masses.seen_from(weights[part.name], at, frame[i])
        bodies.append(_body(part, joint, weight, place, rest))
    own = body_of_bone >= 0
    if clip is not None:
        body_of_bone = with_followers(clip, body_of_bone, leader)
    body = np.maximum(body_of_bone, 0)
    offset = quaternions.multiply(quaternions.conjugate(frame[body]), skeleton.orientation)
    offset = np.where((body_of_bone < 0)[:, None], IDENTITY, offset)
    hangs_from = _hangs_from(skeleton, body_of_bone, own, parts)
    places = skeleton.head[leader] + quaternions.rotate(skeleton.orientation[leader], origin)
    contacts = contact_shapes(parts, marks, soles, places, frame, weights, stature, quadruped)
    character = Character(name, tuple(bodies), tuple(contacts))
    order = np.array([index[one.name] for one in character.bodies], dtype=np.int64)
    place_of = np.argsort(order)
    return BodyPlan(
        character,
        skeleton,
        {role: tuple(names) for role, names in roles_of_bones.items()},
        quadruped,
        stature,
        leader[order],
        frame[order],
        origin[order],
        np.where(body_of_bone >= 0, place_of[np.maximum(body_of_bone, 0)], -1),
        own,
        offset,
        hangs_from,
    )


def plausible_scale(clip: Clip, roles_of_bones: Roles) -> float:
    """The metres that a unit of the clip is likely to be: 1 where its legs are 0.1 to 3 m long already.

    Else the power of ten that makes them a person's; or inches or the CMU database's unit, where these make them so to
    within an eighth; else what makes them a person's exactly. An animal's, and a giant's, come out by a power of ten.
    Legs are as long as they mostly are in the motion, which may be damaged: a rest pose may be none.
    """
    chains = roles.checked(roles_of_bones, clip.skeleton)
    leg = 0.0
    for side in roles.SIDES:
        joints = [clip.position[:, chains[f"{part}.{side}"][0]] for part in ("thigh", "shin", "foot")]
        leg += 0.5 * sum(float(np.nanmedian(np.linalg.norm(b - a, axis=1))) for a, b in pairwise(joints))
    if not leg > 0.0:
        raise ValueError("The legs have no length.")
    if USUAL_LEG[0] <= leg <= USUAL_LEG[1]:
        return 1.0
    power = float(10.0 ** round(-math.log10(leg)))
    if PERSONS_LEG[0] <= leg * power <= PERSONS_LEG[1] or is_on_four(clip, roles_of_bones):
        return power
    nearest = min(OTHER_UNITS, key=lambda unit: abs(math.log(leg * unit / USUAL_PERSONS_LEG)))
    if abs(math.log(leg * nearest / USUAL_PERSONS_LEG)) < math.log(1.125):
        return nearest
    return float(f"{USUAL_PERSONS_LEG / leg:.2g}")


def is_unlike_a_person(clip: Clip, roles_of_bones: Roles) -> bool:
    """Whether a figure on two legs is built so that tables of people say little of what its parts weigh.

    It has a tail, with arms, wings or neither, or its trunk, from the hips to the shoulders, is much longer or shorter
    to its legs than theirs.
    """
    chains = {role: [clip.skeleton.index(name) for name in names] for role, names in roles_of_bones.items()}
    legs_and_arms = [[f"{part}.{side}" for side in roles.SIDES] for part in ("thigh", "shin", "foot", "upper_arm")]
    whole = [all(chains.get(role) for role in pair) for pair in legs_and_arms]
    has_tail = bool(chains.get("tail"))
    if not all(whole[:3]) or not (has_tail or whole[3]) or is_on_four(clip, roles_of_bones):
        return False
    if has_tail:
        return True
    hips, knees, ankles, shoulders = (
        np.stack([clip.position[:, chains[f"{part}.{side}"][0]] for side in roles.SIDES], axis=1)
        for part in ("thigh", "shin", "foot", "upper_arm")
    )
    legs = np.nanmedian(np.linalg.norm(knees - hips, axis=2) + np.linalg.norm(ankles - knees, axis=2))
    trunk = np.nanmedian(np.linalg.norm(shoulders.mean(axis=1) - hips.mean(axis=1), axis=1))
    return not PERSONS_TRUNK[0] < trunk / max(float(legs), 1e-9) < PERSONS_TRUNK[1]


def _targets(
    skeleton: Skeleton, clip: Clip, leader: NDArray[np.int64], frame: Array, origin: Array
) -> tuple[Array, Array]:
    turn = clip.orientation[:, leader]
    place = clip.position[:, leader] + quaternions.rotate(turn, origin[None])
    back = quaternions.multiply(quaternions.conjugate(skeleton.orientation[leader]), frame)
    return place, quaternions.continuous(quaternions.multiply(turn, back[None]))


def _body(part: Part, joint: Joint, weight: Mass, place: Array, rest: Array) -> Body:
    return Body(
        part.name,
        part.parent,
        joint,
        mass=weight.mass,
        inertia=checked_inertia(weight.inertia.tolist(), f"body '{part.name}'"),
        center_of_mass=as_vector(weight.center),
        position=as_vector(place),
        orientation=(float(rest[0]), float(rest[1]), float(rest[2]), float(rest[3])),
    )


def _body_of_bone(skeleton: Skeleton, chains: Chains, parts: list[Part]) -> NDArray[np.int64]:
    """For each bone the index of the part it rides on, -1 for none; bones without a role ride with their parent."""
    index = {part.name: i for i, part in enumerate(parts)}
    trunk = next(name for name in ("thorax", "torso", "pelvis") if name in index)
    spine = chains.get("spine", ()) + chains.get("chest", ())
    role_body = {"pelvis": "pelvis", "neck": "head", "head": "head"}
    role_body["tail"] = "tail" if "tail" in index else "pelvis"
    for side, letter in SIDES.items():
        names = {"clavicle": "clavicle", "upper_arm": "arm", "forearm": "forearm", "hand": "hand"}
        names |= {"thigh": "thigh", "shin": "shank", "foot": "foot", "toe": "foot"}
        names |= {"metacarpus": "metacarpus", "metatarsus": "metatarsus"}
        role_body |= {f"{role}.{letter}": f"{side}_{body}" for role, body in names.items()}
    body = np.full(len(skeleton.names), -1, dtype=np.int64)
    for role, chain in chains.items():
        for bone in chain:
            name = role_body.get(role, trunk)
            body[bone] = index.get(name, index[trunk])
    if "abdomen" in index:
        upper = spine.index(parts[index["thorax"]].leader)
        body[list(spine[: max(upper, 1)])] = index["abdomen"]
        body[list(spine[upper:])] = index["thorax"]
    for bone, parent in enumerate(skeleton.parent):
        if body[bone] < 0 <= parent:
            body[bone] = body[parent]
    return body


def _hangs_from(
    skeleton: Skeleton, body: NDArray[np.int64], own: NDArray[np.bool_], parts: list[Part]
) -> NDArray[np.int64]:
    """For each bone the one that gives its place, so that bones stay joined where bodies bend elsewhere than they do.

    That is its parent, if that rides on the same body or on one further up. Rigs with controls hold the parts of a body
    by bones of other chains, which bend elsewhere again: there it is the bone that the body follows, or the next body's
    further up, if that is placed by the body's own bones. So shoulders and faces stay at the end of the spine.
    """
    index = {part.name: i for i, part in enumerate(parts)}
    above = [-1 if part.parent is None else index[part.parent] for part in parts]
    parent = skeleton.parent
    result = np.full(len(body), -1, dtype=np.int64)
    for bone in np.flatnonzero(parent >= 0).tolist():
        on, below = int(body[parent[bone]]), int(body[bone])
        if on < 0 <= below:
            continue  # a bone that nothing carries does not carry the character
        while below >= 0 and below != on:
            below = above[below]
        if below == on:
            result[bone] = parent[bone]
    of_body = own & (parent >= 0) & own[parent]
    beside = own | (body != body[parent]) | (parent < 0)
    for bone in np.flatnonzero((body >= 0) & ~of_body & beside).tolist():
        at = int(body[bone])
        while at >= 0 and not (of_body[parts[at].leader] and result[parts[at].leader] >= 0):
            at = above[at]
        if at >= 0 and bone not in _chain_above(result, parts[at].leader):
            result[bone] = parts[at].leader
    return result


def _chain_above(hangs_from: NDArray[np.int64], bone: int) -> list[int]:
    """A bone, what it hangs from, and so on."""
    chain = []
    while bone >= 0:
        chain.append(bone)
        bone = int(hangs_from[bone])
    return chain
