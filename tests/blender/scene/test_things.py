# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes, grabs, props and weights: read in newtons, metres and seconds; duplicated, undone, saved and appended."""

import bpy
import numpy as np
import pytest
from heft.blender_addon.writer import assigned_curves
from heft.core.motion import quaternions
from heft.operators.add_push import in_words
from mathutils import Euler

from tests.blender.scene.stage import activate_bone, add_box, add_mesh, key, read, scene_of, select

pytestmark = pytest.mark.usefixtures("heft_registered")


def add_push(rig, bone="chest", frame=10, **choices):
    bpy.context.scene.frame_set(frame)
    activate_bone(rig, bone)
    assert bpy.ops.heft.add_push(**choices) == {"FINISHED"}
    return bpy.context.active_object


def add_grab(rig, bone="hand.L", frame=10, target=None, **choices):
    bpy.context.scene.frame_set(frame)
    activate_bone(rig, bone)
    if target is not None:
        target.select_set(True)
    assert bpy.ops.heft.add_grab(**choices) == {"FINISHED"}
    return bpy.context.active_object


def add_prop(rig, thing, **choices):
    select(thing, rig)
    assert bpy.ops.heft.add_prop(**choices) == {"FINISHED"}
    return thing


def place(rig, clip, body, point, row):
    """Of a point of a body in the world, by the bone it rides on."""
    from heft.blender_addon.overlay.data import read_rides

    ride = read_rides(rig.heft.rides)[body]
    column = clip.skeleton.index(ride.bone)
    turn = quaternions.multiply(clip.orientation[row, column], ride.orientation)
    origin = clip.position[row, column] + quaternions.rotate(clip.orientation[row, column], ride.position)
    return origin + quaternions.rotate(turn, np.array(point))


# Pushes


@pytest.mark.parametrize(
    ("kind", "newtons", "seconds", "words"),
    [
        ("TAP", 60.0, 0.1, "6 N s, like a tap"),
        ("SHOVE", 200.0, 0.1, "20 N s, like a shove"),
        ("TACKLE", 600.0, 0.2, "120 N s, like a tackle"),
        ("BLAST", 2000.0, 0.2, "400 N s, like a blast"),
    ],
)
def test_a_push_by_its_kind(rig, kind, newtons, seconds, words):
    """As many newtons, for as many whole frames as come next to that time."""
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 30, 1.0
    arrow = add_push(rig, kind=kind)
    (curve,) = assigned_curves(arrow, arrow.animation_data.action)
    frames, values = zip(*(tuple(point.co) for point in curve.keyframe_points), strict=True)
    assert values == (0.0, newtons, 0.0)
    assert frames[2] - frames[1] == round(30.0 * seconds)
    assert in_words(newtons, round(30.0 * seconds), 30.0) == words


def test_a_push_lasts_from_key_to_key(rig):
    add_push(rig, strength=150.0, duration=4, direction=(0.0, 1.0, 0.0))
    around, clip = read(rig)
    (push,) = around.scene.pushes
    assert push.body == "torso"
    assert push.rate == 24.0
    expected = np.zeros((40, 3))
    expected[9:13, 1] = 150.0
    np.testing.assert_allclose(push.force, expected, atol=1e-4)
    lines = 0.5 * (push.force[1:, 1] + push.force[:-1, 1])
    assert lines.sum() / push.rate == pytest.approx(150.0 * 4 / 24)
    bone = rig.pose.bones["chest"]
    bpy.context.scene.frame_set(10)
    middle = rig.matrix_world @ ((bone.head + bone.tail) / 2)
    np.testing.assert_allclose(place(rig, clip, push.body, push.point, 9), middle, atol=1e-5)


def test_a_pushs_time_begins_where_the_simulation_does(rig):
    add_push(rig)
    (push,) = scene_of(rig, start=9).pushes
    assert push.start == pytest.approx(-9 / 24)


