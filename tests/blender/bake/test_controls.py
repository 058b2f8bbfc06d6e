# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes onto a Rigify human's controls: where the deforming bones come to be, and that nothing else changes.

What stands in for the physics is the keyed motion with the character's joints turned smoothly by five degrees.
"""

import json
import time
from functools import partial

import bpy
import heft
import numpy as np
import pytest
from heft.blender_addon.baking.following import Following
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.keyed_motion import motion_of
from heft.blender_addon.baking.output import write, write_all
from heft.blender_addon.baking.session import CANCELLED, ON_CONTROLS, Session
from heft.blender_addon.baking.stack import stack_of
from heft.blender_addon.controls.mapping import map_for
from heft.blender_addon.rig.reading import rotations_of, sample_armatures
from heft.blender_addon.writer import assigned_curves
from heft.core import archive
from heft.core.job import BakeResult, result
from heft.core.motion import quaternions
from heft.core.worker import tasks
from heft.core.worker.messages import Message

from tests.blender.bake.keyed import KeyedWorker, disturbed
from tests.blender.rig import rigs

LAST = 24
ROLES = ("spine", "shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")


@pytest.fixture(scope="module", params=["human", "basic_human"])
def rigify(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("rigify") / f"{request.param}.blend"
    rigs.generate_rigify(path, request.param)
    return path


@pytest.fixture(scope="module")
def human(tmp_path_factory):
    path = tmp_path_factory.mktemp("rigify") / "human.blend"
    rigs.generate_rigify(path)
    return path


@pytest.fixture
def opened():
    def opened(path):
        rig = rigs.open_rigify(path)
        heft.register()
        bpy.context.view_layer.objects.active = rig
        rig.heft.output = "CONTROLS"
        return rig

    yield opened
    heft.unregister()
    bpy.ops.wm.read_factory_settings(use_empty=True)


def key(rig, bone, frame, **parts):
    for part, value in parts.items():
        setattr(rig.pose.bones[bone], part, value)
        rig.pose.bones[bone].keyframe_insert(part, frame=frame)


def animate(rig, switch):
    """Key FK and IK limbs, trunk, a finger and an eye; the switches as given, with poles where it is "POLE"."""
    rng = np.random.default_rng(3)
    for limb in map_for(rig).limbs:
        bone = rig.pose.bones[limb.switch[0]]
        bone["IK_FK"], bone["pole_vector"] = float(switch == "FK"), switch == "POLE"
    for frame in (1, 9, 17, LAST):
        some = partial(rng.normal, scale=0.05, size=3)
        key(rig, "torso", frame, location=some() - [0.0, 0.0, 0.05], rotation_quaternion=[1.0, *some()])
        for bone in ("hips", "chest", "spine_fk.001", "spine_fk.003", "neck", "head"):
            key(rig, bone, frame, rotation_quaternion=[1.0, *some()])
        for side, away in (("L", -1.0), ("R", 1.0)):
            key(rig, f"upper_arm_fk.{side}", frame, rotation_quaternion=[1.0, *some()])
            key(rig, f"forearm_fk.{side}", frame, rotation_quaternion=[1.0, 0.3 + some()[0], 0.0, 0.0])
            key(rig, f"thigh_fk.{side}", frame, rotation_quaternion=[1.0, some()[0] - 0.2, 0.0, 0.0])
            key(rig, f"shin_fk.{side}", frame, rotation_quaternion=[1.0, 0.3 + some()[0], 0.0, 0.0])
            key(rig, f"foot_ik.{side}", frame, location=some() + np.array([0.0, 0.0, 0.12]))
            key(rig, f"foot_heel_ik.{side}", frame, rotation_euler=[some()[0], 0.0, 0.0])
            key(rig, f"hand_ik.{side}", frame, location=some() + np.array([0.15 * away, -0.15, 0.0]))
        if "f_index.01.L" in rig.pose.bones:
            key(rig, "f_index.01.L", frame, rotation_euler=some())
    return rig.animation_data.action


def poses(rig, frames=range(1, LAST + 1)):
    (found,) = sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], np.asarray(frames, dtype=float))
    return found.pose


def curves(action):
    """All of an action, by slot, path and index: keys, handles, modifiers."""
    found = {}
    for slot in action.slots:
        for curve in action.layers[0].strips[0].channelbag(slot).fcurves:
            keys = [(*k.co, *k.handle_left, *k.handle_right, k.interpolation, k.type) for k in curve.keyframe_points]
            modifiers = [(one.type, one.mute) for one in curve.modifiers]
            found[slot.identifier, curve.data_path, curve.array_index] = (keys, modifiers, curve.extrapolation)
    return found


def bake(rig, **options):
    """Bake with what stands in for the physics; return what was asked for, and the report."""
    (found,) = gather(bpy.context, [rig])
    result = disturbed(found.job, **options)
    asked = motion_of(rig, found, result, None).pose
    write(bpy.context, rig, found, result)
    return asked, json.loads(rig.heft.report)


def off(rig, asked):
    """Millimetres and degrees by which the simulated bones are off at worst."""
    names = [bone.name for bone in rig.data.bones]
    columns = [i for i, name in enumerate(names) if name.startswith(tuple(f"DEF-{role}" for role in ROLES))]
    turns = [quaternions.from_matrix(rotations_of(pose[:, columns, :3, :3])) for pose in (poses(rig), asked)]
    away = np.linalg.norm(poses(rig)[:, columns, :3, 3] - asked[:, columns, :3, 3], axis=-1)
    return 1e3 * away.max(), np.degrees(quaternions.angle(*turns).max())


@pytest.mark.parametrize("switch", ["FK", "IK", "POLE"])
def test_deforming_bones_are_where_the_physics_has_them(opened, rigify, switch):
    rig = opened(rigify)
    source = animate(rig, switch)
    asked, report = bake(rig)
    assert np.abs(asked - poses_of(rig, source))[..., :3, 3].max() > 0.05
    millimetres, degrees = off(rig, asked)
    assert millimetres < 1.0
    assert degrees < 0.5
    assert report["notes"] == []


def poses_of(rig, action):
    """With another action for a moment."""
    animation = rig.animation_data
    assigned, slot = animation.action, animation.action_slot
    animation.action, animation.action_slot = action, action.slots[0]
    found = poses(rig)
    animation.action, animation.action_slot = assigned, slot
    return found


@pytest.mark.parametrize("switch", ["IK", "POLE"])
def test_arms_as_good_as_straight_are_met_and_do_not_flip(opened, human, switch):
    """Hands swing at an arm's length, or half a thousandth nearer, where no plane of the elbow is to be seen."""
    rig = opened(human)
    for limb in map_for(rig).limbs:
        rig.pose.bones[limb.switch[0]]["pole_vector"] = switch == "POLE"
    for frame in range(1, LAST + 1):
        for side, away in (("L", 1.0), ("R", -1.0)):
            shoulder, elbow, wrist = (
                np.array(rig.data.bones[f"DEF-{part}.{side}"].head_local) for part in ("upper_arm", "forearm", "hand")
            )
            length = np.linalg.norm(elbow - shoulder) + np.linalg.norm(wrist - elbow)
            angle = 0.6 * np.sin(frame / 5.0)
            way = np.array([0.5 * away * np.cos(angle), -0.3 * away * np.sin(angle) - 0.2, -0.8])
            wanted = shoulder + way / np.linalg.norm(way) * length * (0.9995 if frame % 3 else 1.0)
            hand = rig.data.bones[f"hand_ik.{side}"]
            local = np.array(hand.matrix_local)[:3, :3].T @ (wanted - np.array(hand.head_local))
            key(rig, f"hand_ik.{side}", frame, location=local)
    asked, report = bake(rig, degrees=2.0)
    millimetres, degrees = off(rig, asked)
    assert millimetres < 1.0
    assert degrees < 0.5
    assert report["notes"] == []
    turned = [c for c in assigned_curves(rig, rig.animation_data.action) if "arm_ik" in c.data_path]
    for curve in turned:
        values = np.array([point.co.y for point in curve.keyframe_points])
        assert np.abs(np.diff(values)).max() < 0.1


