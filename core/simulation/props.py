# SPDX-License-Identifier: GPL-3.0-or-later
"""Props: rigid bodies that are not the character's, free or on a hinge. They join the same equations and the same LCP.

What a character carries for good belongs to its own tree, as a body with a fixed joint.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..character import check
from ..character.check import Quaternion, Vector
from ..character.parts import Body, Capsule, Joint, Range, Sphere
from ..contact.shapes import Box, Shape, moved
from .grabs import Grab
from .matter import filled

UPRIGHT: Quaternion = (1.0, 0.0, 0.0, 0.0)
ORIGIN: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Hinge:
    """What ties a prop to the world: an axis through a point, both in the frame of the prop's shape."""

    axis: Vector
    point: Vector = ORIGIN


@dataclass(frozen=True)
class Prop:
    """A body with a free root or a hinge, and the shapes by which it is touched.

    `velocity` is its first: linear and angular (the body's frame) when free, a rate when on a hinge, still by default.
    One that is `thrown` is nowhere before that time, in seconds; then it is at its place with its velocity. `ties` hold
    it to the world or to other props, which then do not touch it: a point is a ball joint, two make a hinge.
    `friction` multiplies that of whatever it touches, as Blender's rigid bodies have it. Props that share none of
    their `groups` pass through each other; one in none touches nothing but the ground.
    """

    body: Body
    shapes: tuple[Shape, ...]
    velocity: tuple[float, ...] = ()
    thrown: float | None = None
    ties: tuple[Grab, ...] = ()
    friction: float = 1.0
    groups: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        owner = f"prop '{self.body.name}'"
        object.__setattr__(self, "ties", tuple(self.ties))
        if any(type(group) is not int or group < 0 for group in self.groups):
            raise ValueError(f"The groups of the {owner} must be whole numbers from 0 on, not {self.groups!r}.")
        object.__setattr__(self, "groups", tuple(sorted(set(self.groups))))
        object.__setattr__(self, "friction", check.not_negative(self.friction, "friction", owner))
        if any(tie.body != self.body.name for tie in self.ties):
            raise ValueError(f"The ties of the {owner} must hold the prop itself.")
        if self.body.parent is not None or self.body.joint.kind not in {"free", "hinge"}:
            raise ValueError(f"The {owner} must be a body without a parent, on a free joint or a hinge.")
        for shape in self.shapes:
            if shape.body != self.body.name:
                raise ValueError(f"The contact '{shape.name}' of the {owner} belongs to another body '{shape.body}'.")
        count = 6 if self.body.joint.kind == "free" else 1
        velocity = check.numbers(self.velocity or (0.0,) * count, count, "velocity", owner)
        object.__setattr__(self, "velocity", velocity)
        if self.thrown is not None:
            if self.body.joint.kind != "free":
                raise ValueError(f"The {owner} is on a hinge, and cannot be thrown.")
            if self.ties:
                raise ValueError(f"The {owner} is tied to something, and cannot be thrown.")
            object.__setattr__(self, "thrown", check.number(self.thrown, "time", owner))

    @property
    def name(self) -> str:
        """The body's name."""
        return self.body.name

    @property
    def hangs(self) -> bool:
        """Whether the world bears it: on a hinge, or by ties to what stays."""
        return self.body.joint.kind == "hinge" or any(tie.other is None for tie in self.ties)

    def tied_at(self, *points: Vector, other: str | None = None) -> "Prop":
        """The prop with points of its body held where they are: one is a ball joint, two make a hinge."""
        return replace(self, ties=(*self.ties, *(Grab(self.name, point, other=other) for point in points)))

    def hinged(self, axis: Vector, point: Vector, lower: float, upper: float) -> "Prop":
        """The prop on a hinge of the world, about an axis through a point of its body; turned no further, rad."""
        name, body = self.name, self.body
        back = (-point[0], -point[1], -point[2])
        x, y, z = np.add(body.center_of_mass, back).tolist()
        pivot = np.add(body.position, turned(body.orientation, point)).tolist()
        hinge = Joint(name, "hinge", axes=(axis,), limits=(Range(lower, upper),))
        hung = replace(body, joint=hinge, center_of_mass=(x, y, z), position=(pivot[0], pivot[1], pivot[2]))
        return replace(self, body=hung, shapes=tuple(moved(shape, back) for shape in self.shapes), velocity=())

    def fixed(self, other: str | None = None) -> "Prop":
        """The prop held as it is."""
        return replace(self, ties=(*self.ties, Grab(self.name, kind="full", other=other)))

    def sliding(self, axis: Vector, other: str | None = None) -> "Prop":
        """The prop free to go along an axis of its body's frame, and in no other way."""
        return replace(self, ties=(*self.ties, Grab(self.name, kind="slide", other=other, axis=axis)))

    @classmethod
    def box(cls, name: str, half_extents: Vector, mass: float, position: Vector, **placing: Any) -> "Prop":
        """A solid block; `placing` is orientation, hinge and velocity."""
        x, y, z = (extent * extent for extent in half_extents)
        diagonal = ((y + z) / 3.0, (x + z) / 3.0, (x + y) / 3.0)
        body, center = _body(name, mass, diagonal, position, **placing)
        return cls(body, (Box(name, name, half_extents, center),), placing.get("velocity", ()))

    @classmethod
    def sphere(cls, name: str, radius: float, mass: float, position: Vector, **placing: Any) -> "Prop":
        """A solid ball; `placing` is orientation, hinge and velocity, and when it is thrown."""
        thrown = placing.pop("thrown", None)
        body, center = _body(name, mass, (0.4 * radius * radius,) * 3, position, **placing)
        return cls(body, (Sphere(name, name, center, radius),), placing.get("velocity", ()), thrown)

    @classmethod
    def capsule(cls, name: str, radius: float, length: float, mass: float, position: Vector, **placing: Any) -> "Prop":
        """A solid capsule along its own Z, `length` between the centres of its ends; `placing` as of a box."""
        # a cylinder and two half balls, by their volumes over pi r^2
        cylinder, ends = length, 4.0 / 3.0 * radius
        square = radius * radius
        along = (cylinder * 0.5 * square + ends * 0.4 * square) / (cylinder + ends)
        across = (
            cylinder * (0.25 * square + length * length / 12.0)
            + ends * (0.4 * square + 0.375 * radius * length + 0.25 * length * length)
        ) / (cylinder + ends)
        body, center = _body(name, mass, (across, across, along), position, **placing)
        x, y, z = center
        half = 0.5 * length
        shape = Capsule(name, name, (x, y, z - half), (x, y, z + half), radius)
        return cls(body, (shape,), placing.get("velocity", ()))

    @classmethod
    def of_shapes(
        cls,
        name: str,
        shapes: Sequence[Shape],
        mass: float,
        position: Vector,
        orientation: Quaternion = UPRIGHT,
        velocity: tuple[float, ...] = (),
    ) -> "Prop":
        """Several shapes as one free body, filled evenly; given in a frame that stands at this place.

        The body's own frame has its origin at the centre of mass.
        """
        owner = f"prop '{name}'"
        if not shapes:
            raise ValueError(f"The {owner} must have a shape at least.")
        matter = filled(shapes, check.positive(mass, "mass", owner))
        center = check.vector(matter.center, "centre of mass", owner)
        back = check.vector(-matter.center, "centre of mass", owner)
        place = check.vector(np.add(position, turned(orientation, center)), "position", owner)
        body = Body(
            name,
            None,
            Joint(name, "free"),
            mass,
            check.inertia(matter.inertia, owner),
            ORIGIN,
            place,
            check.quaternion(orientation, "orientation", owner),
        )
        return cls(body, tuple(moved(shape, back) for shape in shapes), velocity)


