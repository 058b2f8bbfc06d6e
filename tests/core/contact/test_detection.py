# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest
from heft.core.character.parts import Capsule, Corner, Sphere
from heft.core.contact.detection import detect, make_contacts
from heft.core.contact.detection.ridges import FACE_KEYS
from heft.core.contact.shapes import Box, make_shapes
from heft.core.contact.terrain import Mesh, Plane, RigidMotion, make_pose, make_terrain
from meshes import box, flat, pyramid, roof, sheet, stairs

UPRIGHT = (1.0, 0.0, 0.0, 0.0)
MARGIN, DEPTH = 0.03, 0.1


def find(shapes, poses, terrain=None, time=0.0, capacity=64, **options):
    """Candidates for bodies a, b, ... at poses of (position, quaternion)."""
    flat_shapes = make_shapes(shapes, {name: i for i, name in enumerate("abcdefghij")}, **options)
    terrain = make_terrain(terrain or [])
    contacts = make_contacts(capacity)
    position = np.array([p for p, _ in poses], dtype=float)
    quaternion = np.array([r for _, r in poses], dtype=float)
    n = detect(flat_shapes, terrain, make_pose(terrain, time), position, quaternion, MARGIN, DEPTH, contacts)
    assert n == contacts.filled[0]
    kept = contacts._replace(**{k: v[:n] for k, v in contacts._asdict().items() if len(v) == capacity})
    assert len(set(kept.key)) == n
    np.testing.assert_allclose(np.linalg.norm(kept.normal, axis=1), 1, atol=1e-12)
    return kept


def about(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])


def test_corner_over_a_plane():
    found = find([Corner("heel", "a", (0.1, 0, -0.5))], [((0, 0, 0.51), UPRIGHT)], [Plane(friction=0.7)])
    assert found.gap[0] == pytest.approx(0.01)
    np.testing.assert_allclose(found.point[0], [0.1, 0, 0.01], atol=1e-15)
    np.testing.assert_allclose(found.normal[0], [0, 0, 1])
    assert (found.body[0], found.other[0], found.surface[0], found.shape[0]) == (0, -1, 0, 0)
    assert found.friction[0] == 0.7


def test_only_candidates_within_the_margin_are_kept():
    for height, count in ((0.029, 1), (0.031, 0), (-0.5, 1)):
        found = find([Corner("heel", "a", (0, 0, 0))], [((0, 0, height), UPRIGHT)], [Plane()])
        assert found.filled[0] == count


def test_shape_friction_is_a_factor():
    found = find(
        [Corner("heel", "a", (0, 0, 0))], [((0, 0, 0), UPRIGHT)], [Plane(friction=0.5)], friction={"heel": 0.4}
    )
    assert found.friction[0] == pytest.approx(0.2)


def test_sphere_touches_with_its_lowest_point():
    found = find([Sphere("head", "a", (0, 0, 0.2), 0.1)], [((1, 2, -0.095), UPRIGHT)], [Mesh(*sheet(flat))])
    assert found.gap[0] == pytest.approx(0.005)
    np.testing.assert_allclose(found.point[0], [1, 2, 0.005], atol=1e-12)


def test_capsule_lies_on_both_ends_and_on_a_stairs_edge():
    limb = [Capsule("shank", "a", (-0.2, 0, 0), (0.3, 0, 0), 0.05)]
    found = find(limb, [((0, 0, 0.05), UPRIGHT)], [Mesh(*sheet(flat))])
    np.testing.assert_allclose(found.gap, 0, atol=1e-12)
    np.testing.assert_allclose(found.point[:, 0], [-0.2, 0.3], atol=1e-12)
    # Leaning over the first step's edge at 45 degrees, 4 mm inside it.
    normal = np.array([-1, 0, 1]) / np.sqrt(2)
    centre = np.array([0, 0, 0.15]) + 0.046 * normal
    lean = [Capsule("shank", "a", (-0.12, 0, 0), (0.11, 0, 0), 0.05)]
    found = find(lean, [(centre, about((0, 1, 0), -np.pi / 4))], [Mesh(*stairs())])
    middle = np.argmin(found.gap)
    assert found.gap[middle] == pytest.approx(-0.004, abs=1e-6)
    np.testing.assert_allclose(found.normal[middle], normal, atol=1e-3)


