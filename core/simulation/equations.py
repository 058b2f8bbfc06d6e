# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of contacts and limits, in coordinates in which the mass matrix is the identity.

With M + diagonal = L^T D L, velocities are v = L^-1 D^(-1/2) y and the kinetic energy is y . y / 2. A row J v becomes
Z y with Z = J L^-1 D^(-1/2), an impulse p along it changes y by Z^T p, and the Delassus matrix J M^-1 J^T is Z Z^T. Z
has the sparsity of J: the velocities between the touched bodies and their roots, a group's support.

Arguments called `parent`, `L` and `root` are tree.velocity_parent, the factor in the dynamics' workspace and D^(-1/2).
Kernels take the few arrays they use: to pass a structure of a hundred costs more than their arithmetic.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..maths.kernel import inlined_kernel, kernel
from ..maths.vectors import Vector, add, cross, dot, row, row_angular, subtract
from .workspace import Groups

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

NO_VELOCITY = 1 << 62


@kernel
def update_root(L: Array, root: Array) -> None:
    """`root`: D^(-1/2), after the factorization."""
    for i in range(root.shape[0]):
        root[i] = math.sqrt(L[i, i])


@kernel
def velocity_to_y(parent: Indices, L: Array, root: Array, v: Array, y: Array) -> None:
    """Y = D^(1/2) L v."""
    for i in range(v.shape[0]):
        s = v[i]
        j = parent[i]
        while j >= 0:
            s += L[i, j] * v[j]
            j = parent[j]
        y[i] = s / root[i]


@kernel
def velocity_from_y(parent: Indices, L: Array, root: Array, y: Array, v: Array) -> None:
    """V = L^-1 D^(-1/2) y."""
    for i in range(v.shape[0]):
        s = y[i] * root[i]
        j = parent[i]
        while j >= 0:
            s -= L[i, j] * v[j]
            j = parent[j]
        v[i] = s


@kernel
def impulse_to_y(parent: Indices, L: Array, root: Array, x: Array) -> None:
    """X becomes D^(-1/2) L^-T x: what a generalised impulse adds to y, or a row J to Z."""
    for i in range(x.shape[0] - 1, -1, -1):
        s = x[i]
        if s != 0.0:
            j = parent[i]
            while j >= 0:
                x[j] -= L[i, j] * s
                j = parent[j]
            x[i] = s * root[i]


@kernel
def rows_to_y(parent: Indices, L: Array, root: Array, support: Indices, Z: Array) -> None:
    """The same for three rows at once, (nv, 3), which are zero but on `support`, closed towards the roots."""
    for c in range(support.shape[0] - 1, -1, -1):
        i = support[c]
        x, y, z = Z[i, 0], Z[i, 1], Z[i, 2]
        j = parent[i]
        while j >= 0:
            a = L[i, j]
            Z[j, 0] -= a * x
            Z[j, 1] -= a * y
            Z[j, 2] -= a * z
            j = parent[j]
        s = root[i]
        Z[i, 0], Z[i, 1], Z[i, 2] = s * x, s * y, s * z


@kernel
def fill_support(first: Indices, second: Indices, out: Indices, Z: Array) -> int:
    """Merge two ascending lists of velocities into `out` and clear the rows Z (nv, 3) there; returns how many."""
    n, m = first.shape[0], second.shape[0]
    a = b = count = 0
    while a < n or b < m:
        i = first[a] if a < n else NO_VELOCITY
        j = second[b] if b < m else NO_VELOCITY
        k = min(i, j)
        out[count] = k
        if i <= j:
            a += 1
        if j <= i:
            b += 1
        Z[k, 0] = Z[k, 1] = Z[k, 2] = 0.0
        count += 1
    return count


@kernel
def add_point_rows(
    motion: Array, chain: Indices, sign: float, arm: Vector, n: Vector, t: Vector, s: Vector, Z: Array
) -> None:
    """Add to Z (nv, 3) the rows of directions n, t, s at a point of a body, o + arm; before they go to y."""
    for c in range(chain.shape[0]):
        i = chain[c]
        velocity = add(row(motion, i), cross(row_angular(motion, i), arm))
        Z[i, 0] += sign * dot(n, velocity)
        Z[i, 1] += sign * dot(t, velocity)
        Z[i, 2] += sign * dot(s, velocity)


