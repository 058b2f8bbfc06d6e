# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of a batch: armatures read out of Blender's files, and bakes saved as files again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import bpy

from ...core import archive
from ...core.batch.journal import SUFFIX, Entry
from ...core.batch.plan import Plan
from ...core.job import BakeJob, BakeResult
from ..typed import settings_on
from . import output
from .gather import Gathered, gather, gathered_before

FORMAT, VERSION = "heft scene", 1


class Scenes:
    """Each file is read once. What was read is kept in a folder, since a batch may be of more than memory holds."""

    def __init__(self, folder: Path) -> None:
        """`folder` is there, and may be removed at the end."""
        self._folder = folder
        self._kept: dict[tuple[Path, str | None], Path] = {}
        self._open: Path | None = None  # as it was saved, but for what reading adds

    def job(self, path: Path, name: str | None) -> BakeJob:
        """Return the job of a file's armature."""
        return self._gathered(path.resolve(), name).job

    def save_all(self, plan: Plan, entries: Mapping[str, Entry]) -> None:
        """Save each scene with its bake as a new action, beside the bake, unless it is there already."""
        for name, entry in entries.items():
            choice = plan.choice(name)
            result, target = plan.folder / f"{name}{SUFFIX}", (plan.folder / f"{name}.blend").resolve()
            if "scene" not in choice or entry.failed:
                continue
            if target.is_file() and target.stat().st_mtime >= result.stat().st_mtime:
                continue
            source = choice["scene"].resolve()
            if target == source:
                raise ValueError(f"{target.name} would be overwritten: choose another output folder or name.")
            self._save(source, choice.get("armature"), BakeResult.load(result), target)

    def _save(self, path: Path, name: str | None, result: BakeResult, target: Path) -> None:
        found = self._gathered(path, name)
        armature = self._armature(path, name)
        self._open = None
        output.write(bpy.context, armature, gathered_before(bpy.context, armature, found), result)
        bpy.ops.wm.save_as_mainfile(filepath=str(target), check_existing=False)

    def _gathered(self, path: Path, name: str | None) -> Gathered:
        kept = self._kept.get((path, name))
        if kept is not None:
            return archive.load(Gathered, kept, FORMAT, VERSION, "what was read of a scene")
        found = gather(bpy.context, [self._armature(path, name)])[0]
        kept = self._folder / f"{len(self._kept)}.heftscene"
        archive.save(found, Gathered, kept, FORMAT, VERSION)
        self._kept[path, name] = kept
        return found

    def _armature(self, path: Path, name: str | None) -> bpy.types.Object:
        if self._open != path:
            self._open = None
            bpy.ops.wm.open_mainfile(filepath=str(path))
            self._open = path
        armatures = armatures_to_bake(bpy.context.view_layer.objects, name)
        if len(armatures) > 1:
            raise ValueError(
                "several armatures were set up; choose one with armature = ...: "
                f"{', '.join(a.name for a in armatures)}."
            )
        return armatures[0]


def armatures_to_bake(objects: Iterable[bpy.types.Object], name: str | None) -> list[bpy.types.Object]:
    """Return the armature of that name, else those that were set up, else the only one."""
    armatures = [one for one in objects if one.type == "ARMATURE" and settings_on(one).proxy_of is None]
    there = ", ".join(one.name for one in armatures)
    if name is not None:
        named = [one for one in armatures if one.name == name]
        if not named:
            raise ValueError(f"There is no armature '{name}' in the scene; choose from: {there or 'none'}.")
        return named
    found = [one for one in armatures if settings_on(one).character] or armatures
    if not found:
        raise ValueError("There is no armature in the scene: add one.")
    if len(found) > 1 and not settings_on(found[0]).character:
        raise ValueError(f"There are several armatures; choose one with --armature: {there}.")
    return found
