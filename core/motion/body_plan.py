# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton's character: which bones make up which body, what the bodies weigh, and by what joints they hang together.

    detail    bodies
    simple    pelvis, torso, head, and on either side arm, forearm, hand, thigh, shank, foot; head and hands are welded
              on, so a person has about 29 degrees of freedom
    full      the torso parted into abdomen and thorax, clavicles, and head, hands and tail on joints of their own

At rest, which is the zero of every joint, body frames are parallel to the skeleton's heading: X to where it faces, Y to
its left, Z up; a foot's lies along its sole. The rest of a joint is moved off the skeleton's rest pose by as much as
its axes need. A body follows one bone, its leader: the first of a limb's chain, the last of the trunk's.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Body, Capsule, Character, Cone, ContactShape, Corner, Joint, JointKind, Limits, Range, Sphere
from ..character.anthropometry import Sex
from ..character.check import inertia as checked_inertia
from ..character.mass import Mass
from . import masses, quaternions, roles
from .articulation import Hinge, Universal, fit_center, fit_hinge, fit_universal, hinge_stray
from .clip import Clip, Skeleton
from .feet import Sole, find_sole
from .quaternions import Array
from .roles import Roles

Detail = Literal["simple", "full"]

HINGE_STRAY = math.radians(4.0)  # RMS: a knee or elbow that strays further from a hinge is a ball
HINGE_SWEPT = math.radians(8.0)  # RMS: a motion smaller than this says nothing about the axis
UNIVERSAL_STRAY = math.radians(1.0)
UNIVERSAL_SWEPT = math.radians(3.0)
CENTER_WEIGHT = 3e-3  # of a functional centre's distance from where anatomy has it, see fit_center
LEVEL_TRUNK = math.radians(50.0)  # from the vertical: beyond it a skeleton goes on four legs
SHORTEST_LIMB = 0.01  # of the leg's length
SHORTEST_LEG, LONGEST_LEG = 0.02, 20.0  # m
USUAL_LEG = (0.1, 3.0)  # m
SIDES = {"left": "L", "right": "R"}
X, Y, Z = np.eye(3)
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
    offset: Array  # (bones, 4) a bone's orientation in its body's frame at rest
    through_parent: NDArray[np.bool_]  # (bones,) a bone's place is given by its parent bone, not by its body

    def body_targets(self, clip: Clip) -> tuple[Array, Array]:
        """Where the clip's bones want the bodies: origins (nf, bodies, 3) and orientations (nf, bodies, 4)."""
        return _targets(self.skeleton, clip, self.leader, self.frame, self.origin)