@kernel
def rows_times(support: Indices, Z: Array, y: Array) -> Vector:
    """Three rows times y."""
    a = b = c = 0.0
    for k in range(support.shape[0]):
        i = support[k]
        a += Z[i, 0] * y[i]
        b += Z[i, 1] * y[i]
        c += Z[i, 2] * y[i]
    return a, b, c


@kernel
def add_impulse(support: Indices, Z: Array, p: Vector, y: Array) -> None:
    """Y += Z^T p."""
    for k in range(support.shape[0]):
        i = support[k]
        y[i] += Z[i, 0] * p[0] + Z[i, 1] * p[1] + Z[i, 2] * p[2]


@kernel
def point_velocity(position: Array, velocity: Array, body: int, other: int, point: Vector) -> Vector:
    """Velocity of a body's material point at `point` relative to another body's there (-1: to the world)."""
    arm = subtract(point, row(position, 0))
    result = add(row(velocity, body), cross(row_angular(velocity, body), arm))
    if other >= 0:
        result = subtract(result, add(row(velocity, other), cross(row_angular(velocity, other), arm)))
    return result


@kernel
def update_delassus(groups: Groups, count: int, everything: bool) -> None:
    """Z Z^T block by block, over the velocities that two groups have in common; of those that take part, or of all."""
    common, delassus = groups.common, groups.delassus
    for g in range(count):
        if not everything and groups.first[g] < 0:
            continue
        n = groups.support_length[g]
        for h in range(g + 1):
            if not everything and groups.first[h] < 0:
                continue
            m = groups.support_length[h]
            a = b = shared = 0
            while a < n and b < m:
                i, j = groups.support[g, a], groups.support[h, b]
                if i == j:
                    common[shared] = i
                    shared += 1
                if i <= j:
                    a += 1
                if j <= i:
                    b += 1
            _fill_block(groups.rows[g], groups.rows[h], common[:shared], delassus[g, h])
            if h < g:
                for k in range(3):
                    for l in range(3):
                        delassus[h, g, 3 * l + k] = delassus[g, h, 3 * k + l]


@inlined_kernel
def _fill_block(A: Array, B: Array, common: Indices, out: Array) -> None:
    """A^T B over `common` rows of (nv, 3) arrays, row by row into (9,)."""
    xx = xy = xz = yx = yy = yz = zx = zy = zz = 0.0
    for k in range(common.shape[0]):
        i = common[k]
        a, b, c = A[i, 0], A[i, 1], A[i, 2]
        x, y, z = B[i, 0], B[i, 1], B[i, 2]
        xx += a * x
        xy += a * y
        xz += a * z
        yx += b * x
        yy += b * y
        yz += b * z
        zx += c * x
        zy += c * y
        zz += c * z
    out[0], out[1], out[2] = xx, xy, xz
    out[3], out[4], out[5] = yx, yy, yz
    out[6], out[7], out[8] = zx, zy, zz


@kernel
def columns_to_y(parent: Indices, L: Array, root: Array, X: Array) -> None:
    """`impulse_to_y` for every column of X (nv, m) at once."""
    m = X.shape[1]
    for i in range(X.shape[0] - 1, -1, -1):
        j = parent[i]
        while j >= 0:
            a = L[i, j]
            for c in range(m):
                X[j, c] -= a * X[i, c]
            j = parent[j]
        for c in range(m):
            X[i, c] *= root[i]


@kernel
def rows_times_columns(support: Indices, Z: Array, X: Array, out: Array) -> None:
    """Three rows times every column of X (nv, m) into `out` (3, at least m)."""
    m = X.shape[1]
    for c in range(m):
        out[0, c] = out[1, c] = out[2, c] = 0.0
    for k in range(support.shape[0]):
        i = support[k]
        x, y, z = Z[i, 0], Z[i, 1], Z[i, 2]
        for c in range(m):
            out[0, c] += x * X[i, c]
            out[1, c] += y * X[i, c]
            out[2, c] += z * X[i, c]
