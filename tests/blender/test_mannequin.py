# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin's proportions and binding; its walk: feet that stay, knees that bend one way, a cycle that closes."""

import itertools

import numpy as np
import pytest

pytest.importorskip("bpy", reason="bpy is not in this environment")

import bpy
from heft.blender_addon.film_strip import render_film_strip
from heft.examples import walk
from heft.examples.mannequin import STATURE, make_mannequin

SPINE = ["pelvis", "spine", "chest", "neck", "head"]
LIMBS = ["clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe"]
FRAME_START = 1
SECOND_CYCLE = FRAME_START + walk.FRAMES_PER_CYCLE
REST_KNEE = np.degrees(np.arctan(0.006 / 0.245) + np.arctan(0.010 / 0.246))
"""The legs' own bend at rest, from the fractions of stature by which the knee stands before hip and ankle."""


@pytest.fixture
def mannequin():
    """The mannequin in an empty file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return make_mannequin(bpy.context)


@pytest.fixture
def walking(mannequin):
    """The mannequin with its walk."""
    walk.key_walk(mannequin, frame_start=FRAME_START)
    return mannequin


def body_of(armature):
    return next(child for child in armature.children if child.type == "MESH")


def go_to(frame):
    """Frames count in halves, quarters and so on as well."""
    bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))


def posed_vertices(armature, frame):
    go_to(frame)
    posed = body_of(armature).evaluated_get(bpy.context.evaluated_depsgraph_get())
    coordinates = np.empty(3 * len(posed.data.vertices), dtype=np.float32)
    posed.data.vertices.foreach_get("co", coordinates)
    return coordinates.reshape(-1, 3).astype(float)


def vertices_of(armature, bone):
    """Indices of the vertices bound to a bone."""
    body = body_of(armature)
    group = body.vertex_groups[bone].index
    return np.array([v.index for v in body.data.vertices if v.groups[0].group == group])


def bend(armature, bone):
    """A bone's own turn about its X axis in degrees, and how far it turns about any other axis."""
    turn = armature.pose.bones[bone].matrix_basis.to_quaternion()
    return np.degrees(2 * np.arctan2(turn.x, turn.w)), np.degrees(2 * np.hypot(turn.y, turn.z))


def test_skeleton_has_the_bones_of_a_human_rig(mannequin):
    expected = SPINE + [name + suffix for suffix in (".L", ".R") for name in LIMBS]
    assert sorted(bone.name for bone in mannequin.data.bones) == sorted(expected)
    assert [bone.name for bone in mannequin.data.bones if bone.parent is None] == ["pelvis"]


def test_skeleton_is_its_own_mirror_image(mannequin):
    bones = mannequin.data.bones
    mirror = np.diag([-1.0, 1.0, 1.0])
    for name in LIMBS:
        left, right = bones[name + ".L"], bones[name + ".R"]
        assert np.allclose(mirror @ left.head_local, right.head_local, atol=1e-6)
        assert np.allclose(mirror @ left.tail_local, right.tail_local, atol=1e-6)
        # A mirrored frame is left-handed; turning its X axis around makes it one a bone can have.
        expected = mirror @ np.array(left.matrix_local.to_3x3()) @ mirror
        assert np.allclose(expected, right.matrix_local.to_3x3(), atol=1e-5)


def test_winter_figure_4_1_segment_lengths(mannequin):
    bones = mannequin.data.bones
    for name, fraction in {"upper_arm": 0.186, "forearm": 0.146, "hand": 0.108, "thigh": 0.245, "shin": 0.246}.items():
        assert bones[name + ".L"].length == pytest.approx(fraction * STATURE, rel=2e-3)
    assert bones["foot.L"].head_local.z == pytest.approx(0.039 * STATURE)
    assert bones["upper_arm.L"].head_local.z == pytest.approx(0.818 * STATURE)


def test_segments_from_sole_to_crown_add_up_to_stature(mannequin):
    bones = mannequin.data.bones
    column = ["shin.L", "thigh.L", *SPINE]
    heights = [abs(bones[name].tail_local.z - bones[name].head_local.z) for name in column]
    assert bones["foot.L"].head_local.z + sum(heights) == pytest.approx(STATURE, abs=1e-6)
    z = posed_vertices(mannequin, 1)[:, 2]
    assert z.min() == pytest.approx(0.0, abs=1e-6)
    assert z.max() == pytest.approx(STATURE, abs=0.01)


def test_hinges_turn_about_the_local_x_axis(mannequin):
    bones = mannequin.data.bones
    for name in ("thigh", "shin", "foot", "toe"):
        for suffix in (".L", ".R"):
            assert np.allclose(bones[name + suffix].matrix_local.col[0][:3], [1, 0, 0], atol=1e-5)
    for name, child in (("upper_arm", "forearm"), ("forearm", "hand")):
        parent_x, child_x = (np.array(bones[bone + ".L"].matrix_local.col[0][:3]) for bone in (name, child))
        assert np.allclose(parent_x, child_x, atol=1e-5)


