# SPDX-License-Identifier: GPL-3.0-or-later
"""What the presets share: the proportions of a person, limits of joints, and the shapes of feet and limbs.

All frames are parallel to the world's in the neutral pose: X forward, Y to the left, Z up. Joints in the sagittal plane
turn about +Y: a positive angle pitches forward, so knees bend to positive and elbows to negative angles.

Lengths are fractions of stature after R. Drillis and R. Contini, "Body Segment Parameters", New York University, 1966
(in D. A. Winter, "Biomechanics and Motor Control of Human Movement", figure 4.1). Joint centres of hips and shoulders
stand closer than the outer breadths printed there: 0.10 and 0.22 of stature. Ranges of motion are rounded figures of
healthy adults.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from .. import check
from ..check import Vector
from ..mass import Mass
from ..parts import Body, Capsule, Cone, ContactShape, Corner, Joint, Range, Sphere

SIDES = (("left", 1.0), ("right", -1.0))
PITCH: Vector = (0.0, 1.0, 0.0)
ROLL: Vector = (1.0, 0.0, 0.0)
UP: Vector = (0.0, 0.0, 1.0)
DOWN: Vector = (0.0, 0.0, -1.0)


class Proportions(NamedTuple):
    """Lengths of an upright person, m."""

    thigh: float  # hip to knee
    shank: float  # knee to ankle
    ankle: float  # ankle to sole
    hip: float  # midline to hip
    waist: float  # height of the trunk's joint above the hips
    shoulder: float  # midline to shoulder
    shoulder_height: float  # above the hips
    upper_arm: float  # shoulder to elbow
    forearm: float  # elbow to wrist
    hand: float  # wrist to fingertip
    neck_height: float  # base of the neck above the hips
    head_height: float  # base of the skull above the hips
    vertex_height: float  # above the hips
    heel: float  # ankle to the back of the heel
    toe: float  # ankle to the tip of the toes
    half_foot: float  # half the width of a foot

    @property
    def hip_height(self) -> float:
        """Height of the hips above the ground."""
        return self.thigh + self.shank + self.ankle


def proportions(stature: float) -> Proportions:
    """Lengths for a stature."""
    hips = (0.245 + 0.246 + 0.045) * stature
    return Proportions(
        thigh=0.245 * stature,
        shank=0.246 * stature,
        ankle=0.045 * stature,
        hip=0.05 * stature,
        waist=0.06 * stature,
        shoulder=0.11 * stature,
        shoulder_height=0.818 * stature - hips,
        upper_arm=0.186 * stature,
        forearm=0.146 * stature,
        hand=0.108 * stature,
        neck_height=0.83 * stature - hips,
        head_height=0.88 * stature - hips,
        vertex_height=stature - hips,
        heel=0.03 * stature,
        toe=0.115 * stature,
        half_foot=0.023 * stature,
    )


def body(name: str, parent: str | None, joint: Joint, mass: Mass, position: Iterable[float]) -> Body:
    """A body whose frame is parallel to its parent's."""
    owner = f"body '{name}'"
    return Body(
        name,
        parent,
        joint,
        mass=mass.mass,
        inertia=check.inertia(mass.inertia, owner),
        center_of_mass=check.vector(mass.center, "centre of mass", owner),
        position=check.vector(position, "position", owner),
    )


def hinge(name: str, lower: float, upper: float, axis: Vector = PITCH) -> Joint:
    """A hinge with a range in degrees."""
    return Joint(name, "hinge", axes=(axis,), limits=(_degrees(lower, upper),))


def universal(name: str, first: tuple[Vector, float, float], second: tuple[Vector, float, float]) -> Joint:
    """A universal joint: for each axis its direction and its range in degrees."""
    return Joint(
        name,
        "universal",
        axes=(first[0], second[0]),
        limits=(_degrees(*first[1:]), _degrees(*second[1:])),
    )


def ball(name: str, axis: Vector, swing: float, twist: float, *, forward: float = 0.0, outward: float = 0.0) -> Joint:
    """A ball whose cone leans `forward` and `outward` (to the left) from the limb at rest; all in degrees."""
    pitch, roll = math.radians(forward), math.radians(outward)
    center = (math.sin(pitch) * math.cos(roll), math.sin(roll), axis[2] * math.cos(pitch) * math.cos(roll))
    return Joint(name, "ball", limits=Cone(axis, center, math.radians(swing), _degrees(-twist, twist)))


def ankle(side: str) -> Joint:
    """Pitch (positive: toes down), then roll."""
    return universal(f"{side}_ankle", (PITCH, -30.0, 50.0), (ROLL, -25.0, 25.0))


def hip(side: str) -> Joint:
    """120° of flexion, 20° of extension."""
    return ball(f"{side}_hip", DOWN, 72.0, 45.0, forward=50.0)


def knee(side: str) -> Joint:
    """Bends backwards only."""
    return hinge(f"{side}_knee", 0.0, 150.0)


def shoulder(side: str, sign: float) -> Joint:
    """Wide, and centred forward and outward."""
    return ball(f"{side}_shoulder", DOWN, 115.0, 90.0, forward=60.0, outward=sign * 30.0)


def elbow(side: str) -> Joint:
    """Bends forwards only."""
    return hinge(f"{side}_elbow", -150.0, 0.0)


def sole(side: str, foot: str, heel: float, toe: float, half_width: float, height: float) -> list[ContactShape]:
    """The four corners of a flat sole, `height` below the foot's origin."""
    return [
        Corner(f"{side}_{end}_{edge}", foot, (x, y, -height))
        for end, x in (("heel", -heel), ("toe", toe))
        for edge, y in (("left", half_width), ("right", -half_width))
    ]


def limbs(side: str, size: Proportions) -> list[ContactShape]:
    """Capsules around a side's limbs, a sphere for its hand, and the sole of its foot."""
    return [
        limb(f"{side}_arm", (0.0, 0.0, 0.0), (0.0, 0.0, -size.upper_arm), 0.045),
        limb(f"{side}_forearm", (0.0, 0.0, 0.0), (0.0, 0.0, -size.forearm), 0.035),
        knob(f"{side}_hand", (0.0, 0.0, -0.5 * size.hand), 0.05),
        limb(f"{side}_thigh", (0.0, 0.0, -0.05), (0.0, 0.0, -size.thigh), 0.07),
        limb(f"{side}_shank", (0.0, 0.0, 0.0), (0.0, 0.0, -size.shank), 0.05),
        *sole(side, f"{side}_foot", size.heel, size.toe, size.half_foot, size.ankle),
    ]


def limb(name: str, start: Vector, end: Vector, radius: float) -> Capsule:
    """A capsule around a limb's bone, named after its body."""
    return Capsule(name, name, start, end, radius)


def knob(name: str, position: Vector, radius: float) -> Sphere:
    """A sphere named after its body."""
    return Sphere(name, name, position, radius)


def _degrees(lower: float, upper: float) -> Range:
    return Range(math.radians(lower), math.radians(upper))
