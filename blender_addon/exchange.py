# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of other makers: read into an empty scene, and written again with their animation as it is now."""

from __future__ import annotations

import json
import statistics
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bpy

ENDINGS = (".fbx", ".glb", ".gltf", ".blend")
PRINTED = (
    "Python: Traceback",
    "Traceback",
    "File ",
    "Location:",
    "^",
    "~",
)  # how lines begin that tell where, not what
GLB, JSON_CHUNK = b"glTF", 0x4E4F534A
LARGEST_JSON = 2**28  # bytes
LAYERS = ("layer0", "baselayer", "animlayer", "animationbaselayer")  # as programs call the only layer of a take
SLOWEST, FASTEST = 12, 240  # frames per second


def open_file(path: Path) -> None:
    """Open it by itself; ValueError, in a sentence, where it cannot be read."""
    try:
        if path.suffix.lower() == ".blend":
            bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
            return
        bpy.ops.wm.read_homefile(use_empty=True, load_ui=False)
        if path.suffix.lower() == ".fbx":
            bpy.ops.import_scene.fbx(filepath=str(path), anim_offset=0.0)
            name_as_takes()
        else:
            rate = gltf_rate(gltf_header(path))
            if rate is not None:
                bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = rate, 1.0
            bpy.ops.import_scene.gltf(filepath=str(path))
    except RuntimeError as error:
        raise ValueError(f"{path.name} cannot be read: {what_is_wrong(error)}") from error


def save_file(target: Path, takes: Mapping[str, str]) -> None:
    """Write what is open as a file of that ending. Actions have the names of the objects that they move."""
    ending = target.suffix.lower()
    if ending == ".blend":
        bpy.ops.wm.save_as_mainfile(filepath=str(target), check_existing=False, copy=True, relative_remap=True)
    elif ending == ".fbx":
        if len(takes) == 1:
            bpy.context.scene.name = next(iter(takes))  # after which the only take is called
        else:
            for action, owner in takes.items():
                bpy.data.actions[action].name = action.removeprefix(f"{owner}|")
        bpy.ops.export_scene.fbx(
            filepath=str(target),
            add_leaf_bones=False,
            bake_anim=True,
            bake_anim_use_all_bones=True,
            bake_anim_use_nla_strips=False,
            bake_anim_use_all_actions=len(takes) > 1,
            bake_anim_force_startend_keying=True,
            bake_anim_step=1.0,
            bake_anim_simplify_factor=0.0,
        )
    else:
        bpy.ops.export_scene.gltf(
            filepath=str(target),
            export_format="GLB" if ending == ".glb" else "GLTF_SEPARATE",
            export_animations=True,
            export_animation_mode="ACTIONS",
            export_force_sampling=True,
            export_optimize_animation_size=False,
        )


def what_is_wrong(error: RuntimeError) -> str:
    """What an operator says went wrong, out of all that it prints."""
    lines = [line.strip().removeprefix("Error:").strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(PRINTED)]
    return told[-1] if told else "Blender does not say why"


def name_as_takes() -> None:
    """Call actions as the file calls its takes: the importer puts names of object and layer around them."""
    for action in bpy.data.actions:
        for one in bpy.data.objects:
            if action.name.startswith(f"{one.name}|"):
                action.name = take_name(action.name, one.name)
                break


def take_name(action: str, owner: str) -> str:
    """The name of a take out of the name that the importer gives its action: object, take, and layer where it differs.

    Of what Blender itself wrote it begins with the object's name again, which its exporter puts there anew.
    """
    parts = action.removeprefix(f"{owner}|").split("|")
    if len(parts) > 1 and parts[-1].replace(" ", "").lower() in LAYERS:
        del parts[-1]
    return "|".join(parts)


def gltf_header(path: Path) -> dict[str, Any]:
    """The JSON of a glTF file; ValueError, in a sentence, where there is none."""
    with path.open("rb") as file:
        start = file.read(20)
        if start[:4] == GLB and len(start) == 20:
            length, kind = struct.unpack("<II", start[12:])
            content = file.read(min(length, LARGEST_JSON)) if kind == JSON_CHUNK else b""
        else:
            content = start + file.read(LARGEST_JSON)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} cannot be read: it is no glTF file.") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} cannot be read: it is no glTF file.")  # noqa: TRY004
    return found


def gltf_rate(header: Mapping[str, Any]) -> int | None:
    """The whole number of frames per second at which most of its curves have their keys; None where none tells."""
    try:
        inputs = {sampler["input"] for animation in header.get("animations", ()) for sampler in animation["samplers"]}
        times = [header["accessors"][number] for number in sorted(inputs)]
        spans = [(each["count"] - 1, each["max"][0] - each["min"][0]) for each in times]
    except (KeyError, IndexError, TypeError):
        return None
    rates: list[int] = [round(steps / seconds) for steps, seconds in spans if steps > 1 and seconds > 0.0]
    return min(max(round(statistics.median(rates)), SLOWEST), FASTEST) if rates else None
