# SPDX-License-Identifier: GPL-3.0-or-later
"""A character as text that MuJoCo loads: the same bodies, masses, joints, and order of qpos and qvel.

What MuJoCo cannot say exactly:
- A universal joint is two hinges on one body, named "<joint>.1" and "<joint>.2".
- A ball joint's only limit there is its total angle. The export takes the largest angle that the cone and the twist
  allow, so that MuJoCo permits whatever the character does, and somewhat more.
- A corner is a sphere of 1 mm about the point.
"""

import math
from xml.etree import ElementTree as ET

import numpy as np

from .character import Character
from .parts import Body, Capsule, Cone, ContactShape, Corner, Joint, Sphere

CORNER_RADIUS = 1e-3


def to_mjcf(character: Character, *, contacts: bool = True, motors: bool = False) -> str:
    """MuJoCo's XML of the character.

    With `contacts` the contact shapes can touch a ground plane at z = 0 with friction 1, but not each other; without
    them there is no geometry at all and contact is off. With `motors` each velocity of a joint has a motor of gear 1,
    in the order of v; a free root has none.
    """
    root = ET.Element("mujoco", model=character.name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    option = ET.SubElement(root, "option", gravity=_text(character.gravity))
    if not contacts:
        ET.SubElement(option, "flag", contact="disable")
    world = ET.SubElement(root, "worldbody")
    if contacts:
        # Bits: the ground is 2 and meets 1, shapes are 1 and meet 2; so shapes do not meet each other.
        ET.SubElement(world, "geom", name="ground", type="plane", size="0 0 1", contype="2", conaffinity="1")
    elements: dict[str | None, ET.Element] = {None: world}
    for body in character.bodies:
        elements[body.name] = _add_body(elements[body.parent], body)
    if contacts:
        for contact in character.contacts:
            _add_geom(elements[contact.body], contact)
    if motors:
        actuator = ET.SubElement(root, "actuator")
        for joint in character.joints:
            _add_motors(actuator, joint)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _add_body(parent: ET.Element, body: Body) -> ET.Element:
    element = ET.SubElement(parent, "body", name=body.name, pos=_text(body.position), quat=_text(body.orientation))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
    ET.SubElement(
        element,
        "inertial",
        pos=_text(body.center_of_mass),
        mass=_text((body.mass,)),
        fullinertia=_text((xx, yy, zz, xy, xz, yz)),
    )
    joint = body.joint
    if joint.kind == "free":
        ET.SubElement(element, "freejoint", name=joint.name)
    elif joint.kind == "ball":
        attributes = {"name": joint.name, "type": "ball"} | _passive(joint)
        if isinstance(joint.limits, Cone):
            angle = largest_angle(joint.limits)
            if angle < math.pi:
                attributes["range"] = _text((0.0, angle))
        ET.SubElement(element, "joint", attributes)
    else:
        for k, name in enumerate(_hinge_names(joint)):
            attributes = {"name": name, "type": "hinge", "axis": _text(joint.axes[k])} | _passive(joint)
            if joint.stiffness > 0.0:
                attributes["springref"] = _text((joint.rest[k],))
            if isinstance(joint.limits, tuple):
                attributes["range"] = _text((joint.limits[k].lower, joint.limits[k].upper))
            ET.SubElement(element, "joint", attributes)
    return element


def largest_angle(cone: Cone) -> float:
    """The largest angle of any rotation within the cone's swing and twist.

    The swing from the axis itself is at most the cone's own plus its tilt s; swing s after twist t has the angle θ with
    cos θ/2 = cos s/2 cos t/2, their axes being perpendicular.
    """
    tilt = math.atan2(np.linalg.norm(np.cross(cone.axis, cone.center)), np.dot(cone.axis, cone.center))
    swing = min(cone.swing + tilt, math.pi)
    twist = min(max(abs(cone.twist.lower), abs(cone.twist.upper)), math.pi)
    return 2.0 * math.acos(math.cos(0.5 * swing) * math.cos(0.5 * twist))


def _add_geom(body: ET.Element, contact: ContactShape) -> None:
    common = {"name": contact.name, "contype": "1", "conaffinity": "2"}
    match contact:
        case Corner():
            shape = {"type": "sphere", "pos": _text(contact.position), "size": _text((CORNER_RADIUS,))}
        case Sphere():
            shape = {"type": "sphere", "pos": _text(contact.position), "size": _text((contact.radius,))}
        case Capsule():
            shape = {"type": "capsule", "fromto": _text(contact.start + contact.end), "size": _text((contact.radius,))}
    ET.SubElement(body, "geom", common | shape)


def _add_motors(actuator: ET.Element, joint: Joint) -> None:
    if joint.kind == "ball":
        for k, gear in enumerate(("1 0 0 0 0 0", "0 1 0 0 0 0", "0 0 1 0 0 0")):
            ET.SubElement(actuator, "motor", name=f"{joint.name}.{k + 1}", joint=joint.name, gear=gear)
    elif joint.kind != "free":
        for name in _hinge_names(joint):
            ET.SubElement(actuator, "motor", name=name, joint=name)


def _hinge_names(joint: Joint) -> tuple[str, ...]:
    return (joint.name,) if len(joint.axes) == 1 else tuple(f"{joint.name}.{k + 1}" for k in range(len(joint.axes)))


def _passive(joint: Joint) -> dict[str, str]:
    return {"stiffness": _text((joint.stiffness,)), "damping": _text((joint.damping,))}


def _text(values: tuple[float, ...]) -> str:
    return " ".join(repr(value) for value in values)