def test_box_stands_on_four_corners():
    found = find([Box("crate", "a", (0.2, 0.3, 0.1))], [((0, 0, 0.099), UPRIGHT)], [Plane()])
    assert found.filled[0] == 4
    np.testing.assert_allclose(found.gap, -0.001)
    np.testing.assert_allclose(np.abs(found.point), np.tile([0.2, 0.3, 0.001], (4, 1)), atol=1e-12)


def test_corner_in_a_stairs_inner_corner_meets_tread_and_riser():
    found = find([Corner("toe", "a", (0, 0, 0))], [((0.29, 0, 0.151), UPRIGHT)], [Mesh(*stairs())])
    np.testing.assert_allclose(found.normal, [[0, 0, 1], [-1, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(found.gap, [0.001, 0.01], atol=1e-9)


def test_two_surfaces_that_coincide_give_one_candidate_the_nearer():
    found = find([Corner("toe", "a", (0, 0, 0))], [((0, 0, 0.002), UPRIGHT)], [Plane(), Plane((0, 0, 0.001)), Plane()])
    assert found.filled[0] == 1
    assert found.surface[0] == 1
    assert found.gap[0] == pytest.approx(0.001)


def test_moving_terrain_states_its_velocity_at_the_point():
    motion = RigidMotion(np.array([[0, 0, 0], [0.1, 0, 0]]), np.array([[1.0, 0, 0, 0]] * 2), 10.0)
    found = find([Corner("toe", "a", (0, 0, 0))], [((0, 0, 0), UPRIGHT)], [Plane(motion=motion)], time=0.05)
    np.testing.assert_allclose(found.velocity[0], [1, 0, 0])


def test_spheres_and_capsules_in_pairs():
    shapes = [Sphere("hand", "a", (0, 0, 0), 0.05), Capsule("thigh", "b", (-0.2, 0, 0), (0.2, 0, 0), 0.08)]
    found = find(
        shapes, [((0.1, 0, 0.14), UPRIGHT), ((0, 0, 0), UPRIGHT)], pairs=[("hand", "thigh")], pair_friction=0.3
    )
    assert (found.body[0], found.other[0], found.surface[0]) == (0, 1, -1)
    assert found.gap[0] == pytest.approx(0.01)
    assert found.friction[0] == 0.3
    np.testing.assert_allclose(found.normal[0], [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(found.point[0], [0.1, 0, 0.085], atol=1e-12)
    crossed = [Capsule("x", "a", (-1, 0, 0), (1, 0, 0), 0.1), Capsule("y", "b", (0, -1, 0), (0, 1, 0), 0.1)]
    found = find(crossed, [((0.3, 0, 0), UPRIGHT), ((0, 0.2, 0.21), UPRIGHT)], pairs=[("x", "y")])
    np.testing.assert_allclose(found.point[0], [0, 0, 0.105], atol=1e-12)
    np.testing.assert_allclose(found.normal[0], [0, 0, -1], atol=1e-12)
    assert found.gap[0] == pytest.approx(0.01)


@pytest.mark.parametrize("order", [("ball", "crate"), ("crate", "ball")])
def test_sphere_on_a_box(order):
    shapes = [Sphere("ball", "a", (0, 0, 0), 0.1), Box("crate", "b", (0.5, 0.5, 0.5))]
    found = find(shapes, [((0.2, 0.1, 0.595), UPRIGHT), ((0, 0, 0), UPRIGHT)], pairs=[order])
    sign = 1 if order[0] == "ball" else -1
    np.testing.assert_allclose(found.normal[0], [0, 0, sign], atol=1e-12)
    assert found.gap[0] == pytest.approx(-0.005)
    assert found.body[0] == (0 if sign > 0 else 1)
    inside = find(shapes, [((0.2, 0.1, 0.45), UPRIGHT), ((0, 0, 0), UPRIGHT)], pairs=[order])
    assert inside.gap[0] == pytest.approx(-0.15)


def test_capsule_across_a_boxs_edge_touches_between_its_ends():
    shapes = [Capsule("bar", "a", (-0.5, 0, 0), (0.5, 0, 0), 0.02), Box("crate", "b", (0.1, 0.1, 0.1))]
    corner = 0.1 * np.sqrt(2)
    poses = [((0.05, 0, corner + 0.025), UPRIGHT), ((0, 0, 0), about((0, 1, 0), np.pi / 4))]
    found = find(shapes, poses, pairs=[("bar", "crate")])
    assert found.filled[0] == 1
    assert found.gap[0] == pytest.approx(0.005)
    np.testing.assert_allclose(found.point[0], [0, 0, corner + 0.0025], atol=1e-6)


def box_pair(position, quaternion=UPRIGHT, half=(0.1, 0.1, 0.1), other_half=(0.1, 0.1, 0.1)):
    shapes = [Box("upper", "a", half), Box("lower", "b", other_half)]
    return find(shapes, [(position, quaternion), ((0, 0, 0), UPRIGHT)], pairs=[("upper", "lower")])


def test_box_flush_on_a_box_has_its_four_corners():
    found = box_pair((0, 0, 0.2))
    assert found.filled[0] == 4
    np.testing.assert_allclose(found.gap, 0, atol=1e-15)
    np.testing.assert_allclose(found.normal, np.tile([0, 0, 1], (4, 1)), atol=1e-15)
    np.testing.assert_allclose(np.abs(found.point), 0.1, atol=1e-12)


def test_shifted_box_has_the_corners_of_the_overlap():
    found = box_pair((0.05, 0.02, 0.199))
    assert found.filled[0] == 4
    np.testing.assert_allclose(found.gap, -0.001, atol=1e-12)
    np.testing.assert_allclose(sorted(set(np.round(found.point[:, 0], 9))), [-0.05, 0.1])
    np.testing.assert_allclose(sorted(set(np.round(found.point[:, 1], 9))), [-0.08, 0.1])


def test_turned_box_has_the_octagon_of_the_overlap():
    found = box_pair((0, 0, 0.2), about((0, 0, 1), np.pi / 4))
    assert found.filled[0] == 8
    radius = np.linalg.norm(found.point[:, :2], axis=1)
    np.testing.assert_allclose(radius, 0.1 * np.hypot(1, np.sqrt(2) - 1), atol=1e-12)


def test_tilted_box_states_each_corners_own_gap():
    found = box_pair((0, 0, 0.21), about((0, 1, 0), 0.05))
    assert found.filled[0] == 4
    np.testing.assert_allclose(np.ptp(found.gap), np.ptp(found.point[:, 0]) * np.tan(0.05), rtol=0.01)
    assert np.argmin(found.gap) in np.flatnonzero(found.point[:, 0] > 0)


def test_crossed_edges_of_boxes_touch_in_one_point():
    lower = about((1, 0, 0), np.pi / 4)
    shapes = [Box("upper", "a", (0.1, 0.1, 0.1)), Box("lower", "b", (0.1, 0.1, 0.1))]
    height = 0.2 * np.sqrt(2) + 0.004
    poses = [((0.01, 0.02, height), about((0, 1, 0), np.pi / 4)), ((0, 0, 0), lower)]
    found = find(shapes, poses, pairs=[("upper", "lower")])
    assert found.filled[0] == 1
    assert found.gap[0] == pytest.approx(0.004)
    np.testing.assert_allclose(found.normal[0], [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(found.point[0], [0.01, 0.0, height / 2], atol=0.02)


def test_boxes_apart_have_no_candidates():
    for position in ((0, 0, 0.25), (0.3, 0, 0), (0.24, 0.24, 0.0)):
        assert box_pair(position).filled[0] == 0


def test_keys_stay_when_bodies_move_a_little():
    rng = np.random.default_rng(0)
    for position in ((0.05, 0.02, 0.2), (0, 0, 0.2)):
        first = box_pair(position)
        for _ in range(20):
            again = box_pair(position + rng.normal(size=3) * 1e-4, about(rng.normal(size=3), 1e-4))
            assert set(again.key) == set(first.key)


def test_a_full_list_keeps_the_smallest_gaps():
    shapes = [Corner(f"p{k}", "a", (0.1 * k, 0, 0.001 * ((7 * k) % 10))) for k in range(10)]
    found = find(shapes, [((0, 0, 0), UPRIGHT)], [Plane()], capacity=4)
    assert found.filled[0] == 4
    np.testing.assert_allclose(sorted(found.gap), [0, 0.001, 0.002, 0.003], atol=1e-12)


def test_prop_on_a_mesh_and_shapes_without_terrain():
    shapes = [Box("crate", "a", (0.1, 0.1, 0.1)), Corner("ghost", "a", (0, 0, -0.1))]
    found = find(shapes, [((0, 0, 1.1), UPRIGHT)], [Mesh(*box())], without_terrain=["ghost"])
    assert found.filled[0] == 4
    np.testing.assert_array_equal(found.shape, 0)


@pytest.mark.parametrize(
    ("shapes", "options", "words"),
    [
        ([Corner("p", "z", (0, 0, 0))], {}, "unknown body 'z'"),
        ([Corner("p", "a", (0, 0, 0)), Corner("p", "a", (0, 0, 0))], {}, "same name"),
        ([Corner("p", "a", (0, 0, 0))], {"pairs": [("p", "q")]}, "no contact shape 'q'"),
        ([Corner("p", "a", (0, 0, 0)), Corner("q", "a", (0, 0, 0))], {"pairs": [("p", "q")]}, "same body"),
        ([Corner("p", "a", (0, 0, 0))], {"friction": {"p": -1.0}}, "friction of contact 'p' must not be negative"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shapes, options, words):
    with pytest.raises(ValueError, match=words):
        make_shapes(shapes, {"a": 0}, **options)


def test_a_flat_box_is_refused():
    with pytest.raises(ValueError, match="half extent of contact 'crate' must be positive"):
        Box("crate", "a", (0.1, 0.0, 0.1))


def test_box_on_a_ridge_touches_where_the_ridge_passes_under_its_sides():
    found = find([Box("crate", "a", (0.3, 0.2, 0.1))], [((0.05, 0.01, 0.098), UPRIGHT)], [Mesh(*roof())])
    assert found.filled[0] == 2
    np.testing.assert_allclose(found.gap, -0.002, atol=1e-12)
    np.testing.assert_allclose(found.normal, [[0, 0, 1]] * 2, atol=1e-12)
    np.testing.assert_allclose(sorted(found.point[:, 1]), [-0.19, 0.21], atol=1e-12)
    np.testing.assert_allclose(found.point[:, [0, 2]], [[0, -0.002]] * 2, atol=1e-12)


@pytest.mark.parametrize("heading", [0.0, 0.7, np.pi / 4, 2.5])
def test_tilted_box_over_a_pyramid_states_its_faces_distance_to_the_tip(heading):
    """The tip is a corner of four edges and counts once; the normal is the face's."""
    tilt = about((np.cos(heading), np.sin(heading), 0), 0.2)
    centre = np.array([0.03, -0.02, 0.3 + 0.11])
    found = find([Box("crate", "a", (0.3, 0.3, 0.1))], [(centre, tilt)], [Mesh(*pyramid())])
    normal = np.array([np.sin(heading) * np.sin(0.2), -np.cos(heading) * np.sin(0.2), np.cos(0.2)])
    gap = normal @ (centre - [0, 0, 0.3]) - 0.1
    tip = found.gap < 0.03 - 1e-9
    assert tip.sum() == 1
    assert found.gap[tip][0] == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(found.normal[tip][0], normal, atol=1e-12)
    np.testing.assert_allclose(found.point[tip][0], [0, 0, 0.3] + gap * normal, atol=1e-12)


def test_box_on_a_table_smaller_than_itself_stands_on_the_tables_corners():
    found = find(
        [Box("crate", "a", (0.5, 0.4, 0.1))], [((0, 0, 1.1), UPRIGHT)], [Mesh(*box((-0.3, -0.2, 0), (0.3, 0.2, 1)))]
    )
    assert found.filled[0] == 4
    np.testing.assert_allclose(found.gap, 0, atol=1e-12)
    np.testing.assert_allclose(np.abs(found.point), [[0.3, 0.2, 1.0]] * 4, atol=1e-12)


def sole(length=0.25, width=0.1, height=0.08):
    return [Corner(f"{x}{y}", "a", (x * length / 2, y * width / 2, -height)) for x in (-1, 1) for y in (-1, 1)]


def test_sole_on_a_stairs_edge_touches_along_the_edge_and_at_the_corners_on_the_tread():
    for sunk in (0.0, 0.003):
        found = find(sole(), [((0.02, 0, 0.15 + 0.08 - sunk), UPRIGHT)], [Mesh(*stairs())])
        np.testing.assert_allclose(found.gap, -sunk, atol=1e-12)
        np.testing.assert_allclose(found.normal, [[0, 0, 1]] * 4, atol=1e-12)
        expected = [(x, y) for x in (0.0, 0.145) for y in (-0.05, 0.05)]
        np.testing.assert_allclose(sorted(map(tuple, found.point[:, :2])), expected, atol=1e-12)


def test_edges_that_do_not_look_at_a_face_do_not_touch_it():
    """A box half over the edge of a stair is carried, and its far side, a few centimetres on, is not pushed back."""
    found = find([Box("crate", "a", (0.1, 0.1, 0.1))], [((-0.08, 0, 0.15 + 0.0999), UPRIGHT)], [Mesh(*stairs())])
    np.testing.assert_allclose(found.normal, np.tile([0, 0, 1], (len(found.gap), 1)), atol=1e-12)
    assert len(found.gap) == 4


def test_flat_ground_and_valleys_have_no_ridges():
    flat_ground = find([Box("crate", "a", (1.1, 1.1, 0.1))], [((0, 0, 0.1), UPRIGHT)], [Mesh(*sheet(flat))])
    assert flat_ground.filled[0] == 4
    valley = find([Box("crate", "a", (0.1, 0.1, 0.1))], [((0, 0, 0.15), UPRIGHT)], [Mesh(*roof(slope=-0.5))])
    assert valley.filled[0] == 4
    np.testing.assert_allclose(valley.gap, 0, atol=1e-12)
    np.testing.assert_allclose(np.abs(valley.point), [[0.1, 0.1, 0.05]] * 4, atol=1e-12)


def test_rough_ground_of_small_triangles_gives_the_nearest_ridges_only():
    rng = np.random.default_rng(0)
    vertices, triangles = sheet(flat, size=2.0, cells=40)
    vertices[:, 2] = rng.uniform(-0.01, 0.0, len(vertices))
    found = find([Box("crate", "a", (0.4, 0.4, 0.1))], [((0, 0, 0.101), UPRIGHT)], [Mesh(vertices, triangles)])
    kept = found.gap[found.key >= FACE_KEYS]
    assert len(kept) == 16
    tips = 0.001 - vertices[np.abs(vertices[:, :2]).max(axis=1) < 0.4, 2]
    nearer = tips[tips < kept.max() - 1e-9]
    assert len(nearer) > 4
    assert np.abs(nearer[:, None] - kept).min(axis=1).max() < 1e-12
