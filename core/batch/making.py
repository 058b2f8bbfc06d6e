# SPDX-License-Identifier: GPL-3.0-or-later
"""From the choices of a batch file for one bake to its job."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..job import BakeJob, check
from ..simulation import Push
from .document import Document
from .grid import TABLES, Bake
from .sources import Sources, tables
from .terrains import Profile, ahead, extruded, facing, ramp, stairs
from .words import TERRAIN

PUSH_BODY, PUSH_SECONDS = "torso", 0.1
START = 1.0  # m ahead, where a terrain begins
LENGTH = 100.0  # m of a slope
STEPS = 30


class Maker:
    """Makes the jobs of a document."""

    def __init__(self, document: Document, sources: Sources) -> None:
        """Check the terrains."""
        self._document, self._sources = document, sources
        self._terrains = tables(document, "terrains", TERRAIN)

    def make(self, bake: Bake) -> BakeJob:
        """The job of a bake; ValueError with the line where something makes no sense."""
        job = replace(self._sources.job(bake), name=bake.name)
        # settings belong to the controller, so it comes first
        for key, value in sorted(bake.choice.items(), key=lambda item: item[0] != "controller"):
            with self._document.blaming(bake.place_of(key)):
                if key in CHANGES:
                    job = CHANGES[key](job, value)
                elif key.partition(".")[0] in TABLES:
                    job = _with_setting(job, key, value)
        with self._document.blaming(bake.place):
            check(job)
        return self._pushed(self._on_terrain(job, bake), bake)

    def _on_terrain(self, job: BakeJob, bake: Bake) -> BakeJob:
        name = bake.choice.get("terrain", "none")
        if name == "none":
            return job
        if name not in self._terrains:
            there = ", ".join(["none", *self._terrains])
            raise self._document.mistake(
                bake.place_of("terrain"), f"there is no terrain '{name}'; choose from {there}."
            )
        first, last = (round((frame - job.clip.first_frame) / job.clip.frames_per_sample) for frame in job.frames)
        with self._document.blaming(("terrains", name)):
            table = self._terrains[name]
            mesh = extruded(
                _profile(table), *ahead(job.clip, job.roles, first, last), float(table.get("friction", 1.0))
            )
            scene = replace(job.scene, surfaces=(mesh,))
            return replace(job, scene=scene, ground=bake.choice.get("ground", "level"))

    def _pushed(self, job: BakeJob, bake: Bake) -> BakeJob:
        choice = bake.choice
        if "push" not in choice:
            for key in choice:
                if key.startswith("push_"):
                    raise self._document.mistake(bake.place_of(key), f"'{key}' needs a 'push', in newtons.")
        if not choice.get("push"):
            return job
        start = float(choice.get("push_start", 0.0))
        sample = round((job.frames[0] - job.clip.first_frame) / job.clip.frames_per_sample + start * job.clip.rate)
        with self._document.blaming(bake.place_of("push")):
            way = facing(job.clip, job.roles, min(sample, len(job.clip.position) - 1))
            angle = way + math.radians(choice.get("push_direction", 0.0))
            force = (choice["push"] * math.cos(angle), choice["push"] * math.sin(angle), 0.0)
            seconds = float(choice.get("push_seconds", PUSH_SECONDS))
            push = Push.constant(choice.get("push_body", PUSH_BODY), force, start, seconds)
            return replace(job, scene=replace(job.scene, pushes=(*job.scene.pushes, push)))


def _with_controller(job: BakeJob, name: str) -> BakeJob:
    check(replace(job, method=name, settings={}, reference={}))
    return replace(job, method=name)


def _with_frames(job: BakeJob, text: str) -> BakeJob:
    found = re.fullmatch(r"(-?[\d.]+):(-?[\d.]+)", text)
    if found is None:
        raise ValueError(f"'{text}' is not a frame range: write it like 1:100.")
    return replace(job, frame_start=float(found[1]), frame_end=float(found[2]))


CHANGES: Mapping[str, Callable[[BakeJob, Any], BakeJob]] = {
    "controller": _with_controller,
    "frames": _with_frames,
    "rate": lambda job, value: replace(job, rate=float(value)),
    "loop": lambda job, value: replace(job, loop=value),
    "seconds": lambda job, value: replace(job, seconds=float(value)),
    "ground": lambda job, value: replace(job, ground=value),
    "friction": lambda job, value: replace(job, scene=replace(job.scene, friction=float(value))),
    "noise": lambda job, value: replace(job, noise=float(value)),
    "seed": lambda job, value: replace(job, seed=value),
}
"""What a key of a [[bake]] changes by itself; those of terrain and push are looked at last, together."""


def _with_setting(job: BakeJob, key: str, value: Any) -> BakeJob:
    """With one of "settings.NAME" or "reference.NAME"; ValueError where it makes no sense by itself."""
    table, name = key.split(".", 1)
    if table == "settings":
        check(replace(job, settings={name: value}, reference={}))
        return replace(job, settings={**job.settings, name: value})
    check(replace(job, settings={}, reference={name: value}))
    return replace(job, reference={**job.reference, name: value})


def _profile(table: Mapping[str, Any]) -> Profile:
    """The profile of a table of [terrains]."""
    start = float(table.get("start", START))
    if "slope" in table:
        return ramp(start, table["slope"], table.get("length", LENGTH))
    if "rise" in table and "going" in table:
        return stairs(start, table["rise"], table["going"], table.get("count", STEPS))
    if "profile" in table:
        return [(float(x), float(z)) for x, z in table["profile"]]
    raise ValueError("a terrain needs a slope, or a rise and a going, or a profile.")