class _Part(NamedTuple):
    """A body to be: where it hangs, which bone leads it, what kind of joint it may have."""

    name: str
    parent: str | None
    joint: str
    leader: int
    kinds: tuple[JointKind, ...]  # in order of preference; the last holds any motion
    axes: tuple[Array, ...]  # the joint's where the motion does not say, in the frame of a person standing at attention
    prior: Array | None  # where a functional centre is looked for, at rest; None: the joint is at the leader's head


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
    on_floor: bool = False,
    name: str = "character",
) -> BodyPlan:
    """The character of a skeleton.

    `clip`, without damage, tells joints' centres, kinds and axes, and the soles; the rest pose does without it. `joints`
    gives kinds by the joints' names, against what the motion says. `vertices` are the mesh's at rest, by the bone that
    moves them most. `on_floor` says that the rest pose stands on z = 0. ValueError says what is missing.
    """
    chains = roles.checked(roles_of_bones, skeleton)
    heading = _heading(skeleton, chains)
    leg = _leg_length(skeleton, chains)
    if not SHORTEST_LEG < leg < LONGEST_LEG:
        raise ValueError(f"A leg of {leg:.3g} m is not a character's; is the scale of the skeleton right?")
    quadruped = _is_quadruped(skeleton, chains)
    hips = 0.5 * (skeleton.head[chains["thigh.L"][0]] + skeleton.head[chains["thigh.R"][0]])
    if quadruped:
        lowest = min(float(skeleton.tail[chains[f"foot.{side}"][-1], 2]) for side in roles.SIDES)
        hip_height = max(float(hips[2]) - lowest, 0.5 * leg)
        stature = hip_height / masses.HIP_HEIGHT_OF_STATURE
        usual_mass = masses.MASS_OF_HIP_HEIGHT * hip_height**3
    else:
        stature = leg / masses.LEG_OF_STATURE
        usual_mass = masses.MASS_OF_STATURE * stature**2
    if total_mass is None:
        total_mass = usual_mass
    if not 0.0 < total_mass < 1e6:
        raise ValueError(f"A character's mass must be positive and below a million kg, not {total_mass}.")
    soles = _soles(skeleton, clip, chains, heading, stature, quadruped, vertices or {}, on_floor)
    marks = _landmarks(skeleton, chains, heading, stature, soles, hips)
    weights = masses.animal(marks, total_mass) if quadruped else masses.person(marks, heading, stature, total_mass, sex)
    parts = _parts(chains, marks, quadruped, detail)
    weights = _gathered(weights, parts)
    kinds = _checked_kinds(joints or {}, parts)

    posed = clip or Clip(skeleton, 1.0, skeleton.head[None], skeleton.orientation[None])
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
            place, origin[i] = _center(skeleton, posed, part, leader[up], frame[up], origin[up])
            turn = _targets(skeleton, posed, leader, frame, origin)[1]
            motion = quaternions.multiply(quaternions.conjugate(turn[:, up]), turn[:, i])
            at_rest = quaternions.multiply(quaternions.conjugate(frame[up]), frame[i])
            joint, rest = _joint(part, motion, at_rest, kinds.get(part.joint), marks, heading, frame[i], quadruped)
        at = skeleton.head[part.leader] + quaternions.rotate(skeleton.orientation[part.leader], origin[i])
        weight = masses.seen_from(weights[part.name], at, frame[i])
        bodies.append(_body(part, joint, weight, place, rest))
    body, offset, through_parent = _ride(skeleton, chains, parts, frame)
    places = skeleton.head[leader] + quaternions.rotate(skeleton.orientation[leader], origin)
    contacts = _contacts(parts, marks, soles, places, frame, weights, stature, quadruped)
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
        np.where(body >= 0, place_of[np.maximum(body, 0)], -1),
        offset,
        through_parent,
    )


def plausible_scale(skeleton: Skeleton, roles_of_bones: Roles) -> float:
    """The power of ten by which to scale the skeleton for its legs to be 0.1 to 3 m long: 1 where they are already."""
    leg = _leg_length(skeleton, roles.checked(roles_of_bones, skeleton))
    if leg <= 0.0:
        raise ValueError("The legs have no length.")
    if USUAL_LEG[0] <= leg <= USUAL_LEG[1]:
        return 1.0
    return float(10.0 ** round(-math.log10(leg)))


def _heading(skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]]) -> Array:
    """The turn about Z that takes X to where the skeleton faces, from its left and right."""
    left = np.zeros(3)
    for role in ("thigh", "shin", "foot", "upper_arm"):
        if f"{role}.L" in chains and f"{role}.R" in chains:
            left += skeleton.head[chains[f"{role}.L"][0]] - skeleton.head[chains[f"{role}.R"][0]]
    if math.hypot(left[0], left[1]) < 1e-6 or math.hypot(left[0], left[1]) < 0.2 * abs(left[2]):
        raise ValueError(
            "The left and the right leg are not beside each other at rest, so there is no telling forward."
        )
    angle = math.atan2(-left[0], left[1])
    return np.array([math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)])


def _leg_length(skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]]) -> float:
    lengths = []
    for side in roles.SIDES:
        points = [skeleton.head[chains[f"{role}.{side}"][0]] for role in ("thigh", "shin", "foot")]
        lengths.append(sum(float(np.linalg.norm(b - a)) for a, b in zip(points, points[1:], strict=False)))
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


