# SPDX-License-Identifier: GPL-3.0-or-later
"""An animator's session in a windowed Blender: bake on Rigify's controls, move a hand above, bake again with more push.

Pictures of the panel, of controls being solved, of the layer, and of the hand that stays moved.

python3 run.py build --bare
blender-gui run tests/gui/controls.py -t 600 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import bpy
import guikit
import window
from window import start_bake

KEYS = ((1, 0.06), (12, 0.06), (28, 0.28), (36, 0.28), (52, 0.06), (60, 0.06))  # frames, and how low the torso is
SEEN = 46  # the frame that is looked at: soon after the push
SHOWN = {"DEF", "Torso", "Arm.L (IK)", "Arm.R (FK)", "Leg.L (IK)", "Leg.R (IK)"}
kept: dict[str, object] = {}


def rig():
    return bpy.data.objects["rig"]


def generate():
    """Rigify's basic human, squatting: legs on IK, arms on FK but the left, whose hand is moved later."""
    with guikit.override():
        bpy.ops.preferences.addon_enable(module="rigify")
        bpy.ops.object.armature_basic_human_metarig_add()
        metarig = bpy.context.object
        bpy.ops.pose.rigify_generate()
    bpy.data.objects.remove(metarig)
    bpy.context.view_layer.update()
    window.select(rig())
    bpy.context.scene.render.fps, bpy.context.scene.frame_end = 24, 60
    for side in "LR":
        rig().pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] = float(side == "R")
    for frame, down in KEYS:
        key("torso", frame, location=(0.0, 0.12 * down, -down), rotation_quaternion=(1.0, -0.6 * down, 0.0, 0.0))
        key("hand_ik.L", frame, location=(-0.2, -0.1, -0.1 - down))
        key("upper_arm_fk.R", frame, rotation_quaternion=(1.0, 0.0, 0.0, -0.5))
        for side in "LR":
            key(f"foot_ik.{side}", frame, location=(0.0, 0.0, 0.0))
    rig().animation_data.action.name = "Squat"
    for collection in rig().data.collections_all:
        collection.is_visible = collection.name in SHOWN
    with guikit.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="SELECT")
        bpy.ops.view3d.view_selected()
        bpy.ops.pose.select_all(action="DESELECT")


def key(bone, frame, **parts):
    for part, value in parts.items():
        setattr(rig().pose.bones[bone], part, value)
        rig().pose.bones[bone].keyframe_insert(part, frame=frame)


def push():
    """From behind, as it stands up."""
    bpy.context.scene.frame_set(40)
    rig().data.bones.active = rig().data.bones["DEF-spine.003"]
    with guikit.override():
        bpy.ops.heft.add_push(strength=80.0, duration=5)
    kept["push"] = bpy.data.objects["Push DEF-spine.003"]
    window.select(rig())
    with guikit.override():
        bpy.ops.object.mode_set(mode="POSE")


def onto_controls():
    rig().heft.output, rig().heft.layer = "CONTROLS", "REPLACE"
    rig().heft.show_character = False


def on_controls():
    progress = bpy.context.window_manager.heft
    return progress.stage == "Putting the motion on the controls" and progress.fraction > 0.4


def was_written():
    animation = rig().animation_data
    assert [track.name for track in animation.nla_tracks][-2:] == ["Heft Source", "Heft Bake"], rig().heft.report
    assert [s.name for s in bpy.data.scenes] == ["Scene"], list(bpy.data.scenes)
    bpy.context.scene.frame_set(SEEN)


def hips():
    """Where the body is, soon after the push."""
    bpy.context.scene.frame_set(SEEN)
    return rig().pose.bones["DEF-spine"].matrix.translation.copy()


def hand_height():
    """Of the left hand, over where the layer alone has it."""
    bpy.context.scene.frame_set(SEEN)
    action, slot = rig().animation_data.action, rig().animation_data.action_slot
    found = []
    for one in (action, None):
        rig().animation_data.action = one
        if one is not None:
            rig().animation_data.action_slot = slot
        bpy.context.view_layer.update()
        bpy.context.scene.frame_set(SEEN)
        found.append(rig().pose.bones["DEF-hand.L"].matrix.translation.z)
    rig().animation_data.action, rig().animation_data.action_slot = action, slot
    bpy.context.scene.frame_set(SEEN)
    return found[0] - found[1]


def move_hand():
    """Raise the hand by 15 cm and key it, as an animator does above the layer."""
    bone = rig().pose.bones["hand_ik.L"]
    bone.location.z += 0.15
    bone.keyframe_insert("location", frame=SEEN)
    assert rig().animation_data.action.name not in {"Squat", "Squat Simulated"}
    kept["raised"] = hand_height()
    assert kept["raised"] > 0.1, kept


def push_harder():
    """Double the key that the push has."""
    empty = kept["push"]
    curves = empty.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
    for point in curves.find("heft.push.strength").keyframe_points:
        point.co.y *= 2.0
    kept["hips"] = hips()
    kept["before"] = rig().animation_data.nla_tracks[-1].strips[0].action.session_uid


def hand_is_still_moved():
    was_written()
    assert rig().animation_data.nla_tracks[-1].strips[0].action.session_uid != kept["before"]
    assert (hips() - kept["hips"]).length > 0.01, (hips(), kept)
    assert abs(hand_height() - kept["raised"]) < 0.005, (hand_height(), kept)


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.small,
    window.opened("HEFT_PT_bake_output"),
    generate,
    window.compiled,
    onto_controls,
    guikit.shot("controls_ready"),
    push,
    start_bake,
    guikit.until(on_controls, seconds=300, every=0.02),
    guikit.shot("controls_solving"),
    window.done(300.0),
    was_written,
    guikit.shot("controls_layer"),
    move_hand,
    guikit.shot("controls_hand"),
    push_harder,
    start_bake,
    window.done(300.0),
    hand_is_still_moved,
    guikit.shot("controls_again"),
    pause=0.4,
)
