# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Bake: what changes is baked again, once, as Bake would, and what changes nothing is not."""

import time
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from heft.blender_addon import writer
from heft.blender_addon.baking import reader, session
from heft.blender_addon.baking.following import concerns, following, on_update
from heft.blender_addon.baking.stack import stack_of
from heft.blender_addon.baking.wanted import settings_text
from heft.blender_addon.overlay import live, record
from heft.blender_addon.worker.keeper import keeper

LAST = 10
PATIENCE = 600.0  # s
LATER = 60.0  # s, after which all has come to rest


@pytest.fixture
def followed(rig, monkeypatch):
    """A short walk with a push, for which Auto Bake is on; how many jobs were sent."""
    heft = rig.heft
    heft.use_frame_range, heft.frame_start, heft.frame_end = True, 1, LAST
    bpy.ops.heft.set_up()
    rig.data.bones.active = rig.data.bones["chest"]
    bpy.context.scene.frame_set(4)
    assert bpy.ops.heft.add_push(strength=20.0) == {"FINISHED"}
    bpy.context.view_layer.objects.active = rig
    sent = []
    send = session.Session._send
    monkeypatch.setattr(session.Session, "_send", lambda self: (sent.append(self.turn.name), send(self)))
    heft.auto_bake = True
    yield rig, sent
    following.give_way()
    following.forget()


def settle(rig):
    """What Blender does until nothing waits any more."""
    following.note(rig)
    begun = time.monotonic()
    following.look(bpy.context, begun)  # what is noted now has not come to rest
    later = time.monotonic() + LATER
    following.look(bpy.context, later)
    while following.busy:
        following.look(bpy.context, later)
        assert time.monotonic() - begun < PATIENCE
        time.sleep(0.01)


def look():
    """The same until all is read that has come to rest."""
    following.look(bpy.context, time.monotonic() + LATER)
    while following.reads:
        following.look(bpy.context, time.monotonic() + LATER)


def curves_of(action):
    found = {}
    for curve in writer.only_bag(action).fcurves:
        flat = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", flat)
        found[curve.data_path, curve.array_index] = flat.tobytes()
    return found


def baked_of(source):
    return next(one for one in bpy.data.actions if one.heft.report and one.heft.source == source)


def push_of(rig):
    return next(one for one in bpy.data.objects if one.heft.push.armature == rig)


def test_it_follows_and_the_rig_goes_on_playing_its_source(followed):
    rig, sent = followed
    source = rig.animation_data.action
    settle(rig)
    assert len(sent) == 1
    assert rig.animation_data.action == source
    baked = baked_of(source)
    first = curves_of(baked)
    settle(rig)
    assert len(sent) == 1  # nothing has changed
    rig.heft.show_ghost = False
    settle(rig)
    assert len(sent) == 1
    push_of(rig).heft.push.strength = 60.0
    for curve in writer.only_bag(push_of(rig).animation_data.action).fcurves:
        for point in curve.keyframe_points:
            point.co.y *= 3.0
    settle(rig)
    assert len(sent) == 2
    assert rig.animation_data.action == source
    assert curves_of(baked_of(source)) != first
    assert sum(one.heft.source == source for one in bpy.data.actions if one.heft.report) == 1
    rig.animation_data.action = baked_of(source)
    rig.animation_data.action_slot = baked_of(source).slots[0]
    rig.heft.influence = 0.5
    settle(rig)
    assert len(sent) == 3
    assert rig.animation_data.action == baked_of(source)  # who plays the bake sees the new one


def test_edits_at_random_end_as_a_bake_that_is_asked_for(followed, monkeypatch, tmp_path):
    rig, _ = followed
    source = rig.animation_data.action
    rng = np.random.default_rng(28)
    curves = [curve for curve in writer.only_bag(source).fcurves if "thigh" in curve.data_path]
    for edit in range(3):
        curve = curves[rng.integers(len(curves))]
        curve.keyframe_points[int(rng.integers(1, 4))].co.y += float(rng.normal(scale=0.01))
        curve.update()
        if edit == 1:
            rig.heft.floor_friction = float(rng.uniform(0.7, 1.0))
            push_of(rig).location.x += 0.1
        settle(rig)
    followed_ends = curves_of(baked_of(source))
    monkeypatch.setattr(session, "cache_folder", lambda: tmp_path)  # nothing is known there
    rig.heft.auto_bake = False
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert curves_of(rig.animation_data.action) == followed_ends


def test_an_edit_amid_a_check_of_what_was_read_is_baked(followed, monkeypatch):
    rig, sent = followed
    settle(rig)
    monkeypatch.setattr(reader, "AT_ONCE", 0.0)
    bpy.app.handlers.depsgraph_update_post.append(on_update)  # as in a window
    try:
        following.look(bpy.context, time.monotonic() + LATER)
        assert following.reads
        assert not following.busy  # it checks
        action = rig.animation_data.action
        curve = next(curve for curve in writer.only_bag(action).fcurves if "thigh" in curve.data_path)
        curve.keyframe_points[2].co.y += 0.01
        curve.update()
        action.update_tag()  # Blender has not told of it yet
        following.look(bpy.context, time.monotonic())
        assert not following.reads
        assert following.waits
        look()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(on_update)
    assert following.busy
    assert len(sent) == 2


