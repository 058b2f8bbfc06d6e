# SPDX-License-Identifier: GPL-3.0-or-later
"""A character as URDF text: the same bodies, masses and hinges, for what reads no MuJoCo files.

What URDF cannot say exactly:
- The root is the first link; who loads it says that it is free.
- A universal joint is two hinges in a row, "<joint>.1" and "<joint>.2", a ball joint three, about x, y and z of the
  body in turn; links of a milligram stand between them, since some readers refuse moving links without mass.
- A ball joint's cone becomes the same range for each of its three hinges, the largest angle that the cone allows.
- A capsule is a cylinder with a ball at each end, a corner a ball of 1 mm.
- Springs are left out.
"""

import math
from xml.etree import ElementTree as ET

import numpy as np

from .character import Character
from .mjcf import CORNER_RADIUS, largest_angle
from .parts import Body, Capsule, Cone, ContactShape, Corner, Joint, Sphere

MASSLESS, INERTIALESS = 1e-6, 1e-9  # kg, kg m² of links between hinges
EFFORT, SPEED = 1e4, 1e2  # N m, rad/s: limits that URDF asks for and that a character has not
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

Vector = tuple[float, ...]


def to_urdf(character: Character) -> str:
    """URDF of the character."""
    root = ET.Element("robot", name=character.name)
    for body in character.bodies:
        link = _add_link(root, body.name, body)
        for shape in character.contacts:
            if shape.body == body.name:
                _add_shapes(link, shape)
        if body.parent is not None:
            _add_joints(root, body)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def hinges(joint: Joint) -> list[tuple[str, Vector, tuple[float, float] | None]]:
    """The hinges that stand for a joint: name, axis and range of each."""
    if joint.kind == "ball":
        angle = largest_angle(joint.limits) if isinstance(joint.limits, Cone) else math.pi
        limits = (-angle, angle) if angle < math.pi else None
        return [(f"{joint.name}.{k + 1}", axis, limits) for k, axis in enumerate(AXES)]
    ranges = (
        [(limit.lower, limit.upper) for limit in joint.limits]
        if isinstance(joint.limits, tuple)
        else [None] * len(joint.axes)
    )
    names = [joint.name] if len(joint.axes) == 1 else [f"{joint.name}.{k + 1}" for k in range(len(joint.axes))]
    return list(zip(names, joint.axes, ranges, strict=True))


def _add_joints(root: ET.Element, body: Body) -> None:
    parent, place = str(body.parent), (body.position, _roll_pitch_yaw(body.orientation))
    parts = hinges(body.joint)
    if not parts:
        _add_joint(root, body.joint.name, "fixed", parent, body.name, place)
    for number, (name, axis, limits) in enumerate(parts):
        last = number == len(parts) - 1
        child = body.name if last else f"{name} link"
        if not last:
            _add_link(root, child, None)
        element = _add_joint(root, name, "continuous" if limits is None else "revolute", parent, child, place)
        ET.SubElement(element, "axis", xyz=_text(axis))
        ET.SubElement(element, "dynamics", damping=repr(body.joint.damping))
        if limits is not None:
            lower, upper = limits
            ET.SubElement(
                element, "limit", lower=repr(lower), upper=repr(upper), effort=repr(EFFORT), velocity=repr(SPEED)
            )
        parent, place = child, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def _add_joint(
    root: ET.Element, name: str, kind: str, parent: str, child: str, place: tuple[Vector, Vector]
) -> ET.Element:
    element = ET.SubElement(root, "joint", name=name, type=kind)
    ET.SubElement(element, "origin", xyz=_text(place[0]), rpy=_text(place[1]))
    ET.SubElement(element, "parent", link=parent)
    ET.SubElement(element, "child", link=child)
    return element


def _add_link(root: ET.Element, name: str, body: Body | None) -> ET.Element:
    link = ET.SubElement(root, "link", name=name)
    inertial = ET.SubElement(link, "inertial")
    center = (0.0, 0.0, 0.0) if body is None else body.center_of_mass
    ET.SubElement(inertial, "origin", xyz=_text(center), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=repr(MASSLESS if body is None else body.mass))
    inertia = INERTIALESS * np.eye(3) if body is None else np.array(body.inertia)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tolist()
    values = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    ET.SubElement(inertial, "inertia", {key: repr(value) for key, value in values.items()})
    return link


def _add_shapes(link: ET.Element, shape: ContactShape) -> None:
    match shape:
        case Corner():
            _add_ball(link, shape.position, CORNER_RADIUS)
        case Sphere():
            _add_ball(link, shape.position, shape.radius)
        case Capsule():
            start, end = np.array(shape.start), np.array(shape.end)
            way = end - start
            x, y, z = way.tolist()
            lean = (0.0, math.atan2(math.hypot(x, y), z), math.atan2(y, x))
            middle, length = (0.5 * (start + end)).tolist(), float(np.linalg.norm(way))
            for use in ("visual", "collision"):
                part = ET.SubElement(link, use)
                ET.SubElement(part, "origin", xyz=_text(middle), rpy=_text(lean))
                geometry = ET.SubElement(part, "geometry")
                ET.SubElement(geometry, "cylinder", radius=repr(shape.radius), length=repr(length))
            for point in (shape.start, shape.end):
                _add_ball(link, point, shape.radius)


def _add_ball(link: ET.Element, place: Vector, radius: float) -> None:
    for use in ("visual", "collision"):
        part = ET.SubElement(link, use)
        ET.SubElement(part, "origin", xyz=_text(place), rpy="0 0 0")
        ET.SubElement(ET.SubElement(part, "geometry"), "sphere", radius=repr(radius))


def _roll_pitch_yaw(orientation: Vector) -> Vector:
    """Angles about x, y and z of the fixed axes, in that order, of a unit quaternion."""
    w, x, y, z = orientation
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = math.asin(min(max(2.0 * (w * y - x * z), -1.0), 1.0))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return roll, pitch, yaw


def _text(values: Vector | list[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
