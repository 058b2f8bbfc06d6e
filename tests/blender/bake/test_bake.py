# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft.bake` in the background: what is written, what of it is taken, and what is left as it was."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.output import write
from heft.blender_addon.overlay import record
from heft.blender_addon.properties.methods import values_in
from heft.blender_addon.rig.reading import sample_armatures
from heft.blender_addon.worker.keeper import keeper
from heft.blender_addon.writer import assigned_curves

from tests.blender.bake.keyed import result_of
from tests.blender.rig import rigs

REPORT_KEYS = {
    *("outcome", "upright_seconds", "simulated_seconds", "joint_rms_deg", "root_rms_m", "max_penetration_m"),
    *("max_foot_slide_m", "contact_residual_max", "lcp_failures", "peak_torque_nm", "real_time_factor"),
    *("step_us_median", "step_us_p99", "seconds", "why"),
}
LEGS = ("thigh", "shin", "foot", "toe")


def poses(rig, frames):
    """World matrices (nf, nb, 4, 4) of the bones, as the viewport shows them."""
    context = bpy.context
    (sampling,) = sample_armatures(context.scene, context.view_layer, [rig], np.asarray(frames, dtype=float))
    return sampling.object_matrix[:, None] @ sampling.pose


def columns(rig, wanted):
    return [index for index, bone in enumerate(rig.data.bones) if wanted(bone.name)]


def curve_values(rig, path):
    for curve in assigned_curves(rig, rig.animation_data.action):
        if curve.data_path == path:
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get("co", points)
            return points.reshape(-1, 2)
    return None


def test_three_calls_from_a_fresh_blender_to_a_simulated_walk(rig):
    source = rig.animation_data.action
    keys = {c.data_path: len(c.keyframe_points) for c in assigned_curves(rig, source)}
    before = poses(rig, range(1, 106))
    assert bpy.ops.heft.bake() == {"FINISHED"}
    action = rig.animation_data.action
    assert action.name == "Walk Simulated"
    assert rig.animation_data.action_slot == action.slots[0]
    assert tuple(action.frame_range) == (1.0, 105.0)
    report = json.loads(rig.heft.report)
    assert set(report) >= REPORT_KEYS
    assert report["outcome"] == "completed"
    assert action.heft.report == rig.heft.report
    assert action.heft.source == source
    after = poses(rig, range(1, 106))
    assert 1e-4 < np.abs(after - before)[..., :3, 3].max() < 0.12
    rig.animation_data.action = source
    rig.animation_data.action_slot = source.slots[0]
    assert {c.data_path: len(c.keyframe_points) for c in assigned_curves(rig, source)} == keys
    assert all(track.strips for track in rig.animation_data.nla_tracks)  # pushed nowhere


@pytest.mark.parametrize("ahead", [True, False])
def test_momentum_control_makes_an_action_shorter_or_longer(rig, ahead):
    """A push ahead makes the walk end earlier, one back later."""
    rig.heft.controller = "MOMENTUM"
    first, last = poses(rig, (1, 100))[..., :3, 3].mean(axis=1)
    direction = (last - first) * (1.0 if ahead else -1.0)
    bpy.context.scene.frame_set(40)
    rig.data.bones.active = rig.data.bones["chest"]
    assert bpy.ops.heft.add_push(strength=110.0, duration=8, direction=direction.tolist()) == {"FINISHED"}
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(rig.heft.report)
    assert report["outcome"] == "completed"
    assert any(note.startswith("It took 0.") for note in report["notes"])
    end = rig.animation_data.action.frame_range[1]
    assert end < 105.0 if ahead else end > 105.0


def test_a_walk_takes_its_keyed_course_and_rate_along(rig):
    rig.heft.controller, rig.heft.gait.style = "GAIT", "SNEAK"
    assert values_in(rig.heft)["style"] == "sneak"
    for frame, speed, heading in ((1, 0.5, 0.0), (25, 1.0, 1.0)):
        rig.heft.course.forward, rig.heft.course.heading = speed, heading
        rig.heft.course.keyframe_insert("forward", frame=frame)
        rig.heft.course.keyframe_insert("heading", frame=frame)
    job = gather(bpy.context, [rig])[0].job
    assert (job.method, job.rate, job.optimise) == ("gait", 300.0, False)
    assert job.scene.course.at(0.0) == pytest.approx((0.5, 0.0, 0.0), abs=1e-6)
    assert job.scene.course.at(24.0 / job.fps) == pytest.approx((1.0, 0.0, 1.0), abs=1e-6)
    rig.heft.rate = 500
    assert gather(bpy.context, [rig])[0].job.rate == 500.0


