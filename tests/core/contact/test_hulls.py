# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex hulls: their corners and mass, how far points are from them, and where they touch, beside boxes and prisms."""

import numpy as np
import pytest
from heft.core.character import Capsule, Sphere
from heft.core.character.mass import box
from heft.core.contact.detection.hulls import nearest_on_hull
from heft.core.contact.detection.segments import nearest_on_box
from heft.core.contact.hulls import MOST_CORNERS, corners_of, solid_mass
from heft.core.contact.shapes import Box, Hull, make_shapes, moved
from heft.core.contact.terrain import Plane

from .test_detection import UPRIGHT, about, find

HALF = (0.3, 0.2, 0.1)
SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def block(name="block", body="a", half=HALF):
    return Hull(name, body, tuple(map(tuple, (SIGNS * half).tolist())))


def prism(sides, radius=0.2, half=0.3):
    """A column with regular ends, along Z."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.concatenate([np.column_stack([ring, np.full(sides, z)]) for z in (-half, half)])


def turns(count, seed=0):
    quaternions = np.random.default_rng(seed).normal(size=(count, 4))
    return quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)


def test_distances_from_a_hull_of_a_boxs_corners_are_the_boxs():
    shapes = make_shapes([block()], {"a": 0})
    places = np.random.default_rng(1).uniform(-0.5, 0.5, (400, 3))
    inside = 0
    for place in map(tuple, places.tolist()):
        distance, normal = nearest_on_hull(shapes.solids, 0, place)
        expected, direction, _, _ = nearest_on_box(place, HALF)
        assert distance == pytest.approx(expected, abs=1e-9)
        np.testing.assert_allclose(normal, direction, atol=1e-6)
        inside += expected < 0.0
    assert inside > 10


@pytest.mark.parametrize("pair", ["hulls", "hull and box", "box and hull"])
def test_hulls_touch_where_boxes_do(pair):
    """Overlapping at random: the same way apart and as deep, and at the same places."""
    other = (0.15, 0.25, 0.2)
    boxes = [Box("p", "a", HALF), Box("q", "b", other)]
    shapes = [block("p", "a"), block("q", "b", other)]
    if pair == "hull and box":
        shapes[1] = boxes[1]
    elif pair == "box and hull":
        shapes[0] = boxes[0]
    faces = edges = 0
    for k, (turn, way) in enumerate(zip(turns(200), turns(200, 1), strict=True)):
        direction = way[1:] / np.linalg.norm(way[1:])
        poses = [(tuple((0.3 + 0.05 * (k % 3)) * direction), tuple(turn)), ((0, 0, 0), UPRIGHT)]
        expected = find(boxes, poses, pairs=[("p", "q")])
        found = find(shapes, poses, pairs=[("p", "q")])
        if not expected.filled[0] or expected.gap[: expected.filled[0]].min() > -1e-3:
            continue
        deepest, own = expected.gap[: expected.filled[0]].argmin(), found.gap[: found.filled[0]].argmin()
        assert found.gap[own] == pytest.approx(expected.gap[deepest], abs=2e-4)
        if abs(found.normal[own] @ expected.normal[deepest]) < 0.999:
            continue  # two ways that are as short
        np.testing.assert_allclose(found.normal[own], expected.normal[deepest], atol=1e-6)
        np.testing.assert_allclose(found.point[own], expected.point[deepest], atol=5e-3)
        faces += expected.filled[0] > 1
        edges += expected.filled[0] == 1
    assert faces > 30
    assert edges > 10


def test_a_hull_flush_on_a_box_stands_on_the_corners_of_the_overlap():
    shapes = [block("p", "a", (0.1, 0.1, 0.1)), Box("q", "b", (0.3, 0.05, 0.1))]
    found = find(shapes, [((0.0, 0.0, 0.199), UPRIGHT), ((0, 0, 0), UPRIGHT)], pairs=[("p", "q")])
    assert found.filled[0] == 4
    np.testing.assert_allclose(found.gap[:4], -0.001, atol=1e-9)
    np.testing.assert_allclose(found.normal[:4], [[0, 0, 1]] * 4, atol=1e-9)
    np.testing.assert_allclose(np.abs(found.point[:4]), [[0.1, 0.05, 0.0995]] * 4, atol=1e-9)


@pytest.mark.parametrize("order", [("ball", "column"), ("column", "ball")])
def test_a_ball_beside_a_column_of_six_sides(order):
    column = Hull("column", "b", tuple(map(tuple, prism(6).tolist())))
    flat = 0.2 * np.cos(np.pi / 6.0)
    way = np.array([np.cos(np.pi / 6.0), np.sin(np.pi / 6.0), 0.0])
    shapes = [Sphere("ball", "a", (0, 0, 0), 0.1), column]
    found = find(shapes, [(tuple((flat + 0.11) * way), UPRIGHT), ((0, 0, 0), UPRIGHT)], pairs=[order])
    assert found.gap[0] == pytest.approx(0.01)
    np.testing.assert_allclose(found.normal[0], way if order[0] == "ball" else -way, atol=1e-9)
    np.testing.assert_allclose(found.point[0], (flat + 0.005) * way, atol=1e-9)


def test_a_capsule_across_a_hulls_edge_touches_between_its_ends():
    shapes = [Capsule("bar", "a", (-0.5, 0, 0), (0.5, 0, 0), 0.02), block("crate", "b", (0.1, 0.1, 0.1))]
    corner = 0.1 * np.sqrt(2)
    poses = [((0.05, 0, corner + 0.025), UPRIGHT), ((0, 0, 0), about((0, 1, 0), np.pi / 4))]
    found = find(shapes, poses, pairs=[("bar", "crate")])
    assert found.filled[0] == 1
    assert found.gap[0] == pytest.approx(0.005)
    np.testing.assert_allclose(found.point[0], [0, 0, corner + 0.0025], atol=1e-6)


def test_a_column_of_sixteen_sides_stands_on_some_of_its_corners_all_round():
    column = Hull("column", "a", tuple(map(tuple, prism(16).tolist())))
    found = find([column], [((0, 0, 0.3), UPRIGHT)], [Plane()])
    count = found.filled[0]
    assert 4 <= count <= 9
    np.testing.assert_allclose(found.gap[:count], 0.0, atol=1e-9)
    for angle in np.linspace(0.0, 2.0 * np.pi, 12):
        assert (found.point[:count] @ [np.cos(angle), np.sin(angle), 0.0]).max() > 0.17
    assert len(set(found.key[:count].tolist())) == count


def test_corners_of_a_ball_of_many_points_are_few_and_far_out():
    points = np.random.default_rng(3).normal(size=(2000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    corners = corners_of(points)
    assert len(corners) == MOST_CORNERS
    assert solid_mass(corners).mass > 0.7 * 4.0 / 3.0 * np.pi
    dense = SIGNS[:, None, :] * np.array(HALF) * np.linspace(0.2, 1.0, 9)[:, None]
    assert len(corners_of(dense.reshape(-1, 3))) == 8


def test_a_hull_weighs_what_its_box_and_its_tetrahedron_do():
    found, expected = solid_mass(SIGNS * HALF + (1.0, 2.0, 3.0), 7.0), box(7.0 * 0.6 * 0.4 * 0.2, (0.6, 0.4, 0.2))
    assert found.mass == pytest.approx(expected.mass)
    np.testing.assert_allclose(found.center, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(found.inertia, expected.inertia, atol=1e-12)
    # a corner of a cube of edge 1: centre (1, 1, 1) / 4, moments of V / 20 (sum of x^2 + (sum of x)^2) = V / 10
    corner = solid_mass(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    volume = 1.0 / 6.0
    assert corner.mass == pytest.approx(volume)
    np.testing.assert_allclose(corner.center, [0.25] * 3)
    second = volume / 20.0 * (np.eye(3) + np.ones((3, 3))) - volume / 16.0 * np.ones((3, 3))
    np.testing.assert_allclose(corner.inertia, np.trace(second) * np.eye(3) - second, atol=1e-12)


def test_hulls_that_are_none():
    with pytest.raises(ValueError, match="is flat: its corners must not lie in one plane"):
        Hull("sheet", "a", ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)))
    with pytest.raises(ValueError, match="must have 4 to 32 corners, not 3"):
        Hull("sheet", "a", ((0, 0, 0), (1, 0, 0), (1, 1, 0)))


def test_a_shape_is_moved_with_all_its_points():
    """A quarter turn about Z, then 1, 2 and 3 m: (x, y, z) becomes (1 - y, 2 + x, 3 + z)."""
    by, turn = (1.0, 2.0, 3.0), (0.5**0.5, 0.0, 0.0, 0.5**0.5)
    limb = moved(Capsule("limb", "body", (0.1, 0.2, 0.3), (0.0, 0.0, 1.0), 0.1), by, turn)
    np.testing.assert_allclose([limb.start, limb.end], [(0.8, 2.1, 3.3), (1.0, 2.0, 4.0)])
    crate = moved(Box("crate", "body", (0.1, 0.2, 0.3), (0.1, 0.2, 0.3), turn), by, turn)
    np.testing.assert_allclose(crate.position, (0.8, 2.1, 3.3))
    np.testing.assert_allclose(crate.orientation, (0.0, 0.0, 0.0, 1.0), atol=1e-12)
    hull = moved(Hull("hull", "body", ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))), by, turn)
    np.testing.assert_allclose(
        hull.corners, [(1.0, 2.0, 3.0), (1.0, 3.0, 3.0), (0.0, 2.0, 3.0), (1.0, 2.0, 4.0)], atol=1e-12
    )