def test_every_vertex_belongs_wholly_to_one_bone(mannequin):
    body = body_of(mannequin)
    names = {group.index: group.name for group in body.vertex_groups}
    assert set(names.values()) == {bone.name for bone in mannequin.data.bones}
    for vertex in body.data.vertices:
        assert [group.weight for group in vertex.groups] == [1.0]
    assert [modifier.object for modifier in body.modifiers] == [mannequin]
    assert len(body.data.materials) == 2
    assert body.data.validate() is False


def test_faces_look_outwards(mannequin):
    # The divergence theorem: the sum of p · n over the surface is three times the volume, which is positive.
    mesh = body_of(mannequin).data
    assert sum(face.center.dot(face.normal) * face.area for face in mesh.polygons) / 3 == pytest.approx(0.07, abs=0.02)


def test_a_second_mannequin_leaves_the_first_alone(walking):
    second = make_mannequin(bpy.context)
    assert second.name != walking.name
    assert second.animation_data is None
    assert body_of(second).modifiers[0].object == second
    assert body_of(walking).modifiers[0].object == walking


def test_walk_is_one_slotted_action(walking):
    action = walking.animation_data.action
    assert action.name == "Walk"
    assert [slot.name_display for slot in action.slots] == [walking.name]
    assert walking.animation_data.action_slot == action.slots[0]
    channelbag = action.layers[0].strips[0].channelbag(action.slots[0])
    assert len(channelbag.fcurves) == 3 + 4 * len(walking.data.bones)
    assert {curve.group.name for curve in channelbag.fcurves} == {bone.name for bone in walking.data.bones}
    assert all(curve.is_valid for curve in channelbag.fcurves)
    assert tuple(action.frame_range) == (FRAME_START, FRAME_START + 4 * walk.FRAMES_PER_CYCLE)


def test_walk_moves_forward_at_walking_speed(walking):
    hips = []
    for cycle in range(5):
        go_to(FRAME_START + cycle * walk.FRAMES_PER_CYCLE)
        hips.append(np.array(walking.pose.bones["pelvis"].head))
    strides = np.diff(hips, axis=0)
    assert np.allclose(strides, [0.0, -walk.STRIDE, 0.0], atol=1e-5)
    assert 1.2 < walk.STRIDE * walk.FRAMES_PER_SECOND / walk.FRAMES_PER_CYCLE < 1.4


def test_cycle_closes(walking):
    first = posed_vertices(walking, SECOND_CYCLE)
    for cycles in (1, 2):
        later = posed_vertices(walking, SECOND_CYCLE + cycles * walk.FRAMES_PER_CYCLE)
        assert np.allclose(first + np.array([0.0, -cycles * walk.STRIDE, 0.0]), later, atol=1e-5)
    # No kink at the seam either: what moves out of it is what moves in, at either end of a cycle.
    step = 0.05
    start = posed_vertices(walking, SECOND_CYCLE + step) - first
    end = first - posed_vertices(walking, SECOND_CYCLE - step)
    assert np.abs(start - end).max() < 0.02 * np.abs(start).max()


def test_steps_mirror_each_other(walking):
    here, there = (posed_vertices(walking, SECOND_CYCLE + frame) for frame in (4, 4 + walk.FRAMES_PER_STEP))
    for name in ("foot", "hand", "shin"):
        left = here[vertices_of(walking, name + ".L")].mean(axis=0)
        right = there[vertices_of(walking, name + ".R")].mean(axis=0)
        assert np.allclose(left * [-1, 1, 1] + [0, -walk.STRIDE / 2, 0], right, atol=1e-4)


def test_planted_feet_stay_where_they_are(walking, record_property):
    rest = np.array([vertex.co for vertex in body_of(walking).data.vertices])
    slides = {}
    for suffix, lag in ((".L", 0), (".R", walk.FRAMES_PER_STEP)):
        foot, toe = (vertices_of(walking, name + suffix) for name in ("foot", "toe"))
        foot, toe = foot[rest[foot, 2] < 1e-4], toe[rest[toe, 2] < 1e-3]
        points = {
            "heel": (foot[rest[foot, 1].argmax()], 0, 7),
            "ball": (toe[rest[toe, 1].argmax()], 3, 13),
            "toes": (toe[rest[toe, 1].argmin()], 3, 16),
        }
        for name, (vertex, first, last) in points.items():
            phases = np.arange(first, last + 0.1, 0.25)
            places = np.array([posed_vertices(walking, SECOND_CYCLE + lag + phase)[vertex] for phase in phases])
            slides[name + suffix] = np.ptp(places[:, :2], axis=0).max()
    record_property("slides in m", slides)
    assert max(slides.values()) < 0.010


def test_soles_neither_sink_nor_float(walking, record_property):
    phases = np.arange(0.0, walk.FRAMES_PER_CYCLE, 0.25)
    lowest = np.array([posed_vertices(walking, SECOND_CYCLE + phase)[:, 2].min() for phase in phases])
    record_property("lowest point in m", (lowest.min(), lowest.max()))
    assert lowest.min() > -0.005
    assert lowest.max() < 0.003


