# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading an armature's evaluated pose, and writing it as an action, beside Blender's own `nla.bake` that does both.

A rig of sixty bones in five chains, keyed on every bone; once as it is, and once with one chain pulled by IK and one
copied by constraints. What Blender needs to evaluate the rig is the same in both, and is most of the sampling.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from harness import Row

if TYPE_CHECKING:
    import bpy

FRAMES = 1000
CHAINS = 5
LINKS = 12


def make_rig(*, constrained: bool) -> bpy.types.Object:
    """The rig, with one key in twenty frames on each bone."""
    import bpy

    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    for chain in range(CHAINS):
        above = None
        for link in range(LINKS):
            bone = rig.data.edit_bones.new(f"{chain}.{link}")
            bone.head, bone.tail = (chain, 0.0, 0.1 * link), (chain, 0.01, 0.1 * link + 0.1)
            bone.parent, above = above, bone
            bone.use_connect = bone.parent is not None
    bpy.ops.object.mode_set(mode="POSE")
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = "XYZ"
        for frame in range(1, FRAMES + 1, 20):
            bone.rotation_euler = (0.1 * ((number + frame) % 7), 0.05 * (frame % 5), 0.1 * ((number * frame) % 3))
            bone.keyframe_insert("rotation_euler", frame=frame)
        if bpy.app.version >= (5, 0, 0):
            bone.select = True
        else:
            bone.bone.select = True
    if not constrained:
        return rig
    pull = rig.pose.bones[f"0.{LINKS - 1}"].constraints.new("IK")
    pull.target, pull.subtarget, pull.chain_count = rig, f"1.{LINKS - 1}", 6
    for link in range(LINKS):
        copy = rig.pose.bones[f"2.{link}"].constraints.new("COPY_ROTATION")
        copy.target, copy.subtarget = rig, f"3.{link}"
    return rig


def timed_us(function: Callable[[], object]) -> float:
    """One call: a bake of this length is long enough."""
    start = time.perf_counter()
    function()
    return (time.perf_counter() - start) * 1e6


def rows() -> Iterator[Row]:
    """Medians of three readings and writings beside one bake."""
    yield from rows_of(constrained=False, what="keyed")
    yield from rows_of(constrained=True, what="keyed and constrained")


def rows_of(*, constrained: bool, what: str) -> Iterator[Row]:
    import bpy
    from heft.blender_addon import writer
    from heft.blender_addon.rig import reading

    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig = make_rig(constrained=constrained)
    scene, layer = bpy.context.scene, bpy.context.view_layer
    frames = reading.frame_numbers(1, FRAMES)
    reading.sample_armatures(scene, layer, [rig], frames[:50])
    read = sorted(timed_us(lambda: reading.sample_armatures(scene, layer, [rig], frames)) for _ in range(3))
    pose = reading.sample_armatures(scene, layer, [rig], frames)[0].pose
    written = sorted(timed_us(lambda: writer.write_action(rig, frames, pose, "Written")) for _ in range(3))
    theirs = timed_us(
        lambda: bpy.ops.nla.bake(
            frame_start=1,
            frame_end=FRAMES,
            only_selected=False,
            visual_keying=True,
            use_current_action=False,
            bake_types={"POSE"},
        )
    )
    name = "bpy.ops.nla.bake, visual keying"
    yield Row(f"sample 1,000 frames of 60 bones, {what}", read[1], read[2], name, theirs)
    yield Row(f"write 1,000 frames of 60 bones, {what}", written[1], written[2], name, theirs)
