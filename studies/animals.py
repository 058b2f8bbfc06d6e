# SPDX-License-Identifier: GPL-3.0-or-later
"""Animals as a stranger would bake them: their files are imported, Set Up is pressed, then Bake; and they are pushed.

No row is begun after HEFT_STUDY_SECONDS.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import heft
import numpy as np
from heft.blender_addon.baking.gather import gather
from heft.core.cache import Cache
from heft.core.job import BakeJob, run
from heft.core.job.fitting import character_of
from heft.core.motion.clip import Clip
from heft.core.simulation import Push
from heft.studies.lib.beside_source import film_strip
from heft.studies.lib.journal import Journal

from tests.blender.rig import rigs
from tools.environment import ROOT

FPS = 24
NEWTONS, MASS, SECONDS = 100.0, 70.0, 0.1  # of a push, by mass
SIDES = 4
PHASES = (0.3, 0.45)  # of the motion, at which it is pushed
LAPS = 3  # of a motion that ends as it begins, so that there is time to fall
SAME = 0.02  # m: a motion whose bones end as near to where they began is a loop
ASKED = ("Walk", "Trot", "Canter", "Idle", "Jump", "Sneak")
PICTURED = ("fox Walk", "fox Jump", "kaiju Walk RM", "bird Walk")
SOURCES = [ROOT / "core", ROOT / "blender_addon", Path(__file__)]
PAGE = f"""# Animals

All actions of the animals of Mesh2Motion's that we test on, and walks, idles and jumps of theirs on bodies of other
proportions (dog, cat, tyrannosaur), which nothing was tuned on. Each file is imported into an empty scene, *Set Up* is
pressed, and baked by defaults. Written by `run.py study animals`.

- off: mean distance of the bones from the action
- help: from nowhere, as a share of the weight, mean and greatest
- slide: the farthest that a foot slides in one stance
- skate: how fast feet glide while they are down, mm a frame, and in the source

{{summary}}

| animal | action | s | kg | outcome | good | off mm | help % | at most | slide mm | skate | before | sunk mm |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
{{rows}}

## Pushes

{NEWTONS:g} N for each {MASS:g} kg of mass, for {SECONDS:g} s at the trunk, from {SIDES} sides at {len(PHASES)} moments
each. A motion that ends as it begins is played {LAPS} times. *Up* counts those that reach their end upright; motions
that need help get it here too.

{{pushed}}

| animal | action | push, N | up | without a push: help % |
|---|---|---|---|---|
{{pushes}}

{{pictures}}"""


class Animal(NamedTuple):
    """A file of actions, and one of the body that does them, if it is another."""

    name: str
    actions: str
    body: str = ""


ANIMALS = (
    Animal("fox", "fox-animations"),
    Animal("kaiju", "kaiju-animations"),
    Animal("bird", "bird-animations"),
    Animal("dog", "fox-animations", "fox-dog"),
    Animal("cat", "fox-animations", "fox-cat"),
    Animal("tyrannosaur", "kaiju-animations", "kaiju-t-rex"),
)


@dataclass(frozen=True)
class Subject:
    """An action on an animal."""

    animal: str
    action: str
    job: BakeJob

    @property
    def name(self) -> str:
        """Of both."""
        return f"{self.animal} {self.action}"

    @property
    def asked(self) -> bool:
        """Whether it is a gait, an idle or a jump."""
        return any(word in self.action for word in ASKED)


def subjects(animal: Animal) -> Iterator[Subject]:
    """All actions of an animal; of a body that is another's only what is asked for."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = FPS
    rig = None
    for file in filter(None, (animal.actions, animal.body)):
        before = set(bpy.data.objects)
        bpy.ops.import_scene.gltf(filepath=str(rigs.CLIPS / "animals" / f"{file}.glb"))
        (rig,) = [new for new in bpy.data.objects if new not in before and new.type == "ARMATURE"]
    assert rig is not None
    heft.register()
    try:
        for name in [action.name for action in bpy.data.actions]:
            if animal.body and not any(word in name for word in ASKED):
                continue
            action, data = bpy.data.actions[name], rig.animation_data_create()
            for track in list(data.nla_tracks):
                data.nla_tracks.remove(track)
            data.action, data.action_slot = action, action.slots[0]
            bpy.context.view_layer.objects.active = rig
            assert bpy.ops.heft.set_up() == {"FINISHED"}
            (found,) = gather(bpy.context, [rig])
            yield Subject(animal.name, name, found.job)
    finally:
        heft.unregister()


def in_a_row(job: BakeJob) -> BakeJob:
    """A motion that ends as it begins, some times."""
    clip = job.clip
    if np.abs(clip.position[-1] - clip.position[0]).max() > SAME:
        return job
    rows = np.concatenate([np.arange(len(clip.position) - 1)] * LAPS + [np.array([0])])
    return replace(job, clip=Clip(clip.skeleton, clip.rate, clip.position[rows], clip.orientation[rows]))


