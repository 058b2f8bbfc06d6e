# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex edges of a mesh, and their ends, against the flat sides of a body.

An edge is cut to the part that lies over a face; where that part begins and ends are the contacts: corners of the
terrain under the face, or places where its edge crosses the face's own. Their normal is the face's. An edge counts for
a face that its own normal, half-way between its triangles', looks at, and of several faces for the one that it is least
behind: the edge of a stair carries the sole that stands on it, and does not push the heel away.
"""

import math

import numpy as np

from ...maths.kernel import inlined_kernel, kernel
from ...maths.rotations import Quaternion, quaternion_conjugate, quaternion_multiply, quaternion_rotate
from ...maths.vectors import Vector, add, add_scaled, cross, dot, row, scale, subtract
from ..shapes import Shapes
from ..terrain.hierarchy import squared_distance_to_box
from ..terrain.nearest import surface_velocity
from ..terrain.terrain import Terrain, TerrainPose
from .contacts import Contacts, add_contact, move_contact

# Keys: faces, then the terrain's vertices, then two ends of each edge.
FACE_KEYS = 1 << 56
FEATURES = 33
EDGE_ENDS = 1 << 31

# Candidates of one solid on one mesh: of more, as over rough ground of small triangles, the nearest are kept.
MOST = 16

# Sine of the angle between two triangles above which their edge is one that can be stood upon.
SHARP = 1e-3
# Cosine between an edge's normal and the way into the body above which the edge looks at the face.
LOOKS_AT = 0.2


@kernel
def ridges_against_faces(
    shapes: Shapes,
    o: int,
    terrain: Terrain,
    pose: TerrainPose,
    s: int,
    place: Vector,
    frame: Quaternion,
    margin: float,
    deepest: float,
    contacts: Contacts,
) -> None:
    """Candidates between solid o, whose body is at (place, frame), and the mesh s."""
    solids = shapes.solids
    begin = contacts.filled[0]
    depth = min(deepest, solids.depth[o])
    reach = solids.radius[o] + margin
    # terrain in the body's frame
    back = quaternion_conjugate(frame)
    turn = quaternion_multiply(
        back, (pose.quaternion[s, 0], pose.quaternion[s, 1], pose.quaternion[s, 2], pose.quaternion[s, 3])
    )
    shift = quaternion_rotate(back, subtract(row(pose.position, s), place))
    center = quaternion_rotate(quaternion_conjugate(turn), subtract(row(solids.center, o), shift))
    stack = pose.stack
    stack[0] = terrain.root[s]
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if squared_distance_to_box(terrain.bounds, node, center) > reach * reach:
            continue
        if terrain.leaf_size[node] == 0:
            stack[top] = terrain.right[node]
            stack[top + 1] = node + 1
            top += 2
            continue
        for t in range(terrain.first[node], terrain.first[node] + terrain.leaf_size[node]):
            for k in range(3):
                other = terrain.neighbors[t, k]
                if 0 <= other < t:
                    continue
                i, j = terrain.triangles[t, k], terrain.triangles[t, (k + 1) % 3]
                a, b = row(terrain.vertices, i), row(terrain.vertices, j)
                normal = _ridge_normal(terrain, t, other, subtract(b, a))
                if dot(normal, normal) == 0.0:
                    continue
                a, b = add(shift, quaternion_rotate(turn, a)), add(shift, quaternion_rotate(turn, b))
                normal = quaternion_rotate(turn, normal)
                face, low, high = _face_over(shapes, o, a, b, normal, margin, depth)
                if face < 0:
                    continue
                outward = row(solids.normal, face)
                corner = row(solids.point, solids.corner[face])
                for end in range(2):
                    share = high if end else low
                    feature = EDGE_ENDS + 2 * (3 * t + k) + end
                    if share == 0.0:
                        feature = i
                    elif share == 1.0:
                        feature = j
                    key = FACE_KEYS + (face << FEATURES) + feature
                    where = add_scaled(a, share, subtract(b, a))
                    gap = dot(outward, subtract(where, corner))
                    if not gap < margin or _is_listed(contacts, begin, key):
                        continue
                    point = add(place, quaternion_rotate(frame, add_scaled(where, -gap, outward)))
                    if contacts.filled[0] == begin + MOST and not _give_way(contacts, begin, gap):
                        continue
                    shape = solids.shape[o]
                    add_contact(
                        contacts,
                        contacts.filled[0],
                        shapes.body[shape],
                        -1,
                        s,
                        shape,
                        key,
                        point,
                        scale(-1.0, quaternion_rotate(frame, outward)),
                        gap,
                        terrain.friction[s] * shapes.friction[shape],
                        surface_velocity(pose, s, point),
                    )


@inlined_kernel
def _ridge_normal(terrain: Terrain, t: int, other: int, edge: Vector) -> Vector:
    """Half-way between the normals of two triangles; zero where the edge is no ridge but flat or a valley."""
    n = row(terrain.normals, t)
    if other < 0:  # the rim of an open sheet
        return n
    m = row(terrain.normals, other)
    if dot(cross(n, m), edge) <= SHARP * math.sqrt(dot(edge, edge)):
        return 0.0, 0.0, 0.0
    middle = add(n, m)
    length = math.sqrt(dot(middle, middle))
    return scale(1.0 / length, middle) if length > 1e-9 else n


@kernel
def _face_over(
    shapes: Shapes, o: int, a: Vector, b: Vector, normal: Vector, margin: float, depth: float
) -> tuple[int, float, float]:
    """The face of solid o that the edge from a to b is least behind, and the shares of the edge that lie over it."""
    solids = shapes.solids
    found, begin, finish = -1, 0.0, 1.0
    widest = -np.inf
    for face in range(solids.face[o], solids.face[o + 1]):
        outward = row(solids.normal, face)
        if -dot(outward, normal) < LOOKS_AT:
            continue
        first, last = solids.corner[face], solids.corner[face + 1]
        corner = row(solids.point, first)
        at_a, at_b = dot(outward, subtract(a, corner)), dot(outward, subtract(b, corner))
        # from `depth` behind the face to beyond the margin, so that an end there is seen to be too far
        low, high = _cut(at_a + depth, at_b + depth, 0.0, 1.0)
        low, high = _cut(2.0 * margin - at_a, 2.0 * margin - at_b, low, high)
        for c in range(first, last):
            corner = row(solids.point, c)
            inward = cross(outward, subtract(row(solids.point, c + 1 if c + 1 < last else first), corner))
            low, high = _cut(dot(inward, subtract(a, corner)), dot(inward, subtract(b, corner)), low, high)
        if low > high:
            continue
        gap = min(at_a + low * (at_b - at_a), at_a + high * (at_b - at_a))
        if gap > widest:
            widest = gap
            found, begin, finish = face, low, high
    return found, begin, finish


@inlined_kernel
def _cut(at_a: float, at_b: float, low: float, high: float) -> tuple[float, float]:
    """The part of low to high where what is at_a at 0 and at_b at 1, and straight between, is not negative."""
    if at_a < 0.0 and at_b < 0.0:
        return 1.0, 0.0
    if at_a < 0.0:
        low = max(low, at_a / (at_a - at_b))
    elif at_b < 0.0:
        high = min(high, at_a / (at_a - at_b))
    return low, high


@inlined_kernel
def _give_way(contacts: Contacts, begin: int, gap: float) -> bool:
    """Drop the widest gap from row `begin` on, if it is wider than this one."""
    widest = begin
    for i in range(begin, contacts.filled[0]):
        if contacts.gap[i] > contacts.gap[widest]:
            widest = i
    if not gap < contacts.gap[widest]:
        return False
    contacts.filled[0] -= 1
    move_contact(contacts, contacts.filled[0], widest)
    return True


@inlined_kernel
def _is_listed(contacts: Contacts, begin: int, key: int) -> bool:
    """Whether an edge that ends at the same place has already been there."""
    listed = False
    for i in range(begin, contacts.filled[0]):
        listed = listed or contacts.key[i] == key
    return listed