def test_a_steered_walk_lasts_as_long_as_is_asked_for_and_reads_its_course_till_then(rig):
    rig.heft.controller, rig.heft.loop_seconds = "STEERING", 20.0
    for frame, heading in ((1, 0.0), (400, 1.0)):
        rig.heft.course.heading = heading
        rig.heft.course.keyframe_insert("heading", frame=frame)
    job = gather(bpy.context, [rig])[0].job
    assert (job.method, job.loop, job.seconds) == ("steering", True, 20.0)
    assert job.scene.course.at(399.0 / job.fps) == pytest.approx((0.9, 0.0, 1.0), abs=1e-6)
    assert job.frames[1] < 200.0  # the walk itself ends before


def test_balance_control_bakes_with_one_slider(rig):
    rig.heft.controller = "BALANCE"
    rig.heft.balance.balance = 0.3
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(rig.heft.report)
    assert (report["method"], report["outcome"]) == ("balance", "completed")
    assert report["joint_rms_deg"] < 2.0


@pytest.mark.skipif(not rigs.RIGS.is_dir(), reason=f"the clips folder is not at {rigs.CLIPS}")
@pytest.mark.parametrize("clip", ["02_01__walk_normal", "16_18__walk_turn90", "35_17__run"])
def test_cmu_clips_by_three_calls_with_nothing_set(heft_enabled, clip):
    walker = rigs.import_bvh(clip, update_scene_fps=True)
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(walker.heft.report)
    assert report["outcome"] == "completed"
    assert report["joint_rms_deg"] < 2.0
    assert report["root_rms_m"] < 0.05
    assert report["max_foot_slide_m"] < 0.005
    assert walker.animation_data.action.name == f"{clip} Simulated"


def test_bake_of_a_bake_is_the_bake_of_its_source_to_the_last_bit(rig):
    # arms without keys: what the first bake leaves in them must not become the second's motion
    bag = rig.animation_data.action.layers[0].strips[0].channelbags[0]
    for curve in [c for c in bag.fcurves if "arm" in c.data_path]:
        bag.fcurves.remove(curve)
    (first,) = gather(bpy.context, [rig])
    bpy.ops.heft.bake()
    bpy.context.scene.frame_set(40)
    baked = rig.animation_data.action
    arm = rig.pose.bones["upper_arm.L"]
    shown = arm.rotation_quaternion.copy()
    (second,) = gather(bpy.context, [rig])
    assert first.job == second.job
    assert rig.animation_data.action == baked
    assert arm.rotation_quaternion == shown
    baked.heft.keep = True
    bpy.ops.heft.bake()
    assert rig.animation_data.action.name == "Walk Simulated.001"
    assert rig.animation_data.action.heft.source.name == "Walk"
    assert rig.animation_data.action.heft.kept == baked.heft.kept


def test_diagnostics_are_curves_of_real_properties(rig):
    bpy.ops.heft.bake()
    assert sorted(foot.name for foot in rig.heft.feet) == ["left_foot", "right_foot"]
    weight = 9.81 * 70.5
    forces = [curve_values(rig, f'heft.feet["{foot.name}"].force')[:, 1] for foot in rig.heft.feet]
    total = forces[0] + forces[1]
    assert total.mean() == pytest.approx(weight, rel=0.05)
    assert (np.minimum(*forces) < 1.0).any()  # single support
    bpy.context.scene.frame_set(30)
    assert rig.heft.feet[0].force == pytest.approx(float(forces[0][29]), abs=1e-3)
    assert 0.0 < rig.heft.tracking_error < 5.0
    assert curve_values(rig, "heft.balance_margin") is not None
    kept = record.unpack(rig.animation_data.action.heft.overlay)
    assert len(kept.frames) == 105
    assert kept.ghost.shape == (105, len(kept.parent), 3)
    assert np.linalg.norm(kept.ghost.mean(axis=1) - kept.center, axis=1).max() < 0.3
    assert np.abs(kept.center[:, 2] - 0.95).max() < 0.1


