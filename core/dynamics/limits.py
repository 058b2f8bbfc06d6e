# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits as one-sided rows: a gap in radians and its rate, linear in the joint's velocities.

Hinges and universal joints are limited axis by axis. A ball's rotation R is a twist about the limb's axis a followed by
the shortest rotation that carries a to R a: the angle between R a and the cone's centre, and the twist, are limited.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..character.parts import Body, Cone
from ..character.tree import Tree
from ..maths.kernel import inlined_kernel
from ..maths.rotations import quaternion_conjugate, quaternion_normalize, quaternion_rotate
from ..maths.structure import Structure
from ..maths.vectors import Vector, add, cross, dot, row, scale
from .kinematics import quaternion_at

LOWER, UPPER, SWING, TWIST_LOWER, TWIST_UPPER = range(5)
# Where swing or twist has no direction (no swing at all, or half a turn of it), sine or squared cosine of half of it.
DIRECTIONLESS = 1e-9


class JointLimits(Structure):
    """One-sided limits (nl)."""

    kind: NDArray[np.int64]  # (nl,) LOWER, UPPER, SWING, TWIST_LOWER or TWIST_UPPER
    body: NDArray[np.int64]  # (nl,) body that hangs from the joint
    position: NDArray[np.int64]  # (nl,) entry of q: the angle's, or the quaternion's first
    velocity: NDArray[np.int64]  # (nl,) entry of v: the angle's, or the first of a ball's three
    bound: NDArray[np.float64]  # (nl,) rad
    axis: NDArray[np.float64]  # (nl, 3) of a ball's limb, in the body's frame
    center: NDArray[np.float64]  # (nl, 3) of a ball's cone, in the joint's frame at rest


def make_limits(bodies: tuple[Body, ...], tree: Tree) -> JointLimits:
    """Flatten the limits of `bodies`, which are in the tree's order."""
    rows: list[tuple[int, int, int, int, float, tuple[float, ...], tuple[float, ...]]] = []
    none = (0.0, 0.0, 0.0)
    for b, body in enumerate(bodies):
        q, v = int(tree.position_start[b]), int(tree.velocity_start[b])
        limits = body.joint.limits
        if isinstance(limits, Cone):
            if limits.swing < math.pi:
                rows.append((SWING, b, q, v, limits.swing, limits.axis, limits.center))
            if limits.twist.lower > -math.pi:
                rows.append((TWIST_LOWER, b, q, v, limits.twist.lower, limits.axis, none))
            if limits.twist.upper < math.pi:
                rows.append((TWIST_UPPER, b, q, v, limits.twist.upper, limits.axis, none))
        elif limits is not None:
            for k, limit in enumerate(limits):
                rows.append((LOWER, b, q + k, v + k, limit.lower, none, none))
                rows.append((UPPER, b, q + k, v + k, limit.upper, none, none))
    flat = JointLimits(
        kind=np.array([line[0] for line in rows], dtype=np.int64),
        body=np.array([line[1] for line in rows], dtype=np.int64),
        position=np.array([line[2] for line in rows], dtype=np.int64),
        velocity=np.array([line[3] for line in rows], dtype=np.int64),
        bound=np.array([line[4] for line in rows], dtype=np.float64),
        axis=np.array([line[5] for line in rows], dtype=np.float64).reshape(-1, 3),
        center=np.array([line[6] for line in rows], dtype=np.float64).reshape(-1, 3),
    )
    for array in flat:
        array.flags.writeable = False
    return flat


@inlined_kernel
def limit_gap(limits: JointLimits, i: int, q: NDArray[np.float64]) -> tuple[float, Vector]:
    """Gap of limit i, negative where violated, and its rate's coefficients on velocity[i] and the two after it."""
    k = limits.position[i]
    kind = limits.kind[i]
    if kind == LOWER:
        return q[k] - limits.bound[i], (1.0, 0.0, 0.0)
    if kind == UPPER:
        return limits.bound[i] - q[k], (-1.0, 0.0, 0.0)
    turn = quaternion_normalize(quaternion_at(q, k))
    axis = row(limits.axis, i)
    if kind == SWING:
        center = row(limits.center, i)
        limb = quaternion_rotate(turn, axis)
        normal = cross(center, limb)
        sine = math.sqrt(dot(normal, normal))
        angle = math.atan2(sine, dot(center, limb))
        if sine < DIRECTIONLESS:
            return limits.bound[i] - angle, (0.0, 0.0, 0.0)
        # turning about center x limb carries the limb away; v is in the body's frame
        return limits.bound[i] - angle, quaternion_rotate(quaternion_conjugate(turn), scale(-1.0 / sine, normal))
    # twist = 2 atan2(x . a, w) of the quaternion (w, x), differentiated with q' = q (0, v) / 2
    w, x = turn[0], (turn[1], turn[2], turn[3])
    p = dot(x, axis)
    square = w * w + p * p
    if square < DIRECTIONLESS:
        return np.inf, (0.0, 0.0, 0.0)
    if w < 0.0:
        w, p, x = -w, -p, scale(-1.0, x)
    twist = 2.0 * math.atan2(p, w)
    rate = scale(1.0 / square, add(scale(w, add(scale(w, axis), cross(axis, x))), scale(p, x)))
    if kind == TWIST_LOWER:
        return twist - limits.bound[i], rate
    return limits.bound[i] - twist, scale(-1.0, rate)
