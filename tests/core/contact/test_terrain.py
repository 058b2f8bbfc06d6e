# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest
from heft.core.contact.terrain import (
    HeightGrid,
    Mesh,
    Plane,
    RigidMotion,
    make_pose,
    make_terrain,
    nearest_points,
    second_on_surface,
    surface_velocity,
)
from meshes import box, flat, sheet, sphere, stairs


def nearest(surface, points, limit=10.0, time=0.0):
    return nearest_points(make_terrain([surface]), np.atleast_2d(points).astype(float), limit, time)


def box_distance(points, half=1.0):
    """Signed distance to the cube [-half, half]^3, closed form."""
    q = np.abs(points) - half
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


def brute_force(vertices, triangles, points):
    """Unsigned distance: the smallest over all triangles, each by its plane and its three edges (the slow twin)."""
    best = np.full(len(points), np.inf)
    for t in triangles:
        corners = vertices[t]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal /= np.linalg.norm(normal)
        height = (points - corners[0]) @ normal
        inside = np.ones(len(points), dtype=bool)
        for k in range(3):
            a, b = corners[k], corners[(k + 1) % 3]
            inside &= (points - a) @ np.cross(normal, b - a) >= 0
            share = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            best = np.minimum(best, np.linalg.norm(points - a - share[:, None] * (b - a), axis=1))
        best = np.where(inside, np.minimum(best, np.abs(height)), best)
    return best


def test_plane_signed_distance_and_normal():
    found = nearest(Plane((0, 0, 1), (0, 3, 4)), [[5.0, 0, 1], [0, 0, 2], [1, -3, -3]])
    np.testing.assert_allclose(found.distance, [0, 0.8, -5], atol=1e-15)
    np.testing.assert_allclose(found.normal, np.tile([0, 0.6, 0.8], (3, 1)))
    np.testing.assert_allclose(found.point[2], [1, 0, 1], atol=1e-14)


def test_nothing_is_found_beyond_the_limit():
    found = nearest(Plane(), [0, 0, 1.0], limit=0.5)
    assert found.distance[0] == np.inf
    assert found.surface[0] == -1


def test_cube_matches_its_closed_form_inside_and_out():
    points = np.random.default_rng(0).uniform(-2, 2, (2000, 3))
    found = nearest(Mesh(*box()), points)
    np.testing.assert_allclose(found.distance, box_distance(points), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1)
    np.testing.assert_allclose(found.point + found.distance[:, None] * found.normal, points, atol=1e-9)


def test_sphere_mesh_is_a_sphere():
    points = np.random.default_rng(1).uniform(-2, 2, (2000, 3))
    radius = np.linalg.norm(points, axis=1)
    points = points[radius > 0.3]
    radius = radius[radius > 0.3]
    found = nearest(Mesh(*sphere(subdivisions=4)), points)
    np.testing.assert_allclose(found.distance, radius - 1, atol=4e-3)
    assert ((found.normal * points).sum(1) / radius > 0.95).all()


@pytest.mark.parametrize("seed", range(4))
def test_hierarchy_agrees_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(150, 3))
    triangles = rng.integers(0, 150, (300, 3))
    mesh = Mesh(vertices, triangles)
    points = rng.normal(size=(200, 3)) * 1.5
    kept = mesh.prepared
    expected = brute_force(kept.vertices, kept.triangles, points)
    np.testing.assert_allclose(np.abs(nearest(mesh, points).distance), expected, atol=1e-9)
    near = nearest(mesh, points, limit=0.1)
    np.testing.assert_array_equal(np.isfinite(near.distance), expected <= 0.1)


def test_sign_at_edges_and_corners_baerentzen_aanaes_2005():
    """A thin spike: the normal of either face alone would call a point beside its tip inside."""
    vertices = np.array([[0, 0, 1], [0.05, 0, -1], [-0.05, 0.04, -1], [-0.05, -0.04, -1]])
    triangles = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])
    rng = np.random.default_rng(2)
    around = np.array([0, 0, 1.0]) + rng.normal(size=(500, 3)) * 0.3
    outside = around[around[:, 2] > 1.0]
    assert (nearest(Mesh(vertices, triangles), outside).distance > 0).all()


@pytest.mark.parametrize("turn", [False, True])
def test_flat_tessellated_ground_has_one_normal_everywhere(turn):
    """No snagging: also exactly above and below inner edges and vertices."""
    vertices, triangles = sheet(flat)
    ticks = np.linspace(-1.75, 1.75, 29)
    points = np.array([[x, y, z] for x in ticks for y in ticks for z in (0.02, 1e-7, 0.0, -1e-7, -0.003)])
    found = nearest(Mesh(vertices, triangles[:, ::-1] if turn else triangles), points)
    np.testing.assert_allclose(found.normal, np.tile([0, 0, 1.0], (len(points), 1)), atol=1e-9)
    np.testing.assert_allclose(found.distance, points[:, 2], atol=1e-12)