def test_direction_and_point_are_the_empties(rig):
    arrow = add_push(rig, strength=10.0)
    arrow.rotation_euler = Euler((0.0, np.pi / 2, 0.0))
    arrow.location = (0.0, 0.1, 0.0)
    around, clip = read(rig)
    (push,) = around.scene.pushes
    np.testing.assert_allclose(push.force[10], (10.0, 0.0, 0.0), atol=1e-4)
    bpy.context.scene.frame_set(10)
    np.testing.assert_allclose(place(rig, clip, push.body, push.point, 9), arrow.matrix_world.translation, atol=1e-5)


def test_a_continuous_push_follows_any_curve(rig):
    arrow = add_push(rig, continuous=True, strength=20.0)
    assert arrow.animation_data is None
    np.testing.assert_allclose(np.linalg.norm(scene_of(rig).pushes[0].force, axis=1), 20.0, rtol=1e-6)
    driver = arrow.driver_add("heft.push.strength").driver
    driver.expression = "2 * frame"
    force = scene_of(rig).pushes[0].force
    np.testing.assert_allclose(np.linalg.norm(force, axis=1), 2.0 * np.arange(1, 41), rtol=1e-5)


def test_newtons_are_not_scaled_but_places_are(rig):
    bpy.context.scene.unit_settings.scale_length = 0.01
    rig.scale = (100.0,) * 3
    bpy.context.view_layer.update()
    arrow = add_push(rig, strength=100.0)
    assert arrow.empty_display_size == pytest.approx(50.0)
    around, clip = read(rig)
    (push,) = around.scene.pushes
    assert np.abs(push.force).max() == pytest.approx(100.0)
    bpy.context.scene.frame_set(10)
    where = 0.01 * np.array(arrow.matrix_world.translation)
    np.testing.assert_allclose(place(rig, clip, push.body, push.point, 9), where, atol=1e-5)


def test_a_push_without_strength_is_none(rig):
    arrow = add_push(rig, continuous=True, strength=0.0)
    assert scene_of(rig).pushes == ()
    arrow.heft.push.strength = 5.0
    assert len(scene_of(rig).pushes) == 1
    arrow.hide_viewport = True
    assert scene_of(rig).pushes == ()


def test_keys_are_in_the_dope_sheet(rig):
    arrow = add_push(rig)
    (curve,) = assigned_curves(arrow, arrow.animation_data.action)
    assert curve.data_path == "heft.push.strength"
    assert [tuple(point.co) for point in curve.keyframe_points] == [(9.0, 0.0), (10.0, 100.0), (13.0, 0.0)]
    assert {point.interpolation for point in curve.keyframe_points} == {"CONSTANT"}
    grab = add_grab(rig)
    (curve,) = assigned_curves(grab, grab.animation_data.action)
    assert curve.data_path == "heft.grab.holding"


def test_bones_between_and_outside_bodies(rig):
    """The spine belongs to the trunk, a toe to its foot."""
    for bone, body in (("spine", "torso"), ("toe.L", "left_foot"), ("clavicle.R", "torso"), ("pelvis", "pelvis")):
        arrow = add_push(rig, bone)
        assert scene_of(rig).pushes[0].body == body
        bpy.data.objects.remove(arrow)


def test_a_bone_that_is_gone(rig):
    add_push(rig).heft.push.bone = "gone"
    with pytest.raises(ValueError, match="Push chest names the bone 'gone', which Mannequin does not have"):
        read(rig)


def test_an_arrow_scaled_to_nothing(rig):
    add_push(rig).scale = (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="Push chest is scaled to zero"):
        read(rig)


# Grabs


def test_a_grab_holds_from_key_to_key(rig):
    add_grab(rig, duration=12)
    around, clip = read(rig)
    (grab,) = around.scene.grabs
    assert (grab.body, grab.kind, grab.other) == ("left_hand", "point", None)
    assert (grab.start, grab.end) == pytest.approx((9 / 24, 21 / 24))
    bone = rig.pose.bones["hand.L"]
    bpy.context.scene.frame_set(10)
    middle = rig.matrix_world @ ((bone.head + bone.tail) / 2)
    np.testing.assert_allclose(place(rig, clip, grab.body, grab.point, 9), middle, atol=1e-5)