def may_meet(first: Prop | None, second: Prop | None) -> bool:
    """Whether two touch at all, by their groups; none is a character, which is in all of them."""
    if first is None or second is None:
        return all(prop is None or prop.groups for prop in (first, second))
    return not set(first.groups).isdisjoint(second.groups)


def _body(
    name: str,
    mass: float,
    inertia_per_mass: Vector,
    position: Vector,
    orientation: Quaternion = UPRIGHT,
    hinge: Hinge | None = None,
    velocity: tuple[float, ...] = (),  # noqa: ARG001  the prop's, not the body's
) -> tuple[Body, Vector]:
    """The body and the shape's centre in its frame, which lies on the hinge if there is one."""
    owner = f"prop '{name}'"
    inertia = check.inertia(np.diag(inertia_per_mass) * check.positive(mass, "mass", owner), owner)
    if hinge is None:
        joint = Joint(name, "free")
        return Body(name, None, joint, mass, inertia, ORIGIN, position, orientation), ORIGIN
    joint = Joint(name, "hinge", axes=(hinge.axis,))
    x, y, z = point = check.vector(hinge.point, "hinge's point", owner)
    center = (-x, -y, -z)
    shifted = turned(check.quaternion(orientation, "orientation", owner), point)
    pivot = check.vector(np.add(position, shifted), "position", owner)
    return Body(name, None, joint, mass, inertia, center, pivot, orientation), center


def turned(quaternion: Quaternion, vector: Vector) -> Vector:
    """A vector of a body's frame, in the world."""
    w, axis = quaternion[0], np.array(quaternion[1:])
    twice = 2.0 * np.cross(axis, vector)
    x, y, z = (np.array(vector) + w * twice + np.cross(axis, twice)).tolist()
    return x, y, z
