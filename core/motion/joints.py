# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints from rest pose and motion: where they are, of what kind, about which axes, and within which limits.

Ranges are rounded figures of healthy adults, as in character.presets.person; an animal's lie around its rest pose.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..character import Cone, Joint, JointKind, Limits, Range
from . import quaternions
from .articulation import Hinge, Universal, fit_center, fit_hinge, fit_universal, hinge_stray
from .clip import Clip, Skeleton
from .parts import Part, X, Y, Z
from .quaternions import Array

HINGE_STRAY = math.radians(4.0)  # RMS: a knee or elbow that strays further from a hinge is a ball
HINGE_SWEPT = math.radians(8.0)  # RMS: a motion smaller than this says nothing about the axis
LEAST_STRAY = math.radians(0.5)  # RMS: a small motion that strays more from the axis that the joint should have,
NEAR_TYPICAL, SURE = math.cos(math.radians(45.0)), 0.2  # and a fifth of its size or less from one near that, tells it
UNIVERSAL_STRAY = math.radians(1.0)
UNIVERSAL_SWEPT = math.radians(3.0)
CENTER_WEIGHT = 3e-3  # of a functional centre's distance from where anatomy has it, see fit_center


def joint_place(
    skeleton: Skeleton, clip: Clip, part: Part, parent: np.int64, frame: Array, origin: Array
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


def make_joint(
    part: Part,
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
                return Joint(part.joint, "hinge", (as_vector(hinge.child_axis),), limits), rest
        elif kind == "universal":
            universal = _universal(motion, at_rest, axes)
            if last or universal.stray < UNIVERSAL_STRAY:
                rest = _universal_rest(universal, at_rest)
                first = quaternions.rotate(quaternions.conjugate(rest), universal.parent_axis)
                limits = (Range(-math.radians(30.0), math.radians(30.0)),) * 2
                return Joint(part.joint, "universal", (as_vector(first), as_vector(universal.child_axis)), limits), rest
        elif kind == "ball":
            return Joint(part.joint, "ball", limits=_cone(part, at_rest, marks, frame, quadruped)), at_rest
        elif kind == "fixed":
            return Joint(part.joint, "fixed"), quaternions.mean(motion)
    raise AssertionError(part.kinds)


def _typical_axes(part: Part, marks: Mapping[str, Array], heading: Array, frame: Array) -> tuple[Array, Array]:
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
    if part.joint.endswith(("_ankle", "_toes")):
        return part.axes[0], part.axes[1]
    first, second = (quaternions.rotate(to_body, quaternions.rotate(heading, axis)) for axis in part.axes)
    return first, second


def _limb_directions(part: Part, marks: Mapping[str, Array], heading: Array) -> tuple[Array, Array]:
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
        usual = Hinge(parent_axis, typical, hinge_stray(motion, parent_axis, typical), hinge.swept)
        near = abs(float(hinge.child_axis @ typical)) > NEAR_TYPICAL
        if not (near and usual.stray > LEAST_STRAY and hinge.stray < SURE * hinge.swept):
            return usual
    sign = 1.0 if hinge.parent_axis @ quaternions.rotate(at_rest, typical) > 0.0 else -1.0
    return Hinge(sign * hinge.parent_axis, sign * hinge.child_axis, hinge.stray, hinge.swept)


def _universal(motion: Array, at_rest: Array, typical: tuple[Array, Array]) -> Universal:
    first, second = typical
    still = Universal(quaternions.rotate(at_rest, first), second, 0.5 * math.pi, 0.0)
    swept = quaternions.angle(motion, quaternions.mean(motion)[None])
    kept = np.arccos(np.clip(quaternions.rotate(motion, second) @ still.parent_axis, -1.0, 1.0))
    usual = still._replace(angle=float(kept.mean()), stray=float(kept.std()))
    if usual.stray < UNIVERSAL_STRAY or math.sqrt(float(np.mean(swept**2))) < UNIVERSAL_SWEPT:
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
    part: Part,
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


class _Reach(NamedTuple):
    """A ball's range: swing and twist, and how its middle leans for a person; all in degrees."""

    swing: float
    twist: float
    forward: float = 0.0
    outward: float = 0.0


REACHES = {
    "trunk": _Reach(50.0, 45.0, forward=20.0),
    "lower_back": _Reach(40.0, 25.0),
    "upper_back": _Reach(35.0, 40.0),
    "neck": _Reach(55.0, 75.0),
    "tail": _Reach(80.0, 45.0),
    "clavicle": _Reach(30.0, 30.0),
    "shoulder": _Reach(115.0, 90.0, forward=60.0, outward=30.0),
    "elbow": _Reach(80.0, 90.0),
    "wrist": _Reach(80.0, 90.0),
    "fingers": _Reach(80.0, 90.0),
    "hip": _Reach(72.0, 45.0, forward=50.0),
    "knee": _Reach(80.0, 90.0),
    "ankle": _Reach(55.0, 40.0),
    "toes": _Reach(80.0, 40.0),
}
ENDS = {
    "clavicle": ("clavicle", "shoulder"),
    "shoulder": ("shoulder", "elbow"),
    "elbow": ("elbow", "wrist"),
    "wrist": ("wrist", "fingers"),
    "hip": ("hip", "knee"),
    "knee": ("knee", "ankle"),
}


def _cone(part: Part, at_rest: Array, marks: Mapping[str, Array], frame: Array, quadruped: bool) -> Limits:
    """A cone around the limb, the trunk or the foot."""
    side, joint = ("", part.joint) if part.joint in REACHES else part.joint.split("_")
    reach = REACHES[joint]
    axis = X if joint in {"ankle", "toes"} else quaternions.rotate(quaternions.conjugate(frame), Z)
    start, end = (marks.get(f"{side}_{point}") for point in ENDS.get(joint, ("", "")))
    if start is not None and end is not None and np.linalg.norm(end - start) > 1e-6:
        axis = quaternions.rotate(quaternions.conjugate(frame), (end - start) / np.linalg.norm(end - start))
    center = axis
    if reach.forward > 0.0 and not quadruped:
        outward = reach.outward if side == "left" else -reach.outward
        leaning = _leaning(reach.forward, outward, 1.0 if joint == "trunk" else -1.0)
        center = quaternions.rotate(quaternions.conjugate(at_rest), leaning)
    twist = math.radians(reach.twist)
    return Cone(as_vector(axis), as_vector(center), math.radians(reach.swing), Range(-twist, twist))


def _leaning(forward: float, outward: float, up: float) -> Array:
    """Up or down (1 or -1), turned forward, then outward to the left; in degrees."""
    pitch, roll = math.radians(forward), math.radians(outward)
    return np.array([math.sin(pitch) * math.cos(roll), math.sin(roll), up * math.cos(pitch) * math.cos(roll)])


def as_vector(values: Array) -> tuple[float, float, float]:
    """Three numbers as characters' parts keep them."""
    return float(values[0]), float(values[1]), float(values[2])


def _cross_unit(a: Array, b: Array, otherwise: Array) -> Array:
    """The direction across both, or `otherwise` where they are parallel."""
    across: Array = np.cross(a, b).astype(np.float64)
    length = float(np.linalg.norm(across))
    return across / length if length > 1e-6 else otherwise


def _leading(axis: Array) -> float:
    return float(axis[np.argmax(np.abs(axis))])
