# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs to try: those of the clips folder, and those that Blender makes."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
from heft.core.motion import quaternions
from heft.core.motion.clip import Skeleton

CLIPS = Path(__file__).parents[4] / "shared" / "clips"
RIGS = CLIPS / "rigs"


def armature():
    """The one armature of the scene."""
    (found,) = [o for o in bpy.data.objects if o.type == "ARMATURE" and not o.name.startswith("metarig")]
    return found


def deforming(rig):
    return [bone.use_deform for bone in rig.data.bones]


def make_skeleton(rows):
    """A skeleton from (name, parent's name, head, tail) in any order."""
    rows = {row[0]: row for row in rows}
    order = []

    def visit(name):
        if name in rows and name not in order:
            visit(rows[name][1])
            order.append(name)

    for name in rows:
        visit(name)
    head = np.array([rows[n][2] for n in order], dtype=float)
    tail = np.array([rows[n][3] for n in order], dtype=float)
    tail += (np.linalg.norm(tail - head, axis=1) < 1e-4)[:, None] * np.array([0.0, 0.0, 0.01])
    parent = np.array([order.index(rows[n][1]) if rows[n][1] in order else -1 for n in order], dtype=np.int64)
    orientation = np.tile([1.0, 0.0, 0.0, 0.0], (len(order), 1))
    return Skeleton(tuple(order), parent, head, tail, orientation)


def mpfb_skeleton(name):
    data = json.loads((RIGS / "mpfb" / f"rig.{name}.json").read_text(encoding="utf-8"))
    rows = [
        (bone, entry["parent"], entry["head"]["default_position"], entry["tail"]["default_position"])
        for bone, entry in data.get("bones", data).items()
    ]
    return make_skeleton(rows)


def gltf_json(path):
    content = path.read_bytes()
    length = struct.unpack("<I", content[12:16])[0]
    return json.loads(content[20 : 20 + length])


def vrm_skeleton():
    """The joints of the VRM file as bones, each drawn to its first child, and its humanoid mapping."""
    data = gltf_json(RIGS / "vrm" / "debug_robot.vrm")
    nodes = data["nodes"]
    parent = {child: index for index, node in enumerate(nodes) for child in node.get("children", [])}
    place = {}

    def world(index):
        if index not in place:
            above = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])) if index not in parent else world(parent[index])
            turn = np.roll(np.array(nodes[index].get("rotation", [0.0, 0.0, 0.0, 1.0])), 1)
            offset = np.array(nodes[index].get("translation", [0.0, 0.0, 0.0]))
            place[index] = (above[0] + quaternions.rotate(above[1], offset), quaternions.multiply(above[1], turn))
        return place[index]

    to_z_up = quaternions.exp(np.array([np.pi / 2, 0.0, 0.0]))
    joints = [index for index, node in enumerate(nodes) if "mesh" not in node]
    head = {index: quaternions.rotate(to_z_up, world(index)[0]) for index in joints}
    rows = []
    for index in joints:
        below = [c for c in nodes[index].get("children", []) if c in head]
        tail = head[below[0]] if below else head[index] + np.array([0.0, 0.0, 0.05])
        above = nodes[parent[index]]["name"] if index in parent else None
        rows.append((nodes[index]["name"], above, head[index], tail))
    humanoid = data["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"]
    return make_skeleton(rows), {word: nodes[entry["node"]]["name"] for word, entry in humanoid.items()}


def import_gltf(name):
    bpy.ops.import_scene.gltf(filepath=str(RIGS / name))
    return armature()


def import_bvh(name="02_01__walk_normal", **options):
    bpy.ops.import_anim.bvh(filepath=str(CLIPS / "cmu" / f"{name}.bvh"), global_scale=0.056444, **options)
    return armature()


def rigify_metarig(kind="human"):
    bpy.ops.preferences.addon_enable(module="rigify")
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    return bpy.context.object


GENERATE = """
import os, sys, bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.preferences.addon_enable(module="rigify")
getattr(bpy.ops.object, f"armature_{sys.argv[2]}_metarig_add")()
bpy.ops.pose.rigify_generate()
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
os._exit(0)
"""


def generate_rigify(path, kind="human"):
    """Save Rigify's human rig to a file. In a process of its own: 4.5's bpy cannot end cleanly after it."""
    subprocess.run([sys.executable, "-c", GENERATE, str(path), kind], check=True, capture_output=True, timeout=600)


MAKEHUMAN = """
import json, os, sys, bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.preferences.addon_enable(module="rigify")
content = json.load(open(sys.argv[2], encoding="utf-8"))
meta = bpy.data.objects.new("metarig", bpy.data.armatures.new("metarig"))
bpy.context.scene.collection.objects.link(meta)
bpy.context.view_layer.objects.active = meta
bpy.ops.object.mode_set(mode="EDIT")
bones = {name: meta.data.edit_bones.new(name) for name in content["bones"]}
for name, row in content["bones"].items():
    bone = bones[name]
    bone.head, bone.tail = row["head"]["default_position"], row["tail"]["default_position"]
    bone.roll = row["roll"]
for name, row in content["bones"].items():
    bone = bones[name]
    if row["parent"]:
        bone.parent, bone.use_connect = bones[row["parent"]], row["use_connect"]
    for flag in ("use_inherit_rotation", "inherit_scale", "use_local_location"):
        setattr(bone, flag, row[flag])
bpy.ops.object.mode_set(mode="OBJECT")
for name in content["collections"]:
    meta.data.collections.new(name)
meta.data.collections["Torso"].rigify_ui_row = 1
for name, row in content["bones"].items():
    posed, rigify = meta.pose.bones[name], row.get("rigify") or {}
    posed.rigify_type = rigify.get("rigify_type", "")
    for key, value in rigify.get("rigify_parameters", {}).items():
        if not isinstance(value, list):  # references to collections
            setattr(posed.rigify_parameters, key, value)
bpy.ops.pose.rigify_generate()
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
os._exit(0)
"""


def generate_makehuman(path):
    """Save the control rig that MakeHuman's metarig makes to a file, in a process of its own as well."""
    source = RIGS / "mpfb" / "rig.human.json"
    code = [sys.executable, "-c", MAKEHUMAN, str(path), str(source)]
    subprocess.run(code, check=True, capture_output=True, timeout=600)


def open_rigify(path):
    """The generated rig of such a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["rig"]