def test_nothing_else_changes(opened, human):
    """Other bones, custom properties, other slots and modifiers stay; so do the source action and the scene."""
    rig = opened(human)
    source = animate(rig, "FK")
    head = rig.pose.bones["torso"]
    head["head_follow"] = 0.5
    head.keyframe_insert('["head_follow"]', frame=5)
    rig.keyframe_insert("location", frame=3)
    finger = next(c for c in assigned_curves(rig, source) if "f_index" in c.data_path)
    finger.modifiers.new("NOISE")
    other = source.slots.new("OBJECT", "Another")
    source.layers[0].strips[0].channelbag(other, ensure=True).fcurves.new("location", index=1).keyframe_points.add(2)
    before = curves(source)
    scene = [len(bpy.data.objects), len(bpy.data.scenes), len(bpy.data.armatures)]
    bake(rig)
    baked = rig.animation_data.action
    assert baked != source
    assert curves(source) == before
    assert [len(bpy.data.objects), len(bpy.data.scenes), len(bpy.data.armatures)] == scene
    after = curves(baked)
    controls = {drive.control for drive in map_for(rig).drives()}
    changed = {key[1] for key in {*before, *after} if before.get(key) != after.get(key)}
    touched = {path.split('"')[1] for path in changed if not path.startswith("heft.")}
    assert touched
    assert touched <= controls
    assert ("OBAnother", "location", 1) in after
    assert not any(part in path for path in changed for part in ("f_index", "head_follow", "IK_FK", "_ik."))


