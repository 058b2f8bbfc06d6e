# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes onto the controls of rigs that people have: walks, with and without a push, and where deforming bones are then.

Each row is a simulation of its own, put on the controls, and looked at on the rig itself at every frame.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import bpy
import heft
import numpy as np
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.keyed_motion import motion_of
from heft.blender_addon.baking.output import solving_of, write
from heft.blender_addon.controls.solving import off_by
from heft.blender_addon.rig.reading import sample_armatures
from heft.blender_addon.slices import whole
from heft.blender_addon.writer import assigned_curves
from heft.core.job import run
from heft.examples import mannequin, walk

from tests.blender.bake.keyed import disturbed
from tests.blender.rig import rigs

REACHED = 1.0, 0.5  # millimetres and degrees
LAST = 60
MANY = 1001
PUSHED_AT, NEWTONS, FRAMES = 20, 120.0, 4
HELP = "AS_KEYED"  # for animals, whose walk goes on the spot
OWN_KEYS = "f_index.01.L", "jaw_master", "ear.L"
PAGE = """# Onto control rigs

Walks on rigs as people have them, simulated without a push and with one of {newtons:.0f} N for {frames} frames at the
trunk, and put on their controls. Asked: each deforming bone within 1 mm and 0.5 degrees of the simulation at every
frame, or told; of other curves, here keys of a finger, an ear or a jaw and a custom property, none changed. Written by
`run.py study controls`.

People have the mannequin's walk, cat and wolf that of a fox of Mesh2Motion's, by Motion From. The fox walks on the spot
with sliding feet: cat and wolf are simulated with Help *As Keyed*. All bones with a role are looked at, on the rig as
Blender evaluates it.

| rig | limbs | what | outcome | mm | degrees | told | other curves changed |
|---|---|---|---|---|---|---|---|
{rows}

## A thousand frames

Rigify's human, keyed at random on FK and IK, with all joints turned smoothly by 5 degrees in place of a simulation:
seconds of processor time from the result to the written action. Asked: 10 on FK, 15 on IK.

| limbs | begun | solved | written | whole | bones told to be off |
|---|---|---|---|---|---|
{times}
"""


class Rig(NamedTuple):
    """What is baked on."""

    what: str
    make: Callable[[Path], bpy.types.Object]
    animal: bool = False
    switched: bool = True  # its limbs have IK/FK switches


def generated(kind: str) -> Callable[[Path], bpy.types.Object]:
    """One that Rigify makes of a metarig."""

    def make(folder: Path) -> bpy.types.Object:
        path = folder / f"{kind}.blend"
        if not path.exists():
            (rigs.generate_makehuman if kind == "makehuman" else rigs.generate_rigify)(
                path, *([] if kind == "makehuman" else [kind])
            )
        return rigs.open_rigify(path)

    return make


