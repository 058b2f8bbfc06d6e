# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding-volume hierarchy over triangles, and the nearest point on one triangle.

A binary tree split at the median of the triangles' centres along the longest axis, laid out in preorder: the left child
of node i is i + 1, the right one is right[i]. Leaves hold up to LEAF triangles that are neighbours in memory. Median
splits keep the depth at log2(n / LEAF) + 1, so a stack of STACK entries is enough for any mesh that fits in memory.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import allocating_kernel, inlined_kernel, kernel
from ...maths.vectors import Vector, add_scaled, dot, row, subtract

LEAF = 4
STACK = 64
# Cosine above which two faces count as one side, and the distance in metres that counts as behind a face.
SAME_SIDE = 0.8
BEHIND = 1e-5
# Relative difference of squared distances below which two triangles are met at the same point.
SAME_POINT = 1e-12

# Features of a triangle (a, b, c): its inside, its edges ab, bc, ca and its corners a, b, c.
FACE, EDGE_AB, EDGE_BC, EDGE_CA, CORNER_A, CORNER_B, CORNER_C = range(7)


@allocating_kernel
def build_hierarchy(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    order: NDArray[np.int64],
    bounds: NDArray[np.float64],
    right: NDArray[np.int64],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
) -> int:
    """Sort `order` (nt,) so that leaves are consecutive, fill the nodes and return their number.

    low, high (nt, 3) bound each triangle. Nodes: bounds (nn, 6) low then high, right (nn,) index of the right child,
    first and count (nn,) of a leaf's triangles in `order`; an inner node has count 0. nn <= 2 nt.
    """
    nodes = 0
    begin = np.zeros(STACK, dtype=np.int64)
    end = np.zeros(STACK, dtype=np.int64)
    parent = np.zeros(STACK, dtype=np.int64)
    top = 1
    begin[0], end[0], parent[0] = 0, order.shape[0], -1
    while top > 0:
        top -= 1
        b, e = begin[top], end[top]
        node = nodes
        nodes += 1
        if parent[top] >= 0:
            right[parent[top]] = node
        axis = 0
        widest = -1.0
        for k in range(3):
            lowest, highest = np.inf, -np.inf
            least, most = np.inf, -np.inf
            for t in range(b, e):
                i = order[t]
                lowest = min(lowest, low[i, k])
                highest = max(highest, high[i, k])
                centre = low[i, k] + high[i, k]
                least = min(least, centre)
                most = max(most, centre)
            bounds[node, k] = lowest
            bounds[node, 3 + k] = highest
            if most - least > widest:
                widest = most - least
                axis = k
        if e - b <= LEAF:
            first[node], count[node], right[node] = b, e - b, -1
            continue
        count[node] = 0
        first[node] = -1
        middle = (b + e) // 2
        _partition(low, high, order, b, e, middle, axis)
        # The right half waits; the left one is taken next and so becomes node + 1.
        begin[top], end[top], parent[top] = middle, e, node
        begin[top + 1], end[top + 1], parent[top + 1] = b, middle, -1
        top += 2
    return nodes


