# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions that repeat by Cycles modifiers come back repeating."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.looping import PERIODS, Loop, loop_of, one_period, stays_on_its_way
from heft.blender_addon.baking.output import write
from heft.blender_addon.writer import assigned_curves
from heft.examples import walk

from tests.blender.bake.keyed import disturbed
from tests.blender.bake.test_bake import poses, push
from tests.blender.bake.test_controls import curves


def walking(frame, drift):
    """A parent that moves on by 0.1 a frame and drifts, with a child that swings with a period of 8 frames."""
    pose = np.tile(np.eye(4), (2, 1, 1))
    pose[:, 0, 3] = 0.1 * frame + drift * frame**2
    angle = 2.0 * np.pi * frame / 8.0
    pose[1, :2, :2] = [[np.cos(0.3 * np.sin(angle)), -np.sin(0.3 * np.sin(angle))], [np.sin(0.3 * np.sin(angle)), 1.0]]
    pose[1, 1, 1] = pose[1, 0, 0]
    pose[1, 1, 3] = 1.0 + 10.0 * drift * frame
    return pose


def test_a_period_begins_as_it_goes_on():
    period, parent = 8, np.array([-1, 0])
    keyed = np.array([walking(frame, 0.0) for frame in range(PERIODS * period + 1)])
    same = one_period(keyed, keyed, parent, period)
    np.testing.assert_allclose(same, keyed[: period + 1], atol=1e-12)
    drifting = np.array([walking(frame, 1e-4) for frame in range(PERIODS * period + 1)])
    found = one_period(keyed, drifting, parent, period)
    moved_on = found[0].copy()
    moved_on[:, 0, 3] += 0.1 * period
    np.testing.assert_allclose(found[-1], moved_on, atol=1e-12)
    assert np.abs(found - drifting[period : 2 * period + 1])[:, 1, 1, 3].max() < 0.01


@pytest.fixture
def cycle(rig):
    """One cycle of the mannequin's walk, whose curves repeat for ever, the pelvis moving on."""
    action = walk.key_walk(rig, cycles=1)
    for curve in assigned_curves(rig, action):
        modifier = curve.modifiers.new("CYCLES")
        modifier.mode_before = modifier.mode_after = "REPEAT_OFFSET" if "location" in curve.data_path else "REPEAT"
    return rig


def test_a_walk_cycle_is_baked_as_a_cycle(cycle):
    period = walk.FRAMES_PER_CYCLE
    assert loop_of(cycle) == Loop(1.0, period, True)
    keyed = poses(cycle, (1, 1 + period, 1 + 5 * period))
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(cycle.heft.report)
    assert report["outcome"] == "completed", report["why"]
    action = cycle.animation_data.action
    assert tuple(action.frame_range) == (1.0, 1.0 + period)
    assert loop_of(cycle) == Loop(1.0, period, True)
    found = poses(cycle, (1, 1 + period, 1 + 5 * period))
    # five periods on it has come as far as the keyed walk, and looks as at its start
    way, back = found[2] - found[0], keyed[2] - keyed[0]
    np.testing.assert_allclose(way[..., :3, 3], back[..., :3, 3], atol=2e-3)
    np.testing.assert_allclose(way[..., :3, :3], 0.0, atol=1e-3)
    seam = poses(cycle, np.arange(period - 2, period + 6))[..., :3, 3]
    bend = np.abs(np.diff(seam, n=2, axis=0)).max(axis=(1, 2))
    assert bend[2:5].max() < 2.0 * max(bend[0], bend[-1], 0.005)