def test_a_grab_for_good_and_one_in_two_stretches(rig):
    empty = add_grab(rig, duration=0, kind="FULL")
    (grab,) = scene_of(rig).grabs
    assert grab.kind == "full"
    assert grab.end == np.inf
    for frame, holding in ((20, False), (30, True)):
        empty.heft.grab.holding = holding
        empty.heft.grab.keyframe_insert("holding", frame=frame)
    first, second = scene_of(rig).grabs
    assert (first.start, first.end, second.start) == pytest.approx((9 / 24, 19 / 24, 29 / 24))


def test_a_foothold_is_where_it_is_put(rig):
    bpy.context.scene.frame_set(1)
    activate_bone(rig, "foot.L")
    rig.heft.controller = "MOMENTUM"
    assert bpy.ops.heft.add_foothold() == {"FINISHED"}
    empty = bpy.context.active_object
    pose = rig.pose.bones["foot.L"]
    assert (empty.location - rig.matrix_world @ (0.5 * (pose.head + pose.tail))).length < 1e-6
    empty.location = (0.5, 0.25, 0.125)
    (foothold,) = scene_of(rig).footholds
    assert foothold.body == "left_foot"
    assert foothold.place == pytest.approx((0.5, 0.25, 0.125))
    empty.hide_set(True)
    assert scene_of(rig).footholds == ()
    empty.hide_set(False)
    empty.heft.foothold.bone = "tail"
    with pytest.raises(ValueError, match="names the bone 'tail', which"):
        scene_of(rig)


def test_a_grab_of_a_prop_and_of_things_that_move(rig):
    box = add_box("Crate", 0.3, (1.0, 0.0, 0.15))
    empty = add_grab(rig, target=box)
    assert empty.heft.grab.target == box
    assert scene_of(rig).grabs[0].other is None
    assert scene_of(rig).grabs[0].motion is None
    key(box, "location", (1, (1.0, 0.0, 0.15)), (40, (2.0, 0.0, 0.15)))
    motion = scene_of(rig).grabs[0].motion
    assert (len(motion.positions) - 1) / motion.rate == pytest.approx(39 / bpy.context.scene.render.fps)
    assert motion.positions[0] == pytest.approx((1.0, 0.0, 0.15))
    assert motion.positions[-1] == pytest.approx((2.0, 0.0, 0.15), abs=1e-6)
    add_prop(rig, box)
    assert scene_of(rig).grabs[0].motion is None
    assert scene_of(rig).grabs[0].other == "Crate"


# Props and weights


def test_props_by_shape_and_size(rig):
    box = add_prop(rig, add_box("Crate", 1.0, (1.0, 0.0, 0.5)), mass=8.0)
    box.scale = (0.2, 0.4, 0.6)
    box.rotation_euler.z = 0.5
    ball = add_prop(rig, add_box("Ball", 0.3, (2.0, 0.0, 0.5)), shape="SPHERE")
    rod = add_prop(rig, add_box("Rod", 0.1, (3.0, 0.0, 0.5)), shape="CAPSULE")
    rod.scale.z = 10.0
    assert box.rigid_body.kinematic  # Blender's own simulation leaves it where it is
    props = {prop.name: prop for prop in scene_of(rig).props}
    (shape,) = props["Crate"].shapes
    assert props["Crate"].body.mass == pytest.approx(8.0)
    np.testing.assert_allclose(shape.half_extents, (0.1, 0.2, 0.3), atol=1e-6)
    np.testing.assert_allclose(props["Crate"].body.position, (1.0, 0.0, 0.5), atol=1e-6)
    np.testing.assert_allclose(props["Crate"].body.orientation, (np.cos(0.25), 0, 0, np.sin(0.25)), atol=1e-6)
    assert props["Ball"].shapes[0].radius == pytest.approx(0.15)
    (capsule,) = props["Rod"].shapes
    assert capsule.radius == pytest.approx(0.05)
    assert capsule.end[2] - capsule.start[2] == pytest.approx(0.9, abs=1e-6)
    assert ball.rigid_body.collision_shape == "SPHERE"


