# SPDX-License-Identifier: GPL-3.0-or-later
"""The sources of a batch's jobs: clips with a rig, saved jobs, scenes of Blender."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..job import BakeJob, BodySettings
from ..motion.bvh import read_bvh
from ..motion.roles import Roles, checked
from .document import Document
from .grid import Bake
from .words import CHAIN, RIG, check_table, check_value

SceneReader = Callable[[Path, str | None], BakeJob]
"""Reads the job of an armature out of Blender's file: that of the name, else the only one; ValueError if it cannot."""

# the key that goes with each source
BESIDE: Mapping[str, str | None] = {"clip": "rig", "job": None, "scene": "armature"}


class Sources:
    """Jobs as their sources have them. The last is kept, since bakes of one source follow each other."""

    def __init__(self, document: Document, scenes: SceneReader | None) -> None:
        """Check the rigs."""
        self._document, self._scenes = document, scenes
        self._rigs = {name: _rig(document, name, table) for name, table in tables(document, "rigs", RIG).items()}
        self._last: tuple[object, BakeJob] | None = None

    def job(self, bake: Bake) -> BakeJob:
        """The job as its source has it; ValueError with the line where there is none."""
        kind = next(kind for kind in BESIDE if kind in bake.choice)
        for other in BESIDE.values():
            if other is not None and other != BESIDE[kind] and other in bake.choice:
                raise self._document.mistake(
                    bake.place_of(other), f"'{other}' cannot be used with a {kind}: leave it out."
                )
        path, beside = bake.choice[kind], bake.choice.get(BESIDE[kind] or "")
        if self._last is None or self._last[0] != (kind, path, beside):
            with self._document.blaming(bake.place_of(kind)):
                self._last = (kind, path, beside), self._read(bake, kind, path, beside)
        return self._last[1]

    def _read(self, bake: Bake, kind: str, path: Path, beside: str | None) -> BakeJob:
        if kind == "job":
            return BakeJob.load(path)
        if kind == "clip":
            if beside not in self._rigs:
                there = ", ".join(self._rigs) or "none"
                raise self._document.mistake(
                    bake.place_of("rig"), f"a clip needs a rig from [rigs]; choose from: {there}."
                )
            return self._of_clip(path, beside)
        if self._scenes is None:
            raise ValueError("Only Blender reads scenes: run blender --command heft batch.")
        with self._document.blaming(bake.place_of(kind), f"{path.name}: "):
            return self._scenes(path, beside)

    def _of_clip(self, path: Path, rig: str) -> BakeJob:
        table, roles = self._rigs[rig]
        clip = read_bvh(path, table.get("unit", 1.0), table.get("up", "Y"))
        with self._document.blaming(("rigs", rig, "roles"), f"with {path.name}: "):
            checked(roles, clip.skeleton)
        body = BodySettings(
            detail=table.get("detail", "simple"),
            sex=table.get("sex", "male"),
            total_mass=table.get("mass"),
            on_floor=table.get("on_floor"),
        )
        return BakeJob(clip, roles, body=body)


def tables(document: Document, room: str, words: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The tables [room.NAME], each checked."""
    found: Mapping[str, Any] = document.values.get(room, {})
    for name, table in found.items():
        if type(table) is not dict:
            raise document.mistake((room, name), f"'{name}' must be a table, [{room}.{name}].")
        check_table(document, (room, name), table, words)
    return found


def _rig(document: Document, name: str, table: Mapping[str, Any]) -> tuple[Mapping[str, Any], Roles]:
    roles = {}
    for role, bones in table.get("roles", {}).items():
        check_value(document, ("rigs", name, "roles", role), bones, CHAIN)
        roles[role] = (bones,) if isinstance(bones, str) else tuple(bones)
    return table, roles
