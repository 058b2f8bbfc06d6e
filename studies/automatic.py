# SPDX-License-Identifier: GPL-3.0-or-later
"""What the method Automatic chooses for captured clips and for the examples, and how those bakes go."""

import json
from pathlib import Path
from typing import Any

import bpy
import heft
from heft.core import BakeJob, run
from heft.core.job.choosing import choose, signs_of
from heft.core.motion.bvh import read_bvh

from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD

INTRODUCTION = """# The method that is chosen

Bakes with the method Automatic, everything else by default: captured clips from their files, then the examples as they
are added in Blender, these also with Look Ahead instead. Written by `run.py study automatic`.

- tick: completed, near the action, and no foot slides or sinks that does not in the action
- off: mean distance of the joints from the action
"""
HEAD = [
    "| motion | method | because | outcome | tick | off mm | seconds |",
    "|---|---|---|---|---|---|---|",
]
SCENES = ("CHIN_UP", "SQUAT", "JUMP_TO_BAR", "PICK_UP_BOX")


def row(name: str, method: str, because: str, report: dict[str, Any] | str) -> str:
    """A line of the table."""
    if isinstance(report, str):
        return f"| {name} | {method} | {because} | refused: {report} | | | |"
    tick, seconds = "yes" if report["good"] else "no", sum(report["seconds"].values())
    told = f"{report['outcome']} | {tick} | {report['source_error_mm']:.0f} | {seconds:.1f}"
    return f"| {name} | {method} | {because} | {told} |"


def clip_row(path: Path) -> str:
    """A captured clip's."""
    job = BakeJob(read_bvh(path, CMU_UNIT), CMU_ROLES, method="auto")
    chosen = choose(signs_of(job))
    try:
        report: dict[str, Any] | str = json.loads(run(job).report_text)
    except ValueError as refusal:
        report = str(refusal)
    return row(path.stem, chosen.method.label, chosen.because, report)


def scene_row(scene: str, controller: str) -> str:
    """An example's, added anew; the mannequin's walk by an empty name."""
    from heft.blender_addon.properties.methods import choice_of, method_of

    bpy.ops.wm.read_factory_settings(use_empty=True)
    heft.register()
    if scene:
        bpy.ops.heft.add_key_poses(scene=scene)
    else:
        bpy.ops.heft.add_mannequin()
    armature = bpy.context.active_object
    armature.heft.controller = controller
    choice, method = choice_of(armature.heft), method_of(armature.heft)
    bpy.ops.heft.bake()
    report = json.loads(armature.heft.report)
    heft.unregister()
    told: dict[str, Any] | str = report if "seconds" in report else report["why"]
    because = "chosen by hand" if choice is None else choice.because
    return row(scene.replace("_", " ").lower() or "mannequin's walk", method.label, because, told)


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    clips = [clip_row(path) for path in GOOD]
    examples = [scene_row(scene, "AUTO") for scene in ("", *SCENES)]
    by_hand = [scene_row(scene, "LOOKAHEAD") for scene in SCENES]
    page = [INTRODUCTION, *HEAD, *clips, *examples, *by_hand, ""]
    return "\n".join(page)