def test_a_prop_whose_origin_is_at_its_foot(rig):
    box = add_box("Crate", 0.4, (1.0, 0.0, 0.0))
    for vertex in box.data.vertices:
        vertex.co.z += 0.2
    add_prop(rig, box)
    around, _ = read(rig)
    assert around.scene.props[0].body.position == pytest.approx((1.0, 0.0, 0.2), abs=1e-6)
    assert around.props[0].object_name == "Crate"
    assert around.props[0].origin == pytest.approx((0.0, 0.0, -0.2), abs=1e-6)


def test_a_prop_may_have_a_bodys_name(rig):
    add_prop(rig, add_box("head", 0.4, (1.0, 0.0, 0.2)))
    assert scene_of(rig).props[0].name == "head (prop)"


def test_props_that_cannot_be(rig):
    box = add_prop(rig, add_box("Crate", 0.4, (1.0, 0.0, 0.2)))
    box.rigid_body.collision_shape = "COMPOUND"
    with pytest.raises(ValueError, match="Crate is a Compound Parent without parts: parent objects with rigid bodies"):
        read(rig)
    sheet = add_prop(rig, add_mesh("Sheet", [(0, 0, 0), (1, 0, 0), (1, 1, 0)], [(0, 1, 2)]), shape="MESH")
    box.rigid_body.collision_shape = "BOX"
    with pytest.raises(ValueError, match="Sheet is flat, and cannot be a prop by its mesh: choose Box"):
        read(rig)
    bpy.data.objects.remove(sheet)
    box.rigid_body.type = "PASSIVE"
    with pytest.raises(ValueError, match="Crate has a passive rigid body and cannot be a prop: make it Active; or"):
        read(rig)
    select(box)
    bpy.ops.rigidbody.object_remove()
    with pytest.raises(ValueError, match="Crate is in the prop collection but has no active rigid body"):
        read(rig)
    bpy.data.objects.remove(box)
    add_prop(rig, add_mesh("Nothing", [], []))
    with pytest.raises(ValueError, match="Nothing has no size"):
        read(rig)


def add_boxes(name, *boxes):
    """One mesh of boxes, each by its middle and its size."""
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    vertices = [
        tuple(m + c * s for m, c, s in zip(middle, corner, size, strict=True))
        for middle, size in boxes
        for corner in corners
    ]
    faces = [tuple(8 * k + corner for corner in quad) for k in range(len(boxes)) for quad in quads]
    return add_mesh(name, vertices, faces)


def test_a_prop_by_its_mesh_is_its_convex_pieces(rig):
    """A stool of a seat and two legs that stands 1 m aside, turned; its body lies at its centre of mass."""
    stool = add_boxes(
        "Stool",
        ((0.0, 0.0, 0.475), (0.6, 0.4, 0.05)),
        ((-0.25, 0.0, 0.22), (0.1, 0.4, 0.44)),
        ((0.25, 0.0, 0.22), (0.1, 0.4, 0.44)),
    )
    stool.location, stool.rotation_euler.z = (1.0, 0.0, 0.0), 0.5
    add_prop(rig, stool, shape="MESH", mass=6.0)
    around, _ = read(rig)
    (prop,) = around.scene.props
    assert [len(shape.corners) for shape in prop.shapes] == [8, 8, 8]
    seat, leg = 0.6 * 0.4 * 0.05, 0.1 * 0.4 * 0.44
    height = (seat * 0.475 + 2.0 * leg * 0.22) / (seat + 2.0 * leg)
    np.testing.assert_allclose(prop.body.position, (1.0, 0.0, height), atol=1e-6)
    np.testing.assert_allclose(prop.body.orientation, (np.cos(0.25), 0.0, 0.0, np.sin(0.25)), atol=1e-6)
    np.testing.assert_allclose(around.props[0].origin, (0.0, 0.0, -height), atol=1e-6)
    lowest = min(corner[2] for shape in prop.shapes for corner in shape.corners)
    assert lowest == pytest.approx(-height, abs=1e-6)
    stool.rigid_body.collision_shape = "CONVEX_HULL"
    (prop,) = scene_of(rig).props
    assert [len(shape.corners) for shape in prop.shapes] == [8]