def test_stairs_give_the_treads_normal_on_the_tread_up_to_its_edge():
    mesh = Mesh(*stairs())
    for k in range(4):
        for beside in (0.0, 1e-4, 1e-3, 0.01, 0.1):
            for height in (0.02, 1e-3, 0.0, -1e-4, -1e-3, -3e-3):
                point = [k * 0.3 + beside, 0.123, (k + 1) * 0.15 + height]
                found = nearest(mesh, point)
                np.testing.assert_allclose(found.normal[0], [0, 0, 1], atol=1e-9, err_msg=str(point))
                np.testing.assert_allclose(found.distance[0], height, atol=1e-12)


def test_stairs_give_the_risers_normal_before_the_riser():
    mesh = Mesh(*stairs())
    found = nearest(mesh, [[0.3 - 0.01, 0.2, 0.15 + 0.08], [0.3 + 0.01, 0.2, 0.15 + 0.08]])
    np.testing.assert_allclose(found.normal, [[-1, 0, 0], [-1, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(found.distance, [0.01, -0.01], atol=1e-12)


def test_beside_a_convex_edge_the_normal_points_from_the_edge():
    found = nearest(Mesh(*stairs()), [-0.03, 0.0, 0.15 + 0.04])
    np.testing.assert_allclose(found.normal[0], [-0.6, 0, 0.8], atol=1e-9)
    assert found.distance[0] == pytest.approx(0.05)


def second(surface, point, limit=0.03):
    terrain = make_terrain([surface])
    first = nearest_points(terrain, [point], 0.1)
    return second_on_surface(
        terrain, make_pose(terrain), 0, tuple(point), tuple(first.normal[0]), tuple(first.point[0]), limit
    )


def test_a_concave_corner_has_two_sides_and_a_convex_edge_one():
    mesh = Mesh(*stairs())
    distance, normal, _ = second(mesh, [0.3 - 0.01, 0.2, 0.15 + 0.002])
    assert distance == pytest.approx(0.01)
    np.testing.assert_allclose(normal, [-1, 0, 0], atol=1e-9)
    sunk, normal, _ = second(mesh, [0.3 - 0.01, 0.2, 0.15 - 0.002])
    assert sunk == pytest.approx(0.01)
    assert second(mesh, [0.3 + 0.002, 0.2, 0.30 + 0.001])[0] == np.inf
    assert second(mesh, [0.3 + 0.002, 0.2, 0.30 - 0.001])[0] == np.inf
    assert second(Mesh(*sheet(flat)), [0.1, 0.2, 0.001])[0] == np.inf


def test_inside_out_closed_mesh_is_flipped_and_counted():
    vertices, triangles = box()
    mended = Mesh(vertices, triangles[:, ::-1])
    assert mended.prepared.flipped == 12
    assert mended.prepared.closed == mended.prepared.pieces == 1
    points = np.random.default_rng(3).uniform(-2, 2, (100, 3))
    np.testing.assert_allclose(nearest(mended, points).distance, box_distance(points), atol=1e-12)
    assert Mesh(vertices, triangles).prepared.flipped == 0


def test_windings_that_disagree_are_made_to_agree():
    vertices, triangles = sphere()
    rng = np.random.default_rng(4)
    mixed = np.where(rng.random((len(triangles), 1)) < 0.4, triangles[:, ::-1], triangles)
    points = rng.uniform(-1.5, 1.5, (300, 3))
    np.testing.assert_allclose(
        nearest(Mesh(vertices, mixed), points).distance, nearest(Mesh(vertices, triangles), points).distance, atol=1e-12
    )


def test_each_piece_of_a_mesh_is_turned_by_itself():
    first, second_box = box((-3, -1, -1), (-1, 1, 1)), box((1, -1, -1), (3, 1, 1))
    mesh = Mesh(np.vstack([first[0], second_box[0]]), np.vstack([first[1], second_box[1][:, ::-1] + 8]))
    assert (mesh.prepared.pieces, mesh.prepared.closed, mesh.prepared.flipped) == (2, 2, 12)
    np.testing.assert_allclose(nearest(mesh, [[-2, 0, 0.9], [2, 0, 0.9]]).distance, -0.1, atol=1e-12)


def test_a_soup_of_triangles_is_welded():
    vertices, triangles = box()
    soup = Mesh(vertices[triangles].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    assert len(soup.prepared.vertices) == 8
    assert soup.prepared.closed == 1


def test_degenerate_triangles_are_dropped_and_counted():
    vertices, triangles = box()
    bad = np.array([[0, 0, 1], [0, 1, 1], [2, 2, 2]])
    mesh = Mesh(vertices, np.vstack([triangles, bad]))
    assert mesh.prepared.degenerate == 3
    assert nearest(mesh, [0, 0, 1.5]).distance[0] == pytest.approx(0.5)


@pytest.mark.parametrize("inside_out", [False, True])
def test_a_pipe_without_caps_is_solid(inside_out):
    """It looks up as much as down: a handrail as a curve gives it, along X, 20 cm thick."""
    angle = np.linspace(0.0, 2.0 * np.pi, 13)[:-1]
    ring = 0.1 * np.column_stack([np.zeros(12), np.cos(angle), np.sin(angle)])
    vertices = np.concatenate([ring, ring + np.array([1.0, 0.0, 0.0])])
    quads = [(i, (i + 1) % 12, (i + 1) % 12 + 12, i + 12) for i in range(12)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    pipe = make_terrain([Mesh(vertices, triangles[:, ::-1] if inside_out else triangles)])
    above, within = nearest_points(pipe, [[0.5, 0.0, 0.3], [0.5, 0.0, 0.08]]).distance
    assert above == pytest.approx(0.2, abs=1e-9)
    assert within == pytest.approx(-0.02, abs=5e-3)


def test_beside_the_rim_of_an_open_sheet_and_below_it_is_outside():
    found = nearest(Mesh(*sheet(flat)), [[2.01, 0.0, -0.01], [1.99, 0.0, -0.01]])
    assert found.distance[0] > 0
    assert found.distance[1] == pytest.approx(-0.01)


@pytest.mark.parametrize(
    ("vertices", "triangles", "words"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3), int), "has no triangles"),
        (np.eye(3), np.zeros((0, 3), int), "has no triangles"),
        (np.eye(3) * np.nan, [[0, 1, 2]], "Vertex 0 of mesh is not finite"),
        (np.eye(3), [[0, 1, 3]], "uses vertex 3, but there are 3"),
        (np.eye(3), [[0, 1, -1]], "uses vertex -1"),
        (np.eye(3), [[0, 1, 1]], "All 1 triangles of mesh are degenerate"),
        (np.eye(2), [[0, 1, 1]], "vertices of mesh must have the shape"),
        (np.eye(3), [[0.0, 1.0, 2.0]], "must be integers"),
    ],
)
def test_bad_meshes_are_refused_in_one_sentence(vertices, triangles, words):
    with pytest.raises(ValueError, match=words):
        Mesh(vertices, triangles)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Plane(normal=(0, 0, 0)), "normal of a plane must not be zero"),
        (lambda: Plane(point=(0, np.nan, 0)), "point of a plane must be finite"),
        (lambda: Plane(friction=-0.1), "friction must lie between"),
        (lambda: Plane(friction=np.nan), "friction must lie between"),
        (lambda: HeightGrid(np.zeros((1, 4)), 1.0), "at least 2 by 2"),
        (lambda: HeightGrid(np.full((2, 2), np.inf), 1.0), "heights of a grid must be finite"),
        (lambda: HeightGrid(np.zeros((2, 2)), 0.0), "spacing"),
        (lambda: RigidMotion(np.zeros((2, 3)), np.ones((1, 4)), 30.0), "as many positions as quaternions"),
        (lambda: RigidMotion(np.zeros((1, 3)), np.zeros((1, 4)), 30.0), "quaternion of a motion is zero"),
        (lambda: RigidMotion(np.zeros((1, 3)), np.ones((1, 4)), 0.0), "rate of a motion"),
    ],
)
def test_bad_surfaces_are_refused_in_one_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_height_grid_on_an_inclined_plane_is_exact():
    x, y = np.meshgrid(np.arange(5) * 0.5 + 1, np.arange(7) * 0.5 - 2, indexing="ij")
    grid = HeightGrid(0.3 * x - 0.2 * y + 1, 0.5, (1.0, -2.0))
    normal = np.array([-0.3, 0.2, 1]) / np.linalg.norm([-0.3, 0.2, 1])
    rng = np.random.default_rng(5)
    on = np.column_stack([rng.uniform(1.1, 2.9, 50), rng.uniform(-1.9, 0.9, 50), np.zeros(50)])
    on[:, 2] = 0.3 * on[:, 0] - 0.2 * on[:, 1] + 1
    heights = rng.uniform(-0.05, 0.05, 50)
    found = nearest(grid, on + heights[:, None] * normal)
    np.testing.assert_allclose(found.distance, heights, atol=1e-12)
    np.testing.assert_allclose(found.normal, np.tile(normal, (50, 1)), atol=1e-12)
    assert nearest(grid, [0.9, 0.0, 1.0]).distance[0] == np.inf


