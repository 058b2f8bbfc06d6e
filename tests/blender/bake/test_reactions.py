# SPDX-License-Identifier: GPL-3.0-or-later
"""How a character reacts, from the properties to the job."""

import bpy
import numpy as np
from heft.blender_addon.baking.gather import gather
from heft.core.job import BakeJob
from heft.examples import beginners


def test_settings_of_reactions_reach_the_job(rig):
    (found,) = gather(bpy.context, [rig])
    assert found.job.recovery
    assert found.job.recovery_effort == BakeJob.recovery_effort
    assert found.job.looseness == BakeJob(found.job.clip, found.job.roles).looseness
    assert found.job.looseness == {"legs": 0.5, "trunk": 0.5, "arms": 0.5, "head": 0.5}
    assert not found.job.return_to_path
    rig.heft.recovery, rig.heft.recovery_effort, rig.heft.return_to_path = False, 9, True
    assert not found.job.get_up
    rig.heft.get_up = True
    rig.heft.looseness, rig.heft.looseness_legs, rig.heft.looseness_arms = 0.5, 0.0, 0.5
    (found,) = gather(bpy.context, [rig])
    assert not found.job.recovery
    assert found.job.recovery_effort == 9
    assert found.job.return_to_path
    assert found.job.get_up
    assert found.job.looseness == {"trunk": 0.5, "arms": 0.25, "head": 0.5}


def test_the_action_to_get_up_by_reaches_the_job(rig):
    """All of it, whatever range is simulated, and only where a fall may ask for it; the rig plays on what it played."""
    other = beginners.key(bpy.context, "getting up")
    rising = other.animation_data.action
    bpy.data.objects.remove(other)
    bpy.context.view_layer.objects.active = rig
    walk = rig.animation_data.action
    rig.heft.get_up_action = rising
    (found,) = gather(bpy.context, [rig])
    assert found.job.get_up_clip is None
    rig.heft.get_up = True
    (found,) = gather(bpy.context, [rig])
    clip = found.job.get_up_clip
    assert len(clip.position) == 2 * 24 + 1
    assert clip.skeleton.names == found.job.clip.skeleton.names
    pelvis = clip.position[:, clip.skeleton.index(found.job.roles["pelvis"][0]), 2]
    assert pelvis[0] < 0.25
    assert pelvis[-1] > 0.8
    assert rig.animation_data.action == walk
    rig.heft.controller = "MOMENTUM"  # which knows no falls
    (found,) = gather(bpy.context, [rig])
    assert found.job.get_up_clip is None


def test_strength_reaches_the_job(rig):
    (found,) = gather(bpy.context, [rig])
    assert found.job.strength == BakeJob.strength
    rig.heft.strength = 0.7
    (found,) = gather(bpy.context, [rig])
    assert found.job.strength == 0.7
    assert found.job.scene.strength is None


def test_effort_reaches_the_job(rig):
    (found,) = gather(bpy.context, [rig])
    assert found.job.effort == BakeJob.effort == 1.0
    rig.heft.effort = 0.4
    (found,) = gather(bpy.context, [rig])
    assert found.job.effort == 0.4


def test_keyed_strength_is_read_at_every_frame(rig):
    """From 2 at the source's first frame to 0 at its last."""
    first, last = map(int, rig.animation_data.action.frame_range)
    for frame, value in ((first, 2.0), (last, 0.0)):
        rig.heft.strength = value
        rig.keyframe_insert("heft.strength", frame=frame)
    (found,) = gather(bpy.context, [rig])
    strength = found.job.scene.strength
    assert found.job.strength == 1.0
    assert strength.share[0] == 2.0
    assert strength.share[-1] == 0.0
    assert strength.time[0] == 0.0
    assert (np.diff(strength.share) < 1e-6).all()


def test_only_methods_that_recover_show_reactions(rig):
    panel = bpy.types.HEFT_PT_controller_reactions
    assert panel.poll(bpy.context)
    rig.heft.controller = "MOMENTUM"
    assert not panel.poll(bpy.context)


def test_push_after_the_last_key_reaches_a_walk_that_is_extended(rig):
    """An action of four seconds goes on for eight, and is pushed in the sixth; its clip is what it was."""
    first, last = map(int, rig.animation_data.action.frame_range)
    rig.heft.loop, rig.heft.loop_seconds = True, 8.0
    (calm,) = gather(bpy.context, [rig])
    frame = first + 6 * 24
    assert frame > last
    bpy.context.scene.frame_set(frame)
    rig.data.bones.active = rig.data.bones["chest"]
    bpy.ops.heft.add_push(kind="CUSTOM", strength=150.0, duration=3, direction=(1.0, 0.0, 0.0))
    bpy.context.view_layer.objects.active = rig
    (found,) = gather(bpy.context, [rig])
    (push,) = found.job.scene.pushes
    impulse = push.force.sum(axis=0) / push.rate
    np.testing.assert_allclose(impulse, (150.0 * 3.0 / 24.0, 0.0, 0.0), rtol=1e-5, atol=1e-5)
    begins = push.start + np.flatnonzero(push.force[:, 0])[0] / push.rate
    assert abs(begins - 6.0) < 1.5 / 24.0
    assert np.linalg.norm(push.point) < 0.5
    assert found.job.frames == calm.job.frames == (first, last)
    np.testing.assert_array_equal(found.job.clip.position, calm.job.clip.position)
    assert found.job.duration == calm.job.duration == 8.0


def test_flights_reach_the_job(rig):
    (found,) = gather(bpy.context, [rig])
    assert found.job.flights == "auto"
    rig.heft.flights = "TIMING"
    (found,) = gather(bpy.context, [rig])
    assert found.job.flights == "timing"
