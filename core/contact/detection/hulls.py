# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex solids with flat sides, hulls and boxes: how far a point is from one, and where two touch.

Two solids are apart along a face's normal of either or along the cross product of an edge of each; of edges only those
pairs count whose arcs cross on the Gauss map (Gregorius, The separating axis test between convex polyhedra, 2013). Then
one face is clipped by the other's sides, or edges touch, as between two boxes (box_box.py).
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from ...maths.rotations import Quaternion, quaternion_conjugate, quaternion_multiply, quaternion_rotate
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, scale, subtract
from ..friction import first_tangent
from ..solids import Solids
from .contacts import Contacts, add_contact, move_contact
from .segments import nearest_between_segments

# How much further apart solids must be along another axis before it is preferred: b's faces to a's, edges to faces, m.
PREFER_FACE = 1e-4
# Sine of the angle between two edges below which they are parallel.
PARALLEL = 1e-3
# Candidates that are kept of one touch: those farthest out in so many directions.
MOST = 8
# Corners of an overlap that a face's name counts to; a face's number times it stays below what a pair has for names.
ORDINALS = 32
EDGES = 120 * ORDINALS  # the name of a touch of two edges
# Two corners of an overlap this near to each other are one, as a share of its extent.
COINCIDE = 0.01


@kernel
def nearest_on_hull(solids: Solids, o: int, p: Vector) -> tuple[float, Vector]:
    """Signed distance of a point from solid o, in its body's frame, and the normal there, outwards."""
    deepest = -np.inf
    normal = (0.0, 0.0, 1.0)
    best = np.inf
    touch = p
    for face in range(solids.face[o], solids.face[o + 1]):
        n = row(solids.normal, face)
        first, last = solids.corner[face], solids.corner[face + 1]
        height = dot(n, subtract(p, row(solids.point, first)))
        if height > deepest:
            deepest = height
            normal = n
        if height <= 0.0:
            continue
        over = True
        for c in range(first, last):
            a = row(solids.point, c)
            along = subtract(row(solids.point, c + 1 if c + 1 < last else first), a)
            arm = subtract(p, a)
            if dot(cross(n, along), arm) >= 0.0:
                continue
            over = False
            share = max(0.0, min(1.0, dot(arm, along) / dot(along, along)))
            here = add_scaled(a, share, along)
            apart = subtract(p, here)
            if dot(apart, apart) < best:
                best = dot(apart, apart)
                touch = here
        if over:
            return height, n
    distance = math.sqrt(best) if deepest > 0.0 else 0.0
    if distance > 1e-9:
        return distance, scale(1.0 / distance, subtract(p, touch))
    return deepest, normal


@kernel
def solid_against_solid(
    solids: Solids,
    o: int,
    body_a: int,
    place_a: Vector,
    turn_a: Quaternion,
    u: int,
    body_b: int,
    place_b: Vector,
    turn_b: Quaternion,
    shape: int,
    key: int,
    friction: float,
    margin: float,
    contacts: Contacts,
) -> None:
    """Add up to MOST candidates between solids o and u, whose bodies are at these places; normals point from b to a."""
    back = quaternion_conjugate(turn_b)
    turn = quaternion_multiply(back, turn_a)  # from a's frame to b's
    shift = quaternion_rotate(back, subtract(place_a, place_b))
    apart = subtract(add(shift, quaternion_rotate(turn, row(solids.center, o))), row(solids.center, u))
    reach = solids.radius[o] + solids.radius[u] + margin
    if dot(apart, apart) > reach * reach:
        return
    there = quaternion_conjugate(turn)  # and from b's to a's
    away = scale(-1.0, quaternion_rotate(there, shift))
    gap, face = _widest_face(solids, o, u, there, away)
    if gap >= margin:
        return
    of_b, face_of_b = _widest_face(solids, u, o, turn, shift)
    if of_b >= margin:
        return
    is_bs = of_b > gap + PREFER_FACE
    if is_bs:
        gap, face = of_b, face_of_b
    at_edges, e, f, normal = _widest_edges(solids, o, u, turn, shift)
    if at_edges >= margin:
        return
    if at_edges > gap + PREFER_FACE:
        start, end = row(solids.ends[e], 0), row(solids.ends[e], 1)
        a = add(shift, quaternion_rotate(turn, start))
        b = add(shift, quaternion_rotate(turn, end))
        c, d = row(solids.ends[f], 0), row(solids.ends[f], 1)
        s, t = nearest_between_segments(a, b, c, d)
        on_a, on_b = add_scaled(a, s, subtract(b, a)), add_scaled(c, t, subtract(d, c))
        point = add(place_b, quaternion_rotate(turn_b, scale(0.5, add(on_a, on_b))))
        towards = quaternion_rotate(turn_b, normal)
        add_contact(
            contacts,
            contacts.filled[0],
            body_a,
            body_b,
            -1,
            shape,
            key + EDGES,
            point,
            towards,
            at_edges,
            friction,
            (0.0, 0.0, 0.0),
        )
    elif is_bs:
        key += ORDINALS * (face - solids.face[u] + solids.face[o + 1] - solids.face[o])
        _face_against_solid(
            solids, face, o, turn, shift, 1.0, body_a, body_b, place_b, turn_b, shape, key, friction, margin, contacts
        )
    else:
        key += ORDINALS * (face - solids.face[o])
        _face_against_solid(
            solids, face, u, there, away, -1.0, body_a, body_b, place_a, turn_a, shape, key, friction, margin, contacts
        )


