# SPDX-License-Identifier: GPL-3.0-or-later
"""What physics says of the keys is there before any bake, follows them, and is drawn by frame."""

import time

import bpy
import numpy as np
import pytest
from heft.blender_addon import writer
from heft.blender_addon.baking.following import QUIET, following
from heft.blender_addon.overlay import glance
from heft.core.report.glance import FAULTS

PATIENCE = 120.0  # s


@pytest.fixture
def looked_at(rig):
    bpy.ops.heft.set_up()
    yield rig
    following.give_way()
    following.forget()


def settle():
    begun = time.monotonic()
    following.look(bpy.context, begun)
    later = time.monotonic() + 2.0 * QUIET
    following.look(bpy.context, later)
    while following.busy:
        following.look(bpy.context, later)
        assert time.monotonic() - begun < PATIENCE
        time.sleep(0.01)


def test_it_is_asked_for_and_there_before_any_bake(looked_at):
    rig = looked_at
    settle()
    assert glance.glance_of(rig) is None
    rig.heft.show_physics = True
    settle()
    known = glance.glance_of(rig)
    assert known.frames.tolist() == [float(frame) for frame in range(1, 106)]
    assert (known.fault == 0).mean() > 0.5  # it leans on feet that are not down yet
    assert rig.heft.report == ""
    assert glance.summary(known).startswith(("All frames", f"{int((known.fault > 0).sum())} of 105 frames"))
    bpy.context.scene.frame_set(40)
    row = known.row(40)
    center = known.center[row]
    pelvis = (rig.matrix_world @ rig.pose.bones["pelvis"].matrix).translation
    assert np.linalg.norm(center[:2] - np.array(pelvis)[:2]) < 0.15  # in the scene's place
    lines = glance.lines_at(known, 40)
    assert np.abs(lines.vertices - center).max() < 2.0
    assert glance.lines_at(known, 500) is None
    assert glance.labels_at(known, 500) == []


def test_it_follows_the_keys_and_says_what_is_wrong(looked_at):
    rig = looked_at
    rig.heft.show_physics = True
    settle()
    before = glance.glance_of(rig)
    curves = [c for c in writer.only_bag(rig.animation_data.action).fcurves if c.data_path.endswith("location")]
    upward = max(curves, key=lambda c: abs((rig.data.bones["pelvis"].matrix_local.to_3x3())[2][c.array_index]))
    middle = len(upward.keyframe_points) // 2
    sign = np.sign(rig.data.bones["pelvis"].matrix_local.to_3x3()[2][upward.array_index])
    for number in range(middle - 1, middle + 2):
        upward.keyframe_points[number].co.y += 0.4 * sign  # it hovers
    upward.update()
    following.note(rig)
    settle()
    known = glance.glance_of(rig)
    assert known is not before
    frame = upward.keyframe_points[middle].co.x
    row = known.row(frame)
    assert FAULTS[int(known.fault[row])] == "departs"
    assert any("off its arc" in text for _, text in glance.labels_at(known, frame))
    assert any(first <= frame <= last for first, last in known.faults()["departs"])
    assert "Off its arc" in glance.summary(known)


def test_a_bake_that_plays_is_not_looked_at(looked_at):
    rig = looked_at
    rig.heft.show_physics = True
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 1, 8
    settle()
    assert glance.glance_of(rig) is not None
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert glance.glance_of(rig) is None


def test_what_is_wrong_with_feet_is_told_in_millimetres():
    count = 2
    said = {
        "frames": [1.0, 2.0],
        "center": [[0.0, 0.0, 1.0]] * count,
        "arc": [[0.0, 0.0, 1.0]] * count,
        "flight": [-1, -1],
        "balance": [[0.0, 0.0, 0.0], [None, None, None]],
        "support_start": [0, 3, 3],
        "support": [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        "feet": ["left", "right"],
        "place": [[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]] * count,
        "touches": [[True, True], [False, True]],
        "height": [[-0.03, 0.0], [0.2, 0.05]],
        "sinks": [[True, False], [False, False]],
        "slide": [[0.0, 0.021], [0.0, 0.0]],
        "fault": [3, 4],
    }
    known = glance.Shown.of(said, 24.0)
    assert glance.foot_words(known, 0) == ["30 mm in the ground", "slides 21 mm"]
    assert glance.foot_words(known, 1) == ["", "50 mm off the ground"]
    assert known.faults()["sinks"] == [(1.0, 1.0)]
    assert known.faults()["floats"] == [(2.0, 2.0)]
    strokes = [glance.lines_at(known, frame).vertices for frame in (1.0, 2.0)]
    assert len(strokes[0]) == 2 * (3 + 3 + 3 + 6)  # centre, outline, balance, feet
    assert len(strokes[1]) == 2 * (3 + 6)