def test_frame_range_with_blends_leaves_the_rest_as_keyed(rig):
    before = poses(rig, range(1, 106))
    settings = rig.heft
    settings.use_frame_range, settings.frame_start, settings.frame_end = True, 30, 80
    settings.blend_in, settings.blend_out = 6, 6
    bpy.ops.heft.bake()
    after = poses(rig, range(1, 106))
    away = np.abs(after - before).max(axis=(1, 2, 3))
    assert away[:30].max() < 1e-4
    assert away[79:].max() < 1e-4
    assert away[40:70].min() > 1e-3
    assert curve_values(rig, "heft.tracking_error")[[0, -1], 0].tolist() == [30.0, 80.0]


@pytest.mark.parametrize("influence", [0.0, 0.5])
def test_influence(rig, influence):
    before = poses(rig, range(1, 106))
    bpy.ops.heft.bake()
    whole = poses(rig, range(1, 106))
    rig.heft.influence = influence
    bpy.ops.heft.bake()
    part = poses(rig, range(1, 106))
    if influence == 0.0:
        assert np.abs(part - before).max() < 1e-4
    middle = 0.5 * (before + whole)[:, 0, :3, 3]
    assert np.abs(part[:, 0, :3, 3] - (middle if influence else before[:, 0, :3, 3])).max() < 1e-4


def test_chosen_bones_move_as_simulated_and_the_others_as_keyed(rig):
    source = rig.animation_data.action
    keyed = {c.data_path: len(c.keyframe_points) for c in assigned_curves(rig, source)}
    before = poses(rig, range(1, 106))
    for bone in rig.data.bones:
        if bone.name == "pelvis" or bone.name.partition(".")[0] in LEGS:
            rig.heft.chosen_bones.add().name = bone.name
    rig.heft.bones = "CHOSEN"
    bpy.ops.heft.bake()
    after = poses(rig, range(1, 106))
    legs = columns(rig, lambda name: name.partition(".")[0] in LEGS)
    assert np.abs(after - before)[:, legs].max() > 1e-3
    # each bone of the upper body stands to its parent as it is keyed
    for name in ("chest", "forearm.L", "head"):
        (here,), (above,) = columns(rig, name.__eq__), columns(rig, rig.data.bones[name].parent.name.__eq__)
        local = [np.linalg.solve(p[:, above], p[:, here]) for p in (before, after)]
        assert np.abs(local[0] - local[1]).max() < 1e-4
    counts = {c.data_path: len(c.keyframe_points) for c in assigned_curves(rig, rig.animation_data.action)}
    chest = 'pose.bones["chest"].rotation_quaternion'
    assert counts[chest] == keyed[chest]
    assert counts['pose.bones["thigh.L"].rotation_quaternion'] == 105


def test_no_chosen_bones_are_refused(rig):
    rig.heft.bones = "CHOSEN"
    with pytest.raises(RuntimeError, match="No bones of Mannequin are chosen"):
        bpy.ops.heft.bake()


def test_a_layer_over_the_nla_is_baked_as_it_is_seen(rig):
    animation, walk = rig.animation_data, rig.animation_data.action
    strip = animation.nla_tracks.new().strips.new("Walk", 1, walk)
    strip.action_slot = walk.slots[0]
    animation.action = None
    arm = rig.pose.bones["upper_arm.L"]
    arm.rotation_quaternion = (0.9, 0.4, 0.0, 0.0)
    arm.keyframe_insert("rotation_quaternion", frame=1)
    arm.keyframe_insert("rotation_quaternion", frame=105)
    animation.action_blend_type, animation.action_influence = "COMBINE", 0.5
    before = poses(rig, range(1, 106))
    (first,) = gather(bpy.context, [rig])
    bpy.ops.heft.bake()
    assert np.abs(poses(rig, range(1, 106)) - before)[..., :3, 3].max() < 0.12
    (second,) = gather(bpy.context, [rig])
    assert first.job == second.job
    assert (animation.action_blend_type, animation.action_influence) == ("REPLACE", 1.0)