def _is_quadruped(skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether the shoulders are in front of the hips rather than above them."""
    if "upper_arm.L" not in chains or "upper_arm.R" not in chains:
        return False
    trunk = skeleton.head[[chains["upper_arm.L"][0], chains["upper_arm.R"][0]]].mean(axis=0)
    trunk = trunk - skeleton.head[[chains["thigh.L"][0], chains["thigh.R"][0]]].mean(axis=0)
    return math.atan2(math.hypot(trunk[0], trunk[1]), trunk[2]) > LEVEL_TRUNK


def _soles(
    skeleton: Skeleton,
    clip: Clip | None,
    chains: Mapping[str, tuple[int, ...]],
    heading: Array,
    stature: float,
    quadruped: bool,
    vertices: Mapping[str, Array],
    on_floor: bool,
) -> dict[str, Sole]:
    """Soles by the name of their body."""
    result: dict[str, Sole] = {}
    for side, letter in SIDES.items():
        for part, role in (("foot", "foot"), ("hand", "hand")) if quadruped else (("foot", "foot"),):
            if f"{role}.{letter}" not in chains:
                continue
            chain = chains[f"{role}.{letter}"] + (chains.get(f"toe.{letter}", ()) if role == "foot" else ())
            clouds = [np.asarray(vertices[skeleton.names[b]]) for b in chain if skeleton.names[b] in vertices]
            cloud = np.concatenate(clouds) if clouds else None
            floor = 0.0 if on_floor else None
            result[f"{side}_{part}"] = find_sole(skeleton, clip, chain, heading, stature, cloud, floor)
    return result


def _landmarks(
    skeleton: Skeleton,
    chains: Mapping[str, tuple[int, ...]],
    heading: Array,
    stature: float,
    soles: Mapping[str, Sole],
    hips: Array,
) -> dict[str, Array]:
    """Places at rest that bones, masses and limits refer to; those of missing bones are missing."""
    head, tail = skeleton.head, skeleton.tail
    marks: dict[str, Array] = {"hips": hips}
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
        ):
            if f"{role}.{letter}" in chains:
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
            marks[f"{side}_{end}_middle"] = marks[f"{side}_ankle"] + quaternions.rotate(sole.orientation, middle)
    return marks


def _parts(
    chains: Mapping[str, tuple[int, ...]], marks: Mapping[str, Array], quadruped: bool, detail: Detail
) -> list[_Part]:
    """The bodies to make, parents first."""
    full = detail == "full"
    hips, cervicale = marks["hips"], marks["cervicale"]
    waist, back = (hips + part * (cervicale - hips) for part in (masses.OMPHALION, masses.XIPHION))
    parts = [_Part("pelvis", None, "root", chains["pelvis"][0], ("free",), (), None)]
    spine = chains.get("spine", ()) + chains.get("chest", ())
    trunk = "pelvis"
    if full and len(spine) > 1:
        trunk = "thorax"
        parts.append(_Part("abdomen", "pelvis", "lower_back", spine[(len(spine) - 1) // 2], ("ball",), (), waist))
        parts.append(_Part("thorax", "abdomen", "upper_back", spine[-1], ("ball",), (), back))
    elif spine:
        trunk = "torso"
        parts.append(_Part("torso", "pelvis", "trunk", spine[-1], ("ball",), (), waist))
    if "head" in chains:
        kinds: tuple[JointKind, ...] = ("ball",) if full else ("fixed",)
        parts.append(_Part("head", trunk, "neck", chains["head"][0], kinds, (), cervicale))
    if "tail" in chains:
        kinds = ("ball",) if full else ("fixed",)
        parts.append(_Part("tail", "pelvis", "tail", chains["tail"][0], kinds, (), None))
    for side, letter in SIDES.items():
        above = trunk
        if full and f"{side}_clavicle" in marks:
            kinds, above = ("universal", "ball"), f"{side}_clavicle"
            parts.append(_Part(above, trunk, above, chains[f"clavicle.{letter}"][0], kinds, (X, Z), None))
        wrist: tuple[JointKind, ...] = ("universal", "ball") if full or quadruped else ("fixed",)
        for name, joint, role, kinds, axes in (
            ("arm", "shoulder", "upper_arm", ("ball",), ()),
            ("forearm", "elbow", "forearm", ("hinge", "ball"), (Y,)),
            ("hand", "wrist", "hand", wrist, (X, Y)),
            ("thigh", "hip", "thigh", ("ball",), ()),
            ("shank", "knee", "shin", ("hinge", "ball"), (Y,)),
            ("foot", "ankle", "foot", ("universal", "ball"), (Y, X)),
        ):
            if f"{role}.{letter}" not in chains:
                continue
            parent = "pelvis" if name == "thigh" else above
            leader = chains[f"{role}.{letter}"][0]
            parts.append(_Part(f"{side}_{name}", parent, f"{side}_{joint}", leader, kinds, axes, None))
            above = f"{side}_{name}"
    return parts


def _gathered(weights: masses.Masses, parts: list[_Part]) -> masses.Masses:
    """The masses of the bodies to be; those of parts that have no body of their own go to the one they hang from."""
    made = {part.name for part in parts}
    trunk = "thorax" if "thorax" in made else "torso" if "torso" in made else "pelvis"
    heirs = {"abdomen": trunk, "thorax": trunk, "head": trunk, "tail": "pelvis"}
    for side in SIDES:
        limb = trunk
        heirs[f"{side}_clavicle"] = trunk
        for name in ("arm", "forearm", "hand"):
            heirs[f"{side}_{name}"] = limb
            limb = f"{side}_{name}" if f"{side}_{name}" in made else limb
    result: masses.Masses = {name: [] for name in made}
    for name, some in weights.items():
        result[name if name in made else heirs[name]] += some
    return result


def _checked_kinds(joints: Mapping[str, JointKind], parts: list[_Part]) -> Mapping[str, JointKind]:
    names = [part.joint for part in parts if part.parent is not None]
    for name, kind in joints.items():
        if name not in names:
            raise ValueError(f"The character has no joint '{name}' to choose a kind for.")
        if kind not in {"ball", "universal", "hinge", "fixed"}:
            raise ValueError(f"Joint '{name}' can be a ball, universal, hinge or fixed, not '{kind}'.")
    return joints


def _targets(
    skeleton: Skeleton, clip: Clip, leader: NDArray[np.int64], frame: Array, origin: Array
) -> tuple[Array, Array]:
    turn = clip.orientation[:, leader]
    place = clip.position[:, leader] + quaternions.rotate(turn, origin[None])
    back = quaternions.multiply(quaternions.conjugate(skeleton.orientation[leader]), frame)
    return place, quaternions.continuous(quaternions.multiply(turn, back[None]))


def _center(
    skeleton: Skeleton, clip: Clip, part: _Part, parent: np.int64, frame: Array, origin: Array
) -> tuple[Array, Array]:
    """The joint's place in the parent body's frame, and in the leader's frame."""
    places, turns = clip.position, clip.orientation
    back = quaternions.multiply(quaternions.conjugate(frame), skeleton.orientation[parent])
    local = np.zeros(3)
    if part.prior is None:
        away = places[:, part.leader] - places[:, parent]
        place = np.median(quaternions.rotate(quaternions.conjugate(turns[:, parent]), away), axis=0)
    else:
        priors = tuple(
            quaternions.rotate(quaternions.conjugate(skeleton.orientation[bone]), part.prior - skeleton.head[bone])
            for bone in (parent, part.leader)
        )
        place, local = fit_center(
            (places[:, parent], turns[:, parent]),
            (places[:, part.leader], turns[:, part.leader]),
            (priors[0], priors[1]),
            CENTER_WEIGHT,
        )
    return quaternions.rotate(back, place - origin), local


def _joint(
    part: _Part,
    motion: Array,
    at_rest: Array,
    chosen: JointKind | None,
    marks: Mapping[str, Array],
    heading: Array,
    frame: Array,
    quadruped: bool,
) -> tuple[Joint, Array]:
    """The joint, and the body's orientation in its parent when the joint is at zero.

    `motion` (n, 4) and `at_rest` (4,) are the body's orientations in its parent's frame.
    """
    axes = _typical_axes(part, marks, heading, frame)
    for kind in (chosen,) if chosen else part.kinds:
        last = bool(chosen) or kind == part.kinds[-1]
        if kind == "hinge":
            hinge = _hinge(motion, at_rest, axes[0])
            if last or hinge.stray < HINGE_STRAY:
                rest = quaternions.multiply(
                    quaternions.between(quaternions.rotate(at_rest, hinge.child_axis), hinge.parent_axis), at_rest
                )
                limits = _angle_limits(part, hinge, rest, marks, heading, frame, quadruped)
                return Joint(part.joint, "hinge", (_vector(hinge.child_axis),), limits), rest
        elif kind == "universal":
            universal = _universal(motion, at_rest, axes)
            if last or universal.stray < UNIVERSAL_STRAY:
                rest = _universal_rest(universal, at_rest)
                first = quaternions.rotate(quaternions.conjugate(rest), universal.parent_axis)
                limits = (Range(-math.radians(30.0), math.radians(30.0)),) * 2
                return Joint(part.joint, "universal", (_vector(first), _vector(universal.child_axis)), limits), rest
        elif kind == "ball":
            return Joint(part.joint, "ball", limits=_cone(part, at_rest, marks, heading, frame, quadruped)), at_rest
        elif kind == "fixed":
            return Joint(part.joint, "fixed"), quaternions.mean(motion)
    raise AssertionError(part.kinds)


def _typical_axes(part: _Part, marks: Mapping[str, Array], heading: Array, frame: Array) -> tuple[Array, Array]:
    """Two axes in the body's frame to take where the motion does not say.

    A forearm's turns it forward from where the arm points; knees and elbows that are bent at rest bend in that plane.
    """
    to_body = quaternions.conjugate(frame)
    if part.joint.endswith(("_knee", "_elbow")):
        upper, lower = _limb_directions(part, marks, heading)
        axis = Y if part.joint.endswith("_knee") else _cross_unit(X + 0.3 * Z, lower, Y)
        bend = np.cross(upper, lower)
        if np.linalg.norm(bend) > math.sin(math.radians(5.0)):
            bend = bend / np.linalg.norm(bend)
            if abs(bend @ axis) > 0.5:  # not bent sideways by the artist's hand
                axis = bend if bend @ axis > 0.0 else -bend
        axis = quaternions.rotate(to_body, quaternions.rotate(heading, axis))
        return axis, X
    if not part.axes:
        return Y, X
    if part.joint.endswith("_ankle"):
        return part.axes[0], part.axes[1]
    first, second = (quaternions.rotate(to_body, quaternions.rotate(heading, axis)) for axis in part.axes)
    return first, second


def _limb_directions(part: _Part, marks: Mapping[str, Array], heading: Array) -> tuple[Array, Array]:
    """Directions of thigh and shank, or of arm and forearm, in the heading's frame at rest."""
    side, joint = part.joint.split("_")
    points = ("hip", "knee", "ankle") if joint == "knee" else ("shoulder", "elbow", "wrist")
    a, b, c = (marks[f"{side}_{point}"] for point in points)
    back = quaternions.conjugate(heading)
    upper, lower = quaternions.rotate(back, b - a), quaternions.rotate(back, c - b)
    return upper / np.linalg.norm(upper), lower / max(float(np.linalg.norm(lower)), 1e-9)


def _hinge(motion: Array, at_rest: Array, typical: Array) -> Hinge:
    hinge = fit_hinge(motion)
    if hinge.swept < HINGE_SWEPT:
        parent_axis = quaternions.rotate(quaternions.mean(motion), typical)
        return Hinge(parent_axis, typical, hinge_stray(motion, parent_axis, typical), hinge.swept)
    sign = 1.0 if hinge.parent_axis @ quaternions.rotate(at_rest, typical) > 0.0 else -1.0
    return Hinge(sign * hinge.parent_axis, sign * hinge.child_axis, hinge.stray, hinge.swept)


def _universal(motion: Array, at_rest: Array, typical: tuple[Array, Array]) -> Universal:
    first, second = typical
    still = Universal(quaternions.rotate(at_rest, first), second, 0.5 * math.pi, 0.0)
    swept = quaternions.angle(motion, quaternions.mean(motion)[None])
    carried = quaternions.rotate(motion, second) @ still.parent_axis
    usual = still._replace(
        angle=float(np.arccos(carried).mean()), stray=float(np.arccos(np.clip(carried, -1.0, 1.0)).std())
    )
    if math.sqrt(float(np.mean(swept**2))) < UNIVERSAL_SWEPT:
        return usual
    found = fit_universal(motion)
    if found is None:
        return usual
    a, b = found.parent_axis, found.child_axis
    angle = found.angle
    # the axes' signs are free: turn each towards the axis that it resembles most
    if _leading(a) < 0.0:
        a, angle = -a, math.pi - angle
    if _leading(b) < 0.0:
        b, angle = -b, math.pi - angle
    return Universal(a, b, angle, found.stray)


def _universal_rest(universal: Universal, at_rest: Array) -> Array:
    """The orientation nearest to `at_rest` in which the two axes keep their angle."""
    a, b = universal.parent_axis, quaternions.rotate(at_rest, universal.child_axis)
    across = _cross_unit(a, b, _cross_unit(a, X, Y))
    now = math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))
    return quaternions.multiply(quaternions.exp((universal.angle - now) * across), at_rest)