def test_no_change_no_keys(opened, human):
    """Where the simulation is what is keyed no control gets a key."""
    rig = opened(human)
    before = curves(animate(rig, "IK"))
    bake(rig, degrees=0.0)
    after = {key: value for key, value in curves(rig.animation_data.action).items() if not key[1].startswith("heft.")}
    assert after == before


def test_a_parent_scale_and_a_moving_object_are_no_matter(opened, human):
    rig = opened(human)
    animate(rig, "FK")
    rig.scale = (0.1, 0.1, 0.1)
    rig.heft.scale = 10.0
    rig.rotation_euler.z = 1.0
    asked, report = bake(rig)
    millimetres, degrees = off(rig, asked)  # a tenth of a metre is one there
    assert millimetres < 1.0
    assert degrees < 0.5
    assert report["notes"] == []


def test_chosen_controls_alone_take_the_motion(opened, human):
    """An arm, simulated on a trunk that stays as keyed, turns no other control."""
    rig = opened(human)
    before = curves(animate(rig, "FK"))
    keyed = poses(rig)
    rig.heft.bones = "CHOSEN"
    for name in ("upper_arm_fk.L", "forearm_fk.L"):
        rig.heft.chosen_bones.add().name = name
    asked, report = bake(rig)
    after = curves(rig.animation_data.action)
    changed = {key[1] for key in {*before, *after} if before.get(key) != after.get(key)}
    touched = {path.split('"')[1] for path in changed if not path.startswith("heft.")}
    assert {"upper_arm_fk.L", "forearm_fk.L"} <= touched
    assert all(name.split(".")[0].split("_")[-1] in {"fk", "tweak"} and ".L" in name for name in touched), touched
    assert report["notes"] == []
    names = [bone.name for bone in rig.data.bones]
    arm, rest = names.index("DEF-forearm.L"), names.index("DEF-forearm.R")
    assert np.abs(poses(rig) - keyed)[:, arm].max() > 0.05
    np.testing.assert_allclose(poses(rig)[:, rest], keyed[:, rest], atol=1e-5)
    np.testing.assert_allclose(poses(rig)[:, arm, :3, 3], asked[:, arm, :3, 3], atol=1e-3)


