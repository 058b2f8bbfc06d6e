# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes cut into convex pieces: how many, how large, and where they are solid."""

import numpy as np
import pytest
from heft.core.contact.hulls import MOST_CORNERS, solid_mass
from heft.core.contact.pieces import MOST_CUTS, MOST_PARTS, pieces_of, winding_numbers
from scipy.spatial import ConvexHull


def box(low, high, start=0):
    """Vertices and triangles of a box, outwards."""
    (a, b, c), (d, e, f) = low, high
    vertices = np.array([[x, y, z] for x in (a, d) for y in (b, e) for z in (c, f)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return vertices, np.array([t for p, q, r, s in quads for t in ((p, q, r), (p, r, s))]) + start


def joined(*boxes):
    vertices, triangles, at = [], [], 0
    for low, high in boxes:
        own, faces = box(low, high, at)
        vertices.append(own)
        triangles.append(faces)
        at += len(own)
    return np.concatenate(vertices), np.concatenate(triangles)


def extruded(outline, height):
    """A prism over a polygon without holes, its ends cut into triangles as ears."""
    outline = np.array(outline, dtype=float)
    n = len(outline)
    vertices = np.concatenate([np.column_stack([outline, np.full(n, z)]) for z in (0.0, height)])
    ears = ears_of(outline)
    triangles = [(a, c, b) for a, b, c in ears] + [(a + n, b + n, c + n) for a, b, c in ears]
    for k in range(n):
        j = (k + 1) % n
        triangles += [(k, j, j + n), (k, j + n, k + n)]
    return vertices, np.array(triangles)


def ears_of(outline):
    left, found = list(range(len(outline))), []

    def cross(o, a, b):
        return float(np.cross(np.append(a - o, 0.0), np.append(b - o, 0.0))[2])

    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = (left[(k + d) % len(left)] for d in (-1, 0, 1))
            p, q, r = outline[[a, b, c]]
            others = [outline[one] for one in left if one not in (a, b, c)]
            inside = any(min(cross(p, q, o), cross(q, r, o), cross(r, p, o)) >= 0.0 for o in others)
            if cross(p, q, r) > 0.0 and not inside:
                found.append((a, b, c))
                left.pop(k)
                break
    return [*found, tuple(left)]


def volumes(pieces):
    return sorted(solid_mass(corners).mass for corners in pieces)


def test_a_convex_mesh_is_one_piece():
    (piece,) = pieces_of(*box((0, 0, 0), (1, 2, 3)))
    assert len(piece) == 8
    assert ConvexHull(piece).volume == pytest.approx(6.0)


def test_loose_parts_are_pieces_of_their_own():
    table = joined(
        ((0, 0, 0.7), (1, 1, 0.75)), *[((x, y, 0), (x + 0.05, y + 0.05, 0.69)) for x in (0, 0.9) for y in (0, 0.9)]
    )
    pieces = pieces_of(*table)
    assert len(pieces) == 5
    assert volumes(pieces) == pytest.approx([0.05 * 0.05 * 0.69] * 4 + [0.05])


@pytest.mark.parametrize(
    ("outline", "count"),
    [
        ([(0, 0), (1, 0), (1, 0.2), (0.2, 0.2), (0.2, 1), (0, 1)], 2),  # an L
        ([(0, 0), (1, 0), (1, 1), (0.8, 1), (0.8, 0.2), (0.2, 0.2), (0.2, 1), (0, 1)], 3),  # a U
        (
            [(0, 0), (0.1, 0), (0.1, 0.7), (0.9, 0.7), (0.9, 0), (1, 0), (1, 1.5), (0.9, 1.5), (0.9, 0.8), (0, 0.8)],
            3,
        ),  # a chair
    ],
)
def test_what_is_made_of_flat_sides_is_cut_without_a_rest(outline, count):
    vertices, triangles = extruded(outline, 0.5)
    pieces = pieces_of(vertices, triangles)
    assert len(pieces) == count
    x, y = np.array(outline, dtype=float).T
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    assert sum(volumes(pieces)) == pytest.approx(0.5 * area, rel=1e-6)


def test_a_ring_is_round_and_has_its_hole():
    """A torus in few pieces, of which none reaches far into the hole."""
    u, v = np.meshgrid(np.arange(24), np.arange(10), indexing="ij")
    around, across = 2 * np.pi * u.ravel() / 24, 2 * np.pi * v.ravel() / 10
    vertices = np.column_stack(
        [
            (0.5 + 0.1 * np.cos(across)) * np.cos(around),
            (0.5 + 0.1 * np.cos(across)) * np.sin(around),
            0.1 * np.sin(across),
        ]
    )
    name = lambda i, j: (i % 24) * 10 + j % 10  # noqa: E731
    triangles = [
        t
        for i in range(24)
        for j in range(10)
        for t in ((name(i, j), name(i + 1, j), name(i + 1, j + 1)), (name(i, j), name(i + 1, j + 1), name(i, j + 1)))
    ]
    pieces = pieces_of(vertices, np.array(triangles))
    assert 4 <= len(pieces) <= MOST_CUTS + 1
    assert all(len(piece) <= MOST_CORNERS for piece in pieces)
    for piece in pieces:
        planes = ConvexHull(piece).equations
        assert planes[:, 3].max() > 0.1  # the middle of the hole is this far outside at least
    assert sum(volumes(pieces)) < 1.6 * 2 * np.pi**2 * 0.5 * 0.1**2


def test_winding_numbers_of_a_box():
    vertices, triangles = box((0, 0, 0), (1, 1, 1))
    found = winding_numbers(
        vertices[triangles], np.array([[0.5, 0.5, 0.5], [0.9, 0.1, 0.2], [1.5, 0.5, 0.5], [-1, -2, 3]])
    )
    np.testing.assert_allclose(found, [1.0, 1.0, 0.0, 0.0], atol=1e-9)


def test_of_very_many_parts_the_largest_count():
    crumbs = [((x, 0.0, 0.0), (x + 0.1 + 0.001 * x, 0.1, 0.1)) for x in range(80)]
    pieces = pieces_of(*joined(*crumbs))
    assert len(pieces) == MOST_PARTS
    assert min(piece[:, 0].min() for piece in pieces) == 80 - MOST_PARTS


def test_a_sheet_has_no_pieces():
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert pieces_of(vertices, np.array([[0, 1, 2], [0, 2, 3]])) == []