def test_cones_and_cylinders_are_hulls(rig):
    rod = add_prop(rig, add_box("Rod", 0.2, (1.0, 0.0, 0.5)))
    rod.rigid_body.collision_shape = "CYLINDER"
    (prop,) = scene_of(rig).props
    (shape,) = prop.shapes
    assert len(shape.corners) == 32
    assert prop.body.inertia[2][2] == pytest.approx(0.5 * 5.0 * 0.1**2, rel=0.06)
    rod.rigid_body.collision_shape = "CONE"
    (prop,) = scene_of(rig).props
    np.testing.assert_allclose(prop.body.position, (1.0, 0.0, 0.5 - 0.05), atol=1e-6)


def test_a_compound_parent_has_its_childrens_shapes(rig):
    """A hammer: the parent's own mesh is nothing that touches, and its parts are no props of their own."""
    hammer = add_prop(rig, add_box("Hammer", 0.05, (2.0, 0.0, 1.0)), mass=3.0)
    hammer.rigid_body.collision_shape = "COMPOUND"
    grip = add_prop(rig, add_box("Grip", 0.1, (2.0, 0.0, 0.9)), shape="CAPSULE")
    grip.scale.z = 6.0
    head = add_prop(rig, add_box("Head", 0.2, (2.0, 0.0, 1.3)))
    bpy.context.view_layer.update()
    for part in (grip, head):
        place = part.matrix_world.copy()
        part.parent = hammer
        part.matrix_world = place
    (prop,) = scene_of(rig).props
    assert (prop.name, prop.body.mass) == ("Hammer", pytest.approx(3.0))
    capsule, box = prop.shapes
    assert capsule.radius == pytest.approx(0.05)
    assert capsule.end[2] - capsule.start[2] == pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(np.array(box.position) + prop.body.position, (2.0, 0.0, 1.3), atol=1e-6)
    np.testing.assert_allclose(box.half_extents, (0.1,) * 3, atol=1e-6)