def push(rig, frame, **how):
    bpy.context.scene.frame_set(frame)
    bpy.ops.heft.set_up()
    rig.data.bones.active = rig.data.bones["chest"]
    bpy.ops.heft.add_push(**how)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)


def test_pushed_over_it_lies_on_the_ground(rig):
    push(rig, 30, strength=1200.0, duration=6, direction=(1.0, 0.0, 0.0))
    bpy.ops.heft.bake()
    assert json.loads(rig.heft.report)["outcome"] == "fell"
    last = int(rig.animation_data.action.frame_range[1])
    kept = record.unpack(rig.animation_data.action.heft.overlay)
    assert 30 < kept.fall[0] < last - 24
    switched = {"ghost": False, "balance": False, "forces": False, "fall": False}
    before, after = kept.fall[0] - 1.0, kept.fall[0] + 1.0
    assert record.lines_at(kept, before, **switched | {"ghost": True}) is not None
    assert record.lines_at(kept, after, **switched | {"ghost": True}) is None
    assert record.lines_at(kept, before, **switched | {"fall": True}) is None
    circle = record.lines_at(kept, after, **switched | {"fall": True}).vertices
    np.testing.assert_allclose(circle[:, :2].mean(axis=0), kept.fall[1:3], atol=0.02)
    (pelvis,) = columns(rig, "pelvis".__eq__)
    places = poses(rig, range(last - 3, last + 1))[:, pelvis, :3, 3]
    assert (places[:, 2] < 0.35).all()
    assert np.abs(np.diff(places, axis=0)).max() < 0.01


def test_several_armatures_in_one_go(rig):
    bpy.context.scene.cursor.location = (1.5, 0.5, 0.0)
    bpy.ops.heft.add_mannequin()
    other = bpy.context.active_object
    rig.select_set(True)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    for each in (rig, other):
        assert each.animation_data.action.heft.source is not None
        assert json.loads(each.heft.report)["outcome"] == "completed"
    apart = poses(other, [50])[0, 0, :3, 3] - poses(rig, [50])[0, 0, :3, 3]
    np.testing.assert_allclose(apart, (1.5, 0.5, 0.0), atol=0.01)


def test_walking_on(rig):
    keyed = poses(rig, range(1, 106))
    rig.heft.loop, rig.heft.loop_seconds = True, 10.0
    bpy.ops.heft.bake()
    report = json.loads(rig.heft.report)
    assert report["outcome"] == "completed"
    assert np.abs(poses(rig, range(1, 106)) - keyed)[..., :3, 3].max() < 0.12  # it goes along with the action
    assert report["simulated_seconds"] == pytest.approx(10.0, abs=0.05)
    frames = rig.animation_data.action.frame_range
    assert frames[1] - frames[0] >= 238
    ends = poses(rig, [int(frames[0]), int(frames[1])])[:, 0, :3, 3]
    assert ends[1, 1] - ends[0, 1] < -11.0  # it walks towards -Y at 1.3 m/s


def drive_by_constraints(rig):
    """A rig as in production: a second armature carries the keys, and the first copies it bone by bone."""
    control = rig.copy()
    control.data = rig.data.copy()
    bpy.context.collection.objects.link(control)
    control.select_set(False)
    for bone in rig.pose.bones:
        constraint = bone.constraints.new("COPY_TRANSFORMS")
        constraint.target, constraint.subtarget = control, bone.name
    rig.animation_data_clear()
    bpy.context.view_layer.update()


def test_driven_rig_is_baked_on_a_proxy_and_stays_as_it_is(rig):
    drive_by_constraints(rig)
    before = poses(rig, range(1, 106))
    bpy.context.scene.frame_end = 105
    bpy.ops.heft.bake()
    np.testing.assert_array_equal(poses(rig, range(1, 106)), before)
    assert rig.animation_data is None or rig.animation_data.action is None
    proxy = bpy.data.objects["Mannequin Baked"]
    assert json.loads(proxy.heft.report)["outcome"] == "completed"
    away = np.abs(poses(proxy, range(1, 106)) - before)[..., :3, 3]
    assert 1e-4 < away.max() < 0.12
    bpy.ops.heft.bake()
    assert [o.name for o in bpy.data.objects if o.heft.proxy_of] == ["Mannequin Baked"]