def test_swinging_toes_clear_the_floor(walking):
    foot = np.concatenate([vertices_of(walking, name) for name in ("foot.L", "toe.L")])
    for phase in range(18, 25):
        assert posed_vertices(walking, SECOND_CYCLE + phase)[foot, 2].min() > 0.010


def test_knees_are_hinges_that_bend_as_in_walking(walking, record_property):
    frames = SECOND_CYCLE + np.arange(0.0, walk.FRAMES_PER_CYCLE, 0.5)
    flexion = []
    for frame in frames:
        go_to(frame)
        angle, off_axis = bend(walking, "shin.L")
        assert off_axis < 0.01
        flexion.append(angle + REST_KNEE)
    flexion = np.array(flexion)
    stance, swing = flexion[: 2 * 13], flexion[2 * 16 :]
    record_property("knee flexion in degrees", (flexion.min(), flexion.max()))
    assert flexion.min() > 3.0  # never straight, let alone beyond
    assert 15.0 < stance.max() < 30.0
    assert 55.0 < swing.max() < 70.0


def test_no_joint_pops(walking, record_property):
    """From frame to frame a joint's rate of turning changes by a few degrees a frame, most where a push-off ends."""
    rotations = {bone.name: [] for bone in walking.pose.bones}
    for frame in range(SECOND_CYCLE, SECOND_CYCLE + walk.FRAMES_PER_CYCLE + 2):
        go_to(frame)
        for bone in walking.pose.bones:
            rotations[bone.name].append(bone.matrix_basis.to_quaternion())
    jumps = {}
    for name, turns in rotations.items():
        steps = [before.inverted() @ after for before, after in itertools.pairwise(turns)]
        rates = np.degrees([step.to_exponential_map() for step in steps])
        jumps[name.partition(".")[0]] = np.linalg.norm(np.diff(rates, axis=0), axis=1).max()
    record_property("jumps in degrees per frame and frame", dict(jumps))
    assert jumps.pop("foot") < 14.0
    assert jumps.pop("toe") < 10.0
    assert jumps.pop("shin") < 8.0
    assert max(jumps.values()) < 5.0


def test_head_stays_level_while_shoulders_turn_against_hips(walking):
    turns = {"pelvis": [], "chest": [], "head": []}
    for phase in range(walk.FRAMES_PER_CYCLE):
        go_to(SECOND_CYCLE + phase)
        for name, angles in turns.items():
            bone = walking.pose.bones[name]
            world = bone.matrix @ bone.bone.matrix_local.inverted()
            angles.append(np.degrees(world.to_euler("XYZ")))
    pelvis, chest, head = (np.array(turns[name]) for name in ("pelvis", "chest", "head"))
    assert np.abs(head).max() < 3.0
    assert np.corrcoef(pelvis[:, 2], chest[:, 2])[0, 1] < -0.9


def test_hands_pass_beside_the_thighs(walking):
    for suffix, side in ((".L", 1), (".R", -1)):
        hand, thigh = (vertices_of(walking, name + suffix) for name in ("hand", "thigh"))
        for phase in range(walk.FRAMES_PER_CYCLE):
            vertices = posed_vertices(walking, SECOND_CYCLE + phase)
            gaps = np.linalg.norm(vertices[hand][::3, None] - vertices[thigh][None, ::3], axis=2)
            assert gaps.min() > 0.005
            assert (side * vertices[hand, 0]).min() > (side * vertices[thigh, 0]).max() - 0.05


def state_of(scene):
    """What a film strip must leave as it was; Blender keeps its own image of the last render."""
    render = scene.render
    kinds = (bpy.data.cameras, bpy.data.curves, bpy.data.materials, bpy.data.objects, bpy.data.scenes)
    images = [image for image in bpy.data.images if image.type != "RENDER_RESULT"]
    settings = (scene.camera, render.engine, render.filepath, render.resolution_x, scene.view_settings.view_transform)
    return settings, scene.frame_current, scene.frame_subframe, [len(kind) for kind in kinds], images


def test_film_strip_has_a_picture_for_every_frame_and_leaves_the_scene_alone(walking, tmp_path):
    scene = bpy.context.scene
    go_to(5.5)
    before = state_of(scene)
    target = tmp_path / "deep" / "strip.png"
    path = render_film_strip(scene, [1, 4, 8], target, subject=walking, width=32, height=48, samples=1)
    assert path == target
    assert state_of(scene) == before
    image = bpy.data.images.load(str(path))
    assert tuple(image.size) == (3 * 32, 48 + 16)
    pixels = np.array(image.pixels[:]).reshape(image.size[1], image.size[0], -1)
    captions, pictures = pixels[:16, :, 0], pixels[16:, :, 0]
    for tile in (slice(0, 32), slice(32, 64), slice(64, 96)):
        assert captions[:, tile].min() < 0.8 < captions[:, tile].max()
    assert not np.allclose(pictures[:, :32], pictures[:, 64:])