def test_what_no_control_reaches_is_told(opened, human):
    """A hand that is turned about its length, by a control that cannot be."""
    rig = opened(human)
    animate(rig, "FK")
    limit = rig.pose.bones["hand_fk.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.owner_space = "LOCAL"
    (found,) = gather(bpy.context, [rig])
    result = disturbed(found.job, degrees=0.0)
    column = list(result.bones).index("DEF-hand.L")
    twist = quaternions.matrix(quaternions.exp(np.array([0.0, np.radians(20.0), 0.0])))
    result.poses[:, column, :3, :3] = result.poses[:, column, :3, :3] @ twist
    write(bpy.context, rig, found, result)
    (note,) = json.loads(rig.heft.report)["notes"]
    assert note.startswith("DEF-hand.L is up to 0.0 mm and 20.0 degrees off, most at frame ")


def test_a_rig_without_controls_is_keyed_on_its_bones(opened, human):
    opened(human)
    rig = rigs.rigify_metarig()
    bpy.context.view_layer.objects.active = rig
    rig.heft.output = "CONTROLS"
    for frame in (1, LAST):
        key(rig, "spine", frame, location=(0.0, 0.0, 0.01 * frame))
    asked, report = bake(rig)
    assert np.abs(poses(rig) - asked)[..., :3, 3].max() < 1e-3
    assert report["notes"] == []


def test_putting_it_on_the_controls_goes_bit_by_bit_and_can_be_stopped(opened, human):
    rig = opened(human)
    animate(rig, "IK")
    before = len(bpy.data.objects), len(bpy.data.scenes), len(bpy.data.actions)
    running = Session(bpy.context, [rig], KeyedWorker(), "bake")
    turn = running.turn
    turn.result = disturbed(turn.gathered.job)
    running._steps = running._solve(turn, rig, turn.result)
    fractions = []
    while not fractions or (fractions[-1] < 0.05 and not running.over):
        running.take([])
        fractions.append(running.fraction)
    assert running.stage == ON_CONTROLS
    assert fractions == sorted(fractions)
    running.stop()
    assert (turn.why, running.over) == (CANCELLED, True)
    assert (len(bpy.data.objects), len(bpy.data.scenes), len(bpy.data.actions)) == before
    assert write_all(bpy.context, running.turns)[0] == 0

    again = Session(bpy.context, [rig], KeyedWorker(), "bake")
    again.turn.result = disturbed(again.turn.gathered.job)
    again._steps = again._solve(again.turn, rig, again.turn.result)
    fractions.clear()
    while not again.over:
        again.take([])
        fractions.append(again.fraction)
    assert fractions == sorted(fractions)
    assert 0.7 < fractions[-1] <= 1.0
    assert again.turns[0].controls.misses == ()
    assert write_all(bpy.context, again.turns)[0] == 1
    assert (len(bpy.data.objects), len(bpy.data.scenes)) == before[:2]


class DisturbingKeeper(KeyedWorker):
    """Answers at the next look."""

    asked = 0

    def send_made(self, kind, make):
        self.asked += 1
        self.job = tasks.unpack_job(Message(kind, *make()))

    def poll(self):
        if self.job is None:
            return []
        content = archive.pack(disturbed(self.job), BakeResult, result.FORMAT, result.VERSION)
        self.job = None
        return [Message("done", {}, tasks.packed("result", content))]


@pytest.mark.parametrize("layer", ["ACTION", "REPLACE"])
def test_auto_bake_onto_controls_ends_and_follows_the_next_change(opened, human, layer):
    rig = opened(human)
    source = animate(rig, "IK")
    rig.heft.layer, rig.heft.auto_bake = layer, True
    keeper = DisturbingKeeper()
    following = Following(keeper)
    told = bpy.app.handlers.depsgraph_update_post
    told.append(lambda _scene, graph: following.take(graph))  # a stand-in that is posed is no change
    for asked in (1, 1, 2):
        if asked == 2:
            source.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points[1].co.y += 0.01
            source.update_tag()
            bpy.context.view_layer.update()
        for _ in range(2000):
            following.look(bpy.context, time.monotonic() + 60.0)
            if not following.busy:
                break
            time.sleep(0.005)  # threads work
        assert (following.busy, keeper.asked) == (False, asked)
    told.pop()
    assert len([one for one in bpy.data.actions if one.heft.report]) == 1
    assert json.loads(rig.heft.report)["outcome"] == "completed"


@pytest.mark.parametrize("layer", ["REPLACE", "COMBINE"])
def test_a_layer_on_controls_takes_a_hand_key_and_another_bake(opened, human, layer):
    """An animator's afternoon: bake, move an IK hand above, dial the layer, bake again with another result."""
    rig = opened(human)
    source = animate(rig, "IK")
    keyed, keys = poses(rig), curves(source)
    rig.heft.layer = layer
    asked, _ = bake(rig)
    millimetres, degrees = off(rig, asked)
    assert millimetres < 1.0
    assert degrees < 0.5
    stack = stack_of(rig)
    assert not any(part in key[1] for key in curves(stack.strip.action) for part in ("f_index", "_fk.L", "IK_FK"))
    stack.strip.influence = 0.0
    np.testing.assert_allclose(poses(rig), keyed, atol=1e-4)
    stack.strip.influence = 1.0
    by_hand = bpy.data.actions.new("By Hand")
    slot = by_hand.slots.new("OBJECT", rig.name)
    bag = by_hand.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    bag.fcurves.new('pose.bones["hand_ik.R"].location', index=2).keyframe_points.insert(10, 0.05)
    rig.animation_data.action, rig.animation_data.action_slot = by_hand, slot
    column = [bone.name for bone in rig.data.bones].index("DEF-hand.R")
    moved = poses(rig)[:, column, :3, 3] - asked[:, column, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), 0.05, atol=2e-3)

    other, _ = bake(rig, seed=1)
    assert np.abs(other - asked)[:, column, :3, 3].max() > 0.02
    moved = poses(rig)[:, column, :3, 3] - other[:, column, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), 0.05, atol=2e-3)
    assert (rig.animation_data.action, curves(source)) == (by_hand, keys)