def test_over_the_edge_of_a_step_of_a_height_grid_its_upper_level_counts():
    grid = HeightGrid(np.repeat([[0.0], [0.0], [0.4], [0.4]], 4, axis=1), 0.02, (0.0, 0.0))
    found = nearest(grid, [[0.03, 0.03, 0.9], [0.03, 0.03, 0.41], [0.039, 0.03, 0.2]])
    np.testing.assert_allclose(found.distance[:2], [0.5, 0.01], atol=1e-12)
    np.testing.assert_allclose(found.normal[:2], [[0.0, 0.0, 1.0]] * 2, atol=1e-12)
    # beside it is the riser, which pushes back
    assert -0.02 < found.distance[2] < 0.0
    assert found.normal[2, 0] < -0.99


def test_height_grid_equals_the_mesh_of_its_triangles_on_the_grounds_face():
    def height(x, y):
        return 0.05 * np.sin(2 * x) * np.cos(3 * y)

    vertices, triangles = sheet(height, cells=16)
    grid = HeightGrid(vertices[:, 2].reshape(17, 17), 0.25, (-2.0, -2.0))
    points = np.random.default_rng(6).uniform(-1.9, 1.9, (300, 3))
    points[:, 2] = nearest_height(grid, points) + 1e-5
    ours, theirs = nearest(grid, points), nearest(Mesh(vertices, triangles), points)
    np.testing.assert_allclose(ours.distance, theirs.distance, atol=1e-8)


