# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground: what the viewport shows, in metres, at rest or moving; and what is no ground gets a sentence."""

import bpy
import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, Plane, make_terrain, nearest_points
from mathutils import Matrix

from tests.blender.scene.stage import FRAMES, add_box, add_mesh, key, mark, read, scene_of, select

pytestmark = pytest.mark.usefixtures("heft_registered")


def height(surfaces, x, y, time=0.0):
    """Of the ground under a place: down from 3 m, by no more than what is free each time."""
    terrain, z = make_terrain(surfaces), 3.0
    for _ in range(200):
        z -= nearest_points(terrain, [[x, y, z]], limit=10.0, time=time).distance[0]
    return z


def test_without_a_collection_the_ground_is_the_level_floor(rig):
    rig.heft.floor_friction = 0.5
    scene = scene_of(rig)
    assert scene.surfaces == ()
    assert scene.friction == 0.5


def test_meshes_are_ground_where_they_stand_besides_the_floor(rig):
    box = add_box(size=0.4, location=(2.0, 0.0, 0.2))
    box.rotation_euler.z = 0.3
    box.scale.z = 0.5
    box.heft.surface.friction = 0.25
    mark(rig, box)
    floor, mesh = scene_of(rig).surfaces
    assert isinstance(floor, Plane)
    assert isinstance(mesh, Mesh)
    assert mesh.friction == 0.25
    assert height([floor, mesh], 2.0, 0.0) == pytest.approx(0.3, abs=1e-6)
    assert height([floor, mesh], 3.0, 0.0) == pytest.approx(0.0, abs=1e-6)
    rig.heft.use_floor = False
    assert [type(one) for one in scene_of(rig).surfaces] == [Mesh]


def test_a_unit_scale_counts_once(rig):
    """A block of 40 centimetres in a scene of centimetres."""
    bpy.context.scene.unit_settings.scale_length = 0.01
    box = add_box(size=40.0, location=(200.0, 0.0, 20.0))
    mark(rig, box)
    rig.scale = (100.0,) * 3
    bpy.context.view_layer.update()
    surfaces = scene_of(rig).surfaces
    assert height(surfaces, 2.0, 0.0) == pytest.approx(0.4, abs=1e-6)
    assert height(surfaces, 2.3, 0.0) == pytest.approx(0.0, abs=1e-6)