def test_an_action_marked_as_cyclic_is_a_loop_without_modifiers(rig):
    """It is read as one and comes back as one; of the action itself nothing changes."""
    period = walk.FRAMES_PER_CYCLE
    action = walk.key_walk(rig, cycles=1)
    action.use_frame_range, action.frame_start, action.frame_end = True, 1, 1 + period
    assert gather(bpy.context, [rig])[0].loop is None
    action.use_cyclic = True
    before, actions = curves(action), set(bpy.data.actions)
    (found,) = gather(bpy.context, [rig])
    assert (curves(action), set(bpy.data.actions), rig.animation_data.action) == (before, actions, action)
    assert found.loop == Loop(1.0, period, True)
    way = found.sampling.clip.position[period : 2 * period + 1] - found.sampling.clip.position[: period + 1]
    np.testing.assert_allclose(way, np.broadcast_to(way[0, 0], way.shape), atol=1e-4)
    write(bpy.context, rig, found, disturbed(found.job, degrees=0.5))
    baked = rig.animation_data.action
    assert baked != action
    assert baked.use_cyclic
    assert tuple(baked.frame_range) == (1.0, 1.0 + period)
    assert loop_of(rig) == Loop(1.0, period, True)
    twice = poses(rig, np.arange(1, 2 * period + 2))
    on = twice[period:] - twice[: period + 1]
    np.testing.assert_allclose(on[..., :3, 3], np.broadcast_to(on[0, 0, :3, 3], on[..., :3, 3].shape), atol=1e-3)
    np.testing.assert_allclose(on[..., :3, :3], 0.0, atol=1e-3)


def test_fewer_keys_of_a_loop_end_as_steep_as_they_begin(cycle):
    period = walk.FRAMES_PER_CYCLE
    cycle.heft.reduce = True
    (found,) = gather(bpy.context, [cycle])
    write(bpy.context, cycle, found, disturbed(found.job, degrees=1.5))
    assert loop_of(cycle) == Loop(1.0, period, True)
    near = 0.05
    seam = poses(cycle, np.array([1.0, 1.0 + near, 1.0 + period - near, 1.0 + period, 1.0 + period + near]))[..., :3, 3]
    on = seam[3] - seam[0]
    np.testing.assert_allclose(on, np.broadcast_to(on[0], on.shape), atol=1e-5)
    np.testing.assert_allclose(seam[4] - seam[3], seam[1] - seam[0], atol=1e-5)
    np.testing.assert_allclose(seam[4] - seam[3], seam[3] - seam[2], atol=2e-4)


def test_no_loop_where_a_range_is_asked_for_or_not_all_repeats(cycle):
    curve = next(curve for curve in assigned_curves(cycle, cycle.animation_data.action) if "chest" in curve.data_path)
    curve.modifiers.remove(curve.modifiers[0])
    assert loop_of(cycle) is None
    cycle.heft.use_frame_range, cycle.heft.frame_start, cycle.heft.frame_end = True, 1, 20
    assert bpy.ops.heft.bake() == {"FINISHED"}
    baked = cycle.animation_data.action
    assert baked.frame_range[1] == 1.0 + walk.FRAMES_PER_CYCLE
    assert not any(len(curve.modifiers) for curve in assigned_curves(cycle, baked))


def test_stairs_are_no_loop():
    frames = np.arange(40)
    keyed = np.zeros((40, 3, 3))
    keyed[:, :, 1] = -0.04 * frames[:, None]
    level = keyed + np.array([0.0, 0.01, -0.3])  # it lags behind, and the ground is lower throughout
    assert stays_on_its_way(keyed, level, 10)
    assert stays_on_its_way(keyed, level + 0.003 * frames[:, None, None], 10)  # 3 cm more each time
    level[20:, :, 2] += 0.1
    assert not stays_on_its_way(keyed, level, 10)


def test_who_walks_by_itself_goes_on_to_the_end_of_the_scene(cycle):
    cycle.heft.controller, bpy.context.scene.frame_end = "GAIT", 90
    gathered = gather(bpy.context, [cycle])[0]
    assert gathered.loop is None
    assert gathered.job.frame_end == 90.0


def test_what_happens_once_is_baked_once(cycle):
    end = bpy.context.scene.frame_end = walk.FRAMES_PER_CYCLE + 14
    keyed = poses(cycle, (24,))
    push(cycle, 16, strength=150.0, duration=4, direction=(-1.0, 0.0, 0.0))
    assert bpy.ops.heft.bake() == {"FINISHED"}
    baked = cycle.animation_data.action
    assert tuple(baked.frame_range) == (1.0, end)
    assert loop_of(cycle) is None
    assert np.abs(poses(cycle, (24,)) - keyed)[..., :3, 3].max() > 0.02