@kernel
def _widest_face(solids: Solids, o: int, u: int, turn: Quaternion, shift: Vector) -> tuple[float, int]:
    """Of solid o's faces the one that all of u is farthest in front of; (turn, shift) leads from u's frame to o's."""
    best = -np.inf
    found = -1
    back = quaternion_conjugate(turn)
    for face in range(solids.face[o], solids.face[o + 1]):
        n = row(solids.normal, face)
        offset = dot(n, subtract(shift, row(solids.point, solids.corner[face])))
        local = quaternion_rotate(back, n)
        gap = np.inf
        for k in range(solids.vertex[u], solids.vertex[u + 1]):
            gap = min(gap, dot(local, row(solids.place, k)))
        gap += offset
        # Of faces that say the same the first: rounding must not make the choice flicker.
        if gap > best + 1e-9:
            best = gap
            found = face
    return best, found


@kernel
def _widest_edges(solids: Solids, o: int, u: int, turn: Quaternion, shift: Vector) -> tuple[float, int, int, Vector]:
    """Edges of o and u along whose cross product the solids are farthest apart, and that way, to o, in u's frame."""
    best = -np.inf
    found, other = -1, -1
    way = (0.0, 0.0, 1.0)
    middle = add(shift, quaternion_rotate(turn, row(solids.center, o)))
    for e in range(solids.edge[o], solids.edge[o + 1]):
        a = quaternion_rotate(turn, row(solids.normal, solids.sides[e, 0]))
        b = quaternion_rotate(turn, row(solids.normal, solids.sides[e, 1]))
        start = add(shift, quaternion_rotate(turn, row(solids.ends[e], 0)))
        along = subtract(add(shift, quaternion_rotate(turn, row(solids.ends[e], 1))), start)
        b_x_a = cross(b, a)
        for f in range(solids.edge[u], solids.edge[u + 1]):
            c = scale(-1.0, row(solids.normal, solids.sides[f, 0]))
            d = scale(-1.0, row(solids.normal, solids.sides[f, 1]))
            cba, dba = dot(c, b_x_a), dot(d, b_x_a)
            if cba * dba >= 0.0:
                continue
            d_x_c = cross(d, c)
            adc, bdc = dot(a, d_x_c), dot(b, d_x_c)
            if adc * bdc >= 0.0 or cba * bdc <= 0.0:
                continue
            first = row(solids.ends[f], 0)
            across = subtract(row(solids.ends[f], 1), first)
            axis = cross(along, across)
            length = math.sqrt(dot(axis, axis))
            if length <= PARALLEL * math.sqrt(dot(along, along) * dot(across, across)):
                continue
            axis = scale(1.0 / length, axis)
            if dot(axis, subtract(start, middle)) < 0.0:
                axis = scale(-1.0, axis)
            gap = dot(axis, subtract(first, start))
            if gap > best:
                best = gap
                found, other = e, f
                way = scale(-1.0, axis)
    return best, found, other, way