def mesh_to_motion(_folder: Path) -> bpy.types.Object:
    """Mesh2Motion's, whose bones are its controls."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig = rigs.import_gltf("mesh2motion/human-base-animations_rigify-DEF-names.glb")
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    return rig


RIGS = (
    Rig("Rigify human", generated("human")),
    Rig("Rigify basic human", generated("basic_human")),
    Rig("Rigify cat", generated("cat"), animal=True),
    Rig("Rigify wolf", generated("wolf"), animal=True),
    Rig("MakeHuman, by Rigify", generated("makehuman")),
    Rig("Mesh2Motion", mesh_to_motion, switched=False),
)


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    with tempfile.TemporaryDirectory() as made:
        rows = [
            row_of(rig, limbs, newtons, Path(made))
            for rig in RIGS
            for limbs in (("FK", "IK") if rig.switched else ("",))
            for newtons in (0.0, NEWTONS)
        ]
        times = [time_of(limbs, Path(made)) for limbs in ("FK", "IK")]
    return PAGE.format(newtons=NEWTONS, frames=FRAMES, rows="\n".join(rows), times="\n".join(times))


def row_of(what: Rig, limbs: str, newtons: float, folder: Path) -> str:
    """Bake, and look."""
    rig = what.make(folder)
    heft.register()
    try:
        bpy.context.scene.render.fps = 24
        mover = fox() if what.animal else walker()
        own_keys(rig)
        for bone in rig.pose.bones:
            if "IK_FK" in bone:
                bone["IK_FK"] = float(limbs == "FK")
        bpy.context.view_layer.objects.active = rig
        settings = rig.heft
        settings.output, settings.motion_from = "CONTROLS", mover
        settings.help = HELP if what.animal else settings.help
        settings.use_frame_range, settings.frame_start, settings.frame_end = not what.animal, 1, LAST
        assert bpy.ops.heft.set_up() == {"FINISHED"}
        if newtons:
            rig.data.bones.active = rig.data.bones[rig.heft.chosen_roles()["spine"][-1]]
            bpy.context.scene.frame_set(PUSHED_AT)
            bpy.ops.heft.add_push(strength=newtons, duration=FRAMES)
            bpy.context.view_layer.objects.active = rig
        kept = dict(keys_of(rig))
        (found,) = gather(bpy.context, [rig])
        result = run(found.job)
        motion = motion_of(rig, found, result, None)
        write(bpy.context, rig, found, result)
        names = list(found.sampling.clip.skeleton.names)
        columns = [names.index(name) for bones in rig.heft.chosen_roles().values() for name in bones]
        (there,) = sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], motion.frames)
        metres, degrees = off_by(there.pose[:, columns], motion.pose[:, columns])
        now = dict(keys_of(rig))
        changed = sum(now.get(key) != keys for key, keys in kept.items())
        notes = json.loads(rig.heft.report)["notes"]
        far = (1000.0 * metres.max() > REACHED[0]) or (degrees.max() > REACHED[1])
        told = "; ".join(notes) if far else "-"
        what_came = result.report["outcome"]
        return (
            f"| {what.what} | {limbs or 'bones'} | {'push' if newtons else 'walk'} | {what_came} | "
            f"{1000.0 * metres.max():.2f} | {degrees.max():.2f} | {told} | {changed} of {len(kept)} |"
        )
    finally:
        heft.unregister()


def time_of(limbs: str, folder: Path) -> str:
    """How long it takes to put many frames on the controls, and to write them."""
    rig = generated("human")(folder)
    heft.register()
    try:
        bpy.context.view_layer.objects.active = rig
        rig.heft.output = "CONTROLS"
        for bone in rig.pose.bones:
            if "IK_FK" in bone:
                bone["IK_FK"] = float(limbs == "FK")
        wander(rig, np.random.default_rng(3))
        (found,) = gather(bpy.context, [rig])
        result = disturbed(found.job)
        times = [time.process_time()]
        solving = whole(solving_of(rig, found, result))
        times.append(time.process_time())
        whole(solving.steps())
        solution = solving.solution()
        times.append(time.process_time())
        write(bpy.context, rig, found, result, solution)
        times.append(time.process_time())
        begun, solved, written = np.diff(times)
        spent = f"{begun:.1f} | {solved:.1f} | {written:.1f} | {times[-1] - times[0]:.1f}"
        return f"| {limbs} | {spent} | {len(solution.misses)} |"
    finally:
        heft.unregister()


def wander(rig: bpy.types.Object, rng: np.random.Generator) -> None:
    """Key trunk, FK and IK, at random."""

    def key(name: str, frame: int, **parts: Sequence[float]) -> None:
        for part, value in parts.items():
            setattr(rig.pose.bones[name], part, value)
            rig.pose.bones[name].keyframe_insert(part, frame=frame)

    for frame in range(1, MANY + 1, 8):
        some = rng.normal(scale=0.05, size=(9, 3))
        key("torso", frame, location=some[0] - [0.0, 0.0, 0.05], rotation_quaternion=[1.0, *some[1]])
        for place, name in enumerate(("spine_fk.001", "spine_fk.003", "neck", "head")):
            key(name, frame, rotation_quaternion=[1.0, *some[place + 2]])
        for side, away in (("L", -1.0), ("R", 1.0)):
            limb = rng.normal(scale=0.05, size=(6, 3))
            key(f"upper_arm_fk.{side}", frame, rotation_quaternion=[1.0, *limb[0]])
            key(f"forearm_fk.{side}", frame, rotation_quaternion=[1.0, 0.3 + limb[1, 0], 0.0, 0.0])
            key(f"thigh_fk.{side}", frame, rotation_quaternion=[1.0, limb[2, 0] - 0.2, 0.0, 0.0])
            key(f"shin_fk.{side}", frame, rotation_quaternion=[1.0, 0.3 + limb[3, 0], 0.0, 0.0])
            key(f"foot_ik.{side}", frame, location=limb[4] + [0.0, 0.0, 0.12])
            key(f"hand_ik.{side}", frame, location=limb[5] + [0.15 * away, -0.15, 0.0])


def walker() -> bpy.types.Object:
    """The mannequin with its walk."""
    made = mannequin.make_mannequin(bpy.context)
    walk.key_walk(made)
    return made


def fox() -> bpy.types.Object:
    """An animal that walks, in place."""
    before = set(bpy.data.objects)
    bpy.ops.import_scene.gltf(filepath=str(rigs.CLIPS / "animals" / "fox-animations.glb"))
    (found,) = [other for other in bpy.data.objects if other not in before and other.type == "ARMATURE"]
    action = bpy.data.actions["Walk"]
    for track in list(found.animation_data.nla_tracks):
        found.animation_data.nla_tracks.remove(track)
    found.animation_data.action = action
    found.animation_data.action_slot = action.slots[0]
    return found


def own_keys(rig: bpy.types.Object) -> None:
    """Keys that a bake is to leave alone."""
    for name in OWN_KEYS:
        if name in rig.pose.bones:
            for frame, turn in ((1, 0.0), (LAST, 0.2)):
                bone = rig.pose.bones[name]
                part = "rotation_quaternion" if bone.rotation_mode == "QUATERNION" else "rotation_euler"
                value = [1.0, turn, 0.0, 0.0] if part == "rotation_quaternion" else [turn, 0.0, 0.0]
                setattr(bone, part, value)
                bone.keyframe_insert(part, frame=frame)
    root = rig.pose.bones[0]
    for frame in (1, LAST):
        root["mood"] = float(frame)
        root.keyframe_insert('["mood"]', frame=frame)


def keys_of(rig: bpy.types.Object) -> Iterator[tuple[tuple[str, int], list[tuple[float, ...]]]]:
    """All curves of the assigned action, with what their keys are."""
    for curve in assigned_curves(rig, rig.animation_data.action):
        keys = [(*key.co, *key.handle_left, *key.handle_right) for key in curve.keyframe_points]
        yield (curve.data_path, curve.array_index), keys