def nearest_height(grid, points):
    found = nearest(grid, points)
    return points[:, 2] - found.distance / found.normal[:, 2]


def quaternion_about_z(angle):
    return np.column_stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)])


def test_moving_surface_carries_its_points_with_the_velocity_it_states():
    time = np.arange(31) / 30
    motion = RigidMotion(np.column_stack([time, 0 * time, np.sin(time)]), quaternion_about_z(2 * time), 30.0, start=1.0)
    terrain = make_terrain([Plane(), Mesh(*box(), motion=motion)])
    pose = make_pose(terrain, 1.51)
    np.testing.assert_array_equal(pose.velocity[0], 0)
    np.testing.assert_allclose(pose.angular_velocity[1], [0, 0, 2], atol=1e-9)
    later = make_pose(terrain, 1.51 + 1e-6)
    point = np.array([0.7, 0.3, 1.2])

    def rotation(p):
        w, _, _, z = p.quaternion[1]
        return np.array([[w * w - z * z, -2 * w * z, 0], [2 * w * z, w * w - z * z, 0], [0, 0, 1]])

    local = rotation(pose).T @ (point - pose.position[1])
    moved = rotation(later) @ local + later.position[1]
    np.testing.assert_allclose(surface_velocity(pose, 1, tuple(point)), (moved - point) / 1e-6, atol=1e-5)


def test_moving_surface_is_where_its_motion_says_and_rests_before_and_after():
    motion = RigidMotion(np.array([[0, 0, 0], [0, 0, 1.0]]), np.array([[1.0, 0, 0, 0]] * 2), 2.0)
    for time, height, speed in ((-1.0, 0, 0), (0.0, 0, 2), (0.25, 0.5, 2), (0.5, 1, 0), (9.0, 1, 0)):
        terrain = make_terrain([Plane(motion=motion)])
        assert nearest_points(terrain, [[0, 0, 1.5]], 10, time).distance[0] == pytest.approx(1.5 - height)
        assert make_pose(terrain, time).velocity[0, 2] == pytest.approx(speed)


def test_several_surfaces_answer_with_the_nearest_and_empty_space_with_nothing():
    terrain = make_terrain([Plane(), Mesh(*box((0, 0, 0), (1, 1, 1))), Plane((0, 0, -1))])
    found = nearest_points(terrain, [[0.5, 0.5, 1.1], [3, 3, 0.1]], 0.5)
    np.testing.assert_array_equal(found.surface, [1, 0])
    assert nearest_points(make_terrain(), [[0.0, 0, 0]]).surface[0] == -1


def test_terrain_is_immutable_and_the_same_bits_each_time():
    first, second_time = (make_terrain([Mesh(*sphere()), Plane()]) for _ in range(2))
    for a, b in zip(first, second_time, strict=True):
        assert a.tobytes() == b.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        first.friction[0] = 0.0