def test_modifiers_and_curves_are_evaluated(rig):
    step = add_box(size=0.2, location=(1.0, 0.0, 0.1))
    stairs = step.modifiers.new("Array", "ARRAY")
    stairs.count, stairs.use_relative_offset, stairs.use_constant_offset = 3, False, True
    stairs.constant_offset_displace = (0.2, 0.0, 0.2)
    curve = bpy.data.curves.new("Pipe", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", 0.1
    line = curve.splines.new("POLY")
    line.points.add(1)
    line.points[0].co, line.points[1].co = (0.0, 4.0, 0.0, 1.0), (1.0, 4.0, 0.0, 1.0)
    pipe = bpy.data.objects.new("Pipe", curve)
    bpy.context.scene.collection.objects.link(pipe)
    mark(rig, step, pipe)
    surfaces = scene_of(rig).surfaces
    assert [height(surfaces, x, 0.0) for x in (1.0, 1.2, 1.4)] == pytest.approx([0.2, 0.4, 0.6], abs=1e-6)
    assert height(surfaces, 0.5, 4.0) == pytest.approx(0.1, abs=1e-3)


def test_instances_of_a_collection_are_ground(rig):
    library = bpy.data.collections.new("Library")
    box = add_box(size=0.4, location=(0.0, 0.0, 0.2))
    bpy.context.scene.collection.objects.unlink(box)
    library.objects.link(box)
    for x in (2.0, 5.0):
        instance = bpy.data.objects.new("Instance", None)
        instance.instance_type, instance.instance_collection = "COLLECTION", library
        instance.location.x = x
        bpy.context.scene.collection.objects.link(instance)
        mark(rig, instance)
    surfaces = scene_of(rig).surfaces
    assert len(surfaces) == 3
    assert [height(surfaces, x, 0.0) for x in (2.0, 5.0, 3.5)] == pytest.approx([0.4, 0.4, 0.0], abs=1e-6)


def test_a_moving_mesh_is_moving_ground(rig):
    """A platform that rises by a metre in 39 frames while it turns, scaled and under a parent."""
    carrier = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    box = add_box(size=2.0, location=(0.0, 0.0, 0.0))
    box.parent, box.scale = carrier, (1.0, 0.5, 0.1)
    key(carrier, "location", (1, (4.0, 0.0, 0.0)), (40, (4.0, 0.0, 1.0)))
    key(carrier, "rotation_euler", (1, (0.0, 0.0, 0.0)), (40, (0.0, 0.0, 3.0)))
    mark(rig, box)
    around, clip = read(rig)
    assert around.notes == ()
    end = (len(FRAMES) - 1) / clip.rate
    surfaces = around.scene.surfaces
    for share in (0.0, 0.31, 1.0):
        assert height(surfaces, 4.0, 0.0, share * end) == pytest.approx(0.1 + share, abs=1e-4)
    # along X the half extents are 1 m before, and 0.5 m after it has turned a quarter
    assert height(surfaces, 4.9, 0.0, 0.0) == pytest.approx(0.1, abs=1e-4)
    assert height(surfaces, 4.9, 0.0, end * np.pi / 6.0) == pytest.approx(0.0, abs=1e-4)
    later, _ = read(rig, start=20)
    assert height(later.scene.surfaces, 4.0, 0.0, 0.0) == pytest.approx(0.1 + 20 / 39, abs=1e-4)


def test_a_mesh_that_changes_its_shape_is_noted(rig):
    box = add_box(size=0.4, location=(2.0, 0.0, 0.2))
    box.shape_key_add(name="Basis")
    tall = box.shape_key_add(name="Tall")
    for point in tall.data:
        point.co.z *= 2.0
    tall.value = 0.0
    tall.keyframe_insert("value", frame=1)
    tall.value = 1.0
    tall.keyframe_insert("value", frame=40)
    grows = add_box("Grows", 0.4, (4.0, 0.0, 0.2))
    key(grows, "scale", (1, (1.0, 1.0, 1.0)), (40, (2.0, 1.0, 1.0)))
    mark(rig, box, grows)
    around, _ = read(rig)
    assert height(around.scene.surfaces, 2.0, 0.0, 1.6) == pytest.approx(0.4, abs=1e-6)
    assert "Box changes its shape" in " ".join(around.notes)
    assert "Grows changes its size" in " ".join(around.notes)


def test_what_is_hidden_is_not_there(rig):
    box, other = add_box("Box", 0.4, (2.0, 0.0, 0.2)), add_box("Other", 0.4, (4.0, 0.0, 0.2))
    mark(rig, box, other)
    box.hide_viewport = True
    surfaces = scene_of(rig).surfaces
    assert [height(surfaces, x, 0.0) for x in (2.0, 4.0)] == pytest.approx([0.0, 0.4], abs=1e-6)


def test_a_mirrored_mesh_is_solid_all_the_same(rig):
    box = add_box(size=0.4, location=(2.0, 0.0, 0.2))
    box.matrix_world = Matrix.Translation((2.0, 0.0, 0.2)) @ Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
    key(box, "location", (1, (2.0, 0.0, 0.2)), (40, (2.0, 0.0, 0.7)))
    mark(rig, box)
    surfaces = scene_of(rig).surfaces
    assert height(surfaces, 2.1, 0.0, 0.0) == pytest.approx(0.4, abs=1e-4)
    assert height(surfaces, 2.1, 0.0, 39.0 / 24.0) == pytest.approx(0.9, abs=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: add_mesh("Wire", [(0, 0, 0), (1, 0, 0)], [], edges=[(0, 1)]), "Wire has no faces to stand on"),
        (lambda: add_mesh("Nothing", [], []), "Nothing has no faces to stand on"),
        (
            lambda: add_mesh("Sliver", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)]),
            "Sliver cannot be ground: .*degenerate",
        ),
    ],
)
def test_degenerate_meshes_get_a_sentence(rig, make, message):
    mark(rig, make())
    with pytest.raises(ValueError, match=message):
        read(rig)


def test_a_mesh_scaled_to_nothing(rig):
    box = add_box()
    box.scale = (0.0, 0.0, 0.0)
    mark(rig, box)
    with pytest.raises(ValueError, match="Box cannot be ground"):
        read(rig)


def test_nothing_to_stand_on(rig):
    rig.heft.terrain = bpy.data.collections.new("Empty")
    around, _ = read(rig)
    assert "shows no meshes" in around.notes[0]
    rig.heft.use_floor = False
    with pytest.raises(ValueError, match="There is no ground"):
        read(rig)


def test_the_character_is_not_its_own_ground(rig):
    body = next(child for child in rig.children if child.type == "MESH")
    select(body, rig)
    with pytest.raises(RuntimeError, match="No meshes are selected"):
        bpy.ops.heft.mark_terrain()
    assert rig.heft.terrain is None
    mark(rig, add_box())
    rig.heft.terrain.objects.link(body)
    with pytest.raises(ValueError, match="moves with Mannequin and cannot be its ground"):
        read(rig)


def test_a_linked_mesh_is_ground_and_a_linked_collection_is_not_added_to(rig, tmp_path):
    path = tmp_path / "library.blend"
    library = bpy.data.collections.new("Set")
    library.objects.link(add_box("Linked", 0.4, (2.0, 0.0, 0.2)))
    bpy.data.libraries.write(str(path), {library})
    bpy.data.batch_remove([library, bpy.data.objects["Linked"]])
    with bpy.data.libraries.load(str(path), link=True) as (_, linked):
        linked.collections = ["Set"]
    (collection,) = linked.collections
    bpy.context.scene.collection.children.link(collection)
    rig.heft.terrain = collection
    assert height(scene_of(rig).surfaces, 2.0, 0.0) == pytest.approx(0.4, abs=1e-6)
    select(add_box("Own"), rig)
    with pytest.raises(RuntimeError, match="Set is linked from another file"):
        bpy.ops.heft.mark_terrain()


def test_marking_twice_adds_nothing(rig):
    box = add_box()
    mark(rig, box)
    mark(rig, box)
    assert [one.name for one in rig.heft.terrain.objects] == ["Box"]
    assert rig.heft.terrain.name == "Mannequin Terrain"
    assert box.name in bpy.context.scene.collection.objects
