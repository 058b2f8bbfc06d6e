# SPDX-License-Identifier: GPL-3.0-or-later
"""The tutorials, followed step by step from an empty Blender; their blocks of code are run as they stand there."""

import ast
import json
import math
import re
from functools import partial

import bpy
import numpy as np
import pytest
from heft.blender_addon import commands
from heft.blender_addon.baking import outcome
from heft.registration import make_demo
from mathutils import Matrix, Vector

from tools.environment import ROOT

PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLENDER = {"Add", "Armature", "Export", "File", "Import", "Motion Capture (.bvh)", "Python Tooltips", "Run Script"} | {
    "Scale",
    "Scale FPS",
    "Update Scene Duration",
    "Heft",
}
"""What Blender itself calls things, in bold on the pages; and what the tab is called."""

UPRIGHT = {"axis_forward": "Y", "axis_up": "Z"}  # as Blender exports


def page(name):
    return (ROOT / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8")


def blocks(name, language):
    return re.findall(rf"```{language}\n(.*?)```", page(name), re.DOTALL)


def words_of_the_interface():
    """All texts in what makes panels, operators and settings."""
    texts = set()
    for room in ("panels", "operators", "blender_addon/properties", "core/control", "blender_addon/scene"):
        for path in (ROOT / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            texts |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return texts


def bake(rig):
    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.bake()
    return json.loads(rig.heft.report)


@pytest.mark.parametrize("tutorial", PAGES, ids=lambda path: path.stem)
def test_what_is_to_be_pressed_is_there(tutorial):
    text = re.sub(r"```.*?```", "", tutorial.read_text(encoding="utf-8"), flags=re.DOTALL)
    pressed = {" ".join(one.split()) for one in re.findall(r"\*\*(.+?)\*\*", text, re.DOTALL)}
    assert pressed - words_of_the_interface() - BLENDER == set()


def test_first_bake(rig):
    walk = rig.animation_data.action
    report = bake(rig)
    assert outcome.is_good(report)
    assert rig.animation_data.action.name == "Walk Simulated"
    rig.heft.strength = 0.2
    weak = bake(rig)
    assert [action.name for action in bpy.data.actions] == [walk.name, "Walk Simulated"]
    assert weak["help_mean"] > 0.2
    assert "gave all its strength" in weak["why"]
    assert "of its weight from nowhere" in weak["why"]


def test_clean_a_clip(rig, tmp_path):
    """The mannequin's walk with feet that glide, as a file of a capture; it comes back with feet that stand."""
    walk = rig.animation_data.action
    for curve in walk.layers[0].strips[0].channelbags[0].fcurves:
        if curve.data_path.endswith("location"):
            for key in curve.keyframe_points:
                key.co.y *= 1.05
    captured = tmp_path / "captured.bvh"
    bpy.ops.export_anim.bvh(filepath=str(captured), frame_start=1, frame_end=60, root_transform_only=True)
    bpy.ops.object.delete()
    bpy.ops.import_anim.bvh(filepath=str(captured), use_fps_scale=True, update_scene_duration=True, **UPRIGHT)
    clip = bpy.context.active_object
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    report = bake(clip)
    assert report["outcome"] == "completed"
    assert report["max_foot_slide_m"] < 0.005
    assert report["source_skate_mm_per_frame"] > 2.0 * report["skate_mm_per_frame"], report
    out = tmp_path / "cleaned.bvh"
    bpy.ops.export_anim.bvh(filepath=str(out), frame_start=1, frame_end=60)
    assert out.read_text().startswith("HIERARCHY")


def test_push_trip_and_fall(rig):
    bpy.ops.heft.set_up()
    bpy.context.scene.frame_set(40)
    assert bpy.ops.heft.add_push(kind="SHOVE") == {"FINISHED"}
    push = bpy.context.active_object
    push.matrix_basis = Matrix.Rotation(math.radians(-90.0), 4, "Z") @ push.matrix_basis  # R, Z, -90
    shoved = bake(rig)
    assert shoved["outcome"] == "completed"
    assert any(one["what"] in {"left", "right"} for one in shoved["recoveries"])
    for curve in push.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.co.y *= 2000.0 / 200.0
    fallen = bake(rig)
    assert fallen["outcome"] == "fell"
    assert "after the 2000 N push" in fallen["why"]

    bpy.data.objects.remove(push)
    bpy.context.scene.frame_set(60)
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, rig.pose.bones["pelvis"].head.y, 0.0))
    kerb = bpy.context.active_object
    kerb.scale, kerb.location.z = (3.0, 0.5, 0.2), 0.0
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.mark_terrain()
    over = bake(rig)
    assert over["outcome"] == "completed"
    assert over["max_penetration_m"] < 0.01


def test_key_poses(heft_enabled):
    bpy.context.scene.render.fps = 24
    bpy.ops.heft.add_key_poses(scene="CHIN_UP")
    report = bake(bpy.context.active_object)
    assert (report["outcome"], report["method"]) == ("completed", "replanning")


def test_own_key_poses(rig):
    """Standing, a squat, standing: keyed as the page says, with the knees' angles that keep the feet in place."""
    rig.animation_data.action = None
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
        bone.rotation_mode = "XYZ"
    thigh, shin = (rig.data.bones[name].length for name in ("thigh.L", "shin.L"))
    for frame, bend in ((1, 0.0), (24, math.radians(35.0)), (48, 0.0)):
        knee = bend + math.asin(thigh * math.sin(bend) / shin)
        low = thigh * (1.0 - math.cos(bend)) + shin * (1.0 - math.cos(knee - bend))
        rig.pose.bones["pelvis"].location = rig.data.bones["pelvis"].matrix_local.to_3x3().inverted() @ _down(low)
        for side in ("L", "R"):
            rig.pose.bones[f"thigh.{side}"].rotation_euler.x = -bend
            rig.pose.bones[f"shin.{side}"].rotation_euler.x = knee
            rig.pose.bones[f"foot.{side}"].rotation_euler.x = bend - knee
        for bone in rig.pose.bones:
            bone.keyframe_insert("rotation_euler", frame=frame)
            bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 48
    report = bake(rig)
    assert report["outcome"] == "completed"
    assert report["source_error_mm"] < 60.0


def _down(low):
    return Vector((0.0, 0.0, -low))


def test_batch_and_farm(rig, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(commands.keeper, "stop", lambda: None)
    bpy.ops.heft.set_up()
    bpy.context.scene.frame_end = 40
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    (text,) = blocks("batch_and_farm", "toml")
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(text, encoding="utf-8")
    run = partial(commands.run, make_demo=make_demo)
    assert run(["batch", str(jobs), "--list"]) == commands.DONE
    assert "walk 60 N" in capsys.readouterr().out
    assert run(["batch", str(jobs), "--workers", "1"]) == commands.DONE
    there = {path.name for path in (tmp_path / "jobs").iterdir()}
    assert there >= {"batch.jsonl"} | {f"walk {n} N.{kind}" for n in (0, 60) for kind in ("blend", "heftresult")}
    assert run(["batch", str(jobs), "--workers", "1", "--resume"]) == commands.DONE


def test_scripting(heft_enabled, capsys):
    bpy.context.scene.render.fps = 24
    known = {}
    for block in blocks("scripting", "python"):
        exec(block, known)  # noqa: S102  # the page's own
    said = capsys.readouterr().out
    assert "completed True Stayed up to the end" in said
    assert "Walk Simulated" in said
    assert known["world"].time == pytest.approx(0.1)
    assert np.isfinite(known["world"].q).all()