@kernel
def _partition(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    order: NDArray[np.int64],
    begin: int,
    end: int,
    middle: int,
    axis: int,
) -> None:
    """Bring the smaller centres in front of `middle` (Hoare's selection; pivots are medians of three)."""
    a = begin
    z = end - 1
    while a < z:
        i, j, k = order[a], order[(a + z) // 2], order[z]
        x = low[i, axis] + high[i, axis]
        y = low[j, axis] + high[j, axis]
        w = low[k, axis] + high[k, axis]
        pivot = max(min(x, y), min(max(x, y), w))
        left = a
        right = z
        while left <= right:
            while low[order[left], axis] + high[order[left], axis] < pivot:
                left += 1
            while low[order[right], axis] + high[order[right], axis] > pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            z = right
        elif middle >= left:
            a = left
        else:
            return


@inlined_kernel
def squared_distance_to_box(bounds: NDArray[np.float64], node: int, p: Vector) -> float:
    """From p to the node's box; zero inside."""
    x = max(bounds[node, 0] - p[0], p[0] - bounds[node, 3], 0.0)
    y = max(bounds[node, 1] - p[1], p[1] - bounds[node, 4], 0.0)
    z = max(bounds[node, 2] - p[2], p[2] - bounds[node, 5], 0.0)
    squared: float = x * x + y * y + z * z
    return squared


@kernel
def nearest_on_triangle(p: Vector, a: Vector, b: Vector, c: Vector) -> tuple[int, float, float]:
    """Feature nearest to p and the point there as a + u (b - a) + v (c - a).

    By the Voronoi regions of the features; Ericson, Real-Time Collision Detection (2005), section 5.1.5.
    """
    ab = subtract(b, a)
    ac = subtract(c, a)
    ap = subtract(p, a)
    d1 = dot(ab, ap)
    d2 = dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return CORNER_A, 0.0, 0.0
    bp = subtract(p, b)
    d3 = dot(ab, bp)
    d4 = dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return CORNER_B, 1.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return EDGE_AB, d1 / (d1 - d3), 0.0
    cp = subtract(p, c)
    d5 = dot(ab, cp)
    d6 = dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return CORNER_C, 0.0, 1.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return EDGE_CA, 0.0, d2 / (d2 - d6)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        v = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return EDGE_BC, 1.0 - v, v
    total = va + vb + vc
    return FACE, vb / total, vc / total


@kernel
def nearest_triangle(
    bounds: NDArray[np.float64],
    right: NDArray[np.int64],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    root: int,
    vertices: NDArray[np.float64],
    triangles: NDArray[np.int64],
    normals: NDArray[np.float64],
    p: Vector,
    limit: float,
    stack: NDArray[np.int64],
) -> tuple[int, int, Vector, float]:
    """Triangle, feature, point and distance nearest to p within `limit`; triangle -1 if there is none.

    Of triangles that share the nearest point, the one that faces p most: straight above the edge of a stair the tread.
    """
    found = -1
    feature = FACE
    point = p
    facing = 0.0
    best = limit * limit
    top = 1
    stack[0] = root
    while top > 0:
        top -= 1
        node = stack[top]
        if squared_distance_to_box(bounds, node, p) > best:
            continue
        if count[node] == 0:
            near = node + 1
            far = right[node]
            if squared_distance_to_box(bounds, far, p) < squared_distance_to_box(bounds, near, p):
                near, far = far, near
            stack[top] = far
            stack[top + 1] = near
            top += 2
            continue
        for t in range(first[node], first[node] + count[node]):
            a = row(vertices, triangles[t, 0])
            b = row(vertices, triangles[t, 1])
            c = row(vertices, triangles[t, 2])
            kind, u, v = nearest_on_triangle(p, a, b, c)
            x = add_scaled(add_scaled(a, u, subtract(b, a)), v, subtract(c, a))
            arm = subtract(p, x)
            squared = dot(arm, arm)
            height = abs(dot(row(normals, t), arm))
            if squared < best * (1.0 - SAME_POINT) or (
                squared <= best * (1.0 + SAME_POINT) and (found < 0 or height > facing)
            ):
                best = min(best, squared)
                facing = height
                found = t
                feature = kind
                point = x
    return found, feature, point, math.sqrt(best)


@kernel
def second_face(
    bounds: NDArray[np.float64],
    right: NDArray[np.int64],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    root: int,
    vertices: NDArray[np.float64],
    triangles: NDArray[np.int64],
    normals: NDArray[np.float64],
    p: Vector,
    normal: Vector,
    touch: Vector,
    limit: float,
    depth: float,
    stack: NDArray[np.int64],
) -> tuple[int, float]:
    """The other side of a concave corner: the nearest face that p stands before, turned away from `normal`.

    `touch` is the first contact's point. It must not lie behind the second face: where it does the edge between them is
    convex, and the face is only the side of what is already touched. Returns -1 where there is none.
    """
    found = -1
    best = limit
    top = 1
    stack[0] = root
    while top > 0:
        top -= 1
        node = stack[top]
        if squared_distance_to_box(bounds, node, p) > limit * limit:
            continue
        if count[node] == 0:
            stack[top] = right[node]
            stack[top + 1] = node + 1
            top += 2
            continue
        for t in range(first[node], first[node] + count[node]):
            n = row(normals, t)
            if dot(n, normal) > SAME_SIDE:
                continue
            a = row(vertices, triangles[t, 0])
            height = dot(n, subtract(p, a))
            if not -depth < height < best or dot(n, subtract(touch, a)) < -BEHIND:
                continue
            b = row(vertices, triangles[t, 1])
            c = row(vertices, triangles[t, 2])
            _, u, v = nearest_on_triangle(p, a, b, c)
            arm = subtract(p, add_scaled(add_scaled(a, u, subtract(b, a)), v, subtract(c, a)))
            # p stands over the face itself if nothing is nearer than its plane.
            if dot(arm, arm) <= height * height * (1.0 + 1e-9) + 1e-18:
                found = t
                best = height
    return found, best
