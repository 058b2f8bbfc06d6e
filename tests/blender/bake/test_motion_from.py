# SPDX-License-Identifier: GPL-3.0-or-later
"""One armature's motion on another: that it is read, where feet stand, and what is written.

Where no physics is wanted the retargeted motion itself stands in for what was simulated.
"""

import json
from itertools import pairwise

import bpy
import heft
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.output import write
from heft.blender_addon.properties.automatic import chosen_for
from heft.blender_addon.rig.reading import frame_numbers, sample_armatures
from heft.core.motion import quaternions
from heft.examples import mannequin, walk

from tests.blender.bake.keyed import result_of
from tests.blender.rig import rigs
from tests.core.motion.skeletons import needs_clips

STILL = 0.1  # m/s
FIRST, LAST = 1, 60


def add_armature(skeleton, name):
    """An armature of that skeleton, without any motion, active."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for i, bone in enumerate(skeleton.names):
        edit = rig.data.edit_bones.new(bone)
        edit.head, edit.tail = skeleton.head[i].tolist(), skeleton.tail[i].tolist()
        if skeleton.parent[i] >= 0:
            edit.parent = rig.data.edit_bones[skeleton.names[skeleton.parent[i]]]
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


TARGETS = {
    "mixamo": lambda: add_armature(rigs.mpfb_skeleton("mixamo"), "Hero"),
    "game engine": lambda: add_armature(rigs.mpfb_skeleton("game_engine"), "Hero"),
    "CMU of MakeHuman": lambda: add_armature(rigs.mpfb_skeleton("cmu_mb"), "Hero"),
    "VRM": lambda: add_armature(rigs.vrm_skeleton()[0], "Hero"),
    "Rigify's metarig": lambda: rigs.rigify_metarig("human"),
}
needs_rigs = pytest.mark.skipif(not rigs.RIGS.exists(), reason=f"the rigs are not at {rigs.RIGS}")


@pytest.fixture
def walker(heft_enabled):
    """The mannequin with its walk."""
    bpy.context.scene.render.fps = 24
    made = mannequin.make_mannequin(bpy.context)
    walk.key_walk(made)
    return made


def sampled(rig, frames):
    (sampling,) = sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], frames)
    return sampling.clip


def given(rig, mover, last=LAST):
    """What a bake of the armature is made from, with the other's motion."""
    bpy.context.view_layer.objects.active = rig
    rig.heft.motion_from = mover
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, FIRST, last
    (found,) = gather(bpy.context, [rig])
    return found


def slides(theirs, their_roles, ours, our_roles, ratio):
    """Metres by which balls of feet move that stand in the source, beyond what they move there; and their heights."""
    most, lowest = 0.0, np.inf
    for side in "LR":
        balls = []
        for clip, roles in ((theirs, their_roles), (ours, our_roles)):
            toes = roles.get(f"toe.{side}")
            bone = clip.skeleton.index((toes or roles[f"foot.{side}"])[0])
            away = np.zeros(3) if toes else clip.skeleton.tail[bone] - clip.skeleton.head[bone]
            turn = quaternions.multiply(
                clip.orientation[:, bone], quaternions.conjugate(clip.skeleton.orientation[bone])[None]
            )
            balls.append(clip.position[:, bone] + quaternions.rotate(turn, away))
        speed = np.linalg.norm(np.gradient(balls[0], axis=0), axis=1) * theirs.rate
        stands = speed < STILL
        for run in np.split(np.flatnonzero(stands), np.flatnonzero(np.diff(np.flatnonzero(stands)) > 1) + 1):
            beyond = balls[1][run] - ratio * balls[0][run]
            most = max(most, float(np.ptp(beyond[:, :2], axis=0).max()))
            lowest = min(lowest, float(balls[1][run, 2].min()))
    return most, lowest


def leg(clip, roles):
    """From hip to ankle along the bones, of the left."""
    joints = [clip.skeleton.head[clip.skeleton.index(roles[f"{part}.L"][0])] for part in ("thigh", "shin", "foot")]
    return sum(np.linalg.norm(b - a) for a, b in pairwise(joints))


@needs_rigs
@pytest.mark.parametrize("target", list(TARGETS))
def test_feet_stand_where_the_others_do(walker, target):
    rig = TARGETS[target]()
    found = given(rig, walker)
    roles, names = rig.heft.chosen_roles(), {bone.name: (bone.name,) for bone in mannequin.skeleton()}
    theirs, ours = sampled(walker, found.sampling.frames), found.job.clip
    ratio = leg(ours, roles) / leg(theirs, names)
    most, lowest = slides(theirs, names, ours, roles, ratio)
    assert most < 5e-3
    assert lowest > -0.01
    hips = [
        clip.position[:, clip.skeleton.index(role["thigh.L"][0])] for clip, role in ((theirs, names), (ours, roles))
    ]
    way = [place[-1] - place[0] for place in hips]
    np.testing.assert_allclose(way[1][:2], ratio * way[0][:2], atol=0.03)


@needs_rigs
def test_what_is_written_is_what_was_asked(walker):
    """The action bears the name of the motion; a second bake replaces it."""
    rig = TARGETS["mixamo"]()
    for _ in range(2):
        found = given(rig, walker)
        assert any("another skeleton's" in note for note in found.notes)
        write(bpy.context, rig, found, result_of(found.job))
        assert [action.name for action in bpy.data.actions if action.heft.report] == ["Walk Simulated"]
        clip = sampled(rig, found.sampling.frames)
        np.testing.assert_allclose(clip.position, found.job.clip.position, atol=1e-3)
    assert walker.animation_data.action.name == "Walk"


