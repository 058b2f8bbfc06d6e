# SPDX-License-Identifier: GPL-3.0-or-later
"""Two boxes: the separating axis, then one face clipped by the other, or the nearest points of two edges.

After Gottschalk, Lin and Manocha, OBBTree (1996), for the fifteen axes, and Ericson, Real-Time Collision Detection
(2005), section 5.4, for clipping. Candidates are asked for before boxes touch, so axes are compared by signed distance,
and a face is preferred to an edge that says the same.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from ...maths.rotations import Quaternion, quaternion_conjugate, quaternion_rotate
from ...maths.vectors import Vector, add, add_scaled, cross, dot, scale, subtract
from .contacts import Contacts, add_contact
from .segments import nearest_between_segments

# How much further apart boxes must be along another axis before it is preferred: b's faces to a's, edges to faces, m.
PREFER_FACE = 1e-4
# Share of the face's smaller half side below which two corners of the overlap are one.
COINCIDE = 0.02
# Share of the half side by which a corner may stand over the face's edge before it is cut off rather than moved back:
# edges that are flush give four corners, not up to four more where they cross each other.
FLUSH = 0.005


@kernel
def _axis(frame: Quaternion, k: int) -> Vector:
    """Column k of a rotation."""
    return quaternion_rotate(frame, (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0))


@kernel
def _reach(frame: Quaternion, half: Vector, axis: Vector) -> float:
    """Half the box's extent along an axis."""
    return (
        abs(dot(_axis(frame, 0), axis)) * half[0]
        + abs(dot(_axis(frame, 1), axis)) * half[1]
        + abs(dot(_axis(frame, 2), axis)) * half[2]
    )


@kernel
def box_against_box(
    body_a: int,
    body_b: int,
    shape: int,
    key: int,
    centre_a: Vector,
    frame_a: Quaternion,
    half_a: Vector,
    centre_b: Vector,
    frame_b: Quaternion,
    half_b: Vector,
    friction: float,
    margin: float,
    contacts: Contacts,
) -> None:
    """Add up to eight candidates; normals point from b to a."""
    apart = subtract(centre_a, centre_b)
    best = -np.inf
    code = -1
    normal = (0.0, 0.0, 1.0)
    for k in range(6):
        axis = _axis(frame_a, k) if k < 3 else _axis(frame_b, k - 3)
        along = dot(axis, apart)
        gap = abs(along) - _reach(frame_a, half_a, axis) - _reach(frame_b, half_b, axis)
        # Of faces that say the same the first, a's before b's: rounding must not make the choice flicker.
        if gap > best + (PREFER_FACE if k >= 3 and code < 3 else 1e-9):
            best = gap
            code = k
            normal = axis if along >= 0.0 else scale(-1.0, axis)
    if best >= margin:
        return
    for i in range(3):
        for j in range(3):
            axis = cross(_axis(frame_a, i), _axis(frame_b, j))
            length = math.sqrt(dot(axis, axis))
            if length < 1e-3:
                continue
            axis = scale(1.0 / length, axis)
            along = dot(axis, apart)
            gap = abs(along) - _reach(frame_a, half_a, axis) - _reach(frame_b, half_b, axis)
            if gap > best + PREFER_FACE:
                best = gap
                code = 6 + 3 * i + j
                normal = axis if along >= 0.0 else scale(-1.0, axis)
    if best >= margin:
        return
    if code >= 6:
        _edge_against_edge(
            body_a,
            body_b,
            shape,
            key + 64 * code,
            centre_a,
            frame_a,
            half_a,
            (code - 6) // 3,
            centre_b,
            frame_b,
            half_b,
            (code - 6) % 3,
            normal,
            best,
            friction,
            contacts,
        )
    elif code < 3:
        # The face is a's and looks at b.
        _face_against_box(
            body_a,
            body_b,
            shape,
            key + 64 * code,
            centre_a,
            frame_a,
            half_a,
            code,
            scale(-1.0, normal),
            centre_b,
            frame_b,
            half_b,
            normal,
            friction,
            margin,
            contacts,
        )
    else:
        _face_against_box(
            body_a,
            body_b,
            shape,
            key + 64 * code,
            centre_b,
            frame_b,
            half_b,
            code - 3,
            normal,
            centre_a,
            frame_a,
            half_a,
            normal,
            friction,
            margin,
            contacts,
        )


@kernel
def _edge_against_edge(
    body_a: int,
    body_b: int,
    shape: int,
    key: int,
    centre_a: Vector,
    frame_a: Quaternion,
    half_a: Vector,
    i: int,
    centre_b: Vector,
    frame_b: Quaternion,
    half_b: Vector,
    j: int,
    normal: Vector,
    gap: float,
    friction: float,
    contacts: Contacts,
) -> None:
    """One candidate half-way between the edges along a's axis i and b's axis j that face each other."""
    middle_a = centre_a
    middle_b = centre_b
    for k in range(3):
        axis_a = _axis(frame_a, k)
        axis_b = _axis(frame_b, k)
        if k != i:
            middle_a = add_scaled(middle_a, -half_a[k] if dot(axis_a, normal) > 0.0 else half_a[k], axis_a)
        if k != j:
            middle_b = add_scaled(middle_b, half_b[k] if dot(axis_b, normal) > 0.0 else -half_b[k], axis_b)
    along_a = scale(half_a[i], _axis(frame_a, i))
    along_b = scale(half_b[j], _axis(frame_b, j))
    start_a = subtract(middle_a, along_a)
    start_b = subtract(middle_b, along_b)
    s, t = nearest_between_segments(start_a, add(middle_a, along_a), start_b, add(middle_b, along_b))
    on_a = add_scaled(start_a, 2.0 * s, along_a)
    on_b = add_scaled(start_b, 2.0 * t, along_b)
    point = scale(0.5, add(on_a, on_b))
    add_contact(
        contacts, contacts.filled[0], body_a, body_b, -1, shape, key, point, normal, gap, friction, (0.0, 0.0, 0.0)
    )