def test_driven_rig_with_constraints_muted_and_baked_again(rig):
    drive_by_constraints(rig)
    bpy.context.scene.frame_end = 105
    rig.heft.output = "MUTE"
    (first,) = gather(bpy.context, [rig])
    bpy.ops.heft.bake()
    assert all(bone.constraints[0].mute for bone in rig.pose.bones)
    (second,) = gather(bpy.context, [rig])
    assert first.job == second.job
    assert all(bone.constraints[0].mute for bone in rig.pose.bones)


def test_controls_above_what_falls_go_along_where_constraints_are_muted(rig):
    """A torso's control between the root and the hips: it fell behind, standing, while the figure went down."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for name, above in (("root", None), ("torso", "root")):
        bone = bones.new(name)
        bone.head, bone.tail = bones["pelvis"].head, bones["pelvis"].tail
        bone.parent = bones[above] if above else None
    bones["pelvis"].parent = bones["torso"]
    bpy.ops.object.mode_set(mode="OBJECT")
    bag = rig.animation_data.action.layers[0].strips[0].channelbags[0]
    for curve in bag.fcurves:  # the control has the keys of the hips, which hang from it
        curve.data_path = curve.data_path.replace('"pelvis"', '"torso"')
    rig.pose.bones["torso"].rotation_mode = rig.pose.bones["pelvis"].rotation_mode
    bpy.ops.heft.set_up()
    (found,) = gather(bpy.context, [rig])
    result = result_of(found.job)
    result.poses[60:, :, 2, 3] -= 0.5  # all of it, as far as bones are simulated
    loose = [list(result.bones).index(name) for name in ("root", "torso")]
    result.poses[60:, loose, 2, 3] += 0.5
    stood = poses(rig, [80])[0]
    for output, sunk in (("ACTION", 0.0), ("MUTE", 0.5)):
        rig.heft.output = output
        write(bpy.context, rig, found, result)
        bpy.context.scene.frame_set(80)
        names = [bone.name for bone in rig.data.bones]
        now = poses(rig, [80])[0]
        down = {name: float(stood[row, 2, 3] - now[row, 2, 3]) for row, name in enumerate(names)}
        assert down["torso"] == pytest.approx(sunk, abs=1e-4)
        assert down["pelvis"] == pytest.approx(0.5, abs=1e-4)
        assert down["root"] == pytest.approx(0.0, abs=1e-4)


def test_what_lies_on_its_back_is_simulated_standing_and_written_as_it_lies(rig):
    rig.rotation_euler = (np.pi / 2.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    before = poses(rig, range(1, 106, 4))
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert rig.heft.up_in_motion() == "-Y"
    assert json.loads(rig.heft.report)["outcome"] == "completed"
    assert np.linalg.norm(poses(rig, range(1, 106, 4)) - before, axis=(2, 3))[:, 0].max() < 0.2
    assert np.linalg.norm((poses(rig, range(1, 106, 4)) - before)[..., :3, 3], axis=2).max() < 0.1


def test_precompute_leaves_only_the_simulation(rig):
    actions = list(bpy.data.actions)
    assert bpy.ops.heft.precompute() == {"FINISHED"}
    assert list(bpy.data.actions) == actions
    bpy.ops.heft.bake()
    assert json.loads(rig.heft.report)["seconds"]["reference"] < 0.1


def test_clear_cache(rig, tmp_path, monkeypatch):
    from heft.blender_addon.baking import session
    from heft.operators import clear_cache

    monkeypatch.setattr(session, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(clear_cache, "cache_folder", lambda: tmp_path)
    bpy.ops.heft.precompute()
    assert list(tmp_path.iterdir())
    assert bpy.ops.heft.clear_cache() == {"FINISHED"}
    assert list(tmp_path.iterdir()) == []


def test_worker_serves_one_bake_after_another(rig):
    bpy.ops.heft.bake()
    pid = keeper.worker().pid
    bpy.ops.heft.bake()
    assert keeper.worker().pid == pid