def _angle_limits(
    part: _Part,
    hinge: Hinge,
    rest: Array,
    marks: Mapping[str, Array],
    heading: Array,
    frame: Array,
    quadruped: bool,
) -> tuple[Range, ...]:
    """0 to 150° of flexion, measured from a straight limb; an animal's, 80° to either side of its rest."""
    if quadruped:
        return (Range(-math.radians(80.0), math.radians(80.0)),)
    upper, lower = _limb_directions(part, marks, heading)
    # the parent's frame is the heading's; the body's own is turned by `rest` in it
    lower = quaternions.rotate(
        rest, quaternions.rotate(quaternions.conjugate(frame), quaternions.rotate(heading, lower))
    )
    a = hinge.parent_axis
    u, w = upper - (upper @ a) * a, lower - (lower @ a) * a
    bent = math.atan2(float(np.cross(u, w) @ a), float(u @ w))
    flexion = math.radians(150.0)
    return (Range(-bent, flexion - bent),) if part.joint.endswith("_knee") else (Range(-flexion - bent, -bent),)


def _cone(
    part: _Part, at_rest: Array, marks: Mapping[str, Array], heading: Array, frame: Array, quadruped: bool
) -> Limits:
    """Rounded ranges of healthy adults, as in character.presets.person; an animal's lie around its rest pose."""
    side, _, joint = part.joint.rpartition("_")
    back = quaternions.conjugate(heading)
    outward = 1.0 if side == "left" else -1.0
    places = {
        "hip": ("hip", "knee"),
        "shoulder": ("shoulder", "elbow"),
        "knee": ("knee", "ankle"),
        "elbow": ("elbow", "wrist"),
        "wrist": ("wrist", "fingers"),
        "clavicle": ("clavicle", "shoulder"),
    }
    axis = Z
    ends = places.get(joint or part.joint, places.get(part.joint.removeprefix(side + "_")))
    if joint in places and ends is not None and f"{side}_{ends[1]}" in marks:
        along = marks[f"{side}_{ends[1]}"] - marks[f"{side}_{ends[0]}"]
        if np.linalg.norm(along) > 1e-6:
            axis = quaternions.rotate(back, along / np.linalg.norm(along))
    elif joint == "ankle":
        axis = X
    center = axis
    swing, twist = {
        "trunk": (50.0, 45.0),
        "lower_back": (40.0, 25.0),
        "upper_back": (35.0, 40.0),
        "neck": (55.0, 75.0),
        "tail": (80.0, 45.0),
    }.get(part.joint, {"hip": (72.0, 45.0), "shoulder": (115.0, 90.0), "ankle": (55.0, 40.0)}.get(joint, (80.0, 90.0)))
    if part.joint == "trunk":
        center = _leaning(20.0, 0.0, 1.0)
    elif joint == "hip" and not quadruped:
        center = _leaning(50.0, 0.0, -1.0)
    elif joint == "shoulder" and not quadruped:
        center = _leaning(60.0, 30.0 * outward, -1.0)
    elif joint == "clavicle":
        swing, twist = 30.0, 30.0
    in_body = (
        axis
        if joint == "ankle"
        else quaternions.rotate(quaternions.conjugate(frame), quaternions.rotate(heading, axis))
    )
    # a centre that is only the axis at rest stays that; a leaning one is a direction of the parent's frame
    in_joint = in_body if center is axis else quaternions.rotate(quaternions.conjugate(at_rest), center)
    spread = Range(-math.radians(twist), math.radians(twist))
    return Cone(_vector(in_body), _vector(in_joint), math.radians(swing), spread)