def test_what_is_overtaken_is_left_and_a_bake_that_is_asked_for_comes_first(followed):
    rig, sent = followed
    source = rig.animation_data.action
    rig.heft.use_total_mass, rig.heft.total_mass = True, 66.0  # nothing is known of that one
    following.look(bpy.context, time.monotonic())
    assert not following.busy  # its settings are new, and not at rest yet
    look()
    assert following.busy
    assert bpy.context.window_manager.heft.following
    process = keeper.worker().pid
    following.note(rig)
    look()
    assert (following.busy, len(sent)) == (True, 1)  # nothing has changed: it goes on
    rig.heft.floor_friction = 0.8
    following.look(bpy.context, time.monotonic())
    look()
    assert (following.busy, len(sent)) == (True, 2)
    assert not any(one.heft.report for one in bpy.data.actions)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert not following.busy
    assert not bpy.context.window_manager.heft.following
    assert len(sent) == 3
    assert keeper.worker().pid == process  # with its kernels, through it all
    assert rig.animation_data.action.heft.source == source
    settle(rig)
    assert len(sent) == 3  # it was baked by hand


def test_the_bake_is_shown_as_it_comes_while_the_keys_play(followed):
    rig, _ = followed
    scene = bpy.context.scene
    scene.frame_set(5)
    rig.heft.use_total_mass, rig.heft.total_mass = True, 68.0
    assert live.live_of(rig) is None
    seen = []
    following.note(rig)
    look()
    while following.busy:
        following.look(bpy.context, time.monotonic())
        if live.live_of(rig) is not None and following.busy:
            seen.append(live.live_of(rig).heads.copy())
        time.sleep(0.01)
    known = live.live_of(rig)
    assert len(seen[0]) == LAST == len(known.heads)  # what was optimised, before it was simulated
    assert np.abs(seen[0] - known.heads).max() < 0.1
    off = [np.abs(heads - known.heads).max() for heads in (seen[0], seen[-1])]
    assert off[1] <= off[0]
    record_ = record.unpack(baked_of(rig.animation_data.action).heft.overlay)
    assert known.lines_at(5.0) is not None
    assert known.lines_at(LAST + 1.0) is None
    assert known.heads.shape == record_.ghost.shape
    before = known.heads
    rig.heft.floor_friction = 0.7
    following.look(bpy.context, time.monotonic())
    look()
    assert following.busy
    np.testing.assert_array_equal(live.live_of(rig).heads, before)  # the old one, until there is another
    rig.heft.auto_bake = False
    following.look(bpy.context, time.monotonic())
    assert not following.busy
    assert live.live_of(rig) is None


def test_a_pose_that_is_not_keyed_is_neither_baked_nor_lost(followed):
    rig, _ = followed
    graph = bpy.context.view_layer.depsgraph

    def is_followed(changed):
        return concerns(SimpleNamespace(id=changed.evaluated_get(graph)), rig)

    assert not is_followed(rig)
    assert is_followed(push_of(rig))
    assert is_followed(rig.animation_data.action)
    mesh = next(one for one in bpy.data.objects if one.type == "MESH")
    assert not is_followed(mesh)
    rig.heft.terrain = bpy.data.collections.new("Ground")
    rig.heft.terrain.objects.link(mesh)
    assert is_followed(mesh)
    rig.heft.terrain = None
    head = rig.pose.bones["head"]
    head.rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
    settle(rig)
    assert tuple(head.rotation_quaternion) == pytest.approx((0.9, 0.1, 0.3, 0.2))


def test_settings_tell_what_they_are_and_not_what_is_drawn(followed):
    rig, _ = followed
    scene = bpy.context.scene
    before = settings_text(scene, rig)
    rig.heft.show_balance = not rig.heft.show_balance
    rig.heft.report = "{}"
    assert settings_text(scene, rig) == before
    for change in (
        lambda: setattr(rig.heft.lookahead, "rehearsals", 3),
        lambda: setattr(rig.heft, "floor_friction", 0.5),
        rig.heft.others.add,
        lambda: setattr(scene, "use_gravity", False),
    ):
        change()
        after = settings_text(scene, rig)
        assert after != before
        before = after


def test_what_cannot_be_baked_is_said(followed):
    rig, sent = followed
    rig.heft.frame_end = 1
    settle(rig)
    assert sent == []
    assert '"outcome": "failed"' in rig.heft.report
    rig.heft.frame_end = LAST
    settle(rig)
    assert len(sent) == 1


@pytest.mark.parametrize("layer", ["REPLACE", "COMBINE"])
def test_a_layer_is_baked_again_over_its_source(followed, layer):
    rig, sent = followed
    source = rig.animation_data.action
    rig.heft.layer = layer
    settle(rig)
    assert len(sent) == 1
    assert stack_of(rig).action == baked_of(source)
    settle(rig)
    assert len(sent) == 1  # to be laid over the source changed nothing that is baked
    rig.heft.floor_friction = 0.8
    curve = next(curve for curve in writer.only_bag(source).fcurves if "thigh" in curve.data_path)
    curve.keyframe_points[1].co.y += 0.05
    curve.update()
    stack_of(rig).strip.influence = 0.5  # as an animator left it
    settle(rig)
    assert len(sent) == 2
    assert rig.heft.report
    followed_ends = curves_of(baked_of(source))
    assert len([track for track in rig.animation_data.nla_tracks if track.name == "Heft Bake"]) == 1
    rig.heft.auto_bake = False
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert curves_of(baked_of(source)) == followed_ends
    rig.heft.auto_bake = True
    settle(rig)
    assert len(sent) == 3
