# SPDX-License-Identifier: GPL-3.0-or-later
"""Change Pace: who plays too fast for gravity plays a slower copy of the action, and needs no help any more."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.retiming import label

pytestmark = pytest.mark.usefixtures("heft_enabled")


@pytest.fixture
def walker():
    assert bpy.ops.heft.add_mannequin() == {"FINISHED"}
    return bpy.context.active_object


def curves(rig, action):
    bag = action.layers[0].strips[0].channelbag(rig.animation_data.action_slot)
    return {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}


def keys(curve, attribute="co"):
    values = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get(attribute, values)
    return values.reshape(-1, 2)


def told(rig, times):
    """A report as a bake leaves it, of a pace."""
    figures = ("upright_seconds", "simulated_seconds", "joint_rms_deg", "root_rms_m", "max_foot_slide_m")
    report = dict.fromkeys((*figures, "peak_torque_nm"), 0.0)
    report |= {"outcome": "completed", "why": "Stayed up.", "when": "2030-01-01 12:00", "action": ""}
    rig.heft.report = json.dumps(report | {"too_fast": times})


def test_one_click_changes_the_pace_that_the_report_tells_of_and_the_next_bake_takes_that(walker):
    own = walker.animation_data.action
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(walker.heft.report)
    assert report["too_fast"] is None
    baked = walker.animation_data.action
    baked.heft.report = walker.heft.report = json.dumps(report | {"too_fast": 2.0})
    assert bpy.ops.heft.change_pace() == {"FINISHED"}
    slowed = walker.animation_data.action
    assert slowed not in {own, baked}
    assert np.ptp(slowed.curve_frame_range) == pytest.approx(2.0 * np.ptp(own.curve_frame_range))
    assert bpy.ops.heft.change_pace() == {"CANCELLED"}  # it has been changed
    assert json.loads(baked.heft.report)["retimed"]
    assert bpy.ops.heft.bake() == {"FINISHED"}
    again = walker.animation_data.action
    assert again.heft.source == slowed
    assert baked.heft.source == own
    assert np.ptp(again.curve_frame_range) == pytest.approx(2.0 * np.ptp(baked.curve_frame_range), abs=2.0)


def test_one_undo_takes_it_back(walker):
    name, own, scene = walker.name, walker.animation_data.action.name, bpy.context.scene.name
    end = bpy.data.scenes[scene].frame_end
    told(walker, 2.0)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.heft.change_pace() == {"FINISHED"}
    copy = walker.animation_data.action.name
    assert copy != own
    bpy.ops.ed.undo_push(message="changed")
    bpy.ops.ed.undo()
    rig = bpy.data.objects[name]
    assert rig.animation_data.action.name == own
    assert copy not in bpy.data.actions
    assert bpy.data.scenes[scene].frame_end == end
    assert "retimed" not in json.loads(rig.heft.report)


def test_who_plays_too_slowly_is_sped_up(walker):
    own = walker.animation_data.action
    told(walker, 0.8)
    assert bpy.ops.heft.change_pace() == {"FINISHED"}
    faster = walker.animation_data.action
    assert faster.name == f"{own.name} Faster"
    assert np.ptp(faster.curve_frame_range) == pytest.approx(0.8 * np.ptp(own.curve_frame_range))


def test_all_keys_are_stretched_and_the_action_stays_as_it_is(walker):
    own = walker.animation_data.action
    before = {path: (keys(curve), keys(curve, "handle_left")) for path, curve in curves(walker, own).items()}
    own.pose_markers.new("Step").frame = 11
    walker.heft.frame_start, walker.heft.frame_end = 11, 21
    first, last = own.curve_frame_range
    bpy.context.scene.frame_end = int(last)
    assert bpy.ops.heft.change_pace(times=1.75) == {"FINISHED"}
    slower = walker.animation_data.action
    assert slower.name == f"{own.name} Slower"
    assert own.users  # in the file, too
    after = curves(walker, slower)
    assert after.keys() == before.keys()
    for path, (co, handle) in before.items():
        np.testing.assert_array_equal(keys(curves(walker, own)[path]), co)
        for attribute, old in (("co", co), ("handle_left", handle)):
            expected = old.copy()
            expected[:, 0] = first + 1.75 * (old[:, 0] - first)
            np.testing.assert_allclose(keys(after[path], attribute), expected, atol=1e-3)
    assert slower.pose_markers["Step"].frame == round(first + 1.75 * (11 - first))
    assert (walker.heft.frame_start, walker.heft.frame_end) == tuple(
        round(first + 1.75 * (frame - first)) for frame in (11, 21)
    )
    assert bpy.context.scene.frame_end == np.ceil(first + 1.75 * (last - first))


def test_what_repeats_goes_on_to_and_what_follows_frames_is_refused(walker):
    own = walker.animation_data.action
    curve = next(iter(curves(walker, own).values()))
    cycles = next((one for one in curve.modifiers if one.type == "CYCLES"), None) or curve.modifiers.new("CYCLES")
    cycles.use_restricted_range, cycles.frame_start, cycles.frame_end = True, 10.0, 30.0
    first = own.curve_frame_range[0]
    assert bpy.ops.heft.change_pace(times=2.0) == {"FINISHED"}
    slower = walker.animation_data.action
    found = next(one for one in next(iter(curves(walker, slower).values())).modifiers if one.type == "CYCLES")
    assert (found.frame_start, found.frame_end) == pytest.approx((2.0 * 10.0 - first, 2.0 * 30.0 - first))
    next(iter(curves(walker, slower).values())).modifiers.new("NOISE")
    count = len(bpy.data.actions)
    with pytest.raises(RuntimeError, match="has a Noise modifier: bake its curve to keyframes first"):
        bpy.ops.heft.change_pace(times=2.0)
    assert walker.animation_data.action == slower
    assert len(bpy.data.actions) == count


def test_without_a_report_it_says_so(walker):
    assert bpy.ops.heft.change_pace() == {"CANCELLED"}
    assert walker.animation_data.action.name == "Walk"


def test_the_button_says_what_it_does():
    assert label(1.8) == "Slow Down 1.8 Times"
    assert label(0.5) == "Speed Up 2.0 Times"