def _leaning(forward: float, outward: float, up: float) -> Array:
    pitch, roll = math.radians(forward), math.radians(outward)
    return np.array([math.sin(pitch) * math.cos(roll), math.sin(roll), up * math.cos(pitch) * math.cos(roll)])


def _body(part: _Part, joint: Joint, weight: Mass, place: Array, rest: Array) -> Body:
    return Body(
        part.name,
        part.parent,
        joint,
        mass=weight.mass,
        inertia=checked_inertia(weight.inertia.tolist(), f"body '{part.name}'"),
        center_of_mass=_vector(weight.center),
        position=_vector(place),
        orientation=(float(rest[0]), float(rest[1]), float(rest[2]), float(rest[3])),
    )


def _ride(
    skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]], parts: list[_Part], frame: Array
) -> tuple[NDArray[np.int64], Array, NDArray[np.bool_]]:
    """For each bone its body, its orientation in the body's frame, and whether its parent bone gives its place."""
    index = {part.name: i for i, part in enumerate(parts)}
    trunk = next(name for name in ("thorax", "torso", "pelvis") if name in index)
    spine = chains.get("spine", ()) + chains.get("chest", ())
    role_body = {"pelvis": "pelvis", "neck": "head", "head": "head", "tail": "tail"}
    for side, letter in SIDES.items():
        names = {"clavicle": "clavicle", "upper_arm": "arm", "forearm": "forearm", "hand": "hand"}
        names |= {"thigh": "thigh", "shin": "shank", "foot": "foot", "toe": "foot"}
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
    through_parent = np.zeros(len(body), dtype=np.bool_)
    for bone, parent in enumerate(skeleton.parent):
        if parent < 0:
            continue
        if body[bone] < 0:
            body[bone] = body[parent]
        above, below = int(body[parent]), int(body[bone])
        while below >= 0 and below != above:
            owner = parts[below].parent
            below = -1 if owner is None else index[owner]
        through_parent[bone] = above == below
    offset = quaternions.multiply(quaternions.conjugate(frame[np.maximum(body, 0)]), skeleton.orientation)
    return body, np.where((body < 0)[:, None], IDENTITY, offset), through_parent


