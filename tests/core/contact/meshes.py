# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes with a known shape."""

import numpy as np


def box(low=(-1.0, -1.0, -1.0), high=(1.0, 1.0, 1.0)):
    """Twelve triangles, outwards."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    vertices = np.array(
        [[(low, high)[x][0], (low, high)[y][1], (low, high)[z][2]] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    )
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return vertices, np.array(triangles)


def sphere(radius=1.0, subdivisions=3):
    """An icosahedron, subdivided."""
    g = (1 + 5**0.5) / 2
    vertices = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g)]
    vertices += [(0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    triangles = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2)]
    triangles += [(10, 7, 6), (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5)]
    triangles += [(2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]
    vertices, triangles = np.array(vertices, float), np.array(triangles)
    for _ in range(subdivisions):
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        n = len(triangles)
        vertices = np.vstack([a, b, c, a + b, b + c, c + a])
        i = np.arange(n)
        A, B, C, AB, BC, CA = (i + k * n for k in range(6))
        triangles = np.vstack([np.c_[A, AB, CA], np.c_[AB, B, BC], np.c_[CA, BC, C], np.c_[AB, BC, CA]])
        vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
        vertices = np.round(vertices, 12)
        vertices, place = np.unique(vertices, axis=0, return_inverse=True)
        triangles = place.reshape(-1)[triangles]
    return vertices / np.linalg.norm(vertices, axis=1, keepdims=True) * radius, triangles


def flat(_x, _y):
    """The height of level ground."""
    return 0.0


def sheet(height, size=4.0, cells=8):
    """An open square of 2 cells^2 triangles over [-size/2, size/2]^2, looking up; height(x, y)."""
    ticks = np.linspace(-size / 2, size / 2, cells + 1)
    x, y = np.meshgrid(ticks, ticks, indexing="ij")
    vertices = np.column_stack([x.ravel(), y.ravel(), np.vectorize(height)(x, y).ravel().astype(float)])
    i, j = (k.ravel() for k in np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"))
    a = i * (cells + 1) + j
    b, c, d = a + cells + 1, a + cells + 2, a + 1
    return vertices, np.vstack([np.c_[a, b, c], np.c_[a, c, d]])


def stairs(steps=4, rise=0.15, going=0.3, width=1.0):
    """Treads and risers along +x as one open sheet; the first riser stands at x = 0."""
    profile = [(-1.0, 0.0)]
    for k in range(steps):
        profile += [(k * going, k * rise), (k * going, (k + 1) * rise)]
    profile.append((steps * going, steps * rise))
    vertices = np.array([(x, y, z) for x, z in profile for y in (-width, width)])
    triangles = [t for k in range(0, 2 * len(profile) - 2, 2) for t in ((k, k + 2, k + 3), (k, k + 3, k + 1))]
    return vertices, np.array(triangles)


def roof(slope=0.5, length=4.0):
    """A ridge along Y at z = 0 whose sides fall by `slope`, as an open sheet."""
    x = np.array([-2.0, 0.0, 2.0])
    vertices = np.array([(a, y, -slope * abs(a)) for a in x for y in (-length / 2, length / 2)])
    return vertices, np.array([t for k in (0, 2) for t in ((k, k + 2, k + 3), (k, k + 3, k + 1))])


def pyramid(height=0.3, half=0.2):
    """A pyramid that stands on the plane z = 0, without a base."""
    base = [(half, half, 0), (-half, half, 0), (-half, -half, 0), (half, -half, 0)]
    return np.array([*base, (0, 0, height)], float), np.array([(k, (k + 1) % 4, 4) for k in range(4)])
