# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies in depth-first order, laid out as the flat arrays of a `Tree`."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from .check import Vector
from .parts import Body, JointKind
from .tree import BALL, FIXED, FREE, HINGE, POSITIONS_OF_JOINT, UNIVERSAL, VELOCITIES_OF_JOINT, Tree

CODE_OF_KIND: dict[JointKind, int] = {
    "fixed": FIXED,
    "hinge": HINGE,
    "universal": UNIVERSAL,
    "ball": BALL,
    "free": FREE,
}


def flatten(bodies: tuple[Body, ...], gravity: Vector) -> Tree:
    """The bodies, parents first, as read-only arrays."""
    count = len(bodies)
    index = {body.name: i for i, body in enumerate(bodies)}
    parent = np.array([-1 if body.parent is None else index[body.parent] for body in bodies], dtype=np.int64)
    joint = np.array([CODE_OF_KIND[body.joint.kind] for body in bodies], dtype=np.int64)
    positions = np.array([POSITIONS_OF_JOINT[kind] for kind in joint], dtype=np.int64)
    velocities = np.array([VELOCITIES_OF_JOINT[kind] for kind in joint], dtype=np.int64)
    velocity_start = np.cumsum(velocities) - velocities
    # A free body's coordinates are its pose in the world, so its frame at rest is the world's.
    offset_position = np.array([(0.0,) * 3 if body.joint.kind == "free" else body.position for body in bodies])
    offset_quaternion = np.array(
        [(1.0, 0.0, 0.0, 0.0) if body.joint.kind == "free" else body.orientation for body in bodies]
    )
    axis = np.zeros((count, 2, 3))
    for i, body in enumerate(bodies):
        for k, direction in enumerate(body.joint.axes):
            axis[i, k] = direction
    tree = Tree(
        parent=parent,
        joint=joint,
        position_start=np.cumsum(positions) - positions,
        velocity_start=velocity_start,
        offset_position=offset_position,
        offset_quaternion=offset_quaternion,
        axis=axis,
        mass=np.array([body.mass for body in bodies]),
        center_of_mass=np.array([body.center_of_mass for body in bodies]),
        inertia=np.array([body.inertia for body in bodies]),
        velocity_body=np.repeat(np.arange(count, dtype=np.int64), velocities),
        velocity_parent=_velocity_parents(parent, velocity_start, velocities),
        stiffness=np.repeat([body.joint.stiffness for body in bodies], velocities),
        damping=np.repeat([body.joint.damping for body in bodies], velocities),
        rest=rest_positions(bodies),
        gravity=np.array(gravity),
    )
    for array in tree:
        cast("NDArray[np.generic]", array).flags.writeable = False
    return tree


def neutral_positions(bodies: tuple[Body, ...]) -> NDArray[np.float64]:
    """Every joint at rest; a free root at its own position and orientation."""
    parts: list[tuple[float, ...]] = []
    for body in bodies:
        if body.joint.kind == "free":
            parts.append(body.position + body.orientation)
        elif body.joint.kind == "ball":
            parts.append((1.0, 0.0, 0.0, 0.0))
        else:
            parts.append((0.0,) * POSITIONS_OF_JOINT[CODE_OF_KIND[body.joint.kind]])
    return np.array([value for part in parts for value in part])


def rest_positions(bodies: tuple[Body, ...]) -> NDArray[np.float64]:
    """Where the passive springs are slack: as the neutral pose, but hinges at their `rest` angles."""
    rest = neutral_positions(bodies)
    start = 0
    for body in bodies:
        angles = len(body.joint.rest)
        rest[start : start + angles] = body.joint.rest
        start += POSITIONS_OF_JOINT[CODE_OF_KIND[body.joint.kind]]
    return rest


def _velocity_parents(
    parent: NDArray[np.int64], velocity_start: NDArray[np.int64], velocities: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each velocity the next one towards the root, -1 at its end (MuJoCo's dof_parentid)."""
    result = np.empty(int(velocities.sum()), dtype=np.int64)
    last = np.full(parent.size, -1, dtype=np.int64)  # nearest velocity at or above each body
    for b in range(parent.size):
        previous = last[parent[b]] if parent[b] >= 0 else np.int64(-1)
        for i in range(velocity_start[b], velocity_start[b] + velocities[b]):
            result[i] = previous
            previous = np.int64(i)
        last[b] = previous
    return result