def tie(kind, first, second=None, place=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    empty = bpy.data.objects.new(kind.title(), None)
    bpy.context.collection.objects.link(empty)
    empty.location, empty.rotation_euler = place, turn
    select(empty, empty)
    bpy.ops.rigidbody.constraint_add(type=kind)
    empty.rigid_body_constraint.object1, empty.rigid_body_constraint.object2 = first, second
    return empty


def test_hinges_points_and_fixed_constraints_hold_props(rig):
    door = add_prop(rig, add_box("Door", 1.0, (2.0, 0.0, 1.0)))
    door.rotation_euler.z = np.pi / 2.0
    knob = add_prop(rig, add_box("Knob", 0.1, (2.1, 0.5, 1.0)))
    lamp = add_prop(rig, add_box("Lamp", 0.2, (4.0, 0.0, 2.0)))
    tie("HINGE", door, place=(2.0, -0.5, 1.0))
    tie("FIXED", knob, door)
    point = tie("POINT", None, lamp, place=(4.0, 0.0, 3.0))
    props = {prop.name: prop for prop in scene_of(rig).props}
    low, high = props["Door"].ties
    # of a door that is turned by a right angle, its hinge at its world's -Y is at its own -X
    np.testing.assert_allclose(low.point, (-0.5, 0.0, -0.2), atol=1e-6)
    np.testing.assert_allclose(high.point, (-0.5, 0.0, 0.2), atol=1e-6)
    assert (low.kind, low.other) == ("point", None)
    assert [(one.kind, one.other) for one in props["Knob"].ties] == [("full", "Door")]
    np.testing.assert_allclose(props["Lamp"].ties[0].point, (0.0, 0.0, 1.0), atol=1e-6)
    point.rigid_body_constraint.enabled = False
    assert {prop.name: prop for prop in scene_of(rig).props}["Lamp"].ties == ()


def test_a_hinge_with_limits_turns_as_far_as_in_blender(rig):
    """Blender's own simulation lets the first object turn from lower to upper about Z, and the second the other way."""
    door = add_prop(rig, add_box("Door", 1.0, (2.0, 0.0, 1.0)))
    empty = tie("HINGE", door, place=(2.0, -0.5, 1.0))
    hinge = empty.rigid_body_constraint
    hinge.use_limit_ang_z = True
    hinge.limit_ang_z_lower, hinge.limit_ang_z_upper = np.radians((-20.0, 50.0))
    around, _ = read(rig)
    (prop,) = around.scene.props
    (limits,) = prop.body.joint.limits
    assert np.degrees((limits.lower, limits.upper)) == pytest.approx((-20.0, 50.0), abs=1e-4)
    np.testing.assert_allclose(prop.body.position, (2.0, -0.5, 1.0), atol=1e-6)
    np.testing.assert_allclose(prop.body.joint.axes[0], (0.0, 0.0, 1.0), atol=1e-6)
    np.testing.assert_allclose(around.props[0].origin, (0.0, 0.5, 0.0), atol=1e-6)
    assert around.notes == ()
    hinge.object1, hinge.object2 = None, door
    (limits,) = scene_of(rig).props[0].body.joint.limits
    assert np.degrees((limits.lower, limits.upper)) == pytest.approx((-50.0, 20.0), abs=1e-4)
    hinge.limit_ang_z_lower = np.radians(60.0)  # beyond the upper one: none, for Blender, too
    assert len(scene_of(rig).props[0].ties) == 2
    hinge.limit_ang_z_lower = 0.0
    hinge.object1 = add_prop(rig, add_box("Knob", 0.1, (2.1, 0.5, 1.0)))
    around, _ = read(rig)
    assert any("without its limits" in note for note in around.notes)


def test_a_slider_lets_a_prop_go_along_its_x_axis(rig):
    """The empty's, which a drawer that is turned has along its own Y."""
    chest = add_prop(rig, add_box("Chest", 1.0, (2.0, 0.0, 0.5)))
    drawer = add_prop(rig, add_box("Drawer", 0.4, (2.0, 0.2, 0.5)))
    drawer.rotation_euler.z = -np.pi / 2.0
    tie("SLIDER", drawer, chest, place=(2.0, 0.0, 0.5))
    (held,) = {prop.name: prop for prop in scene_of(rig).props}["Drawer"].ties
    assert (held.kind, held.other) == ("slide", "Chest")
    np.testing.assert_allclose(held.axis, (0.0, 1.0, 0.0), atol=1e-6)


def test_props_have_the_friction_of_their_rigid_bodies(rig):
    add_prop(rig, add_box("Ice", 0.4, (1.0, 0.0, 0.2))).rigid_body.friction = 0.05
    add_prop(rig, add_box("Crate", 0.4, (2.0, 0.0, 0.2)))
    props = {prop.name: prop for prop in scene_of(rig).props}
    assert props["Ice"].friction == pytest.approx(0.05)
    assert props["Crate"].friction == pytest.approx(0.5)  # Blender's own default


def test_props_meet_as_the_collision_collections_of_their_rigid_bodies_say(rig):
    ghost = add_prop(rig, add_box("Ghost", 0.4, (1.0, 0.0, 0.2)))
    ghost.rigid_body.collision_collections = [False, True, False, True] + [False] * 16
    add_prop(rig, add_box("Crate", 0.4, (2.0, 0.0, 0.2)))
    props = {prop.name: prop for prop in scene_of(rig).props}
    assert props["Ghost"].groups == (1, 3)
    assert props["Crate"].groups == (0,)


def test_a_constraint_that_is_not_known_is_told(rig):
    cart = add_prop(rig, add_box("Cart", 1.0, (2.0, 0.0, 1.0)))
    tie("PISTON", cart)
    around, _ = read(rig)
    assert around.scene.props[0].ties == ()
    (note,) = around.notes
    assert note.startswith("Piston is a Piston constraint, which Heft does not know, so Cart is not held by it: choose")


def test_a_weight_is_carried_by_its_bone(rig):
    sack = add_box("Rucksack", 0.3, (0.0, 0.2, 1.3))
    activate_bone(rig, "chest")
    add_prop(rig, sack, mass=12.0, carried=True)
    around, clip = read(rig)
    (load,) = around.scene.loads
    assert around.scene.props == ()
    assert (load.name, load.body, load.mass, load.planned) == ("Rucksack", "torso", pytest.approx(12.0), True)
    np.testing.assert_allclose(place(rig, clip, load.body, load.position, 0), (0.0, 0.2, 1.3), atol=1e-5)
    assert load.radius == pytest.approx(0.15)
    assert (sack.parent, sack.parent_bone) == (rig, "chest")  # and goes with it
    later, _ = read(rig, start=20)
    np.testing.assert_allclose(later.scene.loads[0].position, load.position, atol=1e-5)
    sack.heft.weight.surprise = True
    assert not scene_of(rig).loads[0].planned


# All of them


def test_gravity_is_the_scenes(rig):
    assert scene_of(rig).gravity == pytest.approx((0.0, 0.0, -9.81))
    bpy.context.scene.gravity = (0.0, 0.0, -1.62)
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert scene_of(rig, frames=np.array([1.0, 2.0])).gravity == pytest.approx((0.0, 0.0, -1.62))
    bpy.context.scene.use_gravity = False
    assert scene_of(rig).gravity == (0.0, 0.0, 0.0)


def dressed_stage(rig):
    add_push(rig)
    add_grab(rig)
    add_prop(rig, add_box("Crate", 0.4, (1.0, 0.0, 0.2)))
    box = add_box("Step", 0.2, (0.0, -2.0, 0.1))
    box.heft.surface.friction = 0.7
    select(box, rig)
    bpy.ops.heft.mark_terrain()


def counts(rig):
    scene = scene_of(rig)
    return len(scene.surfaces), len(scene.pushes), len(scene.grabs), len(scene.props)


def test_things_are_duplicated_with_their_keys(rig):
    arrow = add_push(rig)
    select(arrow)
    bpy.ops.object.duplicate()
    twin = bpy.context.active_object
    assert twin != arrow
    assert twin.heft.push.armature == rig
    assert len(scene_of(rig).pushes) == 2


def test_a_duplicated_rig_takes_its_things_along(rig):
    """Selected together, as Blender does it with constraints' targets too."""
    arrow, grab = add_push(rig), add_grab(rig)
    select(arrow, grab, rig)
    bpy.ops.object.duplicate()
    twin = bpy.context.view_layer.objects.active
    assert twin != rig
    assert len(scene_of(rig).pushes) == len(scene_of(twin).pushes) == 1
    assert len(scene_of(twin).grabs) == 1


def test_things_survive_saving_and_loading(rig, tmp_path):
    dressed_stage(rig)
    before = counts(rig)
    path = tmp_path / "stage.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    again = bpy.data.objects["Mannequin"]
    assert counts(again) == before == (2, 1, 1, 1)
    assert bpy.data.objects["Step"].heft.surface.friction == pytest.approx(0.7)


def test_things_survive_appending(rig, tmp_path):
    """The empties point at the armature, which comes along; terrain and props come with the armature."""
    dressed_stage(rig)
    path = tmp_path / "stage.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(path)) as (_, there):
        there.objects = ["Push chest", "Grab hand.L"]
    for thing in there.objects:
        bpy.context.scene.collection.objects.link(thing)
    again = bpy.data.objects["Mannequin"]
    bpy.context.scene.collection.objects.link(again)
    for collection in (again.heft.terrain, again.heft.props):
        bpy.context.scene.collection.children.link(collection)
    bpy.context.view_layer.update()
    assert counts(again) == (2, 1, 1, 1)


def test_each_is_one_step_of_undo(rig):
    box = add_box("Crate", 0.4, (1.0, 0.0, 0.2))
    activate_bone(rig, "chest")
    box.select_set(True)
    bpy.ops.ed.undo_push(message="Before")
    before = set(bpy.data.objects.keys())
    for operator in (bpy.ops.heft.add_push, bpy.ops.heft.add_grab, bpy.ops.heft.add_prop, bpy.ops.heft.mark_terrain):
        operator()
        bpy.ops.ed.undo_push(message="After")
        bpy.ops.ed.undo()
        rig = bpy.data.objects["Mannequin"]
        assert set(bpy.data.objects.keys()) == before
        assert (rig.heft.terrain, rig.heft.props) == (None, None)
        assert bpy.data.objects["Crate"].rigid_body is None


def test_without_a_character_nothing_is_offered(heft_registered):
    select(add_box())
    for operator in (bpy.ops.heft.add_push, bpy.ops.heft.add_grab, bpy.ops.heft.add_prop, bpy.ops.heft.mark_terrain):
        assert not operator.poll()


def test_a_linked_rig_is_refused(rig, tmp_path):
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, linked):
        linked.objects = ["Mannequin"]
    (linked_rig,) = linked.objects
    bpy.context.scene.collection.objects.link(linked_rig)
    box = add_box()
    select(box, linked_rig)
    for operator in (bpy.ops.heft.add_push, bpy.ops.heft.add_grab, bpy.ops.heft.add_prop, bpy.ops.heft.mark_terrain):
        with pytest.raises(RuntimeError, match="Mannequin is linked from another file"):
            operator()
    assert len(bpy.data.collections) == 0 or not any("Terrain" in one.name for one in bpy.data.collections)


