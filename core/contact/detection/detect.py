# SPDX-License-Identifier: GPL-3.0-or-later
"""Find contact candidates: all places where a gap is below the margin.

Against terrain a shape is tested at points: a corner at itself, a sphere at its centre, a box or a hull at its corners,
a capsule at both ends and, over ground that bulges (the edge of a stair), at the nearest point of its axis. Each point
meets each surface once, and the other side of a concave corner too. Between its corners a box, a hull or a sole meets
the convex edges of meshes (ridges.py). Pairs of shapes are tested with each other.
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from ...maths.rotations import Quaternion, quaternion_conjugate, quaternion_multiply, quaternion_rotate, quaternion_row
from ...maths.vectors import Vector, add, add_scaled, dot, row, scale, subtract
from ..shapes import BOX, HULL, LIMB, Shapes
from ..terrain.nearest import height_over_plane, nearest_on_surface, second_on_surface, surface_velocity
from ..terrain.terrain import MESH, PLANE, Terrain, TerrainPose
from .box_box import box_against_box
from .contacts import Contacts, add_contact
from .hulls import MOST, nearest_on_hull, solid_against_solid, thin_out
from .ridges import ridges_against_faces
from .segments import nearest_between_segments, nearest_on_box

# A key is made of shape, feature, side of a corner and surface, or of pair and feature.
FEATURES = 32  # as many as a hull has corners
SURFACES = 4096
PAIR_KEYS = 1 << 48
PAIR_FEATURES = 4096

# How much nearer than its ends a capsule's middle must come to count as a contact of its own, m.
BULGE = 1e-3
REFINEMENTS = 12


@kernel
def detect(
    shapes: Shapes,
    terrain: Terrain,
    pose: TerrainPose,
    position: NDArray[np.float64],
    quaternion: NDArray[np.float64],
    margin: float,
    depth: float,
    contacts: Contacts,
) -> int:
    """Empty `contacts`, fill it and return the number of candidates.

    position (nb, 3), quaternion (nb, 4): the bodies' frames in the world. margin: widest gap of a candidate, m.
    depth: how far inside a mesh a point is still found, m; less than half the thickness of the thinnest solid.
    Nothing is allocated; the order is always the same.
    """
    contacts.filled[0] = 0
    # One body of nested loops: every call that takes these structures costs more than the arithmetic inside it.
    for i in range(shapes.kind.shape[0]):
        if not shapes.meets_terrain[i]:
            continue
        body = shapes.body[i]
        kind = shapes.kind[i]
        radius = shapes.radius[i]
        turn = quaternion_row(quaternion, body)
        start = add(row(position, body), quaternion_rotate(turn, row(shapes.start, i)))
        end = start
        frame = turn
        points = 1
        if kind == BOX:
            frame = quaternion_multiply(turn, quaternion_row(shapes.orientation, i))
            points = 8
        elif kind == LIMB:
            end = add(row(position, body), quaternion_rotate(turn, row(shapes.end, i)))
            points = 3
        corners = 0
        if kind == HULL:
            corners = shapes.solids.vertex[shapes.solid[i]]
            points = shapes.solids.vertex[shapes.solid[i] + 1] - corners
        first = contacts.filled[0]
        for feature in range(points):
            where = start
            if kind == BOX:
                half = row(shapes.half_extents, i)
                local = (
                    half[0] if feature & 4 else -half[0],
                    half[1] if feature & 2 else -half[1],
                    half[2] if feature & 1 else -half[2],
                )
                where = add(start, quaternion_rotate(frame, local))
            elif kind == HULL:
                where = add(start, quaternion_rotate(turn, row(shapes.solids.place, corners + feature)))
            elif feature == 1:
                where = end
            begin = contacts.filled[0]
            for s in range(terrain.kind.shape[0]):
                if kind == LIMB and feature == 2:
                    if terrain.kind[s] == PLANE:
                        continue
                    share = _bulge(terrain, pose, s, start, end, radius + margin)
                    if share <= 0.0:
                        continue
                    where = add_scaled(start, share, subtract(end, start))
                    begin = contacts.filled[0]
                elif terrain.kind[s] == PLANE and height_over_plane(terrain, pose, s, where) - radius >= margin:
                    continue
                distance, normal, touch = nearest_on_surface(terrain, pose, s, where, max(radius + margin, depth))
                if not distance - radius < margin:
                    continue
                friction = terrain.friction[s] * shapes.friction[i]
                key = ((i * FEATURES + feature) * 2) * SURFACES + s
                point = add_scaled(where, -radius, normal)
                velocity = surface_velocity(pose, s, point)
                add_contact(contacts, begin, body, -1, s, i, key, point, normal, distance - radius, friction, velocity)
                if terrain.kind[s] != MESH:
                    continue
                # The other side of a concave corner.
                distance, normal, touch = second_on_surface(terrain, pose, s, where, normal, touch, radius + margin)
                if not distance - radius < margin:
                    continue
                key += SURFACES
                point = add_scaled(where, -radius, normal)
                velocity = surface_velocity(pose, s, point)
                add_contact(contacts, begin, body, -1, s, i, key, point, normal, distance - radius, friction, velocity)
        if points > MOST:
            for s in range(terrain.kind.shape[0]):
                thin_out(contacts, first, s)
    for o in range(shapes.solids.shape.shape[0]):
        if not shapes.meets_terrain[shapes.solids.shape[o]]:
            continue
        body = shapes.body[shapes.solids.shape[o]]
        for s in range(terrain.kind.shape[0]):
            if terrain.kind[s] == MESH:
                place, turn = row(position, body), quaternion_row(quaternion, body)
                ridges_against_faces(shapes, o, terrain, pose, s, place, turn, margin, depth, contacts)
    for k in range(shapes.pair.shape[0]):
        detect_pair(shapes, k, position, quaternion, margin, contacts)
    return int(contacts.filled[0])


@kernel
def _bulge(terrain: Terrain, pose: TerrainPose, s: int, start: Vector, end: Vector, limit: float) -> float:
    """Share along a capsule's axis at which the ground bulges towards it; zero where it does not.

    Three samples find the place, a ternary search the point. Over a plane the distance is linear along the axis, and
    the ends say all.
    """
    along = subtract(end, start)
    reach = limit + 0.5 * np.sqrt(dot(along, along))
    if not nearest_on_surface(terrain, pose, s, add_scaled(start, 0.5, along), reach)[0] < reach:
        return 0.0
    first = nearest_on_surface(terrain, pose, s, start, reach)[0]
    last = nearest_on_surface(terrain, pose, s, end, reach)[0]
    best = 0.0
    depth = -BULGE
    for k in range(1, 4):
        share = 0.25 * k
        distance = nearest_on_surface(terrain, pose, s, add_scaled(start, share, along), limit)[0]
        # NaN, infinity less infinity, compares as no bulge.
        dip = distance - ((1.0 - share) * first + share * last)
        if distance < np.inf and (dip < depth or first + last == np.inf):
            best = share
            depth = dip
    if best == 0.0:
        return 0.0
    low = best - 0.25
    high = best + 0.25
    for _ in range(REFINEMENTS):
        left = low + (high - low) / 3.0
        right = high - (high - low) / 3.0
        at_left = nearest_on_surface(terrain, pose, s, add_scaled(start, left, along), reach)[0]
        at_right = nearest_on_surface(terrain, pose, s, add_scaled(start, right, along), reach)[0]
        if at_left <= at_right:
            high = right
        else:
            low = left
    return 0.5 * (low + high)


@kernel
def detect_pair(
    shapes: Shapes,
    k: int,
    position: NDArray[np.float64],
    quaternion: NDArray[np.float64],
    margin: float,
    contacts: Contacts,
) -> None:
    """Candidates between the two shapes of pair k."""
    a = shapes.pair[k, 0]
    b = shapes.pair[k, 1]
    body_a = shapes.body[a]
    body_b = shapes.body[b]
    turn_a = quaternion_row(quaternion, body_a)
    turn_b = quaternion_row(quaternion, body_b)
    start_a = add(row(position, body_a), quaternion_rotate(turn_a, row(shapes.start, a)))
    start_b = add(row(position, body_b), quaternion_rotate(turn_b, row(shapes.start, b)))
    friction = shapes.pair_friction[k] * shapes.friction[a] * shapes.friction[b]
    key = PAIR_KEYS + k * PAIR_FEATURES
    if shapes.kind[a] == BOX and shapes.kind[b] == BOX:
        frame_a = quaternion_multiply(turn_a, quaternion_row(shapes.orientation, a))
        frame_b = quaternion_multiply(turn_b, quaternion_row(shapes.orientation, b))
        half_a = row(shapes.half_extents, a)
        half_b = row(shapes.half_extents, b)
        box_against_box(
            body_a, body_b, a, key, start_a, frame_a, half_a, start_b, frame_b, half_b, friction, margin, contacts
        )
        return
    if shapes.solid[a] >= 0 and shapes.solid[b] >= 0:
        solid_against_solid(
            shapes.solids,
            shapes.solid[a],
            body_a,
            row(position, body_a),
            turn_a,
            shapes.solid[b],
            body_b,
            row(position, body_b),
            turn_b,
            a,
            key,
            friction,
            margin,
            contacts,
        )
        return
    end_a = add(row(position, body_a), quaternion_rotate(turn_a, row(shapes.end, a)))
    end_b = add(row(position, body_b), quaternion_rotate(turn_b, row(shapes.end, b)))
    if shapes.solid[b] >= 0:
        frame = quaternion_multiply(turn_b, quaternion_row(shapes.orientation, b))
        _segment_against_solid(
            shapes, a, start_a, end_a, b, start_b, frame, 1.0, body_a, body_b, a, key, friction, margin, contacts
        )
        return
    if shapes.solid[a] >= 0:
        frame = quaternion_multiply(turn_a, quaternion_row(shapes.orientation, a))
        _segment_against_solid(
            shapes, b, start_b, end_b, a, start_a, frame, -1.0, body_a, body_b, a, key, friction, margin, contacts
        )
        return
    s, t = nearest_between_segments(start_a, end_a, start_b, end_b)
    on_a = add_scaled(start_a, s, subtract(end_a, start_a))
    on_b = add_scaled(start_b, t, subtract(end_b, start_b))
    apart = subtract(on_a, on_b)
    distance = np.sqrt(dot(apart, apart))
    gap = distance - shapes.radius[a] - shapes.radius[b]
    if gap < margin:
        # Axes that cross: any direction will do, as long as it is always the same.
        normal = scale(1.0 / distance, apart) if distance > 1e-9 else (0.0, 0.0, 1.0)
        point = add_scaled(on_b, shapes.radius[b] + 0.5 * gap, normal)
        add_contact(
            contacts, contacts.filled[0], body_a, body_b, -1, a, key, point, normal, gap, friction, (0.0, 0.0, 0.0)
        )


@kernel
def _segment_against_solid(
    shapes: Shapes,
    segment: int,
    start: Vector,
    end: Vector,
    solid: int,
    centre: Vector,
    frame: Quaternion,
    side: float,
    body: int,
    other: int,
    shape: int,
    key: int,
    friction: float,
    margin: float,
    contacts: Contacts,
) -> None:
    """Point, sphere or capsule against a box or a hull; side is 1 where that is the other body, -1 where the first.

    A capsule touches with its ends, and with the point between them that is nearest if it is nearer than both.
    """
    radius = shapes.radius[segment]
    back = quaternion_conjugate(frame)
    a = quaternion_rotate(back, subtract(start, centre))
    b = quaternion_rotate(back, subtract(end, centre))
    along = subtract(b, a)
    if shapes.kind[solid] == HULL and not _is_near(shapes, solid, a, along, radius + margin):
        return
    at_a = _nearest_on_solid(shapes, solid, a)[0]
    at_b = _nearest_on_solid(shapes, solid, b)[0]
    tests = 1
    middle = 0.0
    if shapes.kind[segment] == LIMB:
        tests = 2
        # The distance to a convex body is convex along a line.
        low = 0.0
        high = 1.0
        for _ in range(40):
            left = low + (high - low) / 3.0
            right = high - (high - low) / 3.0
            at_left = _nearest_on_solid(shapes, solid, add_scaled(a, left, along))[0]
            at_right = _nearest_on_solid(shapes, solid, add_scaled(a, right, along))[0]
            if at_left <= at_right:
                high = right
            else:
                low = left
        middle = 0.5 * (low + high)
        if _nearest_on_solid(shapes, solid, add_scaled(a, middle, along))[0] < min(at_a, at_b) - BULGE:
            tests = 3
    for test in range(tests):
        share = middle if test == 2 else float(test)
        p = add_scaled(a, share, along)
        distance, local_normal = _nearest_on_solid(shapes, solid, p)
        gap = distance - radius
        if gap < margin:
            normal = quaternion_rotate(frame, local_normal)
            point = add(centre, quaternion_rotate(frame, add_scaled(p, -radius - 0.5 * gap, local_normal)))
            add_contact(
                contacts,
                contacts.filled[0],
                body,
                other,
                -1,
                shape,
                key + test,
                point,
                scale(side, normal),
                gap,
                friction,
                (0.0, 0.0, 0.0),
            )


@kernel
def _nearest_on_solid(shapes: Shapes, i: int, p: Vector) -> tuple[float, Vector]:
    """Signed distance of a point from box or hull i, in its frame, and the normal there."""
    if shapes.kind[i] == HULL:
        return nearest_on_hull(shapes.solids, shapes.solid[i], p)
    distance, normal, _, _ = nearest_on_box(p, row(shapes.half_extents, i))
    return distance, normal


@kernel
def _is_near(shapes: Shapes, i: int, start: Vector, along: Vector, margin: float) -> bool:
    """Whether a segment comes within the margin of the sphere around hull i."""
    arm = subtract(row(shapes.solids.center, shapes.solid[i]), start)
    length = dot(along, along)
    share = max(0.0, min(1.0, dot(arm, along) / length)) if length > 0.0 else 0.0
    apart = add_scaled(arm, -share, along)
    reach = shapes.solids.radius[shapes.solid[i]] + margin
    return bool(dot(apart, apart) <= reach * reach)