def _contacts(
    parts: list[_Part],
    marks: Mapping[str, Array],
    soles: Mapping[str, Sole],
    places: Array,
    frame: Array,
    weights: masses.Masses,
    stature: float,
    quadruped: bool,
) -> list[ContactShape]:
    """Capsules along limbs and trunk, spheres at head and hands, the corners of the soles."""
    size = stature / 1.75
    spans = {"pelvis": ("left_hip", "right_hip", 0.10), "abdomen": None, "head": None}
    shapes: list[ContactShape] = []
    for part, place, turn in zip(parts, places, frame, strict=True):
        side, _, limb = part.name.rpartition("_")
        back = quaternions.conjugate(turn)
        if part.name in soles:
            sole = soles[part.name]
            shapes += [
                Corner(f"{side}_{limb}_{end}_{edge}", part.name, (x, y, -sole.height))
                if limb == "hand"
                else Corner(f"{side}_{end}_{edge}", part.name, (x, y, -sole.height))
                for end, x in (("heel", sole.back), ("toe", sole.front))
                for edge, y in (("left", sole.left), ("right", sole.right))
            ]
            continue
        ends = {
            "arm": ("shoulder", "elbow", 0.045),
            "forearm": ("elbow", "wrist", 0.035),
            "thigh": ("hip", "knee", 0.07),
            "shank": ("knee", "ankle", 0.05),
        }.get(limb)
        span = spans.get(part.name)
        if ends is not None and f"{side}_{ends[1]}" in marks:
            start, end, radius = marks[f"{side}_{ends[0]}"], marks[f"{side}_{ends[1]}"], ends[2] * size
        elif span is not None:
            start, end, radius = marks[span[0]], marks[span[1]], span[2] * size
        elif part.name in {"torso", "thorax"}:
            start, end = (marks["hips"] + cut * (marks["cervicale"] - marks["hips"]) for cut in (0.5, 0.8))
            radius = 0.12 * size
        elif part.name == "head":
            start = end = 0.5 * (marks["skull"] + marks["vertex"])
            radius = 0.10 * size
        elif limb == "hand":
            start = end = 0.5 * (marks[f"{side}_wrist"] + marks[f"{side}_fingers"])
            radius = 0.05 * size
        else:
            continue
        if quadruped:
            length = max(float(np.linalg.norm(end - start)), 2.0 * radius)
            heavy = sum(weight.mass for weight in weights[part.name])
            radius = math.sqrt(heavy / (masses.DENSITY * math.pi * length))
        a, b = (_vector(quaternions.rotate(back, point - place)) for point in (start, end))
        if np.linalg.norm(end - start) < 1e-4:
            shapes.append(Sphere(part.name, part.name, a, radius))
        else:
            shapes.append(Capsule(part.name, part.name, a, b, radius))
    return shapes


def _vector(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def _cross_unit(a: Array, b: Array, otherwise: Array) -> Array:
    """The direction across both, or `otherwise` where they are parallel."""
    result = np.cross(a, b)
    length = float(np.linalg.norm(result))
    return result / length if length > 1e-6 else otherwise


def _leading(axis: Array) -> float:
    return float(axis[np.argmax(np.abs(axis))])