@kernel
def _face_against_solid(
    solids: Solids,
    face: int,
    u: int,
    turn: Quaternion,
    shift: Vector,
    side: float,
    body: int,
    other: int,
    place: Vector,
    frame: Quaternion,
    shape: int,
    key: int,
    friction: float,
    margin: float,
    contacts: Contacts,
) -> None:
    """Clip the side of solid u that faces a face by that face's edges.

    (turn, shift) leads from u's frame to that of the face's body, which is at (place, frame); `side` is 1 where u is
    the first body, -1 where it is the other.
    """
    outward = row(solids.normal, face)
    back = quaternion_conjugate(turn)
    local = quaternion_rotate(back, outward)
    facing = solids.face[u]
    steepest = np.inf
    for k in range(solids.face[u], solids.face[u + 1]):
        lean = dot(local, row(solids.normal, k))
        if lean < steepest - 1e-9:
            steepest = lean
            facing = k
    polygon = contacts.polygon
    count = 0
    for c in range(solids.corner[facing], solids.corner[facing + 1]):
        p = add(shift, quaternion_rotate(turn, row(solids.point, c)))
        polygon[0, count, 0], polygon[0, count, 1], polygon[0, count, 2] = p
        count += 1
    source = 0
    first, last = solids.corner[face], solids.corner[face + 1]
    extent = 0.0
    for c in range(first, last):
        a = row(solids.point, c)
        along = subtract(row(solids.point, c + 1 if c + 1 < last else first), a)
        extent = max(extent, dot(along, along))
        inward = cross(outward, along)
        inward = scale(1.0 / math.sqrt(dot(inward, inward)), inward)
        count = _cut_off(polygon, source, count, a, inward)
        source = 1 - source
    near = COINCIDE * COINCIDE * extent
    corner = row(solids.point, first)
    begin = contacts.filled[0]
    for i in range(count):
        p = row(polygon[source], i)
        gap = dot(outward, subtract(p, corner))
        again = False
        for j in range(i):
            apart = subtract(p, row(polygon[source], j))
            again = again or dot(apart, apart) < near
        if again or gap >= margin:
            continue
        point = add(place, quaternion_rotate(frame, add_scaled(p, -0.5 * gap, outward)))
        normal = scale(side, quaternion_rotate(frame, outward))
        add_contact(
            contacts,
            contacts.filled[0],
            body,
            other,
            -1,
            shape,
            key + i % ORDINALS,
            point,
            normal,
            gap,
            friction,
            (0.0, 0.0, 0.0),
        )
    thin_out(contacts, begin, -1)


@kernel
def _cut_off(polygon: NDArray[np.float64], source: int, count: int, corner: Vector, inward: Vector) -> int:
    """Sutherland and Hodgman (1974): keep what lies inwards of a corner; as `_clip` of box_box.py, by any plane."""
    target = 1 - source
    kept = 0
    for i in range(count):
        p, q = row(polygon[source], i), row(polygon[source], (i + 1) % count)
        start, end = dot(inward, subtract(p, corner)), dot(inward, subtract(q, corner))
        if start >= 0.0:
            polygon[target, kept, 0], polygon[target, kept, 1], polygon[target, kept, 2] = p
            kept += 1
        if (start >= 0.0) != (end >= 0.0):
            cut = add_scaled(p, start / (start - end), subtract(q, p))
            polygon[target, kept, 0], polygon[target, kept, 1], polygon[target, kept, 2] = cut
            kept += 1
    return kept


@kernel
def thin_out(contacts: Contacts, begin: int, surface: int) -> None:
    """Of candidates from row `begin` on with a surface keep the deepest and those farthest out in MOST directions."""
    count, deepest = 0, -1
    for i in range(begin, contacts.filled[0]):
        if contacts.surface[i] == surface:
            count += 1
            if deepest < 0 or contacts.gap[i] < contacts.gap[deepest]:
                deepest = i
    if count <= MOST:
        return
    normal = row(contacts.normal, deepest)
    t = first_tangent(normal, (0.0, 0.0, 0.0))
    s = cross(normal, t)
    chosen = contacts.quadrants
    for k in range(MOST):
        angle = 2.0 * math.pi * k / MOST
        way = add_scaled(scale(math.cos(angle), t), math.sin(angle), s)
        farthest = -np.inf
        for i in range(begin, contacts.filled[0]):
            if contacts.surface[i] == surface:
                out = dot(way, row(contacts.point, i))
                if out > farthest + 1e-6:
                    farthest = out
                    chosen[k] = i
    kept = begin
    for i in range(begin, contacts.filled[0]):
        keep = contacts.surface[i] != surface or i == deepest
        for k in range(MOST):
            keep = keep or chosen[k] == i
        if keep:
            if kept < i:
                move_contact(contacts, i, kept)
            kept += 1
    contacts.filled[0] = kept
