# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a character: bodies, joints with their limits, and contact shapes. Immutable and checked when made.

SI units and radians. Vectors may be given as any sequence of three numbers and are kept as tuples of floats; directions
and quaternions are kept at unit length.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from . import check
from .check import Inertia, Quaternion, Vector

JointKind = Literal["free", "ball", "universal", "hinge", "fixed"]
ANGLES_OF_KIND: dict[JointKind, int] = {"free": 0, "ball": 0, "universal": 2, "hinge": 1, "fixed": 0}


@dataclass(frozen=True)
class Range:
    """Least and greatest angle about one axis. Checked by the joint that it limits."""

    lower: float
    upper: float

    def checked(self, owner: str) -> "Range":
        """The same range in floats, or ValueError."""
        lower = check.number(self.lower, "lower limit", owner)
        upper = check.number(self.upper, "upper limit", owner)
        if lower >= upper:
            raise ValueError(f"The limits of {owner} must be in ascending order, not {lower} to {upper}.")
        return Range(lower, upper)


@dataclass(frozen=True)
class Cone:
    """Swing and twist of a ball joint. Checked by the joint that it limits.

    `axis` is a direction of the body, usually along the limb. The joint's rotation R may carry it no further than
    `swing` from `center`, a direction of the joint's frame at rest: angle(R axis, center) ≤ swing. What is left of R
    after the shortest rotation from `axis` to `R axis` is a turn about `axis`, and stays within `twist`.
    """

    axis: Vector
    center: Vector
    swing: float
    twist: Range

    def checked(self, owner: str) -> "Cone":
        """The same cone in floats, its directions at unit length, or ValueError."""
        swing = check.positive(self.swing, "swing", owner)
        if swing > np.pi:
            raise ValueError(f"The swing of {owner} must be at most π, not {swing}.")
        axis = check.direction(self.axis, "cone's axis", owner)
        return Cone(axis, check.direction(self.center, "cone's centre", owner), swing, self.twist.checked(owner))


Limits = tuple[Range, ...] | Cone  # one range per axis of a hinge or universal joint; a cone for a ball


@dataclass(frozen=True)
class Joint:
    """What a body may do relative to its parent; see tree.py for positions and velocities of each kind.

    The passive torque is -stiffness (q - rest) - damping v per axis; a ball's spring is slack at no rotation.
    """

    name: str
    kind: JointKind
    axes: tuple[Vector, ...] = ()  # one for a hinge, two for a universal joint, in the body's frame at rest
    limits: Limits | None = None
    stiffness: float = 0.0  # N m/rad
    damping: float = 0.0  # N m s/rad
    rest: tuple[float, ...] = ()  # angles at which the springs are slack, one per axis; zero unless given

    def __post_init__(self) -> None:
        owner = f"joint '{check.name(self.name, 'joint')}'"
        if self.kind not in get_args(JointKind):
            raise ValueError(f"The kind of {owner} must be one of {', '.join(get_args(JointKind))}, not {self.kind!r}.")
        angles = ANGLES_OF_KIND[self.kind]
        axes = tuple(check.direction(axis, "axis", owner) for axis in self.axes)
        if len(axes) != angles:
            raise ValueError(f"The {self.kind} {owner} must have {angles} axes, not {len(axes)}.")
        if angles == 2 and np.linalg.norm(np.cross(axes[0], axes[1])) < 1e-3:
            raise ValueError(f"The two axes of {owner} are parallel.")
        stiffness = check.not_negative(self.stiffness, "stiffness", owner)
        damping = check.not_negative(self.damping, "damping", owner)
        if self.kind in {"free", "fixed"} and stiffness + damping > 0.0:
            raise ValueError(f"The {self.kind} {owner} cannot have stiffness or damping.")
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "stiffness", stiffness)
        object.__setattr__(self, "damping", damping)
        object.__setattr__(self, "rest", check.numbers(self.rest or (0.0,) * angles, angles, "rest", owner))
        object.__setattr__(self, "limits", self._checked_limits(owner, angles))

    def _checked_limits(self, owner: str, angles: int) -> Limits | None:
        if self.limits is None:
            return None
        if isinstance(self.limits, Cone):
            if self.kind != "ball":
                raise ValueError(f"The {self.kind} {owner} cannot be limited by a cone.")
            return self.limits.checked(owner)
        if angles == 0 or len(self.limits) != angles:
            raise ValueError(f"The {self.kind} {owner} cannot be limited by {len(self.limits)} ranges.")
        return tuple(limit.checked(owner) for limit in self.limits)


@dataclass(frozen=True)
class Body:
    """A rigid body and the joint by which it hangs from its parent, at its own frame's origin.

    `position` and `orientation` place the frame in the parent's when the joint is at rest. A free body's are only where
    `Character.neutral()` puts it: its coordinates are its pose in the world.
    """

    name: str
    parent: str | None  # None for the root
    joint: Joint
    mass: float  # kg
    inertia: Inertia  # about the centre of mass, in the body's frame, kg m²
    center_of_mass: Vector = (0.0, 0.0, 0.0)  # in the body's frame, m
    position: Vector = (0.0, 0.0, 0.0)  # m
    orientation: Quaternion = (1.0, 0.0, 0.0, 0.0)  # w-x-y-z

    def __post_init__(self) -> None:
        owner = f"body '{check.name(self.name, 'body')}'"
        if self.parent is not None:
            check.name(self.parent, "parent")
        object.__setattr__(self, "mass", check.positive(self.mass, "mass", owner))
        object.__setattr__(self, "inertia", check.inertia(self.inertia, owner))
        object.__setattr__(self, "center_of_mass", check.vector(self.center_of_mass, "centre of mass", owner))
        object.__setattr__(self, "position", check.vector(self.position, "position", owner))
        object.__setattr__(self, "orientation", check.quaternion(self.orientation, "orientation", owner))


def _contact_owner(name: str, body: str) -> str:
    check.name(body, "contact's body")
    return f"contact '{check.name(name, 'contact')}'"


@dataclass(frozen=True)
class Corner:
    """A point that may touch the ground: the corner of a sole."""

    name: str
    body: str
    position: Vector  # in the body's frame, m

    def __post_init__(self) -> None:
        owner = _contact_owner(self.name, self.body)
        object.__setattr__(self, "position", check.vector(self.position, "position", owner))


@dataclass(frozen=True)
class Sphere:
    """A ball that may touch the ground: a head, a hand."""

    name: str
    body: str
    position: Vector  # its centre in the body's frame, m
    radius: float  # m

    def __post_init__(self) -> None:
        owner = _contact_owner(self.name, self.body)
        object.__setattr__(self, "position", check.vector(self.position, "position", owner))
        object.__setattr__(self, "radius", check.positive(self.radius, "radius", owner))


@dataclass(frozen=True)
class Capsule:
    """A limb that may touch the ground: all points within `radius` of the segment from `start` to `end`."""

    name: str
    body: str
    start: Vector  # in the body's frame, m
    end: Vector  # in the body's frame, m
    radius: float  # m

    def __post_init__(self) -> None:
        owner = _contact_owner(self.name, self.body)
        object.__setattr__(self, "start", check.vector(self.start, "start", owner))
        object.__setattr__(self, "end", check.vector(self.end, "end", owner))
        object.__setattr__(self, "radius", check.positive(self.radius, "radius", owner))
        if np.linalg.norm(np.subtract(self.start, self.end)) < 1e-6:
            raise ValueError(f"The ends of {owner} coincide.")


ContactShape = Corner | Sphere | Capsule