def pushed(job: BakeJob, mass: float, number: int) -> BakeJob:
    """With one of the pushes."""
    side, phase = number % SIDES, PHASES[number // SIDES]
    newtons, angle = NEWTONS * mass / MASS, 2.0 * np.pi * side / SIDES
    force = (newtons * float(np.cos(angle)), newtons * float(np.sin(angle)), 0.0)
    push = Push.constant("torso", force, phase * job.duration, SECONDS)
    return replace(job, scene=replace(job.scene, pushes=(push,)))


def baked(one: Subject) -> dict[str, Any]:
    """What became of it."""
    try:
        result = run(one.job)
    except ValueError as refusal:
        return {"outcome": "refused", "why": str(refusal)}
    found = {
        name: result.report[name]
        for name in (
            "outcome",
            "good",
            "source_error_mm",
            "help_mean",
            "help_max",
            "max_foot_slide_m",
            "skate_mm_per_frame",
            "source_skate_mm_per_frame",
            "max_penetration_m",
            "why",
        )
    }
    mass = character_of(one.job, Cache(None)).total_mass
    drawn = film_strip(one.job.clip, result) if one.name in PICTURED else ""
    return {**found, "seconds": one.job.duration, "mass": mass, "picture": drawn}


def stays_up(one: Subject, mass: float) -> dict[str, Any]:
    """Of pushes to all sides: how many leave it up."""
    job, up, help_mean = in_a_row(one.job), 0, 0.0
    with tempfile.TemporaryDirectory() as cache:
        try:
            help_mean = run(job, cache=cache).report["help_mean"]
            for number in range(SIDES * len(PHASES)):
                up += run(pushed(job, mass, number), cache=cache).report["outcome"] == "completed"
        except ValueError as refusal:
            return {"up": 0, "help_mean": 0.0, "why": str(refusal)}
    return {"up": up, "help_mean": help_mean, "why": ""}


def row(one: Subject, found: dict[str, Any]) -> str:
    """A line of the first table."""
    if found["outcome"] == "refused":
        return f"| {one.animal} | {one.action} | | | refused: {found['why']} | | | | | | | | |"
    return (
        f"| {one.animal} | {one.action} | {found['seconds']:.1f} | {found['mass']:.0f} | {found['outcome']} | "
        f"{'yes' if found['good'] else 'no'} | {found['source_error_mm']:.0f} | {100 * found['help_mean']:.0f} | "
        f"{100 * found['help_max']:.0f} | {1000 * found['max_foot_slide_m']:.0f} | {found['skate_mm_per_frame']:.1f} | "
        f"{found['source_skate_mm_per_frame']:.1f} | {1000 * found['max_penetration_m']:.0f} |"
    )


def study(folder: Path) -> str:
    """The page, and film strips."""
    journal = Journal("animals", SOURCES)
    end = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    whole = sorted((one for animal in ANIMALS for one in subjects(animal)), key=lambda one: not one.asked)

    def reached(one: Subject, what: str) -> bool:
        return time.monotonic() < end or journal.knows(f"{one.name}{what}")

    found: dict[str, dict[str, Any]] = {}
    ups: dict[str, dict[str, Any]] = {}
    for one in whole:
        if reached(one, ""):
            found[one.name] = journal.find(one.name, lambda one=one: baked(one))
    every = [one for one in whole if one.name in found]
    gaits = [one for one in every if one.asked and found[one.name]["outcome"] != "refused"]
    for one in gaits:
        if reached(one, " pushed"):
            mass = found[one.name]["mass"]
            ups[one.name] = journal.find(f"{one.name} pushed", lambda one=one, mass=mass: stays_up(one, mass))
    tried = [one for one in gaits if one.name in ups]
    shown = []
    for name in (name for name in PICTURED if name in found):
        file = f"animals_{name.replace(' ', '_').lower()}.svg"
        (folder / file).write_text(found[name]["picture"], encoding="utf-8")
        shown += [f"### {name}", "", f"![{name}]({file})", ""]
    trials = SIDES * len(PHASES)
    up = sum(ups[one.name]["up"] for one in tried)
    asked = [found[one.name] for one in every if one.asked]
    return PAGE.format(
        summary=(
            f"{sum(one['outcome'] == 'completed' for one in found.values())} of {len(found)} complete. Of "
            f"{len(asked)} gaits, idles and jumps {sum(one['outcome'] == 'completed' for one in asked)} complete, "
            f"{sum(bool(one.get('good')) for one in asked)} are good, "
            f"{sum(one.get('help_mean', 1.0) < 0.02 for one in asked)} take less than 2 % of help on average."
            + f" {len(whole) - len(every)} were not reached in the time that there was."
            * (every != whole)
        ),
        rows="\n".join(row(one, found[one.name]) for one in every),
        pushed=f"{up} of {trials * len(tried)} stay up."
        + f" {len(gaits) - len(tried)} motions were not reached in the time that there was." * (tried != gaits),
        pushes="\n".join(
            f"| {one.animal} | {one.action} | {NEWTONS * found[one.name]['mass'] / MASS:.0f} | "
            f"{ups[one.name]['up']} of {trials} | {100 * ups[one.name]['help_mean']:.0f}{ups[one.name]['why']} |"
            for one in tried
        ),
        pictures="\n".join(shown),
    )