@needs_rigs
def test_fingers_keep_their_own_keys(walker):
    rig = TARGETS["mixamo"]()
    finger = next(bone for bone in rig.pose.bones if "LeftHandIndex1" in bone.name)
    finger.rotation_mode = "XYZ"
    for frame, angle in ((FIRST, 0.0), (LAST, 1.0)):
        finger.rotation_euler.x = angle
        finger.keyframe_insert("rotation_euler", frame=frame)
    own = rig.animation_data.action
    found = given(rig, walker)
    write(bpy.context, rig, found, result_of(found.job))
    assert rig.animation_data.action != own
    for frame in (FIRST, 30, LAST):
        bpy.context.scene.frame_set(frame)
        local = finger.parent.matrix.inverted() @ finger.matrix
        rest = finger.parent.bone.matrix_local.inverted() @ finger.bone.matrix_local
        turned = (rest.inverted() @ local).to_quaternion().angle
        curve = next(c for c in own.layers[0].strips[0].channelbags[0].fcurves if c.array_index == 0)
        assert turned == pytest.approx(curve.evaluate(frame), abs=2e-3)


def test_the_same_body_elsewhere_does_the_same_in_its_own_space(walker):
    """Objects that lie otherwise: the motion is the same as seen from them."""
    other = mannequin.make_mannequin(bpy.context, "Other")
    other.location, other.rotation_euler.z = (2.0, -1.0, 0.0), 0.5
    walker.location, walker.rotation_euler.z = (-1.0, 0.5, 0.0), -0.3
    bpy.context.view_layer.update()
    found = given(other, walker)
    write(bpy.context, other, found, result_of(found.job))
    poses = [
        sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], found.sampling.frames)[0].pose
        for rig in (walker, other)
    ]
    np.testing.assert_allclose(poses[1][..., :3, 3], poses[0][..., :3, 3], atol=2e-3)


def test_frames_are_those_of_the_other(walker):
    other = mannequin.make_mannequin(bpy.context, "Other")
    other.heft.motion_from = walker
    bpy.context.view_layer.objects.active = other
    (found,) = gather(bpy.context, [other])
    assert found.job.frames == tuple(walker.animation_data.action.frame_range)


def test_what_cannot_be_read_is_told(walker):
    other = mannequin.make_mannequin(bpy.context, "Other")
    bpy.context.view_layer.objects.active = other
    still = mannequin.make_mannequin(bpy.context, "Still")
    other.heft.motion_from = still
    bpy.context.view_layer.objects.active = other
    with pytest.raises(RuntimeError, match="Still has no action"):
        bpy.ops.heft.bake()
    other.heft.motion_from = walker
    walker.hide_viewport = True
    with pytest.raises(RuntimeError, match="not shown in this view layer"):
        bpy.ops.heft.bake()


def test_the_method_suits_the_motion_and_not_what_else_is_keyed(walker):
    rig = mannequin.make_mannequin(bpy.context)
    rig.heft.motion_from = walker
    for turn, frame in ((0.0, 1), (0.3, 40)):
        rig.pose.bones["head"].rotation_quaternion = (1.0, turn, 0.0, 0.0)
        rig.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)
    assert not chosen_for(rig).as_it_is
    rig.heft.motion_from = None
    assert chosen_for(rig).as_it_is  # these keys alone are two poses


def test_a_bake_by_the_same_button(walker, cache):
    """The physics too, on a figure of other proportions."""
    other = mannequin.make_mannequin(bpy.context, "Child")
    other.scale = (0.8, 0.8, 0.8)
    bpy.context.view_layer.update()
    given(other, walker, 30)
    walker.select_set(False)
    other.select_set(True)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(other.heft.report)
    assert report["outcome"] == "completed"
    assert report["max_foot_slide_m"] < 5e-3
    assert other.animation_data.action.name == "Walk Simulated"


@needs_clips
def test_a_capture_on_rigifys_controls(tmp_path):
    """From BVH to the controls of a generated rig, in one step: each deforming bone is where it was asked to be."""
    rigs.generate_rigify(tmp_path / "human.blend")
    rig = rigs.open_rigify(tmp_path / "human.blend")
    heft.register()
    try:
        bpy.ops.import_anim.bvh(
            filepath=str(rigs.CLIPS / "cmu" / "02_01__walk_normal.bvh"), global_scale=0.056444, update_scene_fps=True
        )
        mover = bpy.context.object
        rig.heft.output = "CONTROLS"
        found = given(rig, mover, 40)
        write(bpy.context, rig, found, result_of(found.job))
        assert json.loads(rig.heft.report)["notes"] == []
        simulated = [
            i for i, bone in enumerate(found.job.clip.skeleton.names) if bone in set(found.job.roles["hand.L"])
        ]
        frames = frame_numbers(FIRST, 40.0)
        off = sampled(rig, frames).position - found.job.clip.position[: len(frames)]
        assert np.linalg.norm(off[:, simulated], axis=-1).max() < 1e-3
    finally:
        heft.unregister()
        bpy.ops.wm.read_factory_settings(use_empty=True)
