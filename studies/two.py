# SPDX-License-Identifier: GPL-3.0-or-later
"""Two who touch, made by script: a shove, a walk hand in hand, a hand up, and a lean, baked together by defaults."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import bpy
import heft
import numpy as np
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.joining import company_of
from heft.core.job import BakeResult, CompanyJob, run_together
from heft.examples import walk
from heft.examples.gallery import two
from heft.examples.gallery.scene import Scene, choose
from heft.studies.lib.journal import Journal
from heft.studies.lib.touching import NOISE, SEEDS, cells, figures, steady

HANDS: dict[str, tuple[tuple[str, str], ...]] = {
    "hand_in_hand": (("R", "L"),),
    "lift": (("L", "R"), ("R", "L")),
}
PAGE = f"""# Two who touch

The gallery's scenes of two are made, and baked together by defaults. Written by `run.py study two`.

- with noise: of {SEEDS} bakes with noise of {NOISE:g} on every velocity at the start, those in which both stay up
- off: mean distance of the joints from the source, of each; who is shoved is keyed to stand still
- deepest: of contacts between the two, or as they begin
- hands: how far the one's wrist is from where it was to the other's in the source, mean and most

| scene | up | with noise | off mm | help % | slide mm | deepest mm | hands mm | what happens |
|---|---|---|---|---|---|---|---|---|
{{rows}}
{{missing}}"""


def company_made(scene: Scene) -> CompanyJob:
    """The scene, made in an empty Blender, and read as Bake reads it."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    context = bpy.context
    context.scene.render.fps, context.scene.frame_end = walk.FRAMES_PER_SECOND, 1
    armatures = scene.make(context)
    context.scene.frame_set(context.scene.frame_start)
    choose(context, armatures)
    found = gather(context, armatures, together=True)
    return company_of([(armature.session_uid, one) for armature, one in zip(armatures, found, strict=True)])


def hands_off(sides: tuple[str, str], company: CompanyJob, results: tuple[BakeResult, ...]) -> np.ndarray:
    """Error of one's wrist in each frame, as seen from the other's, mm."""
    count = min(len(result.frames) for result in results)
    wanted, actual = [], []
    for side, job, result in zip(sides, company.jobs, results, strict=True):
        clip, bone = job.clip, f"hand.{side}"
        rows = np.rint((result.frames[:count] - clip.first_frame) / clip.frames_per_sample).astype(int)
        wanted.append(clip.position[np.clip(rows, 0, len(clip.position) - 1), clip.skeleton.index(bone)])
        actual.append(result.poses[:count, result.bones.index(bone), :3, 3])
    return np.asarray(1000.0 * np.linalg.norm(actual[1] - actual[0] - (wanted[1] - wanted[0]), axis=1))


def baked(scene: Scene) -> dict[str, Any]:
    """What became of a scene."""
    company = company_made(scene)
    with tempfile.TemporaryDirectory() as cache:
        found = run_together(company, cache=cache)
        if any(isinstance(one, str) for one in found):
            return {"why": "; ".join(str(one) for one in found if isinstance(one, str))}
        pair = tuple(one for one in found if isinstance(one, BakeResult))
        stays = steady(company, cache)
    hands = [hands_off(sides, company, pair) for sides in HANDS.get(scene.name, ())]
    return figures(pair, stays) | {
        "hands": [float(np.mean(hands)), float(np.max(hands))] if hands else [],
        "told": " / ".join(one.report["why"] for one in pair),
    }


def row(scene: Scene, found: dict[str, Any]) -> str:
    """A line of the table."""
    if found["why"]:
        return f"| {scene.title} | refused: {found['why']} | | | | | | | |"
    return f"| {scene.title} | {cells(found)} | {found['told']} |"


def study(folder: Path) -> str:
    """The page; this study leaves no pictures. No scene is begun after HEFT_STUDY_SECONDS."""
    del folder
    journal = Journal.of("two")
    end = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    heft.register()
    try:
        rows = [
            row(scene, journal.find(scene.name, lambda scene=scene: baked(scene)))
            for scene in two.SCENES
            if journal.wants(scene.name) and (time.monotonic() < end or journal.knows(scene.name))
        ]
    finally:
        heft.unregister()
    missing = len(two.SCENES) - len(rows)
    told = f"\n{missing} of {len(two.SCENES)} scenes were not reached in the time that there was.\n" if missing else ""
    return PAGE.format(rows="\n".join(rows), missing=told)