@kernel
def _face_against_box(
    body_a: int,
    body_b: int,
    shape: int,
    key: int,
    centre: Vector,
    frame: Quaternion,
    half: Vector,
    k: int,
    outward: Vector,
    other_centre: Vector,
    other_frame: Quaternion,
    other_half: Vector,
    normal: Vector,
    friction: float,
    margin: float,
    contacts: Contacts,
) -> None:
    """Clip the other box's facing side with the sides of face k, which looks along `outward`.

    Corners that all but coincide, where flush edges cut each other, count once. A candidate is named by its quadrant of
    the face, and by a count where there are several in one; rounding changes neither.
    """
    # The side of the other box that faces this face most.
    facing = 0
    steepest = -1.0
    for l in range(3):
        size = abs(dot(_axis(other_frame, l), outward))
        if size > steepest + 1e-9:
            steepest = size
            facing = l
    towards = _axis(other_frame, facing)
    side = other_half[facing] if dot(towards, outward) < 0.0 else -other_half[facing]
    u = (facing + 1) % 3
    v = (facing + 2) % 3
    middle = add_scaled(other_centre, side, towards)
    edge_u = scale(other_half[u], _axis(other_frame, u))
    edge_v = scale(other_half[v], _axis(other_frame, v))

    # In the face's frame: its own two axes, and the height above it along `outward`.
    back = quaternion_conjugate(frame)
    x = (k + 1) % 3
    y = (k + 2) % 3
    polygon = contacts.polygon
    for i in range(4):
        corner = add_scaled(middle, -1.0 if i in (0, 3) else 1.0, edge_u)
        arm = subtract(add_scaled(corner, -1.0 if i < 2 else 1.0, edge_v), centre)
        local = quaternion_rotate(back, arm)
        polygon[0, i, 0] = local[x]
        polygon[0, i, 1] = local[y]
        polygon[0, i, 2] = dot(arm, outward) - half[k]
    count = 4
    source = 0
    for plane in range(4):
        bound = half[x] if plane < 2 else half[y]
        sign = 1.0 if plane % 2 == 0 else -1.0
        over = 0.0
        for i in range(count):
            over = max(over, sign * polygon[source, i, plane // 2] - bound)
        if over > FLUSH * bound:
            count = _clip(polygon, source, count, plane, bound)
            source = 1 - source
    axis_x = _axis(frame, x)
    axis_y = _axis(frame, y)
    face = add_scaled(centre, half[k], outward)
    used = contacts.quadrants
    for i in range(count):
        polygon[source, i, 0] = max(-half[x], min(half[x], polygon[source, i, 0]))
        polygon[source, i, 1] = max(-half[y], min(half[y], polygon[source, i, 1]))
        gap = polygon[source, i, 2]
        quadrant = _quadrant(polygon, source, i)
        ordinal = 0
        again = False
        for j in range(i):
            beside = max(
                abs(polygon[source, i, 0] - polygon[source, j, 0]), abs(polygon[source, i, 1] - polygon[source, j, 1])
            )
            again = again or beside < COINCIDE * min(half[x], half[y])
            if used[j] == quadrant:
                ordinal += 1
        used[i] = -1 if again else quadrant
        if gap < margin and not again:
            point = add_scaled(add_scaled(face, polygon[source, i, 0], axis_x), polygon[source, i, 1], axis_y)
            # Half-way between the face and the other box's corner.
            point = add_scaled(point, 0.5 * gap, outward)
            add_contact(
                contacts,
                contacts.filled[0],
                body_a,
                body_b,
                -1,
                shape,
                key + 8 * quadrant + ordinal,
                point,
                normal,
                gap,
                friction,
                (0.0, 0.0, 0.0),
            )


@kernel
def _quadrant(polygon: NDArray[np.float64], source: int, i: int) -> int:
    """Of the face's centre."""
    return (1 if polygon[source, i, 0] > 0.0 else 0) + (2 if polygon[source, i, 1] > 0.0 else 0)


@kernel
def _clip(polygon: NDArray[np.float64], source: int, count: int, plane: int, bound: float) -> int:
    """Sutherland and Hodgman (1974): keep what is inside x <= bound, -x <= bound, y <= bound or -y <= bound.

    Reads polygon[source], writes the other one and returns its number of corners: at most one more per plane.
    """
    target = 1 - source
    kept = 0
    along = plane // 2
    sign = 1.0 if plane % 2 == 0 else -1.0
    for i in range(count):
        j = (i + 1) % count
        start = sign * polygon[source, i, along] - bound
        end = sign * polygon[source, j, along] - bound
        if start <= 0.0:
            for k in range(3):
                polygon[target, kept, k] = polygon[source, i, k]
            kept += 1
        if (start <= 0.0) != (end <= 0.0):
            share = start / (start - end)
            for k in range(3):
                polygon[target, kept, k] = polygon[source, i, k] + share * (
                    polygon[source, j, k] - polygon[source, i, k]
                )
            kept += 1
    return kept