def test_a_library_override_has_things_of_its_own(rig, tmp_path):
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, linked):
        linked.objects = ["Mannequin"]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    own = linked.objects[0].override_create(remap_local_usages=True)
    box = add_box("Step", 0.2, (0.0, -2.0, 0.1))
    select(box, own)
    for operator in (bpy.ops.heft.mark_terrain, bpy.ops.heft.add_push, bpy.ops.heft.add_grab):
        select(box, own)
        assert operator() == {"FINISHED"}
    assert counts(own) == (2, 1, 1, 0)
    again = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(again))
    bpy.ops.wm.open_mainfile(filepath=str(again))
    own = next(one for one in bpy.data.objects if one.override_library is not None)
    assert counts(own) == (2, 1, 1, 0)


def test_settings_of_a_library_override_are_kept(rig, tmp_path, capfd):
    path, shot = tmp_path / "library.blend", tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, linked):
        linked.objects = ["Mannequin"]
    own = linked.objects[0].override_create(remap_local_usages=True)
    bpy.context.scene.collection.objects.link(own)
    own.heft.rate, own.heft.lookahead.effort, own.heft.weight.mass = 90, 0.5, 8.0
    own.override_library.operations_update()  # as every step of undo does
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    kept = bpy.data.objects["Mannequin"].heft
    assert (kept.rate, kept.lookahead.effort, kept.weight.mass) == (90, 0.5, 8.0)
    assert "expected ID type" not in "".join(capfd.readouterr())
